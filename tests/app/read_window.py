"""Run as a process of its own: a whole window with the scripted engine for a screen reader to walk through.

Argument: a folder. Lines on standard input: `ask WORDS`, `settings`, `library`, `fail`, `tour STEP`, `compare WORDS`,
`panels`; `done` answers each once it is on the page.
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from app.application import Application
from tests.app.fake_engine import scripted
from tests.app.homes import lived_in
from tests.app.telemetry.samples import FACTS


class Orders(QObject):
    """What stands on standard input, read on a thread of its own."""

    came = Signal(str)

    def read(self) -> None:
        for line in sys.stdin:
            self.came.emit(line.strip())


def main() -> None:
    """Follow the orders."""
    application = QApplication([])
    paths = lived_in(Path(sys.argv[1]))
    underhill = Application(application, paths, scripted(script=lambda messages: "The **treasure** is under the oak."))
    window = underhill.window

    def said(_: object = None) -> None:
        print("done", flush=True)

    def compare(question: str) -> None:
        page = window.compare.open()

        def changed() -> None:
            if page.run.divergence is not None:
                page.run.changed.disconnect(changed)
                said()

        page.run.changed.connect(changed)
        page.edit.setPlainText(question)
        page.ask()

    def follow(order: str) -> None:
        what, _, words = order.partition(" ")
        if what == "ask":
            underhill.conversation.send(words)
        elif what == "settings":
            window.settings.open()
            said()
        elif what == "library":
            window.library.show()
            said()
        elif what == "tour":
            underhill.onboarding.begin().show_step(int(words))
            said()
        elif what == "compare":
            compare(words)
        elif what == "panels":
            window.navigator.show_chat()
            window.header.live.setChecked(True)
            window.live.experts.inspector.show_expert(FACTS)
            said()
        elif what == "fail":
            window.banners.show_banner("error", "The disk is full.", "Delete something.")
            said()

    underhill.conversation.finished.connect(said)
    underhill.models.loaded.connect(said)
    orders = Orders()
    orders.came.connect(follow)
    underhill.open()
    threading.Thread(target=orders.read, daemon=True).start()
    application.exec()


if __name__ == "__main__":
    main()
