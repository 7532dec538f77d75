"""Every key of the window, declared once: the window connects them and the sheet lists them."""

from __future__ import annotations

from dataclasses import dataclass

from app.i18n.translate import tr_noop


@dataclass(frozen=True)
class Shortcut:
    """name: of what is done; empty where a widget handles the key by itself. keys: as QKeySequence reads them."""

    group: str
    words: str
    keys: str
    name: str = ""


SHORTCUTS = (
    Shortcut(tr_noop("Chats"), tr_noop("New chat"), "Ctrl+N", "new_chat"),
    Shortcut(tr_noop("Chats"), tr_noop("Next chat in the list"), "Ctrl+Tab", "next_chat"),
    Shortcut(tr_noop("Chats"), tr_noop("Chat before it in the list"), "Ctrl+Shift+Tab", "chat_before"),
    Shortcut(tr_noop("Chats"), tr_noop("Search all messages"), "Ctrl+K", "focus_search"),
    Shortcut(tr_noop("Chats"), tr_noop("Find in this chat"), "Ctrl+F", "find"),
    Shortcut(tr_noop("Chats"), tr_noop("Take back the last deletion"), "Ctrl+Z", "undo"),
    Shortcut(tr_noop("Chats"), tr_noop("Rename the chosen chat"), "F2"),
    Shortcut(tr_noop("Chats"), tr_noop("Move the chosen chats to a folder"), "Ctrl+Shift+F"),
    Shortcut(tr_noop("Chats"), tr_noop("Delete the chosen chats"), "Del"),
    Shortcut(tr_noop("Answers"), tr_noop("Send the message"), "Return"),
    Shortcut(tr_noop("Answers"), tr_noop("New line"), "Shift+Return"),
    Shortcut(tr_noop("Answers"), tr_noop("System prompt and sampling of this chat"), "Ctrl+P", "style"),
    Shortcut(tr_noop("Answers"), tr_noop("Attach files"), "Ctrl+O", "attach"),
    Shortcut(
        tr_noop("Answers"),
        tr_noop("Stop the answer (again: no longer wait for it), leave off editing, go back to the chat"),
        "Esc",
        "escape",
    ),
    Shortcut(tr_noop("Answers"), tr_noop("Answer the last question again"), "Ctrl+R", "again_last"),
    Shortcut(tr_noop("Answers"), tr_noop("Have a cut answer go on"), "Ctrl+Shift+R", "go_on_last"),
    Shortcut(tr_noop("Answers"), tr_noop("Edit the last message (in an empty message box)"), "Up"),
    Shortcut(tr_noop("Answers"), tr_noop("Copy the last answer"), "Ctrl+Shift+C", "copy_last"),
    Shortcut(tr_noop("Answers"), tr_noop("Message before, message after (in the conversation)"), "Alt+Up"),
    Shortcut(tr_noop("Answers"), tr_noop("Show or hide the thought (in the conversation)"), "Ctrl+T"),
    Shortcut(tr_noop("Answers"), tr_noop("How the answer was made (in the conversation)"), "Ctrl+I"),
    Shortcut(tr_noop("Window"), tr_noop("Choose a model"), "Ctrl+M", "choose_model"),
    Shortcut(tr_noop("Window"), tr_noop("Get and manage models"), "Ctrl+Shift+M", "show_library"),
    Shortcut(tr_noop("Window"), tr_noop("Show or hide the list of chats"), "Ctrl+B", "toggle_sidebar"),
    Shortcut(tr_noop("Window"), tr_noop("Show or hide the live panel"), "Ctrl+L", "toggle_live"),
    Shortcut(tr_noop("Window"), tr_noop("Next part of the window"), "F6", "next_pane"),
    Shortcut(tr_noop("Window"), tr_noop("Settings"), "Ctrl+,", "open_settings"),
    Shortcut(tr_noop("Window"), tr_noop("This list"), "F1", "show_shortcuts"),
    Shortcut(tr_noop("Window"), tr_noop("Close Underhill"), "Ctrl+Q", "close_window"),
)
