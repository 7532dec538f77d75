"""Documents of the open chat: files and folders that are indexed, and searched at each question."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QObject, Slot
from PySide6.QtWidgets import QDialog, QFileDialog, QPlainTextEdit, QWidget

from app.attachments.controller import AttachmentReader
from app.attachments.reading import read
from app.backend import EngineLink
from app.chat.conversation import Conversation
from app.i18n.translate import plural, tr
from app.platform.main_thread import MainThreadQueue
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.storage.records import Attachment
from app.storage.store import ChatStore
from app.theme import fonts
from app.widgets.builders import close_box, make_label, open_dialog, resize_on_screen, vbox
from app.widgets.buttons import Chip
from engine import protocol


@dataclass(frozen=True)
class DocumentState:
    """What is known of an attached file or folder. command: id of the indexing under way; doing: how far it is.

    found: what is in the index; None: not known yet. problem: why it cannot be read.
    """

    command: str = ""
    doing: str = ""
    found: protocol.IndexedDocuments | None = None
    problem: str = ""


class LeftOutDialog(QDialog):
    """What is in the index of a file or folder, and which files were left out."""

    def __init__(self, path: str, state: DocumentState, parent: QWidget) -> None:
        super().__init__(parent)
        self.setWindowTitle(Path(path).name)
        found = state.found
        self.list = QPlainTextEdit(self)
        self.list.setObjectName("field")
        self.list.setReadOnly(True)
        self.list.setAccessibleName(tr("Files not included"))
        lines = [f"{left.name}\n    {left.sentence}" for left in found.left_out] if found is not None else []
        self.list.setPlainText("\n".join(lines))
        self.list.setVisible(bool(lines))
        facts = state.problem or facts_of(state)
        told = tr("These files aren't searched:") if lines else ""
        vbox(
            make_label(path, self, "muted", wrap=True, selectable=True),
            make_label(facts, self, wrap=True, selectable=True),
            make_label(told, self, wrap=True),
            (self.list, 1),
            close_box(self),
            parent=self, margins=16, spacing=10,
        )  # fmt: skip
        if lines:
            resize_on_screen(self, fonts.pixels(560), fonts.pixels(400))
        else:
            self.setMinimumWidth(fonts.pixels(380))


def facts_of(state: DocumentState) -> str:
    """'21 files  ·  475 passages  ·  2 not included', or how far indexing is."""
    found = state.found
    if found is None:
        return state.doing or tr("Indexing…")
    passages = plural("1 passage", "{count:,} passages", found.passages, count=found.passages)
    parts = [_amount(found), passages] if found.folder else [passages]
    if found.left_out_count:
        parts.append(
            plural("1 not included", "{count:,} not included", found.left_out_count, count=found.left_out_count)
        )
    if state.command and state.doing:
        parts.append(state.doing)
    return "  ·  ".join(parts)


def _amount(found: protocol.IndexedDocuments) -> str:
    """'21 files' of a folder, '475 passages' of a file."""
    if found.folder:
        return plural("1 file", "{count:,} files", found.files, count=found.files)
    return plural("1 passage", "{count:,} passages", found.passages, count=found.passages)


class DocumentsController(QObject):
    """Shows the documents above the field, has them indexed, and forgets what no chat searches any more."""

    def __init__(
        self, shell: Shell, database: DatabaseThread, conversation: Conversation, *, link: EngineLink,
        main_queue: MainThreadQueue, reader: AttachmentReader,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._main_queue, self._reader = main_queue, reader
        self._shell, self._database, self._conversation, self._link = shell, database, conversation, link
        self._states: dict[str, DocumentState] = {}
        self._folder = QDir.homePath()  # that was last chosen
        composer = shell.composer
        composer.folder.clicked.connect(self.choose)
        composer.documents.pressed.connect(self.show_details)
        composer.documents.removed.connect(self.remove)
        shell.transcript.strips.opened.connect(self.open_document)
        conversation.opened.connect(self._opened)
        conversation.added.connect(lambda _: self._show())
        link.started.connect(self._engine_started)

    @Slot()
    def choose(self) -> None:
        """Ask for a folder and attach it."""
        name = QFileDialog.getExistingDirectory(self._shell, tr("Attach folder"), self._folder)
        if name:
            self._folder = name
            self.add([Path(name)])

    def add(self, paths: Sequence[Path]) -> None:
        """Have the open chat search these files and folders, too."""
        known = self._conversation.documents
        fresh = tuple(p for p in dict.fromkeys(str(path.absolute()) for path in paths) if p not in known)
        if fresh:
            self._conversation.keep_documents((*known, *fresh))
        for path in fresh:
            self._index(path)
        self._show()
        self._shell.composer.edit.setFocus()

    @Slot(int)
    def remove(self, number: int) -> None:
        """Have the open chat no longer search one of them; a toast offers Undo."""
        paths = self._conversation.documents
        path, chat_id = paths[number], self._conversation.chat_id
        self._stop(path)
        self._shell.banners.withdraw_about(lambda about: about == f"documents:{path}")
        self._conversation.keep_documents((*paths[:number], *paths[number + 1 :]), self.tidy)
        self._show()
        name = Path(path).name

        def undo() -> None:
            if self._conversation.chat_id == chat_id:
                self.add([Path(path)])

        self._shell.toast.show_message(tr("{name} removed from this chat", name=name), tr("Undo"), undo)

    @Slot(int)
    def show_details(self, number: int) -> LeftOutDialog:
        """Show what is in an index, and what was left out."""
        path = self._conversation.documents[number]
        return open_dialog(LeftOutDialog(path, self._states.get(path, DocumentState()), self._shell))

    @Slot()
    def tidy(self) -> None:
        """Delete the indexes that no chat, in the trash or not, refers to."""
        self._database.submit(
            ChatStore.all_documents, lambda paths: self._link.ask(protocol.TidyDocuments, None, paths)
        )

    def restore(self) -> None:
        """Read what the chat without a message is to search; at the start."""
        self._database.submit(ChatStore.documents, self._attach_again)
        self.tidy()

    def _attach_again(self, paths: tuple[str, ...]) -> None:
        c = self._conversation
        c.new_documents = tuple(dict.fromkeys((*paths, *c.new_documents)))
        if paths and c.chat is None:
            self._opened()

    @Slot()
    def _opened(self) -> None:
        """Index what has changed in the documents of the chat that was opened."""
        for path in self._conversation.documents:
            self._index(path)
        self._show()

    @Slot()
    def _engine_started(self) -> None:
        """The one that was indexing is gone."""
        self._states = {path: replace(state, command="", doing="") for path, state in self._states.items()}
        self._opened()

    # ---- a source -------------------------------------------------------------------------------------------------

    @Slot(object)
    def open_document(self, source: protocol.Passage) -> None:
        """Show the text of a document, at a passage. Here and in no other program, which might run what it opens."""
        threading.Thread(target=self._read, args=(source,), name="document", daemon=True).start()

    def _read(self, source: protocol.Passage) -> None:
        """Runs on a thread of its own."""
        try:
            self._main_queue.post(self._show_document, source, read(Path(source.file)))
        except protocol.UnderhillError as error:
            self._main_queue.post(self._shell.toast.show_message, error.sentence)

    def _show_document(self, source: protocol.Passage, file: Attachment) -> None:
        self._reader.open((file,), 0).show_passage(source)

    # ---- indexing -------------------------------------------------------------------------------------------------

    def _index(self, path: str) -> None:
        state = self._states.get(path, DocumentState())
        if not state.command:
            command = self._link.ask(protocol.IndexDocuments, partial(self._on_event, path), (path,))
            self._states[path] = replace(state, command=command, problem="")

    def _stop(self, path: str) -> None:
        state = self._states.pop(path, None)
        if state is not None and state.command:
            self._link.stop(state.command)

    def _on_event(self, path: str, event: protocol.Event) -> None:
        state = self._states.get(path)
        if state is None or event.id != state.command:
            return  # it was removed meanwhile
        if isinstance(event, protocol.Progress):
            share = f"{100 * event.done // event.total}" if event.total else "0"
            state = replace(state, doing=tr("indexing {share}%", share=share))
        elif isinstance(event, protocol.Done):
            found = event.result[0] if event.result else None
            state = DocumentState(found=found)
            self._tell_left_out(path, found)
        elif isinstance(event, protocol.Failed):
            state = replace(state, command="", doing="", problem=event.sentence)
            if event.kind not in protocol.GONE:  # of an engine that is gone, another banner tells
                self._shell.banners.show_banner(
                    "warning", event.sentence, event.action, event.cause, about=f"documents:{path}"
                )
        else:
            state = replace(state, command="", doing="")
        self._states[path] = state
        self._show()

    def _tell_left_out(self, path: str, found: protocol.IndexedDocuments | None) -> None:
        """A file that was attached by itself and cannot be read is of no use: say why."""
        if found is not None and not found.files and found.left_out:
            why = found.left_out[0].sentence
            self._shell.banners.show_banner(
                "warning", why, tr("Nothing in it can be searched."), about=f"documents:{path}"
            )

    # ---- the chips ------------------------------------------------------------------------------------------------

    def _show(self) -> None:
        self._shell.composer.documents.fill([self._chip(path) for path in self._conversation.documents])

    def _chip(self, path: str) -> Chip:
        state = self._states.get(path, DocumentState())
        name = Path(path).name or path
        facts = tr("can't be read") if state.problem else state.doing if state.command and state.doing else ""
        if not facts and state.found is not None:
            facts = _amount(state.found)
        tip = "\n".join((path, state.problem or facts_of(state), tr("Searched at each question. Click for details.")))
        folder = state.found.folder if state.found is not None else not Path(path).suffix
        return Chip(f"{name}  ·  {facts}" if facts else name, tip, "folder" if folder else "attach")
