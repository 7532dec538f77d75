"""Which button helps with which error."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from app.i18n.translate import tr
from app.widgets.banner import Button
from engine import api

if TYPE_CHECKING:
    from app.main_window import MainWindow

_LIBRARY = (
    api.Kind.DISK_FULL, api.Kind.DISK_ERROR, api.Kind.MISSING_FILE, api.Kind.NOT_A_MODEL, api.Kind.BROKEN_FILE,
    api.Kind.UNSUPPORTED_MODEL,
)  # fmt: skip
_SETTINGS = {
    api.Kind.OFFLINE: "offline", api.Kind.NO_NETWORK: "proxy", api.Kind.NO_ACCESS: "proxy",
    api.Kind.OUT_OF_MEMORY: "memory_gb", api.Kind.CONTEXT_FULL: "context_length",
}  # fmt: skip


def remedy(window: MainWindow, event: api.Failed) -> Button | None:
    """What to do about it elsewhere in the window; None where nothing there helps."""
    if event.kind is api.Kind.STOPPED:
        return tr("Start the engine again"), window.engine_desk.restart
    if event.kind in _LIBRARY:
        shown = window.pages.currentWidget() is window.library.page
        return None if shown else (tr("Manage models"), window.library.show)
    if event.kind in _SETTINGS:
        return tr("Open the settings"), partial(_open_setting, window, _SETTINGS[event.kind])
    return None


def _open_setting(window: MainWindow, name: str) -> None:
    window.desk.open_settings().show_setting(name)


def show_failure(window: MainWindow, event: api.Failed, again: Button | None = None) -> None:
    """A banner with what to do: try it again, where that may help, or what helps elsewhere."""
    other = remedy(window, event)
    if event.kind in api.GONE:
        again = None
    first, second = (again, other) if again is not None else (other, None)
    window.banners.show_banner("error", event.sentence, event.action, event.cause, first, second)
