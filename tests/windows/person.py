"""A person at the window, on Windows: ``python -m tests.windows.person OUT`` starts Underhill again and again.

Each start is a process of its own, which is ``python -m app`` with a scene played in it (``person OUT SCENE``): keys
and clicks go to the widgets, and the screen is photographed. What a scene leaves behind is looked at from outside.
"""

from __future__ import annotations

import ctypes
import json
import os
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QFileDialog, QMenu

from app import application, main
from app.settings.dialog import SettingsDialog
from engine import client, protocol
from engine.process.engine_process import EngineProcess

HOME = Path(r"C:\Users\A person 山下\Underhill")  # as a user's name may be
LONGEST = 240.0  # seconds for anything to happen: an engine has everything to import first
STORY = "Tell me a very long story about a fox, a bear and a hill."
LONG = protocol.AnswerOptions(json={"type": "array", "items": {"type": "string", "minLength": 5}, "minItems": 300})
NOTES = "The treasure is under the oak. Dächer, 山 and 😀.\r\n"
_PER_MONITOR_V2 = -4  # DPI_AWARENESS_CONTEXT_PER_MONITOR_AWARE_V2
_WM_CLOSE, _SYNCHRONIZE = 0x0010, 0x0010_0000
HELD = ("-m", "tests.windows.held_engine")  # runs the engine of those scenes in which an answer is cut


class Person:
    """Does things in the window of this process, waits for what comes of them, and photographs it."""

    def __init__(self, underhill: Any, out: Path) -> None:
        self.underhill, self.window, self._out = underhill, underhill.window, out

    def until(self, true: Callable[[], object], what: str) -> None:
        """Let the window work until `true` is. Raises AssertionError(what) where it never gets so."""
        end = time.monotonic() + LONGEST
        while not true():
            assert time.monotonic() < end, f"never: {what}; banners: {self.banners()}"
            QTest.qWait(20)

    def take(self, name: str) -> None:
        """Photograph the whole screen, menus and all, once it stands still."""
        QTest.qWait(900)
        picture = QGuiApplication.primaryScreen().grabWindow(0)
        assert picture.save(str(self._out / f"{name}.png")), name
        assert len({picture.toImage().pixel(x, y) for x in range(0, 1280, 7) for y in range(0, 900, 7)}) > 20, "empty"

    def click(self, button: Any) -> None:
        """With the mouse, on something that is there to be clicked."""
        assert button.isVisible(), button
        assert button.isEnabled(), button
        QTest.mouseClick(button, Qt.MouseButton.LeftButton)

    def button(self, text: str, parent: Any = None) -> Any:
        """The visible button with this text or name."""
        found = (parent or self.window).findChildren(QAbstractButton)
        return next(b for b in found if b.isVisible() and text in (b.text(), b.accessibleName()))

    def ready(self) -> None:
        self.until(lambda: self.window.models.state == "ready", "the model is open")

    def type(self, text: str) -> None:
        """Into the composer, and Enter."""
        edit = self.window.composer.edit
        QTest.keyClicks(edit, text)
        QTest.keyClick(edit, Qt.Key.Key_Return)

    def ask(self, text: str) -> str:
        """Type a message, and wait for the whole answer, which is returned."""
        before = len(self.messages())
        self.type(text)
        self.until(lambda: len(self.messages()) == before + 2 and not self.window.conversation.working, "an answer")
        answer = self.messages()[-1]
        assert (answer.role, answer.state) == ("assistant", "whole"), answer
        assert answer.content.split(), "an empty answer"
        return str(answer.content)

    def begin_story(self) -> None:
        """Ask for a long answer, and wait until some of it is here; the engine comes no further (HELD).

        The answer is held to LONG, so that it has so many tokens: by itself this model soon comes to an end.
        """
        link, send = self.underhill.link, self.underhill.link.send

        def send_long(command: protocol.Command, *listener: Any) -> None:
            asks = isinstance(command, protocol.Generate)
            send(replace(command, options=LONG) if asks else command, *listener)

        link.send = send_long
        self.window.conversation.sampling = {"temperature": 1.5, "max_tokens": 1500}
        self.type(STORY)
        self.until(self.written, "some of the story is here")
        link.send = send
        self.until(lambda: len(self.written()) == len(last_answer()), "it is on disk, too")
        assert self.window.conversation.working, "the story has ended"

    def written(self) -> str:
        """What has come of the answer that is under way."""
        return "".join(answer.so_far().content for answer in self.window.conversation.answers.running.values())

    def messages(self) -> list[Any]:
        return list(self.window.conversation.messages)

    def banners(self) -> list[str]:
        return [banner.sentence for banner in self.window.banners.banners]

    def engine(self) -> int:
        """Number of the engine's process."""
        return int(self.underhill.link.engine.pid)

    def menu(self, button: Any, name: str) -> None:
        """Open the menu of a button as a click does, photograph it and leave it with Esc."""

        def photograph() -> None:
            menu = QApplication.activePopupWidget()
            assert isinstance(menu, QMenu), f"no menu: {name}"
            self.take(name)
            QTest.keyClick(menu, Qt.Key.Key_Escape)

        QTimer.singleShot(600, button, photograph)
        self.click(button)  # back when the menu is closed
        self.until(lambda: QApplication.activePopupWidget() is None, "the menu is closed")

    def leave(self) -> None:
        """Close the window as the cross in its corner does."""
        ctypes.windll.user32.PostMessageW(ctypes.c_void_p(int(self.window.winId())), _WM_CLOSE, 0, 0)  # type: ignore[attr-defined,unused-ignore]


