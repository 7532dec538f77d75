"""Opens the window: console script `underhill`."""

from __future__ import annotations

import argparse
import ctypes
import functools
import importlib.util
import logging
import os
import platform
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from app.install.launch import start_withdrawn
from app.install.release import program_folder, running
from app.platform import logs
from engine import private_files, windows

if TYPE_CHECKING:  # Qt is imported once it is known that there is a display
    from PySide6.QtWidgets import QApplication

    from app.application import Application, Start
    from app.platform.logs import AppPaths
    from app.platform.single_instance import SingleInstance
    from app.settings.preferences import Preferences

_log = logging.getLogger(__name__)

NO_DISPLAY = 3  # exit code; installers/run.sh then opens a chat in the terminal
NO_ANSWER = 4  # exit code: another one runs and does not answer


def main(arguments: Sequence[str] | None = None) -> int:
    """Run until the window is closed. Returns the exit code: 0, NO_DISPLAY or NO_ANSWER."""
    parser = argparse.ArgumentParser(prog="underhill", description="Chat offline with models bigger than your memory.")
    parser.add_argument("--model", help="model to open: builtin, a name in the library, or a path")
    parser.add_argument("file", nargs="?", type=Path, help="a model's GGUF file or folder, to import")
    options = parser.parse_args(arguments)
    reason = no_display_reason()
    if reason:
        print(f"{reason} `underhill-cli chat` opens a chat in the terminal instead.", file=sys.stderr)
        return NO_DISPLAY
    return _run(options.model, str(options.file.absolute()) if options.file else "")


def _run(model: str | None, file: str = "") -> int:
    where = logs.default_paths()
    _prepare_process(where)
    from PySide6.QtWidgets import QApplication

    from app.application import Application, claim_single_instance
    from app.i18n import languages
    from app.platform.logs import LogFile
    from app.settings import preferences
    from app.setup.page import engine_python
    from engine import client

    application = QApplication.instance() or QApplication(sys.argv[:1])
    assert isinstance(application, QApplication)
    application.setApplicationName("Underhill")
    application.setDesktopFileName("underhill")
    look = preferences.load(where.preferences)[0]
    languages.install(look.language)
    alone, answered = claim_single_instance(application, where.folder, look, model or "", file)
    if not alone.first:
        if running() is not None:
            with suppress(OSError):
                start_withdrawn(program_folder(where.folder))
        return 0 if answered else NO_ANSWER
    log = LogFile(where.logs)
    _log_begin(application, look)
    faults, left, kept = logs.begin_crash_log(where.crash_log)
    if left:
        _log.error("The last run ended by a fault; its stack is in %s", kept)
    python = engine_python(application, look, where.folder, alone)
    if python is None:
        return 0
    start = functools.partial(client.start_subprocess, python=python)
    underhill = Application(application, where, start)
    if model is not None:
        underhill.window.model_controller.begin_with(model)
    _tell_last_run(underhill, where, left, kept)
    code = _run_windows(application, underhill, where, start, alone, file)
    _log.info("Underhill ends")
    logs.end_crash_log(faults)
    log.close()
    alone.close()
    return code


def _prepare_process(where: AppPaths) -> None:
    """What has to be set before Qt is imported."""
    private_files.write_privately()
    windows.no_error_boxes()
    windows.name_application()
    private_files.tighten(where.folder)
    if sys.platform.startswith("linux") and not _utf8():
        os.environ["LC_ALL"] = "C.UTF-8"  # otherwise Qt warns, and does the same


def _log_begin(application: QApplication, look: Preferences) -> None:
    from PySide6.QtCore import qVersion

    from app.dialogs import version

    _log.info(
        "Underhill %s begins: process %d, Python %s, Qt %s on %s, %s", version() or "from source", os.getpid(),
        platform.python_version(), qVersion(), application.platformName(), platform.platform(terse=True),
    )  # fmt: skip
    _log.info("Language %s, theme %s, text %d %%", look.language, look.theme, look.font_percent)


