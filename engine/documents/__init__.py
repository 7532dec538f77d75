"""Chat with documents: files and folders are cut into passages, indexed, and searched at each question."""
