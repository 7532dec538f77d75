"""Run as a process of its own: a whole window with the scripted engine, streaming until it is killed.

Arguments: a folder, and the number of a question; or `attach`: files are attached to a message that is not sent.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"  # before Qt is imported

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from app.application import Application
from app.storage.database_thread import DatabaseThread
from app.storage.records import Attachment
from tests.app.fake_engine import SENTENCE, scripted
from tests.app.homes import lived_in

ATTACHED = (Attachment("map.txt", "north of the oak\n" * 1000), Attachment("Grüße.md", "# Grüße"))


class Reporter(QObject):
    """Says on standard output how far the answer has come on the page and how many seconds the database is behind (next
    to nothing, but where the computer is busy), or that what is not sent is on disk.
    """

    def __init__(self, database: DatabaseThread) -> None:
        super().__init__()
        self._database = database
        self._asked = 0.0  # when the database was, and has not answered yet; 0: it has

    @Slot(str, object)
    def draft(self, _text: str, _attachments: object) -> None:
        self._database.submit(lambda store: None, lambda _: print("kept", flush=True))  # in turn, after the draft

    @Slot(object, str, str)
    def grew(self, _message: object, text: str, _status: str) -> None:
        now = time.monotonic()
        print(len(text), now - self._asked if self._asked else 0.0, flush=True)
        if not self._asked:
            self._asked = now
            self._database.submit(lambda store: None, self._answered)

    def _answered(self, _: None) -> None:
        print(0, time.monotonic() - self._asked, flush=True)
        self._asked = 0.0


def main() -> None:
    """Ask, and stream for ever."""
    application = QApplication([])
    underhill = Application(
        application, lived_in(Path(sys.argv[1])), scripted(rate=150.0, script=lambda messages: SENTENCE * 5000)
    )
    reporter = Reporter(underhill.database)
    underhill.open()
    if sys.argv[2] == "attach":
        underhill.window.composer.set_attachments(ATTACHED)
        underhill.window.composer.draft.connect(reporter.draft)
    else:
        underhill.conversation.text_added.connect(reporter.grew)
        underhill.conversation.send(f"question {sys.argv[2]}")
    application.exec()


if __name__ == "__main__":
    main()
