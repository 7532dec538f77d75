"""Bytes that nobody meant, given to everything that reads files of others: see `python -m tests.fuzz --help`."""
