"""Takes the pictures in docs/images: `python -m tests.app.screenshots OUT` (starts an X server if there is none)."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.app.samples import LONG_ANSWER, QUESTION

if TYPE_CHECKING:
    from PySide6.QtWidgets import QApplication


def main() -> int:
    """Write every picture into the folder OUT."""
    out = Path(sys.argv[1] if len(sys.argv) > 1 else "docs/images")
    if not os.environ.get("DISPLAY"):
        command = [
            "xvfb-run",
            "-a",
            "-s",
            "-screen 0 1600x1000x24",
            sys.executable,
            "-m",
            "tests.app.screenshots",
            str(out),
        ]
        return subprocess.call(command)
    os.environ["QT_QPA_PLATFORM"] = "xcb"
    out.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="underhill-pictures-"))
    try:
        _take_all(out, folder)
    finally:
        shutil.rmtree(folder)
    return 0


def _take_all(out: Path, folder: Path) -> None:
    from PySide6.QtWidgets import QApplication

    from app.assembly import Underhill
    from engine import api
    from tests.app.fake_engine import LARGE, scripted
    from tests.app.homes import lived_in

    application = QApplication([])

    def wait(condition: Callable[[], bool], least: float = 0.0) -> None:
        begun = time.monotonic()
        while time.monotonic() - begun < least or not condition():
            application.processEvents()
            time.sleep(0.005)
            if time.monotonic() - begun > 90:
                raise TimeoutError("the window did not come to the state to be shown")

    def shoot(name: str, least: float = 0.3) -> None:
        wait(lambda: True, least)
        window.grab().save(str(out / f"{name}.png"))

    def ask(text: str) -> None:
        underhill.conversation.send(text)
        wait(lambda: underhill.conversation.working)

    _first_run(application, folder / "new", out, wait)
    start = scripted(load_seconds=1.2)
    underhill = Underhill(application, lived_in(folder), start)
    engine = underhill.link._engine
    window = underhill.window
    underhill.theme.set_mode("light")
    window.resize(1280, 820)
    underhill.open()
    wait(lambda: underhill.models.state == "loading", 0.5)
    shoot("loading")
    wait(lambda: underhill.models.state == "ready")
    shoot("new-chat")
    engine.rate = 34.0
    for question in ("Ideas for a rainy Sunday", "Why is the sky blue?", "Packing list for the mountains"):
        engine.script = lambda messages: "Here is a short answer to that. It comes from a scripted engine."
        underhill.conversation.new()
        ask(question)
        wait(lambda: not underhill.conversation.working)
    engine.load_seconds = 0.0
    underhill.models.load(LARGE.name, {})
    wait(lambda: underhill.models.card is not None and underhill.models.card.name == LARGE.name)
    underhill.conversation.new()
    engine.script = lambda messages: LONG_ANSWER
    engine.rate = 60.0
    engine.dropped = 0
    ask(QUESTION)
    wait(lambda: underhill.conversation.busy, 4.5)
    shoot("streaming-live")
    window.live.show_meaning("residency")
    shoot("streaming-residency")
    window.live.show_meaning("uses")
    engine.rate = 0.0
    wait(lambda: not underhill.conversation.working, 0.5)
    window.header.live.setChecked(False)
    bar = window.transcript.verticalScrollBar()
    bar.setValue(0)
    shoot("long-text")
    bar.setValue(bar.maximum() // 2)
    shoot("code-and-table")
    window.header.live.setChecked(True)
    underhill.theme.set_mode("dark")
    bar.setValue(bar.maximum() // 2)
    shoot("dark")
    underhill.theme.set_mode("light")
    engine.fail[api.Generate] = api.Failed(
        "", api.Kind.OUT_OF_MEMORY, "There was not enough memory to answer.",
        "Close other programs, or lower the expert cache in Settings, Memory.", "MemoryError: 1.2 GiB for the KV cache",
    )  # fmt: skip
    ask("And what about the winter?")
    wait(lambda: bool(window.banners.banners))
    window.banners.banners[0]._more.setChecked(True)
    shoot("error-banner")
    window.banners.banners[0].dismiss()
    engine.dropped, engine.finish, engine.script = 3, "context", lambda messages: "The last words that fitted."
    ask("And in spring?")
    wait(lambda: not underhill.conversation.working)
    shoot("context-full")
    dialog = window.desk.open_settings()
    dialog.show_page(2)
    wait(lambda: True, 0.2)
    dialog.grab().save(str(out / "settings.png"))
    dialog.reject()
    window.header.live.setChecked(False)
    window.resize(900, 600)
    underhill.conversation.new()
    underhill.conversation.open(_latest(underhill))
    wait(lambda: bool(underhill.conversation.messages))
    shoot("small")
    window.close()
    underhill.close()
    underhill = Underhill(application, lived_in(folder / "real"))
    window = underhill.window
    underhill.theme.set_mode("light")
    window.resize(1280, 820)
    underhill.conversation.sampling = {"temperature": 0.0, "max_tokens": 300}
    underhill.open()
    wait(lambda: underhill.models.state == "ready")
    for question in ("Hello! Who are you?", "Tell me a short story about a fox."):
        ask(question)
        wait(lambda: not underhill.conversation.working)
    shoot("built-in-model", 0.6)
    window.close()
    underhill.close()


def _first_run(application: QApplication, folder: Path, out: Path, wait: Callable[..., None]) -> None:
    from app.assembly import Underhill
    from app.paths import Paths
    from engine import api
    from tests.app.fake_engine import scripted

    underhill = Underhill(application, Paths(folder), scripted(probe_seconds=0.4))
    window, tour = underhill.window, underhill.first_run.begin()
    underhill.theme.set_mode("light")
    window.resize(1280, 820)
    underhill.open()
    for step, name in enumerate(("welcome", "computer", "model")):
        tour.show_step(step)
        wait(lambda step=step: step == 0 or underhill.first_run.probe.computer is not None, 0.5)
        window.grab().save(str(out / ("first-run.png" if name == "model" else f"first-run-{name}.png")))
    privacy = window.network_desk.show_privacy()
    wait(lambda: True, 0.3)
    privacy.grab().save(str(out / "privacy.png"))
    privacy.reject()
    window.network.take({s.name: s.default for s in api.settings.SHARED} | {"offline": True})
    underhill.theme.set_mode("dark")
    window.resize(900, 600)
    wait(lambda: True, 0.3)
    window.grab().save(str(out / "first-run-offline-dark-small.png"))
    window.close()
    underhill.close()


def _latest(underhill: object) -> object:
    return underhill.window.sidebar.model.rows[1]  # type: ignore[attr-defined]


if __name__ == "__main__":
    sys.exit(main())
