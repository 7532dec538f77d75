"""Takes the pictures of the documentation: `python -m tests.app.pictures [OUT] [NAME...]`, under Xvfb where there is
no display. NAME: only those.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from unittest.mock import patch

from engine.library.home import HOME
from tests.app import pictured
from tests.app.samples import LONG_ANSWER, QUESTION

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication, QWidget

    from app.application import Application
    from app.compare.page import ComparePage
    from tests.app.fake_engine import FakeEngine

_LONGEST = 90.0  # seconds until a state must have come


def main() -> int:
    """Write them into the folder OUT."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures")
    if not os.environ.get("DISPLAY"):
        screen = ["xvfb-run", "-a", "-s", "-screen 0 1600x1000x24"]
        return subprocess.call([*screen, sys.executable, "-m", "tests.app.pictures", *sys.argv[1:]])
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    out.mkdir(parents=True, exist_ok=True)
    from PySide6.QtWidgets import QApplication

    application = QApplication([])
    take_all(application, out, sys.argv[2:])
    return 0


def take_all(application: QApplication, out: Path, wanted: list[str]) -> None:
    """Take all scenes, each in a folder that is the engine's home, too: nothing of the one who takes them is shown."""
    for scene in (_first_run, _chats, _documents, _images, _chinese, _built_in):
        with (
            tempfile.TemporaryDirectory(prefix="underhill-pictures-") as folder,
            patch.dict(os.environ, {HOME: str(Path(folder) / "home")}),  # which the engine's process inherits
        ):
            scene(Studio(application, Path(folder), out, wanted))


class Studio:
    """A window with a scripted engine, in a folder of its own."""

    def __init__(self, application: QApplication, folder: Path, out: Path, wanted: list[str]) -> None:
        self.application, self.folder, self.out, self.wanted = application, folder, out, wanted
        self.underhill: Application

    def open(self, start: Callable[..., object], *, new: bool = False, language: str = "en") -> Application:
        """A window of the usual size."""
        from app.application import Application
        from app.platform.logs import AppPaths
        from app.settings import preferences
        from app.settings.preferences import Preferences

        paths = AppPaths(self.folder)
        # The script has no title to write, and scenes find chats by their first words.
        chosen = Preferences(toured=not new, theme="light", language=language, auto_titles=False)
        preferences.save(chosen, paths.preferences)
        self.underhill = Application(self.application, paths, start)  # type: ignore[arg-type]
        self.underhill.window.resize(1280, 820)
        self.underhill.open()
        return self.underhill

    @property
    def engine(self) -> FakeEngine:
        from tests.app.fake_engine import FakeEngine

        engine = self.underhill.link.engine
        assert isinstance(engine, FakeEngine)
        return engine

    def close(self) -> None:
        self.underhill.window.close()
        self.underhill.close()

    def wait(self, condition: Callable[[], bool] = lambda: True, least: float = 0.3) -> None:
        """Until something is so, and at least so many seconds."""
        begun = time.monotonic()
        while time.monotonic() - begun < least or not condition():
            self.application.processEvents()
            time.sleep(0.005)
            if time.monotonic() - begun > _LONGEST:
                raise TimeoutError("the window did not come to the state to be shown")

    def take(self, name: str, widget: QWidget | None = None) -> None:
        """The picture."""
        from tests.app import palette

        if not self.wanted or name in self.wanted:
            self.wait(least=0.05)  # what has just come gets its room
            palette.save((widget or self.underhill.window).grab().toImage(), self.out / f"{name}.png")

    def ask(self, question: str, answer: str, rate: float = 0.0) -> None:
        """Begin a chat, and wait for the whole answer."""
        self.engine.script, self.engine.rate = lambda messages: answer, rate
        self.underhill.window.navigator.new_chat()
        self.underhill.conversation.send(question)
        self.wait(lambda: self.underhill.conversation.working, 0.0)
        self.wait(lambda: not self.underhill.conversation.working)
        self.wait(least=1.5)  # formulas, colours and the count of tokens

    def load(self, model: str) -> None:
        """Another model."""
        known = self.underhill.models
        known.load(model, {})
        self.wait(lambda: known.state == "ready" and known.card is not None and known.card.name == model)


