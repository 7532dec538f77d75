"""The part of the window that deals with an engine that has stopped working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.library.shelf import Shelf
from app.link.engine_link import EngineLink
from app.remedies import show_failure
from engine import api

if TYPE_CHECKING:
    from app.window import MainWindow


class EngineDesk(QObject):
    """Says so, and starts another one with the same model."""

    def __init__(self, window: MainWindow, link: EngineLink, shelf: Shelf) -> None:
        super().__init__(window)
        self._window, self._link, self._shelf = window, link, shelf
        link.died.connect(self._died)
        link.started.connect(self._started)

    @Slot()
    def restart(self) -> None:
        """Another engine in the place of this one."""
        self._link.restart()

    @Slot(object)
    def _died(self, event: api.Failed) -> None:
        show_failure(self._window, event)

    @Slot()
    def _started(self) -> None:
        self._window.start()
        self._shelf.refresh()
