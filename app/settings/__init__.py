"""The settings dialog, made from what engine.api.settings declares."""
