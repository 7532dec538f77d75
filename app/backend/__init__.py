"""The window's access to the engine: commands and events, the models there are, the network."""