def _first_run(studio: Studio) -> None:
    from tests.app.fake_engine import scripted

    underhill = studio.open(scripted(probe_seconds=0.4), new=True)
    tour = underhill.onboarding.begin()
    studio.wait()
    studio.take("first-run-welcome")
    tour.show_step(1)
    studio.wait(lambda: underhill.onboarding.probe.computer is not None)
    studio.take("first-run-computer")
    tour.show_step(2)
    studio.wait()
    studio.take("first-run")
    studio.close()


def _documents(studio: Studio) -> None:
    from app.platform.logs import AppPaths
    from tests.app.fake_cards import LARGE
    from tests.app.fake_engine import scripted

    pictured.furnish(AppPaths(studio.folder))
    underhill = studio.open(scripted(cards=(LARGE,), context=4096))
    studio.load(LARGE.name)
    underhill.window.header.live.setChecked(False)
    underhill.window.navigator.new_chat()
    underhill.documents.add([Path("/home/anna/House")])
    studio.engine.passages = pictured.SOURCES
    studio.engine.script = lambda messages: pictured.FROM_SOURCES
    underhill.conversation.send(pictured.ASKED_OF_SOURCES)
    studio.wait(lambda: not underhill.conversation.working and len(underhill.conversation.messages) == 2)
    transcript = underhill.window.transcript
    strip = transcript.strips.sources(transcript.items[-1])
    assert strip is not None
    strip.chips[0].click()
    studio.wait(least=1.0)
    studio.take("documents")
    studio.close()


