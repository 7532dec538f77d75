"""The models on this computer: folders, lists, trash, copies, settings shared by window and terminal."""
