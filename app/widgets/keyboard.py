"""Keys of the window: the table of shortcuts, Tab in reading order, Enter on buttons, typing into the message field."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QAbstractButton, QApplication, QPlainTextEdit, QScrollArea, QWidget

from app.i18n.translate import tr_noop

_SHIFT = Qt.KeyboardModifier.ShiftModifier | Qt.KeyboardModifier.KeypadModifier
_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier  # as Windows has it


@dataclass(frozen=True)
class Shortcut:
    """name: of what is done; empty where a widget handles the key by itself. keys: as QKeySequence reads them."""

    group: str
    words: str
    keys: str
    name: str = ""


SHORTCUTS = (
    Shortcut(tr_noop("Chats"), tr_noop("New chat"), "Ctrl+N", "new_chat"),
    Shortcut(tr_noop("Chats"), tr_noop("Next chat"), "Ctrl+Tab", "next_chat"),
    Shortcut(tr_noop("Chats"), tr_noop("Previous chat"), "Ctrl+Shift+Tab", "chat_before"),
    Shortcut(tr_noop("Chats"), tr_noop("Search chats"), "Ctrl+K", "focus_search"),
    Shortcut(tr_noop("Chats"), tr_noop("Find in this chat"), "Ctrl+F", "find"),
    Shortcut(tr_noop("Chats"), tr_noop("Undo delete"), "Ctrl+Z", "undo"),
    Shortcut(tr_noop("Chats"), tr_noop("Rename chat"), "F2"),
    Shortcut(tr_noop("Chats"), tr_noop("Move to folder"), "Ctrl+Shift+F"),
    Shortcut(tr_noop("Chats"), tr_noop("Delete chat"), "Del"),
    Shortcut(tr_noop("Messages"), tr_noop("Send"), "Return"),
    Shortcut(tr_noop("Messages"), tr_noop("New line"), "Shift+Return"),
    Shortcut(tr_noop("Messages"), tr_noop("Chat settings"), "Ctrl+P", "style"),
    Shortcut(tr_noop("Messages"), tr_noop("Attach files"), "Ctrl+O", "attach"),
    Shortcut(
        tr_noop("Messages"),
        tr_noop("Stop, cancel edit, back to chat"),
        "Esc",
        "escape",
    ),
    Shortcut(tr_noop("Messages"), tr_noop("Regenerate the last answer"), "Ctrl+R", "regenerate_last"),
    Shortcut(tr_noop("Messages"), tr_noop("Continue the last answer"), "Ctrl+Shift+R", "continue_last"),
    Shortcut(tr_noop("Messages"), tr_noop("Compare answers"), "Ctrl+Shift+K", "compare"),
    Shortcut(tr_noop("Messages"), tr_noop("Edit the last message (when the box is empty)"), "Up"),
    Shortcut(tr_noop("Messages"), tr_noop("Copy the last answer"), "Ctrl+Shift+C", "copy_last"),
    Shortcut(tr_noop("Messages"), tr_noop("Read the last answer aloud, stop reading"), "Ctrl+Shift+L", "read_last"),
    Shortcut(tr_noop("Messages"), tr_noop("Previous, next message"), "Alt+Up"),
    Shortcut(tr_noop("Messages"), tr_noop("Show or hide thinking"), "Ctrl+T"),
    Shortcut(tr_noop("Messages"), tr_noop("Answer details"), "Ctrl+I"),
    Shortcut(tr_noop("Window"), tr_noop("Select a model"), "Ctrl+M", "choose_model"),
    Shortcut(tr_noop("Window"), tr_noop("Models"), "Ctrl+Shift+M", "show_library"),
    Shortcut(tr_noop("Window"), tr_noop("Toggle sidebar"), "Ctrl+B", "toggle_sidebar"),
    Shortcut(tr_noop("Window"), tr_noop("Toggle performance panel"), "Ctrl+L", "toggle_live"),
    Shortcut(tr_noop("Window"), tr_noop("Next pane"), "F6", "next_pane"),
    Shortcut(tr_noop("Window"), tr_noop("Settings"), "Ctrl+,", "open_settings"),
    Shortcut(tr_noop("Window"), tr_noop("Keyboard shortcuts"), "F1", "show_shortcuts"),
    Shortcut(tr_noop("Window"), tr_noop("Quit"), "Ctrl+Q", "close_window"),
)


def key_names(keys: str) -> str:
    """Keys of a Shortcut as people read them on their keyboard, in any language: 'Enter', 'Alt+↑'."""
    native = QKeySequence.SequenceFormat.NativeText
    names = QKeySequence(keys).toString(native)
    for key, name in (("Return", "Enter"), ("Up", "↑")):
        if keys.endswith(key):
            return names.removesuffix(QKeySequence(key).toString(native)) + name
    return names


def stops(root: QWidget) -> list[QWidget]:
    """Widgets of a window in Tab's order: columns from the left, within them lines from the top."""
    found: list[QWidget] = []
    _gather(root, found)
    return found


