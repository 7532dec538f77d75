"""What goes from the conversation to the clipboard, and the word that it did."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Slot
from PySide6.QtGui import QGuiApplication

from app.render.split import without_thought
from app.transcript.actions import MessageActions
from app.transcript.blocks import BlockView

if TYPE_CHECKING:
    from app.transcript.view import TranscriptView

_SAID_FOR = 1500  # milliseconds


class Copier(QObject):
    """copied: the block of code that was copied a moment ago, which says so."""

    def __init__(self, view: TranscriptView, actions: MessageActions) -> None:
        super().__init__(view)
        self._view, self._actions = view, actions
        self.copied: BlockView | None = None
        self._timer = QTimer(self, singleShot=True, interval=_SAID_FOR)
        self._timer.timeout.connect(self._over)

    def selected(self, as_written: bool) -> bool:
        """The selection; False where nothing is selected. as_written: as Markdown."""
        view = self._view
        text = view.selection.text(view.items, view.make, as_written)
        view.layout_.kept.trim()
        if text:
            QGuiApplication.clipboard().setText(text)
        return bool(text)

    def message(self, text: str) -> None:
        """A message as it was written, without what the model thought."""
        QGuiApplication.clipboard().setText(without_thought(text))
        self._actions.show_copied(True)
        self._timer.start()

    def block(self, block: BlockView) -> None:
        """A block of code."""
        QGuiApplication.clipboard().setText(block.block.text)
        self.copied = block
        self._timer.start()
        self._view.renew()

    @Slot()
    def _over(self) -> None:
        self.copied = None
        self._actions.show_copied(False)
        self._view.renew()