# ---- scenes: what is done in one start -----------------------------------------------------------------------------


def first(person: Person) -> None:
    """The first run: its tour, two messages, a file, chats from elsewhere, menus, library, settings, close."""
    window = person.window
    assert _follows_each_screen(), "Windows would scale the window as a picture"
    tour = person.underhill.onboarding.tour
    assert tour is not None, "no tour at the first start"
    assert tour.isVisible()
    person.take("01-tour-welcome")
    person.click(tour.next)
    person.until(lambda: person.underhill.onboarding.probe.computer is not None, "the computer is measured")
    person.take("02-tour-computer")
    person.click(tour.next)
    person.until(lambda: tour.choice.entries.get("") is not None, "the tour offers the built-in model")
    person.take("03-tour-model")
    person.click(tour.next)
    person.ready()
    person.take("04-empty-chat")
    person.ask("Hello! Who are you?")
    person.ask("Tell me a short story about a fox.")
    person.take("05-chat")
    _attach(person)
    _import_chats(person)
    for button, name in ((window.header.model, "08-menu-models"), (window.header.more, "09-menu-more"),
                         (window.sidebar.more, "10-menu-chats")):  # fmt: skip
        person.menu(button, name)
    library = window.library.show()
    for number, name in enumerate(("yours", "get", "other-apps", "downloads")):
        library.show_section(number)
        person.until(lambda: person.underhill.library.catalogue is not None, "the catalogue")
        person.take(f"11-library-{name}")
    window.navigator.show_chat()
    _settings(person)
    assert not person.banners(), person.banners()
    person.leave()


def _follows_each_screen() -> bool:
    """Whether windows are drawn at the scale of whichever screen they are on: DPI awareness per monitor, version 2."""
    user = ctypes.windll.user32  # type: ignore[attr-defined,unused-ignore]
    user.GetThreadDpiAwarenessContext.restype = ctypes.c_void_p
    context = ctypes.c_void_p(user.GetThreadDpiAwarenessContext())  # a window's lacks the version in Wine
    return bool(user.AreDpiAwarenessContextsEqual(context, ctypes.c_void_p(_PER_MONITOR_V2)))


def _attach(person: Person) -> None:
    notes = HOME.parent / "Notes 山.txt"
    notes.write_text(NOTES, encoding="utf-8", newline="")
    person.window.composer.files.emit([notes])
    person.until(lambda: person.window.composer.attachments, "the file is attached")
    person.until(lambda: all("·" in chip.text for chip in person.window.composer.attached.chips), "and counted")
    person.take("06-attached")
    person.ask("What is in this file?")
    assert person.messages()[-2].attachments[0].name == notes.name


