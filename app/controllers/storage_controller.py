"""Controllers of what is not saved: banners about the chat database, and the question before the window closes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.chat.conversation import Conversation
from app.controllers.chat_navigator import ChatNavigator
from app.dialogs import UnsavedDialog
from app.i18n.translate import plural, tr
from app.settings.preferences import WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread, Problem
from app.storage.records import Attachment, QueuedMessage
from app.storage.store import NEW_CHAT, ChatStore
from app.widgets.builders import raise_window
from app.widgets.messages import Button

_RETRY_SECONDS = 2.0  # seconds for the disk to take what is not on it yet
_SESSION_END_TIMEOUT = 60_000  # milliseconds after which a session that was to end goes on
_log = logging.getLogger(__name__)


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
        again: Button = (tr("Try again"), self._retry)
        first: Button = (tr("Open folder"), partial(self._shell.open_folder, self._folder))
        second: Button | None = None
        if problem.kind == "corrupt":
            first = (tr("Restore backup…"), self._restore)
        elif problem.kind in ("busy", "denied", "other"):
            first, second = again, first if problem.kind != "busy" else None
        elif problem.kind == "full":
            first, second = again, (tr("Manage models"), self._shell.library_requested.emit)
        self._shell.banners.show_banner("error", problem.sentence, problem.action, problem.cause, first, second)

    def _retry(self) -> None:
        self._conversation.drafts.try_again()
        self._database.retry(self._worked)

    def _worked(self) -> None:
        if self._conversation.drafts.unsaved:
            return  # what is wrong was said again
        self._shell.toast.show_message(tr("Chats are being saved again"))
        self._conversation.chats_changed.emit()
        self._state.save()  # on the same disk


@dataclass
class UnsavedText:
    """Text of one chat that is not saved: answers, queued messages, and what is typed and attached, but not sent."""

    text: str = ""
    files: tuple[Attachment, ...] = ()
    answers: list[str] = field(default_factory=list)
    waiting: tuple[QueuedMessage, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.text or self.files or self.answers or self.waiting)


@dataclass(frozen=True)
class _DiskState:
    """titles: of chats, by id. chats: how many live in memory alone. drafts: of those, by id."""

    titles: dict[int, str]
    chats: int
    drafts: dict[int, UnsavedText]


class ClosingController(QObject):
    """close_cancelled: the window was to close, and does not. dialog: the open question, or None."""

    close_cancelled = Signal()

    def __init__(
        self,
        shell: Shell,
        database: DatabaseThread,
        conversation: Conversation,
        state: WindowState,
        navigator: ChatNavigator,
    ) -> None:
        super().__init__(shell)
        self._shell, self._database, self._conversation = shell, database, conversation
        self._state, self._navigator, self._drafts = state, navigator, conversation.drafts
        self._confirmed = False  # the user chose to close and to lose the text
        self.dialog: UnsavedDialog | None = None
        self._ending = QTimer(self, singleShot=True, interval=_SESSION_END_TIMEOUT)  # runs while the session may end
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.commitDataRequest.connect(self.save_all, Qt.ConnectionType.DirectConnection)

    def may_close(self) -> bool:
        """Whether all text is on the disk, or the user has confirmed to close; otherwise it asks and returns False."""
        if self._confirmed or self._ending.isActive() or not self._has_unsaved():
            return True
        if self.dialog is None:
            found = self._retry_saves()
            left = self._unsaved_texts(found)
            if not left and not found.chats:
                return True
            self._ask(found, left)
        else:
            raise_window(self.dialog)
        return False

    def _has_unsaved(self) -> bool:
        typed = self._drafts.unsaved or bool(self._state.unsaved_draft)
        return typed or bool(self._conversation.answers.unwritten) or self._database.in_memory

    def _retry_saves(self) -> _DiskState:
        """Write everything again that is not saved, and read what the disk has then."""
        if self._database.in_memory:
            self._database.retry(lambda: None)
        self._conversation.answers.write_again()
        self._state.save()
        return self._database.run_blocking(_read_disk_state, _RETRY_SECONDS) or _DiskState({}, 0, {})

    def _unsaved_texts(self, found: _DiskState) -> dict[int, UnsavedText]:
        """The unsaved text by chat; drafts.NEW for the chat without a message."""
        left = dict(found.drafts)
        for message in self._conversation.answers.unwritten:
            left.setdefault(message.chat_id, UnsavedText()).answers.append(message.content)
        for (chat_id, what), held in self._drafts.held.items():
            words = left.setdefault(chat_id, UnsavedText())
            if what == "draft":
                words.text = held
            elif what == "queue":
                words.waiting = held
            elif what == "attached":
                words.files = held
        if draft := self._state.unsaved_draft:
            left.setdefault(NEW_CHAT, UnsavedText()).text = draft
        return {chat_id: words for chat_id, words in left.items() if words}

    def _ask(self, found: _DiskState, left: dict[int, UnsavedText]) -> None:
        problem = self._drafts.problem
        refused = self._drafts.unsaved or self._conversation.answers.unwritten
        why = [problem.sentence] if problem is not None and refused else []
        if found.chats:
            why.append(
                plural(
                    "1 chat is kept only while the app is open. Cancel and export it if you need it.",
                    "%n chats are kept only while the app is open. Cancel and export those you need.",
                    found.chats,
                )
            )
        titles = {**found.titles, NEW_CHAT: tr("New chat")}
        words = "\n\n\n".join(_chat_text(titles.get(i) or tr("New chat"), left[i]) for i in left)
        self.dialog = UnsavedDialog(why, words, self._shell)
        self.dialog.accepted.connect(self._quit)
        self.dialog.rejected.connect(self._stay)
        raise_window(self._shell)
        self.dialog.open()

    @Slot()
    def _quit(self) -> None:
        self.dialog = None
        self._confirmed = True
        self._shell.close()

    @Slot()
    def _stay(self) -> None:
        self.dialog = None
        self.close_cancelled.emit()

    @Slot()
    def save_all(self) -> None:
        """Save whatever the disk takes, without asking: the session is about to end."""
        self._ending.start()
        self._navigator.leave()
        if self._has_unsaved():
            found = self._retry_saves()
            left = self._unsaved_texts(found)
            if left or found.chats:
                _log.warning(
                    "The session ended. The disk did not take the words of %d chats, and %d chats: %s",
                    len(left), found.chats, self._drafts.problem.cause if self._drafts.problem else "no answer",
                )  # fmt: skip


def _read_disk_state(store: ChatStore) -> _DiskState:
    chats = store.chats()
    titles = {chat.id: chat.title for chat in chats}
    if not store.in_memory:
        return _DiskState(titles, 0, {})
    ids = [NEW_CHAT, *titles]
    typed = {chat.id: chat.draft for chat in chats}
    return _DiskState(titles, len(chats), {i: UnsavedText(typed.get(i, ""), store.draft_attachments(i)) for i in ids})


def _chat_text(title: str, words: UnsavedText) -> str:
    """One chat's words for the box."""
    waiting = (part for q in words.waiting for part in (q.text, *_attachment_texts(q.attachments)))
    return "\n\n".join(
        part for part in (title, *words.answers, *waiting, words.text, *_attachment_texts(words.files)) if part
    )


def _attachment_texts(files: Iterable[Attachment]) -> Iterable[str]:
    """The text of what is attached as well: it may have been pasted."""
    return (f"{tr('Attached: {names}', names=a.name)}\n{a.text}" for a in files)
