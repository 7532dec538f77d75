"""Starting up: without a display a sentence and exit code 3, and faults of the last run are shown."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.platform import logs
from tests.waiting import PROCESS

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[2]


def start(tmp_path: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    keep = {k: v for k, v in os.environ.items() if k not in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")}
    return subprocess.run(
        [sys.executable, "-m", "app"], cwd=ROOT, env={**keep, "UNDERHILL_HOME": str(tmp_path), **environment},
        capture_output=True, text=True, timeout=PROCESS, check=False,
    )  # fmt: skip


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="Linux asks for a display")
@pytest.mark.parametrize("display", ["", ":4711"])
def test_without_a_display(tmp_path: Path, display: str) -> None:
    done = start(tmp_path, **({"DISPLAY": display} if display else {}))
    assert done.returncode == 3
    assert "window cannot be opened" in done.stderr
    assert "underhill-cli chat" in done.stderr
    assert "Traceback" not in done.stderr


def test_qt_is_not_loaded_before_it_is_known_that_there_is_a_display() -> None:
    code = "import sys, app.main; sys.exit('PySide6' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=PROCESS, check=False)
    assert done.returncode == 0


RESTART = """
import sys
from PySide6.QtCore import QTimer
import app.application, app.main
from tests.app.fake_engine import scripted

seen = []
class Short(app.application.Application):
    def __init__(self, application, paths, start, engine=None):
        super().__init__(application, paths, scripted(), engine)
        seen.append(self.window.sidebar.button.text())
    def open(self):
        super().open()
        QTimer.singleShot(200, self.window.close if len(seen) > 1 else self.choose)
    def choose(self):
        if not self._idle:  # the model is still being opened
            QTimer.singleShot(50, self.choose)
            return
        look = self.window.settings.open().look
        look.language.setCurrentIndex(look.language.findData("zh_CN"))

app.application.Application = Short
code = app.main._run(None)
print(code, *seen, sep="|")
"""


def test_another_language_is_spoken_after_a_restart_within_the_process(tmp_path: Path) -> None:
    surroundings = os.environ | {"UNDERHILL_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-c", RESTART], cwd=ROOT, env=surroundings, capture_output=True,
        encoding="utf-8", timeout=PROCESS, check=False,
    )  # fmt: skip
    assert done.stdout.strip() == "0|New chat|新对话", done.stderr
    assert "Traceback" not in done.stderr


def test_opening_the_window_loads_no_torch() -> None:
    code = "import sys, app.application; sys.exit('torch' in sys.modules or 'transformers' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, timeout=PROCESS, check=False)
    assert done.returncode == 0


def test_what_the_last_run_left_is_kept_and_shown(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "crash.log"
    log, left, kept = logs.begin_crash_log(path)
    assert (left, kept) == ("", None)
    logs.end_crash_log(log)
    path.write_text("Fatal Python error: Segmentation fault")
    log, left, kept = logs.begin_crash_log(path)
    logs.end_crash_log(log)
    assert left.startswith("Fatal")
    assert kept is not None
    assert kept.read_text() == left
    assert logs.begin_crash_log(path)[1] == ""
    logs.end_crash_log(None)


def test_what_is_noted_of_an_engine_is_taken_once(tmp_path: Path) -> None:
    path = tmp_path / "crash-engine.log"
    assert logs.take_crash_log(path) == ("", None)
    logs.note_crash(path, "It was ended by SIGSEGV.")
    logs.note_crash(path, "It was ended by SIGKILL.\n")
    left, kept = logs.take_crash_log(path)
    assert left.index("SIGSEGV") < left.index("SIGKILL")
    assert kept is not None
    assert kept.read_text(encoding="utf-8") == left
    assert logs.take_crash_log(path) == ("", None)
