"""Chats as files: Markdown and JSON to export, and JSON of this program and of others to import."""
