"""The Qt window. It knows the engine only through engine.api."""
