"""Shows banners about the database of chats, and tries again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.i18n.translate import tr
from app.settings.window_state import WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.storage.opening import Problem
from app.widgets.banner import Button


class StorageController(QObject):
    """Every problem gets a banner with what helps against it."""

    def __init__(
        self, shell: Shell, database: DatabaseThread, conversation: Conversation, state: WindowState,
        restore: Callable[[], object], folder: Path,
    ) -> None:  # fmt: skip
        """restore: asks for a backup. folder: where the chats are."""
        super().__init__(shell)
        self._shell, self._database, self._conversation = shell, database, conversation
        self._state, self._restore, self._folder = state, restore, folder
        conversation.problem.connect(self.show_problem)

    @Slot(object)
    def show_problem(self, problem: Problem) -> None:
        """Something about the chats on disk."""
        again: Button = (tr("Try again"), self._again)
        first: Button = (tr("Open the folder"), self._open_folder)
        second: Button | None = None
        if problem.kind == "corrupt":
            first = (tr("Restore a backup…"), self._restore)
        elif problem.kind in ("busy", "denied", "other"):
            first, second = again, first if problem.kind != "busy" else None
        elif problem.kind == "full":
            first, second = again, (tr("Manage models"), self._shell.library_wanted.emit)
        self._shell.banners.show_banner("error", problem.sentence, problem.action, problem.cause, first, second)

    def _again(self) -> None:
        self._conversation.drafts.try_again()
        self._database.retry(self._worked)

    def _worked(self) -> None:
        if self._conversation.drafts.unsaved:
            return  # what is wrong was said again
        self._shell.toast.say(tr("Your chats are saved again."))
        self._conversation.chats_changed.emit()
        self._state.save()  # on the same disk

    def _open_folder(self) -> None:
        self._shell.open_folder(self._folder)
