"""Which button helps with which error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.i18n.translate import tr
from app.widgets.banner import Button
from engine import protocol

if TYPE_CHECKING:
    from app.main_window import MainWindow

_LIBRARY = (
    protocol.Kind.DISK_FULL, protocol.Kind.DISK_ERROR, protocol.Kind.MISSING_FILE, protocol.Kind.NOT_A_MODEL,
    protocol.Kind.BROKEN_FILE, protocol.Kind.UNSUPPORTED_MODEL,
)  # fmt: skip
_SETTINGS = {
    protocol.Kind.OFFLINE: "offline", protocol.Kind.NO_NETWORK: "proxy", protocol.Kind.NO_ACCESS: "proxy",
    protocol.Kind.OUT_OF_MEMORY: "memory_gb", protocol.Kind.CONTEXT_FULL: "context_length",
}  # fmt: skip


def remedy(window: MainWindow, event: protocol.Failed) -> Button | None:
    """What to do about it elsewhere in the window; None where nothing there helps."""
    if event.kind is protocol.Kind.STOPPED:
        return tr("Start the engine again"), window.engine_desk.restart
    if event.kind in _LIBRARY:
        shown = window.pages.currentWidget() is window.library.page
        return None if shown else (tr("Manage models"), window.library.show)
    if event.kind in _SETTINGS:
        return tr("Open the settings"), partial(_open_setting, window, _SETTINGS[event.kind])
    return None


def _open_setting(window: MainWindow, name: str) -> None:
    window.desk.open_settings().show_setting(name)


def show_failure(window: MainWindow, event: protocol.Failed, again: Button | None = None) -> None:
    """A banner with what to do: try it again, where that may help, or what helps elsewhere."""
    other = remedy(window, event)
    if event.kind in protocol.GONE:
        again = None
    first, second = (again, other) if again is not None else (other, None)
    window.banners.show_banner("error", event.sentence, event.action, event.cause, first, second)
