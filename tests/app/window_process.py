"""Run as a process of its own: a whole window with the scripted engine, streaming until it is killed."""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QApplication

from app.assembly import Underhill
from tests.app.fake_engine import SENTENCE, scripted
from tests.app.homes import lived_in


class Reporter(QObject):
    """Says on standard output how far the answer has come on the page."""

    @Slot(object, str, str)
    def grew(self, _message: object, text: str, _status: str) -> None:
        print(len(text), flush=True)


def main() -> None:
    """Ask, and stream for ever."""
    application = QApplication([])
    underhill = Underhill(
        application, lived_in(Path(sys.argv[1])), scripted(rate=150.0, script=lambda messages: SENTENCE * 5000)
    )
    reporter = Reporter()
    underhill.conversation.grew.connect(reporter.grew)
    underhill.open()
    underhill.conversation.send(f"question {sys.argv[2]}")
    application.exec()


main()
