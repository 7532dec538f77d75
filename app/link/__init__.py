"""The window's end of the line to the engine."""
