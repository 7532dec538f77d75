"""Controller of export, import, backup and restore of chats."""

from __future__ import annotations

import errno
import sqlite3
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QStandardPaths, Slot
from PySide6.QtWidgets import QFileDialog, QMenu

from app.chat.conversation import Conversation
from app.export import export_chats, import_chats
from app.i18n.translate import plural, problem, tr, tr_noop
from app.platform.files import file_error
from app.shell import Shell
from app.storage import backup
from app.storage.database_thread import DatabaseThread
from app.storage.records import Chat
from app.storage.store import ChatStore
from app.widgets.messages import Button
from engine import protocol

_CHATS = tr_noop("Chats (*.json *.zip);;All files (*)")
_DATABASE = tr_noop("Backup of chats (*.db);;All files (*)")


@dataclass(frozen=True)
class TransferResult:
    """Result of a transfer. level: 'info' or 'error'. folder: that a file was written to. added: chats imported."""

    level: str
    sentence: str
    action: str = ""
    cause: str = ""
    folder: Path | None = None
    added: tuple[Chat, ...] = ()


class TransferController(QObject):
    """Asks for files, has the database thread do the work, and shows a banner with the result."""

    def __init__(
        self,
        shell: Shell,
        database: DatabaseThread,
        conversation: Conversation,
        folder: Path,
        leave: Callable[[], object],
    ) -> None:
        """folder: where the chats are; what a restore replaces is kept there. leave: keeps what is typed."""
        super().__init__(shell)
        self._shell, self._database, self._conversation, self._folder = shell, database, conversation, folder
        self._leave = leave
        self._shown = ""
        shell.sidebar.exported.connect(self.export)

    def fill_menu(self, menu: QMenu) -> None:
        """Add the entries to the menu beside 'New chat'."""
        menu.addAction(tr("Import chats…"), self.import_chats)
        menu.addAction(tr("Export all chats…"), self.export_all)
        menu.addSeparator()
        menu.addAction(tr("Back up chats…"), self.back_up)
        menu.addAction(tr("Restore backup…"), self.restore)

    @Slot(object, str)
    def export(self, chat: Chat, kind: str) -> None:
        """Export a chat: 'md' (the open branch) or 'json' (all branches)."""
        path = self._ask(tr("Export chat"), export_chats.file_name(chat, kind), f"*.{kind}")

        def write(store: ChatStore, path: Path) -> str:
            if kind == "md":
                export_chats.write(path, [export_chats.markdown(store.chat(chat.id) or chat, store.path(chat.id))])
            else:
                export_chats.write(path, export_chats.as_json(export_chats.gathered(store, chat.id)))
            return tr("Chat exported to {file}", file=path.name)

        self._write(path, write)

    @Slot()
    def export_all(self) -> None:
        """Export all chats into one JSON file."""
        path = self._ask(tr("Export all chats"), f"underhill-chats-{time.strftime('%Y-%m-%d')}.json", "*.json")

        def write(store: ChatStore, path: Path) -> str:
            export_chats.write(path, export_chats.as_json(export_chats.gathered(store)))
            count = len(store.chats())
            return plural("1 chat exported to {file}", "%n chats exported to {file}", count, file=path.name)

        self._write(path, write)

    @Slot()
    def import_chats(self) -> None:
        """Import chats from a file, beside those there are."""
        name, _ = QFileDialog.getOpenFileName(self._shell, tr("Import chats"), str(_downloads()), tr(_CHATS))
        path = Path(name)

        def work(store: ChatStore) -> TransferResult:
            with import_chats.read(path) as contents:
                added = import_chats.add(store, contents)
                odd = contents.unread
            sentence = plural(
                "1 chat imported from {file}.", "%n chats imported from {file}.", len(added), file=path.name
            )
            left = plural("1 more couldn't be read.", "%n more couldn't be read.", odd) if odd else ""
            return TransferResult("info", sentence, left, added=added)

        self._run(path if name else None, work, again=self.import_chats)

    @Slot()
    def back_up(self) -> None:
        """Back up the whole database into a file."""
        path = self._ask(tr("Back up chats"), f"underhill-backup-{time.strftime('%Y-%m-%d')}.db", "*.db")

        def write(store: ChatStore, path: Path) -> str:
            backup.back_up(store, path)
            return tr("Chats backed up to {file}", file=path.name)

        self._write(path, write)

    @Slot()
    def restore(self) -> None:
        """Replace all chats by a backup."""
        if self._conversation.working:
            self._show_result(
                TransferResult("warning", tr("An answer is being generated."), tr("Stop it, then restore the backup."))
            )
            return
        name, _ = QFileDialog.getOpenFileName(self._shell, tr("Restore backup"), str(Path.home()), tr(_DATABASE))
        if name:
            self._leave()

        def work(store: ChatStore) -> TransferResult:
            kept = backup.restore(store, Path(name), self._folder)
            return TransferResult(
                "info",
                tr("Backup restored from {file}.", file=Path(name).name),
                tr("Previous chats saved as {file}.", file=kept),
            )

        self._run(Path(name) if name else None, work, self._conversation.new, self.restore)

    def _ask(self, title: str, name: str, pattern: str) -> Path | None:
        chosen, _ = QFileDialog.getSaveFileName(self._shell, title, str(Path.home() / name), pattern)
        return Path(chosen) if chosen else None

    def _write(self, path: Path | None, write: Callable[[ChatStore, Path], str]) -> None:
        """Have the database thread write a file. write: returns a sentence that says so."""

        def work(store: ChatStore) -> TransferResult:
            assert path is not None
            _check_no_database(store, path)
            return TransferResult("info", write(store, path), str(path.parent), folder=path.parent)

        self._run(path, work)

    def _run(
        self, path: Path | None, work: Callable[[ChatStore], TransferResult], then: Callable[[], object] | None = None,
        again: Callable[[], object] | None = None,
    ) -> None:  # fmt: skip
        """Run `work` on the database thread. then: after success. again: asks for another file after a failure."""
        if path is None:
            return

        def done(outcome: TransferResult) -> None:
            if then is not None and outcome.level == "info":
                then()
            self._show_result(outcome, again if outcome.level == "error" else None)

        self._database.submit(lambda store: _guarded(work, store, path), done)

    def _show_result(self, outcome: TransferResult, again: Callable[[], object] | None = None) -> None:
        button: Button | None = None
        if again is not None:
            button = tr("Choose another…"), again
        elif outcome.folder is not None:
            button = tr("Open folder"), partial(self._shell.open_folder, outcome.folder)
        elif outcome.added:
            button = tr("Undo"), partial(self._shell.sidebar.deleted.emit, outcome.added)
        self._shell.banners.withdraw(self._shown)  # of the one before
        self._shown = outcome.sentence
        self._shell.banners.show_banner(outcome.level, outcome.sentence, outcome.action, outcome.cause, button)
        self._conversation.chats_changed.emit()


