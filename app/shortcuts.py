"""Every key of the window, declared once: the window connects them and the sheet lists them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Shortcut:
    """name: of what is done; empty where a widget handles the key by itself. keys: as QKeySequence reads them."""

    group: str
    words: str
    keys: str
    name: str = ""


SHORTCUTS = (
    Shortcut("Chats", "New chat", "Ctrl+N", "new_chat"),
    Shortcut("Chats", "Search all messages", "Ctrl+K", "focus_search"),
    Shortcut("Chats", "Take back the last deletion", "Ctrl+Z", "undo"),
    Shortcut("Chats", "Rename the chosen chat", "F2"),
    Shortcut("Chats", "Delete the chosen chat", "Del"),
    Shortcut("Answers", "Send the message", "Return"),
    Shortcut("Answers", "New line", "Shift+Return"),
    Shortcut("Answers", "System prompt and sampling of this chat", "Ctrl+P", "style"),
    Shortcut("Answers", "Attach files", "Ctrl+O", "attach"),
    Shortcut("Answers", "Stop the answer (again: no longer wait for it), or leave off editing", "Esc", "escape"),
    Shortcut("Answers", "Answer the last question again", "Ctrl+R", "again_last"),
    Shortcut("Answers", "Have a cut answer go on", "Ctrl+Shift+R", "go_on_last"),
    Shortcut("Answers", "Edit the last message (in an empty message box)", "Up"),
    Shortcut("Answers", "Copy the last answer", "Ctrl+Shift+C", "copy_last"),
    Shortcut("Answers", "Message before, message after (in the conversation)", "Alt+Up"),
    Shortcut("Answers", "Show or hide the thought (in the conversation)", "Ctrl+T"),
    Shortcut("Answers", "How the answer was made (in the conversation)", "Ctrl+I"),
    Shortcut("Window", "Choose a model", "Ctrl+M", "choose_model"),
    Shortcut("Window", "Get and manage models", "Ctrl+Shift+M", "show_library"),
    Shortcut("Window", "Show or hide the list of chats", "Ctrl+B", "toggle_sidebar"),
    Shortcut("Window", "Show or hide the live panel", "Ctrl+L", "toggle_live"),
    Shortcut("Window", "Next part of the window", "F6", "next_pane"),
    Shortcut("Window", "Settings", "Ctrl+,", "open_settings"),
    Shortcut("Window", "This list", "F1", "show_shortcuts"),
    Shortcut("Window", "Close Underhill", "Ctrl+Q", "close_window"),
)