def _images(studio: Studio) -> None:
    from app.attachments.dialog import AttachmentDialog
    from app.platform.logs import AppPaths
    from tests.app.fake_cards import LARGE
    from tests.app.fake_engine import scripted
    from tests.app.image_samples import sample_image

    pictured.furnish(AppPaths(studio.folder))
    underhill = studio.open(scripted(cards=(replace(LARGE, reads_images=True),), context=4096))
    studio.load(LARGE.name)
    window = underhill.window
    window.header.live.setChecked(False)
    window.navigator.new_chat()
    studio.engine.script = lambda messages: pictured.OF_IMAGES[len(messages) // 2]
    shown = (
        sample_image("Morning.png", 1600, 1000),
        sample_image("Tower.png", 700, 1100, "#e8a686"),
        sample_image("Lake.png", 1300),
    )
    for question, files in zip(pictured.ASKED_OF_IMAGES, (shown[:1], shown[1:])):
        underhill.conversation.send(question, files)
        studio.wait(lambda: underhill.conversation.working, 0.0)
        studio.wait(lambda: not underhill.conversation.working)
    window.composer.set_attachments(shown[1:])
    window.composer.set_text(pictured.MORE_OF_IMAGES)
    window.transcript.verticalScrollBar().setValue(0)
    studio.wait(least=1.0)
    studio.take("images")
    if studio.wanted and "images-dark" not in studio.wanted:
        studio.close()
        return
    underhill.theme.set_mode("dark")
    studio.wait(least=1.0)
    studio.take("images-dark")
    window.resize(900, 600)
    window.transcript.go_to_end()
    studio.wait(least=1.0)
    studio.take("images-small")
    underhill.theme.set_mode("light")
    message = underhill.conversation.messages[2]
    underhill.reading.show_image(message.id, message.attachments[0])
    studio.wait(least=1.0)
    dialog = window.findChildren(AttachmentDialog)[0]
    studio.take("image-large", dialog)
    dialog.close()
    studio.close()


def _chats(studio: Studio) -> None:
    from app.library.dialogs import SmallerDialog
    from app.platform.logs import AppPaths
    from engine import protocol
    from tests.app.fake_cards import BUILTIN, LARGE
    from tests.app.fake_engine import scripted
    from tests.app.fake_hub import GB

    pictured.furnish(AppPaths(studio.folder))
    cards = (BUILTIN, replace(LARGE, thinking=("off", "on"), plain_thinking="on", calibration=pictured.CALIBRATION))
    underhill = studio.open(scripted(cards=cards, context=4096))
    window, hub, theme = underhill.window, studio.engine.hub, underhill.theme
    studio.load(LARGE.name)
    window.header.live.setChecked(False)
    studio.wait()
    studio.take("empty")
    studio.ask(pictured.SIMILAR, pictured.SIMILAR_ANSWER, 55.0)
    studio.take("code-table-latex")
    studio.engine.thinking_seconds = 4.2
    studio.ask(pictured.PUZZLE, pictured.PUZZLE_ANSWER, 40.0)
    studio.take("thinking-folded")
    studio.engine.thinking_seconds = 0.0
    window.header.live.setChecked(True)
    studio.engine.script, studio.engine.rate = lambda messages: LONG_ANSWER, 40.0
    window.navigator.new_chat()
    underhill.conversation.send(QUESTION)
    studio.wait(least=6.5)
    studio.take("streaming")
    meanings = window.live.experts.meanings
    meanings.setCurrentIndex(meanings.findData("residency"))
    studio.engine.rate = 0.0
    studio.wait(lambda: not underhill.conversation.working)
    bar = window.transcript.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    theme.set_mode("dark")
    studio.wait()
    studio.take("dark")
    theme.set_mode("light")
    window.header.live.setChecked(False)
    studio.engine.fail[protocol.Generate] = protocol.Failed(
        "", protocol.Kind.OUT_OF_MEMORY, "Not enough memory.",
        "Close other apps or lower the memory limit.", "MemoryError: 1.2 GiB for the KV cache",
    )  # fmt: skip
    underhill.conversation.send("And how would that look on a laptop with 16 GB?")
    studio.wait(lambda: bool(window.banners.banners))
    studio.take("error-banner")
    window.banners.banners[0].dismiss()
    library = window.library.show()
    library.show_section(1)
    studio.wait(lambda: underhill.library.catalogue is not None and bool(library.discover.entries))
    studio.take("library")
    for model in hub.catalogue[:3]:
        underhill.library.pull(model, 4)
    studio.wait(lambda: len(underhill.library.transfers) == 3)
    hub.tell("t1", state=protocol.FINISHED, done=14 * GB, total=14 * GB)
    hub.tell("t2", state=protocol.RUNNING, text="Downloading", done=38 * GB, total=61 * GB, rate=21.4e6, left=1080.0)
    hub.tell("t3", state=protocol.PAUSED, text="Downloading", done=12 * GB, total=220 * GB)
    library.show_section(3)
    studio.wait()
    studio.take("downloading")
    window.toast.end()
    smaller = SmallerDialog(cards[1], underhill.library, window)
    smaller.open()
    smaller.go.click()
    studio.wait(lambda: smaller.offer is not None)
    studio.take("make-smaller", smaller)
    smaller.reject()
    window.navigator.show_chat()
    settings = window.settings.open()
    settings.show_page(2)
    studio.wait()
    studio.take("settings", settings)
    settings.advanced.setChecked(True)
    settings.show_setting("low")
    studio.wait()
    studio.take("settings-advanced", settings)
    settings.advanced.setChecked(False)
    window.server.turn_on()
    studio.wait(lambda: window.server.is_on)
    studio.engine.tell_server(requests=pictured.ASKS, recent=pictured.ASKED, answered=12)
    settings.show_page(settings.pages.index(settings.server))
    settings.resize(settings.width(), 900)
    studio.wait()
    studio.take("local-server", settings)
    window.server.turn_off()
    studio.wait(lambda: not window.server.is_on)
    settings.reject()
    _compare(studio)
    window.resize(900, 600)
    underhill.conversation.open(_titled(underhill, pictured.SIMILAR))
    studio.wait(lambda: bool(underhill.conversation.messages), 1.0)
    studio.take("small")
    studio.close()


def _compare(studio: Studio, prefix: str = "") -> None:
    """Two answers side by side, as the scripted engine gives them."""
    window, engine = studio.underhill.window, studio.engine
    engine.apart, engine.rate = {"exact": pictured.EXACT_ANSWER, "fast": pictured.FAST_ANSWER}, 60.0
    page = window.compare.open()
    page.begin(studio.underhill.conversation.style, "on", pictured.COMPARED, model="olmoe-1b-7b", dial="fast")
    page.ask()
    studio.wait(lambda: page.run.divergence is not None)
    studio.take(f"{prefix}compare")
    if not prefix:
        studio.underhill.theme.set_mode("dark")
        studio.wait()
        studio.take("compare-dark")
        studio.underhill.theme.set_mode("light")
        window.resize(900, 600)
        studio.wait()
        studio.take("compare-small")
        window.resize(1280, 820)
        _under_two_settings(studio, page)
        page.edit.setPlainText("Hello")
        engine.rate = 15.0
        page.ask()
        studio.wait(lambda: len(page.columns[0].text.toPlainText()) > 60)
        studio.take("compare-streaming")
        page.run.stop()
    window.navigator.show_chat()


def _under_two_settings(studio: Studio, page: ComparePage) -> None:
    """One quality, and a setting of the engine that differs."""
    right = page.columns[1]
    right.dial.setCurrentIndex(right.dial.findData("exact"))
    right.engine.setCurrentIndex(right.engine.findData("cache_fraction"))
    assert right.editor is not None
    right.editor.changed.emit("cache_fraction", 0.5)
    right.editor.set_value(0.5)
    page.edit.setPlainText(pictured.COMPARED)
    page.ask()
    studio.wait(lambda: page.run.complete)
    studio.take("compare-settings")
    right.engine.setCurrentIndex(0)


def _chinese(studio: Studio) -> None:
    from app.i18n import languages
    from tests.app.fake_cards import LARGE
    from tests.app.fake_engine import scripted

    studio.open(scripted(context=4096, idle=""), language="zh_CN")
    studio.load(LARGE.name)
    studio.ask(pictured.CHINESE, pictured.CHINESE_ANSWER, 45.0)
    studio.take("chinese")
    _compare(studio, "chinese-")
    studio.close()
    languages.install("en")


def _built_in(studio: Studio) -> None:
    from engine import client

    if studio.wanted and not {"built-in-model", "recordings"} & set(studio.wanted):
        return
    underhill = studio.open(client.start_subprocess)
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 300}
    studio.wait(lambda: underhill.models.state == "ready")
    for question in ("Hello! Who are you?", "Tell me a short story about a fox."):
        underhill.conversation.send(question)
        studio.wait(lambda: underhill.conversation.working, 0.0)
        studio.wait(lambda: not underhill.conversation.working)
    studio.wait(least=0.6)
    studio.take("built-in-model")
    underhill.models.load("builtin", {"cache_fraction": 0.25, "dial": "exact"})
    studio.wait(lambda: underhill.models.state == "ready")
    recordings = underhill.window.settings.recordings.open()
    recordings.record_toggled.emit(True)
    studio.wait(lambda: bool(recordings.state.text()))
    underhill.conversation.send("Tell me a story about a brave dog.")
    studio.wait(lambda: recordings.list.count() == 1)
    recordings.record_toggled.emit(False)
    studio.wait(lambda: not recordings.state.text())
    recordings.replay.go.click()
    studio.wait(lambda: recordings.replay.table.rowCount() > 0)
    studio.take("recordings", recordings)
    recordings.reject()
    studio.close()


def _titled(underhill: Application, start: str) -> object:
    """The chat whose title begins a question."""
    rows = underhill.window.sidebar.model.rows
    return next(row for row in rows if start.startswith(str(getattr(row, "title", "\0")).rstrip("…")))


if __name__ == "__main__":
    sys.exit(main())