def _downloads() -> Path:
    """Folder of a browser's downloads, or the home folder."""
    found = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DownloadLocation)
    return Path(found) if found and Path(found).is_dir() else Path.home()


def _check_no_database(store: ChatStore, path: Path) -> None:
    """Raise UnderhillError where `path` is one of the files that the chats themselves are in."""
    if store.file is not None and path.resolve().as_posix().startswith(store.file.resolve().as_posix()):
        raise problem(
            protocol.Kind.BAD_REQUEST, tr("{file} is the app's own chat file.", file=path.name),
            tr("Choose another name."),
        )  # fmt: skip


def _guarded(work: Callable[[ChatStore], TransferResult], store: ChatStore, path: Path) -> TransferResult:
    """Run it; an error becomes a sentence."""
    try:
        return work(store)
    except protocol.UnderhillError as e:
        return TransferResult("error", e.sentence, e.action)
    except (OSError, sqlite3.Error) as e:
        cause = f"{type(e).__name__}: {e}"
        if getattr(e, "errno", None) == errno.ENOSPC or getattr(e, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_FULL:
            return TransferResult(
                "error", tr("The disk is full."), tr("Free some space or choose another disk."), cause
            )
        if (error := file_error(path, e)) is not None:
            return TransferResult("error", error.sentence, error.action, cause)
        if isinstance(e, PermissionError):
            return TransferResult(
                "error", tr("No permission to use {file}.", file=path), tr("Choose another folder."), cause
            )
        return TransferResult(
            "error",
            tr("Can't read or write {file}.", file=path.name),
            tr("Choose another file or folder."),
            cause,
        )
