"""Starts another engine where one has stopped working, and keeps what is known of the fault."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app.backend.engine_link import EngineLink
from app.library.view_model import LibraryViewModel
from app.platform import crash_log
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from engine import protocol


class EngineController(QObject):
    """Shows a banner that offers a restart; restarts at once where the engine was killed over an answer."""

    def __init__(
        self, shell: Shell, link: EngineLink, view_model: LibraryViewModel, database: DatabaseThread, log: Path
    ) -> None:
        """log: where it is written what is known of an engine that ended."""
        super().__init__(shell)
        self._shell, self._link, self._view_model, self._database, self._log = shell, link, view_model, database, log
        self._noted = False  # each command that waited is told
        link.died.connect(self._died)
        link.started.connect(self._started)

    @Slot(object)
    def _died(self, event: protocol.Failed) -> None:
        if not self._noted:
            self._noted = True
            path, text = self._log, event.cause or event.sentence
            self._database.submit(lambda store: crash_log.note(path, text), None, lambda problem: None)
        if event.kind is protocol.Kind.HELD:
            self._link.restart()
        else:
            self._shell.show_failure(event)

    @Slot()
    def _started(self) -> None:
        self._noted = False
        self._view_model.refresh()