def move_focus(root: QWidget, forward: bool) -> bool:
    """Focus the next stop, round and round, and scroll it into sight. False where there is none."""
    order = stops(root)
    if not order:
        return False
    now: QWidget | None = QApplication.focusWidget() or root.focusWidget()
    while now is not None and now not in order:
        now = now.parentWidget()
    step = 1 if forward else -1
    at = order.index(now) + step if now is not None else 0 if forward else -1
    target = order[at % len(order)]
    target.setFocus(Qt.FocusReason.TabFocusReason if forward else Qt.FocusReason.BacktabFocusReason)
    holder = target.parentWidget()
    while holder is not None and holder is not root:
        if isinstance(holder, QScrollArea):
            holder.ensureWidgetVisible(target)
        holder = holder.parentWidget()
    return True


def _gather(widget: QWidget, found: list[QWidget]) -> None:
    if widget.isEnabled() and widget.focusPolicy() & Qt.FocusPolicy.TabFocus and widget.focusProxy() is None:
        found.append(widget)
    inside = [c for c in widget.children() if isinstance(c, QWidget) and c.isVisible() and not c.isWindow()]
    for line in _lines(inside):
        for child in line:
            _gather(child, found)


def _lines(widgets: list[QWidget]) -> list[list[QWidget]]:
    """Group widgets in lines; two share one where they overlap by more than half of the lower one's height."""
    lines: list[list[QWidget]] = []
    for widget in sorted(widgets, key=lambda w: (w.y(), w.x())):
        for line in lines:
            first = line[0]
            common = min(first.y() + first.height(), widget.y() + widget.height()) - max(first.y(), widget.y())
            if 2 * common > min(first.height(), widget.height()):
                line.append(widget)
                break
        else:
            lines.append([widget])
    return [sorted(line, key=lambda w: w.x()) for line in lines]


def press_focused(root: QWidget, event: QKeyEvent) -> bool:
    """Click the focused button below `root` if the key is Enter. Qt does so in dialogs alone."""
    now = root.window().focusWidget()
    if event.key() not in (Qt.Key.Key_Return, Qt.Key.Key_Enter) or not isinstance(now, QAbstractButton):
        return False
    if not root.isAncestorOf(now):
        return False
    now.click()
    return True


def types_text(event: QKeyEvent) -> bool:
    """Whether the key types text: no command, and no Space, which presses what has the focus."""
    held = event.modifiers() & ~_SHIFT & ~Qt.KeyboardModifier.GroupSwitchModifier
    plain = held in (Qt.KeyboardModifier.NoModifier, _ALT_GR)
    return plain and bool(event.text().strip()) and event.text().isprintable()


class KeyForwarder(QObject):
    """Event filter for keys of the window that no other widget used."""

    def __init__(self, window: QWidget, edit: QPlainTextEdit, conversation: QWidget) -> None:
        """conversation: where Alt with Up and Down chooses messages."""
        super().__init__(window)
        self._edit = edit
        self._conversation = conversation
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or not self._edit.isVisible():
            return False
        if self._edit.hasFocus():
            return self._to_conversation(event)
        if event.matches(QKeySequence.StandardKey.Paste):
            self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
            self._edit.paste()
            return True
        if not types_text(event):
            return False
        self._edit.setFocus(Qt.FocusReason.ShortcutFocusReason)
        QCoreApplication.sendEvent(self._edit, event)
        return True

    def _to_conversation(self, event: QKeyEvent) -> bool:
        alt = event.modifiers() & ~_SHIFT == Qt.KeyboardModifier.AltModifier
        if not alt or event.key() not in (Qt.Key.Key_Up, Qt.Key.Key_Down) or not self._conversation.isVisible():
            return False
        self._conversation.setFocus(Qt.FocusReason.ShortcutFocusReason)
        return True
