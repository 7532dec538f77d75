"""The part of the window that takes chats out and in: export, import, backup and restore."""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QMenu

from app.chats.keeper import Keeper
from app.chats.records import Chat
from app.chats.store import ChatStore
from app.conversation import Conversation
from app.transfer import backup, exporting, importing
from engine import api

if TYPE_CHECKING:
    from app.window import MainWindow

_CHATS = "Chats (*.json *.zip);;All files (*)"
_DATABASE = "Backup of chats (*.db);;All files (*)"


@dataclass(frozen=True)
class Outcome:
    """How it went. level: 'info' or 'error'."""

    level: str
    sentence: str
    action: str = ""
    cause: str = ""


class TransferDesk(QObject):
    """Asks for files; the work is done by the keeper, and a banner says how it went."""

    def __init__(self, window: MainWindow, keeper: Keeper, conversation: Conversation, folder: Path) -> None:
        """folder: where the chats are; what a restore replaces is kept there."""
        super().__init__(window)
        self._window, self._keeper, self._conversation, self._folder = window, keeper, conversation, folder
        window.sidebar.exported.connect(self.export)

    def fill_menu(self, menu: QMenu) -> None:
        """Entries of the menu beside 'New chat'."""
        menu.addAction("Import chats…", self.import_chats)
        menu.addAction("Export all chats…", self.export_all)
        menu.addSeparator()
        menu.addAction("Back up all chats…", self.back_up)
        menu.addAction("Restore a backup…", self.restore)

    @Slot(object, str)
    def export(self, chat: Chat, kind: str) -> None:
        """One chat: 'md' (the open branch) or 'json' (all branches)."""
        path = self._ask("Export chat", exporting.file_name(chat, kind), f"*.{kind}")

        def work(store: ChatStore) -> Outcome:
            assert path is not None
            if kind == "md":
                exporting.write(path, exporting.markdown(store.chat(chat.id) or chat, store.path(chat.id)))
            else:
                exporting.write(path, exporting.as_json(exporting.gathered(store, chat.id)))
            return Outcome("info", f"The chat was written to {path.name}.", str(path.parent))

        self._do(path, work)

    @Slot()
    def export_all(self) -> None:
        """All chats into one JSON file."""
        path = self._ask("Export all chats", f"underhill-chats-{time.strftime('%Y-%m-%d')}.json", "*.json")

        def work(store: ChatStore) -> Outcome:
            assert path is not None
            chats = exporting.gathered(store)
            exporting.write(path, exporting.as_json(chats))
            return Outcome("info", f"{_count(len(chats))} written to {path.name}.", str(path.parent))

        self._do(path, work)

    @Slot()
    def import_chats(self) -> None:
        """Chats from a file, beside those there are."""
        name, _ = QFileDialog.getOpenFileName(self._window, "Import chats", "", _CHATS)
        path = Path(name)
        self._do(path if name else None, lambda store: Outcome(
            "info", f"{_count(importing.add(store, importing.read(path)))} imported from {path.name}."
        ))  # fmt: skip

    @Slot()
    def back_up(self) -> None:
        """The whole database into a file."""
        path = self._ask("Back up all chats", f"underhill-backup-{time.strftime('%Y-%m-%d')}.db", "*.db")

        def work(store: ChatStore) -> Outcome:
            assert path is not None
            backup.back_up(store, path)
            return Outcome("info", f"All chats are backed up in {path.name}.", str(path.parent))

        self._do(path, work)

    @Slot()
    def restore(self) -> None:
        """A backup in the place of all chats."""
        if self._conversation.working:
            self._tell(Outcome("warning", "An answer is being written.", "Stop it, then restore the backup."))
            return
        name, _ = QFileDialog.getOpenFileName(self._window, "Restore a backup", "", _DATABASE)
        if name:
            self._window.leave()

        def work(store: ChatStore) -> Outcome:
            kept = backup.restore(store, Path(name), self._folder)
            return Outcome("info", f"The chats of {Path(name).name} are back.", f"Those before it are kept as {kept}.")

        self._do(Path(name) if name else None, work, self._conversation.new)

    def _ask(self, title: str, name: str, pattern: str) -> Path | None:
        chosen, _ = QFileDialog.getSaveFileName(self._window, title, str(Path.home() / name), pattern)
        return Path(chosen) if chosen else None

    def _do(
        self, path: Path | None, work: Callable[[ChatStore], Outcome], then: Callable[[], object] | None = None
    ) -> None:
        if path is None:
            return

        def done(outcome: Outcome) -> None:
            if then is not None and outcome.level == "info":
                then()
            self._tell(outcome)

        self._keeper.do(lambda store: _guarded(work, store, path), done)

    def _tell(self, outcome: Outcome) -> None:
        self._window.banners.show_banner(outcome.level, outcome.sentence, outcome.action, outcome.cause)
        self._window.chats.refresh()


def _guarded(work: Callable[[ChatStore], Outcome], store: ChatStore, path: Path) -> Outcome:
    """Do it; what goes wrong becomes a sentence."""
    try:
        return work(store)
    except api.UnderhillError as e:
        return Outcome("error", e.sentence, e.action)
    except (OSError, sqlite3.Error) as e:
        cause = f"{type(e).__name__}: {e}"
        if getattr(e, "errno", None) == errno.ENOSPC or getattr(e, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            return Outcome("error", "The disk is full.", "Free some space or choose another disk.", cause)
        if isinstance(e, FileNotFoundError):
            return Outcome("error", f"{path.name} is not there any more.", "Choose another file.", cause)
        if isinstance(e, PermissionError):
            return Outcome("error", f"Underhill may not use {path}.", "Choose another folder.", cause)
        return Outcome("error", f"{path.name} could not be read or written.", "Choose another file or folder.", cause)


def _count(chats: int) -> str:
    return "1 chat was" if chats == 1 else f"{chats:,} chats were"
