"""What the keys do in a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_LINE = 40  # pixels


def press(view: TranscriptView, event: QKeyEvent) -> bool:
    """Do what the key stands for; False where it stands for nothing."""
    bar, key = view.verticalScrollBar(), event.key()
    jumps = {
        Qt.Key.Key_Home: -bar.maximum(), Qt.Key.Key_End: bar.maximum(), Qt.Key.Key_PageUp: -bar.pageStep() + _LINE,
        Qt.Key.Key_PageDown: bar.pageStep() - _LINE, Qt.Key.Key_Up: -_LINE, Qt.Key.Key_Down: _LINE,
    }  # fmt: skip
    control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
    alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
    current = view.items[view.current].message.id if 0 <= view.current < len(view.items) else 0
    if event.matches(QKeySequence.StandardKey.Copy):
        view.copy()
    elif event.matches(QKeySequence.StandardKey.SelectAll):
        view.select_all()
    elif control and current and key == Qt.Key.Key_T:
        view.toggle_thought(current)
    elif control and current and key == Qt.Key.Key_I:
        view.toggle_details(current)
    elif alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
        view.choose(view.current + (1 if key == Qt.Key.Key_Down else -1))
    elif key in jumps:
        bar.setValue(bar.value() + jumps[Qt.Key(key)])
    else:
        return False
    return True
