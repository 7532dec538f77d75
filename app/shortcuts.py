"""Every key of the window, declared once: the window connects them and the sheet lists them."""

from __future__ import annotations

from dataclasses import dataclass

from app.language.words import later


@dataclass(frozen=True)
class Shortcut:
    """name: of what is done; empty where a widget handles the key by itself. keys: as QKeySequence reads them."""

    group: str
    words: str
    keys: str
    name: str = ""


SHORTCUTS = (
    Shortcut(later("Chats"), later("New chat"), "Ctrl+N", "new_chat"),
    Shortcut(later("Chats"), later("Next chat in the list"), "Ctrl+Tab", "next_chat"),
    Shortcut(later("Chats"), later("Chat before it in the list"), "Ctrl+Shift+Tab", "chat_before"),
    Shortcut(later("Chats"), later("Search all messages"), "Ctrl+K", "focus_search"),
    Shortcut(later("Chats"), later("Find in this chat"), "Ctrl+F", "find"),
    Shortcut(later("Chats"), later("Take back the last deletion"), "Ctrl+Z", "undo"),
    Shortcut(later("Chats"), later("Rename the chosen chat"), "F2"),
    Shortcut(later("Chats"), later("Move the chosen chats to a folder"), "Ctrl+Shift+F"),
    Shortcut(later("Chats"), later("Delete the chosen chats"), "Del"),
    Shortcut(later("Answers"), later("Send the message"), "Return"),
    Shortcut(later("Answers"), later("New line"), "Shift+Return"),
    Shortcut(later("Answers"), later("System prompt and sampling of this chat"), "Ctrl+P", "style"),
    Shortcut(later("Answers"), later("Attach files"), "Ctrl+O", "attach"),
    Shortcut(
        later("Answers"),
        later("Stop the answer (again: no longer wait for it), leave off editing, go back to the chat"),
        "Esc",
        "escape",
    ),
    Shortcut(later("Answers"), later("Answer the last question again"), "Ctrl+R", "again_last"),
    Shortcut(later("Answers"), later("Have a cut answer go on"), "Ctrl+Shift+R", "go_on_last"),
    Shortcut(later("Answers"), later("Edit the last message (in an empty message box)"), "Up"),
    Shortcut(later("Answers"), later("Copy the last answer"), "Ctrl+Shift+C", "copy_last"),
    Shortcut(later("Answers"), later("Message before, message after (in the conversation)"), "Alt+Up"),
    Shortcut(later("Answers"), later("Show or hide the thought (in the conversation)"), "Ctrl+T"),
    Shortcut(later("Answers"), later("How the answer was made (in the conversation)"), "Ctrl+I"),
    Shortcut(later("Window"), later("Choose a model"), "Ctrl+M", "choose_model"),
    Shortcut(later("Window"), later("Get and manage models"), "Ctrl+Shift+M", "show_library"),
    Shortcut(later("Window"), later("Show or hide the list of chats"), "Ctrl+B", "toggle_sidebar"),
    Shortcut(later("Window"), later("Show or hide the live panel"), "Ctrl+L", "toggle_live"),
    Shortcut(later("Window"), later("Next part of the window"), "F6", "next_pane"),
    Shortcut(later("Window"), later("Settings"), "Ctrl+,", "open_settings"),
    Shortcut(later("Window"), later("This list"), "F1", "show_shortcuts"),
    Shortcut(later("Window"), later("Close Underhill"), "Ctrl+Q", "close_window"),
)