def _tell_last_run(underhill: Application, where: AppPaths, left: str, kept: Path | None) -> None:
    """Banners where the last run ended by a fault. left: the stack of the window's; kept: the file that has it."""
    from app.i18n.translate import tr

    if left:
        underhill.window.banners.show_banner(
            "warning", tr("The app closed unexpectedly last time."),
            tr("Your chats are safe. Details are in {file}.", file=kept), left,
        )  # fmt: skip
    ended, report = logs.take_crash_log(where.engine_log)
    if ended:
        _log.error("The engine of the last run ended unexpectedly; its stack is in %s", report)
        underhill.window.banners.show_banner(
            "info", tr("The engine stopped unexpectedly last time."),
            tr("Details are in {file}.", file=report), ended,
        )  # fmt: skip


def _run_windows(
    application: QApplication, underhill: Application, where: AppPaths, start: Start, alone: SingleInstance, file: str
) -> int:
    """Show this window, and those that take its place in another language. Returns the exit code."""
    from app.application import Application

    open_window = underhill.open
    while True:
        alone.activation_requested.connect(underhill.window.come_forward)
        open_window()
        if file:
            underhill.window.library.import_path(file)
            file = ""
        code = application.exec()
        underhill.close()
        if not underhill.again:
            return code
        in_settings = underhill.in_settings
        underhill = Application(application, where, start, underhill.engine)  # in another language
        open_window = functools.partial(underhill.open_again, in_settings)


def _utf8() -> bool:
    return any("utf" in os.environ.get(name, "").lower() for name in ("LC_ALL", "LC_CTYPE", "LANG"))


def no_display_reason() -> str:
    """A sentence why no window can be opened here; empty where one can. Asks nothing of Qt."""
    chosen = os.environ.get("QT_QPA_PLATFORM", "").split(":")[0].split(";")[0]
    if not sys.platform.startswith("linux") or chosen in ("offscreen", "minimal", "vnc", "eglfs", "linuxfb"):
        return ""
    if not os.environ.get("DISPLAY") and not os.environ.get("WAYLAND_DISPLAY"):
        return "There is no display here, so the window cannot be opened."
    if os.environ.get("WAYLAND_DISPLAY") and chosen != "xcb":
        return ""
    return _missing_library() or _unreachable_server()


def _missing_library() -> str:
    """Qt's own message names the wrong library; the loader's names the right one."""
    qt = importlib.util.find_spec("PySide6")
    if qt is None or not qt.submodule_search_locations:
        return "Qt (PySide6) is not installed, so the window cannot be opened."
    plugin = Path(qt.submodule_search_locations[0]) / "Qt" / "plugins" / "platforms" / "libqxcb.so"
    if plugin.exists():
        try:
            # Only to hear what the loader says; where it loads, something else is wrong.
            ctypes.CDLL(str(plugin))
        except OSError as error:
            library = str(error).split(":")[0]
            return f"The system library {library} is missing, so the window cannot be opened."
    return ""


def _unreachable_server() -> str:
    try:
        xcb = ctypes.CDLL("libxcb.so.1")
    except OSError:
        return "The system library libxcb.so.1 is missing, so the window cannot be opened."
    # A pointer: as int, the default, it would be cut, and the calls below would follow it.
    xcb.xcb_connect.restype = ctypes.c_void_p
    xcb.xcb_connect.argtypes = [ctypes.c_char_p, ctypes.c_void_p]
    xcb.xcb_connection_has_error.argtypes = [ctypes.c_void_p]
    xcb.xcb_disconnect.argtypes = [ctypes.c_void_p]
    connection = xcb.xcb_connect(None, None)
    failed = xcb.xcb_connection_has_error(connection)
    xcb.xcb_disconnect(connection)
    if failed:
        return f"The display {os.environ['DISPLAY']} does not answer, so the window cannot be opened."
    return ""
