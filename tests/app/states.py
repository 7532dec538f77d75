"""Draws every page and dialog of the window, with what may go wrong, to be looked at:

    QT_QPA_PLATFORM=offscreen python -m tests.app.states OUT [--percent 150] [--theme dark] [--language zh_CN] [NAME...]
    QT_QPA_PLATFORM=offscreen python -m tests.app.states OUT --all [NAME...]

NAME: a part of a state's name; only those are drawn. Without NAME all of them, some sixty. --all: in both sizes, themes
and languages, each of the eight in a process and a folder of its own, such as OUT/150-dark-zh_CN.
"""

from __future__ import annotations

import argparse
import itertools
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget
from pytestqt.qtbot import QtBot

from app.application import Application
from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.preferences import Preferences
from app.storage.store import ChatStore
from engine import protocol
from engine.translatable import msg
from tests.app import palette, pictured, places
from tests.app.conftest import engine_of
from tests.app.fake_cards import LARGE
from tests.app.fake_engine import scripted
from tests.app.samples import LONG_ANSWER, QUESTION

State = tuple[str, QWidget]
LOOKS = tuple(itertools.product(("100", "150"), ("light", "dark"), ("en", "zh_CN")))  # percent, theme, language
_LONGEST = 30.0  # seconds until a state must have come
_WIDE_LINE = "def total(" + ", ".join(f"value_{n}: float" for n in range(24)) + ") -> float:"
WIDE = f"Here it is:\n\n```python\n{_WIDE_LINE}\n    return sum(locals().values())\n```\n\nThat is all of it."
RIGHT_TO_LEFT = f"""הסבר קצר על הקוד:

1. קודם **סוכמים** את הערכים.
2. אחר כך מחזירים אותם.

> ככל שהזיכרון גדול יותר, כך התשובה מהירה יותר.

```python
# הערה: הסכום של כל הערכים
{_WIDE_LINE}
```
"""
_ENDPOINT = protocol.EndpointCard(
    id="lab",
    endpoint=protocol.Endpoint(name="Lab server", url="https://lab.example:8443/v1", model="qwen3-235b"),
    has_key=True,
)
_TOO_LARGE = protocol.Failed(
    "", protocol.Kind.OUT_OF_MEMORY, msg("Not enough memory."), msg("Close other apps or lower the memory limit."),
    "MemoryError: 1.2 GiB for the KV cache",
)  # fmt: skip
_GONE = protocol.Failed(
    "", protocol.Kind.MISSING_FILE,
    msg("{file} is missing from {name}.", file="experts-3.safetensors", name="olmoe-1b-7b"),
    msg("Import the model again."), "FileNotFoundError: /models/olmoe-1b-7b/experts-3.safetensors",
)  # fmt: skip
_NONE = protocol.Failed("", protocol.Kind.NOT_FOUND, msg("There is no model called {name} here.", name="builtin"), "")


class Hand:
    """What of a QtBot the pages ask for."""

    keyClicks = staticmethod(QTest.keyClicks)
    keyClick = staticmethod(QTest.keyClick)
    mouseClick = staticmethod(QTest.mouseClick)

    @staticmethod
    def waitUntil(condition: Callable[[], bool | None], timeout: float = _LONGEST) -> None:
        begun = time.monotonic()
        while not condition():
            QTest.qWait(5)
            if time.monotonic() - begun > timeout:
                raise TimeoutError("the window did not come to the state to be shown")


class Room:
    """A window in a folder of its own."""

    def __init__(self, application: QApplication, chosen: Preferences) -> None:
        self.application, self.chosen = application, chosen
        self.hand = cast(QtBot, Hand())

    def open(self, folder: Path, *, furnished: bool = False, **values: Any) -> Application:
        """values: of the fake engine."""
        paths = AppPaths(folder)
        if furnished:
            pictured.furnish(paths)
        preferences.save(self.chosen, paths.preferences)
        underhill = Application(self.application, paths, scripted(**values))
        underhill.window.resize(1280, 820)
        underhill.open()
        return underhill


def everything(room: Room, folder: Path) -> Iterator[State]:
    """The pages and dialogs that are tested, too."""
    underhill = room.open(folder, **places.ENGINE)
    room.hand.waitUntil(lambda: underhill.models.state == "ready")
    yield from places.pages(room.hand, underhill)
    yield from places.dialogs(room.hand, underhill)
    yield from _ended(underhill)


