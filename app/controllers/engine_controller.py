"""The part of the window that deals with an engine that has stopped working."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.backend.engine_link import EngineLink
from app.controllers.failure_banner import show_failure
from app.library.view_model import LibraryViewModel
from app.platform import crash_log
from app.platform.paths import AppPaths
from app.storage.database_thread import DatabaseThread
from engine import protocol

if TYPE_CHECKING:
    from app.main_window import MainWindow


class EngineController(QObject):
    """Says so, keeps what is known of it, and starts another one with the same model: at once, where it was ended since
    it did not let go of an answer; the chat says that.
    """

    def __init__(
        self, window: MainWindow, link: EngineLink, view_model: LibraryViewModel, database: DatabaseThread
    ) -> None:
        super().__init__(window)
        self._window, self._link, self._view_model, self._database = window, link, view_model, database
        self._noted = False  # each command that waited is told
        link.died.connect(self._died)
        link.started.connect(self._started)

    @Slot()
    def restart(self) -> None:
        """Another engine in the place of this one."""
        self._link.restart()

    @Slot(object)
    def _died(self, event: protocol.Failed) -> None:
        if not self._noted:
            self._noted = True
            path, text = AppPaths(self._window.folder).engine_log, event.cause or event.sentence
            self._database.submit(lambda store: crash_log.note(path, text), None, lambda problem: None)
        if event.kind is protocol.Kind.HELD:
            self._link.restart()
        else:
            show_failure(self._window, event)

    @Slot()
    def _started(self) -> None:
        self._noted = False
        self._window.start()
        self._view_model.refresh()
