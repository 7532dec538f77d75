"""Saves geometry, docks, draft and preferences as they change; a banner says once where the disk refuses."""

from __future__ import annotations

import copy
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QObject, Slot

from app.i18n.translate import tr
from app.settings import preferences
from app.settings.preferences import Preferences
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.storage.opening import Problem


class WindowState(QObject):
    """Keeps a window's preferences in their file."""

    def __init__(self, shell: Shell, database: DatabaseThread, remembered: Preferences, path: Path) -> None:
        super().__init__(shell)
        self._shell, self._database, self._preferences, self._path = shell, database, remembered, path
        self._refused = False  # by the disk, and that was said
        self._draft = remembered.draft  # as the disk has it

    @property
    def unsaved_draft(self) -> str:
        """What is typed in a new chat, where the disk does not have it."""
        draft = self._preferences.draft
        return draft if draft != self._draft else ""

    def arrange(self) -> None:
        """Put window and panels where they were."""
        p, shell = self._preferences, self._shell
        if p.geometry:
            shell.restoreGeometry(QByteArray.fromBase64(p.geometry.encode()))
        if p.docks:
            shell.live.fresh = not shell.restoreState(QByteArray.fromBase64(p.docks.encode()))

    @Slot()
    def save(self) -> None:
        """Have what is remembered written, off this thread."""
        p, shell = self._preferences, self._shell
        p.geometry = bytes(shell.saveGeometry().toBase64().data()).decode()
        p.docks = bytes(shell.saveState().toBase64().data()).decode()
        now, path = copy.deepcopy(p), self._path
        self._database.submit(
            lambda store: preferences.save(now, path), partial(self._saved, now.draft), self._not_saved
        )

    def keep_draft(self, text: str) -> None:
        """What is typed in a new chat."""
        if text != self._preferences.draft:
            self._preferences.draft = text
            self.save()

    def keep_open(self, chat_id: int) -> None:
        """Which chat is open, so that it is open again even after a power cut. 0: a new one."""
        if chat_id != self._preferences.chat:
            self._preferences.chat = chat_id
            self.save()

    def _saved(self, draft: str, _: None) -> None:
        self._refused, self._draft = False, draft
        self._shell.banners.withdraw(tr("Your settings cannot be saved."))

    def _not_saved(self, problem: Problem) -> None:
        if not self._refused:  # otherwise it was said already
            self._refused = True
            self._shell.banners.show_banner(
                "warning", tr("Your settings cannot be saved."), tr("They hold until you close Underhill."),
                problem.cause, (tr("Try again"), self._again),
            )  # fmt: skip

    @Slot()
    def _again(self) -> None:
        self._refused = False
        self.save()
