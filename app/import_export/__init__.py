"""Export of chats, import of chats, and backups of the chat database."""
