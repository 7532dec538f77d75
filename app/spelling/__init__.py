"""Spelling in the message: the system's dictionaries, which words are wrong, and marks under those."""
