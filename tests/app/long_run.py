"""Two hours of use in a minute or two, and what they leave behind: `python -m tests.app.long_run [--json]`.

More than 20,000 tokens are streamed with all panels open, 300 chats opened; between them answers are asked for again
and stopped, questions edited, messages searched, files attached, panels and pages opened, colours and sizes changed. At
the end of each round the window is brought to the same state, and all that is in it is counted. Exit code 1: it grows.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from PySide6.QtWidgets import QApplication, QDialog

from app.application import Application
from app.storage.records import Attachment, Chat, ScrollPosition, StoredMessage, new_id
from app.storage.store import ChatStore
from app.telemetry.experts_panel import MEANINGS
from app.telemetry.history import STEPS
from app.widgets.menus import make_menu
from tests.app.census import Census, growing, memory_growth, take
from tests.app.fake_engine import FakeEngine, scripted
from tests.app.homes import lived_in
from tests.app.samples import LONG_ANSWER

ROUNDS, SWITCHES = 60, 300
WARM = 12  # rounds before the first count: caches fill
CHATS = 20
RATE = 2000.0  # tokens per second
BAR = 8e6  # bytes that memory may grow by
_FORMULAS = "The mean is $\\frac{1}{n}\\sum_i x_i$, and\n\n$$ e^{i\\pi} + 1 = 0 $$\n\n"
ANSWER = LONG_ANSWER + _FORMULAS

SETTLES = 0.5  # seconds until no timer of the window runs that was started by what was done before


class Person:
    """Uses a window, round after round, through its own widgets. Takes `process` to let it work."""

    def __init__(self, underhill: Application, process: Callable[[], object]) -> None:
        self._underhill = underhill
        self._window = underhill.window
        self._process = process
        self.switches = self.tokens = self._round = 0
        self.counts: list[Census] = []

    def use(self, rounds: int, switches: int, warm: int) -> None:
        """Each round with so many chats opened; those after the first `warm` are counted."""
        engine = self._engine()
        for _ in range(STEPS):  # the panels remember so many snapshots, and that many they have from now on
            self._window.live.take(engine.snapshot(True))
        take(self._underhill, self.switches)  # counting makes objects of its own, once
        for number in range(rounds):
            self._one(switches)
            if number >= warm:
                self._rest()
                self._written()
                self.counts.append(take(self._underhill, self.switches))

    def _written(self) -> None:
        """Until the thread of the chats has nothing left to do: on a busy computer its jobs wait, and are counted."""
        through: list[None] = []
        self._underhill.database.submit(lambda store: None, through.append)
        self.until(lambda: through)

    def until(self, condition: Callable[[], object], limit: float = 30.0) -> None:
        """Let the window work until something is so. Raises TimeoutError."""
        end = time.monotonic() + limit
        while not condition():
            self._process()
            if time.monotonic() > end:
                raise TimeoutError(f"in round {self._round}")

    def _one(self, switches: int) -> None:
        self._round += 1
        for _ in range(switches):
            self._switch()
        self._ask()
        (self._again, self._edit, self._version, self._stop)[self._round % 4]()
        self._search()
        self._look_around()

    def _switch(self) -> None:
        chats = [row for row in self._window.sidebar.model.rows if isinstance(row, Chat)]
        chat = min(chats, key=lambda c: (c.id * (self.switches + 1)) % 104_729)
        if self._conversation.chat is not None and chat.id == self._conversation.chat.id:
            chat = next(c for c in chats if c.id != chat.id)
        self._window.sidebar.opened.emit(chat)
        self.until(lambda: self._conversation.chat is not None and self._conversation.chat.id == chat.id)
        self.switches += 1
        self._window.transcript.verticalScrollBar().setValue(0)
        self._process()

    def _ask(self) -> None:
        composer = self._window.composer
        if self._round % 3 == 0:
            composer.set_attachments([Attachment("notes.txt", "the treasure is under the oak\n" * 40)])
        composer.edit.setPlainText(f"And what of hill number {self._round}?")
        composer.send()
        self._answered()

    def _again(self) -> None:
        self._window.editing.regenerate_last()
        self._answered()

    def _edit(self) -> None:
        self._window.editing.edit_last()
        self._window.composer.edit.appendPlainText("I mean the other one.")
        self._window.composer.send()
        self._answered()

    def _version(self) -> None:
        self._again()
        self._window.transcript.message_actions.step.emit(self._conversation.messages[-1].id, -1)
        self._window.transcript.toggle_details(self._conversation.messages[-1].id)

    def _stop(self) -> None:
        self._window.editing.regenerate_last()
        self.until(lambda: len(self._window.transcript.items[-1].message.content) > 200)
        self._conversation.stop()
        self._answered()

    def _answered(self) -> None:
        self.until(lambda: self._conversation.messages and not self._conversation.working)
        self.tokens += len(self._conversation.messages[-1].token_ids)

    def _search(self) -> None:
        search, model = self._window.sidebar.search, self._window.sidebar.model
        search.setText("receptionist")
        self._window.sidebar.search_now()
        self.until(lambda: model.rows and not any(isinstance(row, Chat) for row in model.rows))
        search.clear()
        self._window.sidebar.search_now()
        self.until(lambda: sum(isinstance(row, Chat) for row in model.rows) >= 2)

    def _look_around(self) -> None:
        """Pages, panels, dialogs, colours and sizes: one or two of them each round."""
        window, number = self._window, self._round
        window.resize(*((1280, 820), (1000, 700), (1500, 900))[number % 3])
        window.live.experts.meanings.setCurrentIndex(number % len(MEANINGS))
        if number % 3 == 0:
            self._underhill.theme.set_mode(("light", "dark")[number % 2])
            window.settings.open()
        elif number % 3 == 1:
            window.library.show()
            window.show_shortcuts()
            window.banners.show_banner("info", "Something was imported.")
        else:
            window.header.live.setChecked(False)
            window.chats.open_style()
            window.show_about()
            window.toast.show_message("Something was deleted.", "Undo", lambda: None)
        menu = make_menu(window.sidebar, once=True)  # as for a click; where there is no display, popping up warns
        window.sidebar.fill_menu(menu)
        menu.close()
        window.header.fill_menu()
        for _ in range(5):
            self._process()
        self._close_dialogs()
        window.navigator.show_chat()
        window.header.live.setChecked(True)

    def _close_dialogs(self) -> None:
        self._process()
        for dialog in self._window.findChildren(QDialog):
            if dialog.isVisible():
                dialog.accept()

    def _rest(self) -> None:
        """The state in which is counted: a new chat, nothing on its way, what the engine was asked forgotten."""
        for banner in list(self._window.banners.banners):
            banner.dismiss()
        self._window.toast.end()
        self._underhill.theme.set_mode("light")
        self._window.resize(1280, 820)
        self._window.navigator.new_chat()
        end = time.monotonic() + SETTLES
        while time.monotonic() < end:
            self._process()
        engine = self._engine()
        engine.received.clear()
        engine._cancelled.clear()

    def _engine(self) -> FakeEngine:
        engine = self._underhill.link.engine
        assert isinstance(engine, FakeEngine)
        return engine

    @property
    def _conversation(self):  # type: ignore[no-untyped-def]
        return self._underhill.conversation


def fill(folder: Path, chats: int = CHATS) -> None:
    """Chats to switch between: the same at each run, each with a message and a place in it, as all have in the end."""
    store = ChatStore(folder / "chats.db")
    for number in range(1, chats + 1):
        message = StoredMessage(
            id=new_id(), chat_id=number, parent_id=None, role="user", content=f"What of hill {number}?"
        )
        store.create(Chat(id=number, title=f"Chat {number}"), message)
        store.set_field(number, "place", ScrollPosition(message.id, 0))
    store.close()


def main() -> int:
    """Live through it and say what grew."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    application = QApplication([])
    raised: list[str] = []  # in slots, after which Qt goes on
    sys.excepthook = lambda kind, error, trace: raised.append(f"{kind.__name__}: {error}")
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="underhill-long-run-") as folder:
        fill(Path(folder))
        engine = scripted(rate=RATE, script=lambda messages: ANSWER)
        underhill = Application(application, lived_in(Path(folder)), engine)
        underhill.window.resize(1280, 820)
        underhill.open()
        person = Person(underhill, application.processEvents)
        person.until(lambda: underhill.models.state == "ready" and underhill.window.sidebar.model.rows)
        person.use(options.rounds, SWITCHES // ROUNDS, min(WARM, options.rounds // 3))
        underhill.window.close()
        underhill.close()
    grown, more = growing(person.counts), memory_growth(person.counts)
    fine = not grown and more < BAR and not raised
    found = {
        "seconds": round(time.monotonic() - begun), "tokens": person.tokens, "chats_opened": person.switches,
        "growing": grown, "exceptions": raised, "rss_mb": [round(c.rss / 1e6, 1) for c in person.counts],
        "rss_growth_mb": round(more / 1e6, 2), "bar_mb": BAR / 1e6, "ratio": round(more / BAR, 3),
        "objects": [sum(c.python.values()) for c in person.counts],
        "qt_objects": [sum(c.qt.values()) for c in person.counts], "holds": fine,
    }  # fmt: skip
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:14} {value}")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
