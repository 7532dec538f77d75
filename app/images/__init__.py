"""Images in chats: read from files and the clipboard, decoded beside the window, and shown."""
