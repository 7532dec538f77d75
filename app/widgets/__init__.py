"""Small controls that several parts of the window use."""
