"""The part of the window that says what is wrong with the chats on the disk, and tries again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.i18n.translate import tr
from app.storage.database_thread import DatabaseThread
from app.storage.opening import Problem
from app.widgets.banner import Button

if TYPE_CHECKING:
    from app.main_window import MainWindow


class StorageController(QObject):
    """Every problem gets a banner with what helps against it."""

    def __init__(self, window: MainWindow, database: DatabaseThread, conversation: Conversation) -> None:
        super().__init__(window)
        self._window, self._database, self._conversation = window, database, conversation
        conversation.problem.connect(self.show_problem)

    @Slot(object)
    def show_problem(self, problem: Problem) -> None:
        """Something about the chats on disk."""
        again: Button = (tr("Try again"), self._again)
        first: Button = (tr("Open the folder"), self._open_folder)
        second: Button | None = None
        if problem.kind == "corrupt":
            first = (tr("Restore a backup…"), self._window.chats.transfer.restore)
        elif problem.kind in ("busy", "denied", "other"):
            first, second = again, first if problem.kind != "busy" else None
        elif problem.kind == "full":
            first, second = again, (tr("Manage models"), self._window.library.show)
        self._window.banners.show_banner("error", problem.sentence, problem.action, problem.cause, first, second)

    def _again(self) -> None:
        self._conversation.unsent.try_again()
        self._database.retry(self._worked)

    def _worked(self) -> None:
        if self._conversation.unsent.unsaved:
            return  # what is wrong was said again
        self._window.toast.say(tr("Your chats are saved again."))
        self._window.chats.refresh()
        self._window.remembering.save()  # on the same disk

    def _open_folder(self) -> None:
        self._window.show_outside(self._window.folder)
