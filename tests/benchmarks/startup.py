"""From the start of the process to a window one can write in: `python -m tests.benchmarks.startup [RUNS] [--json]`.

Each run is a process of its own with the real engine and the built-in model, as `underhill` starts it: until the window
has been painted and the message box has the focus (offscreen, where no window gets it: would have it). Seconds: the
median, the least and the most. Cold-ish: the files of Python's packages and of Underhill are first dropped from the
file cache, as far as no other process has them mapped. Beside it stand the processor time until then, which other
programs disturb less, and when the model was open. UNDERHILL_HOME is a folder of its own, and one who has seen the
tour.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

RUNS = 5
BAR = 2.5  # seconds
ROOT = Path(__file__).parents[2]
_FILES = (".py", ".pyc", ".so", ".otf", ".ttf", ".svg")


def main() -> int:
    """Print each part's median, and whether the bar holds."""
    from tests.benchmarks.common import arguments, emit  # not in the child: it would load torch, which no window does

    parser = arguments(__doc__)
    parser.add_argument("runs", type=int, nargs="?", default=RUNS)
    options = parser.parse_args()
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="underhill-startup-") as folder:
        one(Path(folder))  # compiles, and copies the built-in model
        for name, cold in (("cold-ish", True), ("warm", False)):
            runs = []
            for _ in range(options.runs):
                if cold:
                    drop(ROOT, Path(sys.prefix))
                runs.append(one(Path(folder)))
            for part in ("painted", "usable", "computed until usable", "model open"):
                times = [run[part] for run in runs]
                found[f"{name} {part}"] = [round(t, 3) for t in (statistics.median(times), min(times), max(times))]
            found[f"{name} torch loaded before it was usable"] = any(run["torch"] for run in runs)
    worst = max(found[f"{name} usable"][0] for name in ("cold-ish", "warm"))
    found |= {"bar": BAR, "ratio": round(worst / BAR, 3), "holds": worst <= BAR}
    emit(found, options.json)
    return 0 if worst <= BAR else 1


def one(folder: Path) -> dict[str, Any]:
    """Start a window in a process of its own, and what it says of itself."""
    environment = {"QT_QPA_PLATFORM": "offscreen", **os.environ, "UNDERHILL_HOME": str(folder)}
    command = [sys.executable, "-m", "tests.benchmarks.startup", "--child", repr(time.time())]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=120, check=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def drop(*folders: Path) -> None:
    """Have the system forget what it has read of these files, where nobody else uses them."""
    for folder in folders:
        for path in folder.rglob("*"):
            if path.suffix in _FILES and path.is_file():
                file = os.open(path, os.O_RDONLY)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)


def child(began: float) -> int:
    """The window itself. began: seconds since 1970 at which this process was asked for."""
    from app import main as program
    from app.platform import logs
    from app.settings import preferences

    if not logs.default_paths().preferences.exists():
        preferences.save(preferences.Preferences(toured=True), logs.default_paths().preferences)
    found: dict[str, Any] = {}

    def watch() -> None:
        from PySide6.QtCore import QEvent, QObject, QTimer
        from PySide6.QtWidgets import QApplication

        from app.application import Application

        class Watcher(QObject):
            def __init__(self, underhill: Application) -> None:
                super().__init__(underhill.window)
                self._underhill = underhill
                underhill.window.installEventFilter(self)
                self._timer = QTimer(self, interval=1)
                self._timer.timeout.connect(self._look)
                self._timer.start()

            def eventFilter(self, watched: QObject, event: QEvent) -> bool:
                if event.type() == QEvent.Type.Paint and "painted" not in found:
                    found["painted"] = time.time() - began
                return False

            def _look(self) -> None:
                window = self._underhill.window
                focused = window.focusWidget() is window.composer.edit
                if "painted" in found and "usable" not in found and focused:
                    found["usable"] = time.time() - began
                    found["computed until usable"] = time.process_time()
                    found["torch"] = "torch" in sys.modules
                if "usable" in found and self._underhill.models.state == "ready":
                    found["model open"] = time.time() - began
                    window.close()
                    QApplication.quit()

        real = Application.open

        def opened(self: Application) -> None:
            Watcher(self)
            real(self)

        Application.open = opened  # type: ignore[method-assign]

    run = program._run

    def watched(model: str | None, file: str = "") -> int:
        watch()
        return run(model, file)

    program._run = watched
    code = program.main([])
    print(json.dumps(found))
    return code


if __name__ == "__main__":
    sys.exit(child(float(sys.argv[2])) if sys.argv[1:2] == ["--child"] else main())
