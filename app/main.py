"""Opens the window: console script `underhill`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from app import crash_log, display, paths

NO_DISPLAY = 3  # exit code; installers/run.sh then opens a chat in the terminal


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the window is closed. Returns the exit code: 0, or NO_DISPLAY."""
    parser = argparse.ArgumentParser(prog="underhill", description="Chat offline with models bigger than your memory.")
    parser.add_argument("--model", help="model to open: builtin, a name in the library, or a path")
    options = parser.parse_args(arguments)
    reason = display.why_none()
    if reason:
        print(f"{reason} `underhill-cli chat` opens a chat in the terminal instead.", file=sys.stderr)
        return NO_DISPLAY
    if sys.platform == "win32":
        # torch finds its c10.dll there only if it is loaded before Qt's DLLs. Everywhere else the engine's own thread
        # loads it at first need, so that the window is there at once. The engine's root sets how torch's threads wait.
        import engine.api  # noqa: F401, I001
        import torch  # noqa: F401
    return _run(options.model)


def _run(model: str | None) -> int:
    where = paths.default()
    log, left, kept = crash_log.begin(where.crash_log)
    if sys.platform.startswith("linux") and not _utf8():
        os.environ["LC_ALL"] = "C.UTF-8"  # otherwise Qt warns, and does the same
    from PySide6.QtWidgets import QApplication

    from app.assembly import Underhill

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("Underhill")
    application.setDesktopFileName("underhill")
    underhill = Underhill(application, where)
    if model is not None:
        underhill.window.prefer_model(model)
    if left:
        underhill.window.banners.show_banner(
            "warning", "Underhill ended unexpectedly the last time.",
            f"Your chats are safe. What was going on then is kept in {kept}.", left,
        )  # fmt: skip
    underhill.open()
    code = application.exec()
    underhill.close()
    crash_log.end(log)
    return code


def _utf8() -> bool:
    return any("utf" in os.environ.get(name, "").lower() for name in ("LC_ALL", "LC_CTYPE", "LANG"))
