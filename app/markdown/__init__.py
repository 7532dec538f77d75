"""From the text of a message to documents that can be painted."""
