"""The engine in a process of its own: what ends it leaves the window and its chats alone, and neither waits for the
other's interpreter.
"""
