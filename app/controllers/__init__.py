"""Controllers: each connects one concern of the window to the chats, the models or the system."""
