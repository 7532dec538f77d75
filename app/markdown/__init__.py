"""Markdown of a message: split into blocks, and made into documents that can be painted."""
