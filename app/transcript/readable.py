"""The messages in sight as labels without ink, for screen readers: the page paints its text, which they cannot see."""

from __future__ import annotations

from functools import lru_cache

from PySide6.QtCore import QObject, QRect, Qt
from PySide6.QtGui import QAccessible, QTextDocumentFragment
from PySide6.QtWidgets import QLabel

from app.i18n.translate import tr
from app.markdown.split import without_thought
from app.storage.records import StoredMessage
from app.transcript.page import TranscriptPage


def spoken(message: StoredMessage) -> str:
    """A message as it is read out: an answer without its marks."""
    if message.role == "user":
        names = tr(", ", about="between the names of a list").join(a.name for a in message.attachments if a.image)
        seen = tr("Images: {names}", names=names) if names else ""
        return tr("You: {text}", text="\n".join(filter(None, (seen, message.content))))
    return tr("Answer: {text}", text=_plain(message.content))


@lru_cache(maxsize=32)  # more than are in sight: each is asked for whenever the page moves
def _plain(answer: str) -> str:
    return QTextDocumentFragment.fromMarkdown(without_thought(answer)).toPlainText()


class ReadableMessages(QObject):
    """Keeps one label over each message in sight, in their order, while a screen reader listens."""

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page)
        self._page = page
        self._labels: list[QLabel] = []

    def place(self) -> None:
        """Follow the page: what is in sight is another, has moved, or has ended."""
        if not QAccessible.isActive():
            return
        page = self._page
        top, high = float(page.verticalScrollBar().value()), page.viewport().height()
        seen = range(page.layout_.at(top), page.layout_.at(top + high) + 1) if page.items else range(0)
        while len(self._labels) < len(seen):
            label = QLabel(page.viewport())
            label.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
            self._labels.append(label)
        for label, index in zip(self._labels, seen):
            item = page.items[index]
            label.setGeometry(self._rect(index))
            # One that grows is read out when it is whole: a name that changes ten times a second helps nobody.
            name = tr("Answering") if item.streaming else spoken(item.message)
            if label.accessibleName() != name:  # each setting of it is told
                label.setAccessibleName(name)
            label.show()
        for label in self._labels[len(seen) :]:
            label.hide()

    def _rect(self, index: int) -> QRect:
        at, page = self._page.origin(index).toPoint(), self._page
        return QRect(at.x(), at.y(), round(page.layout_.column), round(page.items[index].height))
