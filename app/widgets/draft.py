"""The field for the message: files and long texts that are pasted or dropped become attachments."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, Signal
from PySide6.QtWidgets import QPlainTextEdit

LONG = 6000  # characters; a longer text that is pasted becomes an attachment


class DraftEdit(QPlainTextEdit):
    """files: list[Path]. long_text: what was pasted."""

    files = Signal(object)
    long_text = Signal(str)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        return bool(local_files(source)) or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        paths = local_files(source)
        if paths:
            self.files.emit(paths)
        elif len(source.text()) > LONG:
            self.long_text.emit(source.text())
        else:
            super().insertFromMimeData(source)


def local_files(source: QMimeData) -> list[Path]:
    """The files among what is dropped or pasted."""
    return [Path(url.toLocalFile()) for url in source.urls() if url.isLocalFile()]