def _import_chats(person: Person) -> None:
    """The open chat goes out into a file and comes in again, the file being chosen at once."""
    window, path = person.window, HOME.parent / "My chats.json"
    QFileDialog.getSaveFileName = staticmethod(lambda *_: (str(path), ""))  # type: ignore[method-assign,assignment]
    QFileDialog.getOpenFileName = staticmethod(lambda *_: (str(path), ""))  # type: ignore[method-assign,assignment]
    window.chats.transfer.export(window.conversation.chat, "json")
    person.until(path.exists, "the chat is written")
    before = len(window.sidebar.model.rows)
    window.chats.transfer.import_chats()
    person.until(lambda: any("imported" in said for said in person.banners()), "the chat is imported")
    person.until(lambda: len(window.sidebar.model.rows) == before + 1, "it is in the list")
    person.take("07-imported")
    while window.banners.banners:
        window.banners.banners[0].dismiss()


def _settings(person: Person) -> None:
    person.click(person.window.header.settings)
    dialog = person.window.findChild(SettingsDialog)
    for number in range(len(dialog.pages)):
        dialog.show_page(number)
        person.take(f"12-settings-{number + 1}")
    dialog.advanced.setChecked(True)
    dialog.show_page(2)
    person.take("13-settings-advanced")
    dialog.show_page(0)
    dialog.look.theme.setCurrentIndex(dialog.look.theme.findData("dark"))
    dialog.show_setting("temperature")
    dialog.sampling_changed.emit("temperature", 0.0)
    person.take("14-settings-dark")
    person.click(person.button("Close", dialog))


def again(person: Person) -> None:
    """What was set is still set; a second start hands over; the engine is killed over an answer, and goes on."""
    window = person.window
    assert window.preferences.theme == "dark"
    assert window.preferences.sampling == {"temperature": 0.0}
    assert person.underhill.onboarding.tour is None, "the tour a second time"
    person.ready()
    person.until(lambda: len(person.messages()) == 6, "the chat of before is open")
    person.take("20-again-dark")
    window.showMinimized()
    second = subprocess.Popen([sys.executable, "-m", "app"])
    person.until(lambda: second.poll() is not None, "the second start ends")
    assert second.returncode == 0, second.returncode
    person.until(lambda: not window.isMinimized(), "the window comes forward")
    window.navigator.new_chat()
    person.begin_story()
    killed, before = person.engine(), person.written()
    os.kill(killed, 9)
    person.until(lambda: not window.conversation.working, "the end of the engine is noticed")
    person.until(lambda: any("engine" in said for said in person.banners()), "and said")
    person.take("21-engine-killed")
    question, answer = person.messages()[-2:]
    assert question.content == STORY
    assert answer.content.startswith(before), "what had come of the answer is lost"
    person.click(person.button("Restart engine"))
    person.until(lambda: person.engine() != killed, "another engine")
    person.ready()
    assert not _alive(killed, 0)
    window.conversation.sampling = {"temperature": 0.0, "max_tokens": 40}
    person.ask("Hello! Who are you?")
    person.take("22-goes-on")
    print("engine", person.engine(), flush=True)
    person.leave()


def cut(person: Person) -> None:
    """An answer is under way when the window is killed from outside."""
    person.ready()
    person.window.navigator.new_chat()
    person.begin_story()
    text = person.written()
    print("kill", json.dumps([person.engine(), text]), flush=True)
    person.until(lambda: False, "being killed")


def after(person: Person) -> None:
    """The chat whose answer was cut is there, and goes on."""
    person.ready()
    person.until(lambda: len(person.messages()) >= 2, "the chat that was cut is open")
    question, answer = person.messages()[-2:]
    assert question.content == STORY, question
    assert answer.state == "cut", answer
    assert answer.content
    person.take("30-after-kill")
    person.window.conversation.sampling = {"temperature": 0.0, "max_tokens": 40}
    person.ask("Go on, please.")
    person.take("31-goes-on")
    print("engine", person.engine(), flush=True)
    person.leave()


# ---- one start after another ---------------------------------------------------------------------------------------


def play(scene: Callable[[Person], None], out: Path) -> int:
    """Open the window as ``python -m app`` does, with a scene played in it. Returns the exit code."""
    if scene in (again, cut):
        client.start_subprocess = lambda on_event, python=None: EngineProcess(on_event, HELD, python)

    class Watched(application.Application):
        def open(self) -> None:
            super().open()
            QTimer.singleShot(0, self.window, lambda: self._play())

        def _play(self) -> None:
            try:
                scene(Person(self, out))
            except BaseException:
                traceback.print_exc()
                self.window.grab().save(str(out / f"failed-{scene.__name__}.png"))
                sys.stderr.flush()
                os._exit(9)  # this is a slot of Qt: nothing that is raised here ends anything

    application.Application = Watched  # type: ignore[misc]
    return main.main([])


