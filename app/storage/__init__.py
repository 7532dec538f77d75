"""Chats on disk: one SQLite file, owned by one thread."""