def chats(room: Room, folder: Path) -> Iterator[State]:
    """Chats of different kinds, in a window of different sizes."""
    underhill = room.open(folder, furnished=True, cards=(LARGE,), context=4096, endpoints=(_ENDPOINT,))
    window, hand, engine = underhill.window, room.hand, engine_of(underhill)
    underhill.models.load(LARGE.name, {})
    hand.waitUntil(lambda: underhill.models.card is not None and underhill.models.state == "ready")
    for name, question, answer in (
        ("formula, code and table", pictured.SIMILAR, pictured.SIMILAR_ANSWER),
        ("wide code", "Sum them up.", WIDE), ("right to left", "איך זה עובד?", RIGHT_TO_LEFT),
        ("chinese answer", pictured.CHINESE, pictured.CHINESE_ANSWER), ("thinking", pictured.PUZZLE,
        pictured.PUZZLE_ANSWER),
    ):  # fmt: skip
        engine.script = lambda messages, text=answer: text
        window.navigator.new_chat()
        _send(hand, underhill, question)
        QTest.qWait(800)
        yield f"chat: {name}", window
        if name == "wide code":
            window.transcript.wrap_code(True)
            yield "chat: wrapped code", window
            window.transcript.wrap_code(False)
    engine.script = lambda messages: LONG_ANSWER
    for _ in range(12):
        _send(hand, underhill, QUESTION)
    bar = window.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    yield "a long chat", window
    engine.rate = 30.0
    underhill.conversation.send(QUESTION)
    QTest.qWait(3500)
    yield "an answer is being written", window
    underhill.conversation.stop()
    hand.waitUntil(lambda: not underhill.conversation.working)
    engine.rate = 0.0
    yield "a stopped answer", window
    window.library.show().show_section(5)
    places.settle(hand, window)
    yield "library: endpoints", window
    window.navigator.show_chat()
    window.resize(900, 600)
    places.settle(hand, window)
    yield "a small window", window
    window.library.show().show_section(1)
    hand.waitUntil(lambda: underhill.library.catalogue is not None)
    places.settle(hand, window)
    yield "library in a small window", window
    for name, menu in places.menus(underhill):
        menu.popup(window.mapToGlobal(window.rect().topLeft()))
        yield f"menu: {name}", menu
        menu.hide()
    yield from _ended(underhill)


def _send(hand: QtBot, underhill: Application, question: str) -> None:
    before = len(underhill.conversation.messages)
    underhill.conversation.send(question)
    hand.waitUntil(lambda: len(underhill.conversation.messages) > before and not underhill.conversation.working)


def errors(room: Room, folder: Path) -> Iterator[State]:
    """What may go wrong."""
    underhill = room.open(folder, furnished=True, cards=(LARGE,), fail={protocol.LoadModel: _GONE})
    window, hand, engine = underhill.window, room.hand, engine_of(underhill)

    def banner() -> bool:
        return bool(window.banners.banners)

    def put_away() -> None:
        while window.banners.banners:
            window.banners.banners[0].dismiss()
        places.settle(hand, window)

    hand.waitUntil(banner)
    yield "error: a file of the model is missing", window
    put_away()
    engine.fail[protocol.LoadModel] = _TOO_LARGE
    window.model_controller.reload()
    hand.waitUntil(banner)
    yield "error: the model does not fit", window
    put_away()
    window.model_controller.reload()
    hand.waitUntil(lambda: underhill.models.state == "ready")
    engine.fail[protocol.Generate] = _TOO_LARGE
    underhill.conversation.send(QUESTION)
    hand.waitUntil(banner)
    yield "error: no memory for an answer", window
    put_away()
    whole = ChatStore.update
    ChatStore.update = _full  # type: ignore[assignment,method-assign]
    underhill.conversation.send(QUESTION)
    hand.waitUntil(banner)
    yield "error: the disk is full", window
    ChatStore.update = whole  # type: ignore[method-assign]
    put_away()
    yield from _ended(underhill)


def nothing(room: Room, folder: Path) -> Iterator[State]:
    """A library and a list of chats that are empty."""
    underhill = room.open(folder, cards=(), fail={protocol.LoadModel: _NONE})
    window = underhill.window
    room.hand.waitUntil(lambda: bool(window.banners.banners))
    yield "no model", window
    window.library.show().show_section(0)
    places.settle(room.hand, window)
    yield "library: empty", window
    for number, name in ((2, "no other apps"), (3, "no downloads")):
        window.library.show().show_section(number)
        if number == 2:
            engine_of(underhill).hub.found = ()
            underhill.library.find()
            room.hand.waitUntil(lambda: underhill.library.found is not None)
        QTest.qWait(200)
        yield f"library: {name}", window
    yield from _ended(underhill)


def _full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def _ended(underhill: Application) -> Iterator[State]:
    underhill.window.close()
    underhill.close()
    yield from ()


def draw_all(out: Path, names: Sequence[str]) -> int:
    """Draw them in each of `LOOKS`, in processes one after the other; 1 where one of these failed."""
    failed = False
    for percent, theme, language in LOOKS:
        look = ["--percent", percent, "--theme", theme, "--language", language]
        folder = out / f"{percent}-{theme}-{language}"
        failed |= bool(subprocess.run([sys.executable, "-m", "tests.app.states", folder, *look, *names]).returncode)
    return int(failed)


def main() -> int:
    """Draw them into the folder OUT."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--percent", type=int)
    parser.add_argument("--theme")
    parser.add_argument("--language")
    args = parser.parse_intermixed_args()
    if args.all:
        if args.percent or args.theme or args.language:
            parser.error("--all draws every size, theme and language: leave --percent, --theme and --language out.")
        return draw_all(args.out, args.names)
    args.out.mkdir(parents=True, exist_ok=True)
    application = QApplication([])
    chosen = Preferences(
        toured=True, theme=args.theme or "light", language=args.language or "en", font_percent=args.percent or 100,
        auto_titles=False,
    )  # fmt: skip
    for scene in (everything, chats, errors, nothing):
        with tempfile.TemporaryDirectory(prefix="underhill-states-") as folder:
            for name, widget in scene(Room(application, replace(chosen)), Path(folder)):
                if not args.names or any(part in name for part in args.names):
                    QTest.qWait(60)
                    file = "".join(c if c.isalnum() else "-" for c in name).replace("--", "-")
                    palette.save(widget.grab().toImage(), args.out / f"{file}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