def conduct(out: Path) -> Iterator[str]:
    """Do it all; yields a line about each part. Raises AssertionError, or what else was wrong."""
    HOME.mkdir(parents=True, exist_ok=True)
    os.environ["UNDERHILL_HOME"] = str(HOME)
    _start(out, "first")
    yield "first run, tour, messages, file, import, menus, library, settings"
    _look_at_what_is_left(chats=2)
    yield "closed: nothing is left running, locked or in the write-ahead log"
    _start(out, "again")
    _look_at_what_is_left(chats=3)
    yield "settings kept, second start handed over, engine killed and started again"
    process = _begin(out, "cut")
    assert process.stdout is not None
    line = next((line for line in process.stdout if line.startswith("kill ")), "")
    assert line, f"it ended before it was killed: {process.wait()}"
    engine, text = json.loads(line.removeprefix("kill "))
    process.kill()
    process.wait(60)
    assert not _alive(engine, 60), "the engine outlives its window"
    with closing(sqlite3.connect(HOME / "chats.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert last_answer().startswith(text), f"of the answer {last_answer()!r} is kept, and {text!r} was promised"
    _start(out, "after")
    _look_at_what_is_left(chats=4)
    yield "window killed over an answer: its engine went too, the chat is there and goes on"


def _begin(out: Path, scene: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.windows.person", str(out), scene]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="replace")


def _start(out: Path, scene: str) -> None:
    """Play a scene to its end: the window is closed and nothing of it runs any more."""
    process = _begin(out, scene)
    said, _ = process.communicate(timeout=900)
    assert process.returncode == 0, f"{scene} ended with {process.returncode}\n{said}\n{_log()}"
    for line in said.splitlines():
        if line.startswith("engine "):
            assert not _alive(int(line.split()[1]), 0), "the engine outlives its window"


def _look_at_what_is_left(chats: int) -> None:
    """chats: how many there are now."""
    left = sorted(str(path.relative_to(HOME)) for path in HOME.rglob("*") if path.is_file())
    assert "window.lock" not in left, left
    assert not [name for name in left if name.endswith(("-wal", "-shm", ".new", ".tmp"))], left
    db = sqlite3.connect(HOME / "chats.db")
    assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert db.execute("SELECT count(*) FROM chats").fetchall() == [(chats,)]
    db.close()
    killed = ("ended by itself", "The engine of the last run ended")  # said at once, and at the next start
    wrong = [line for line in _log().splitlines() if " ERROR " in line and not any(said in line for said in killed)]
    assert not wrong, wrong


def last_answer() -> str:
    """What the disk has of it."""
    with closing(sqlite3.connect(HOME / "chats.db")) as db:
        found = db.execute("SELECT content FROM messages WHERE role = 'assistant' ORDER BY id DESC LIMIT 1").fetchone()
    return str(found[0])


def _log() -> str:
    return "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in HOME.rglob("underhill.log"))


def _alive(process: int, patience: float) -> bool:
    """Whether a process still runs after so many seconds."""
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    kernel.OpenProcess.restype = ctypes.c_void_p
    handle = kernel.OpenProcess(_SYNCHRONIZE, False, process)
    if not handle:
        return False
    ended = kernel.WaitForSingleObject(ctypes.c_void_p(handle), int(1000 * patience)) == 0
    kernel.CloseHandle(ctypes.c_void_p(handle))
    return not ended


def run(out: Path) -> int:
    """0 when all holds, else 1."""
    sys.stdout.reconfigure(encoding="utf-8")  # type: ignore[union-attr]
    try:
        for line in conduct(out):
            print(f"ok: {line}", flush=True)
    except Exception:
        traceback.print_exc(file=sys.stdout)
        print(_log())
        return 1
    return 0


if __name__ == "__main__":
    SCENES = {scene.__name__: scene for scene in (first, again, cut, after)}
    OUT = Path(sys.argv[1])
    sys.exit(play(SCENES[sys.argv[2]], OUT) if len(sys.argv) > 2 else run(OUT))
