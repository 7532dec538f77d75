"""The settings dialog, made from what engine.protocol.settings declares."""
