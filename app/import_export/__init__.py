"""Chats out of Underhill and into it: files to keep, to read, and from other programs; backups."""
