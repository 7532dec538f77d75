"""The list of chats and folders beside the conversation."""
