"""Section of installed models, the folders they live in, and the trash."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QFileDialog, QVBoxLayout, QWidget

from app import backend
from app.backend import Models
from app.i18n.languages import day
from app.i18n.translate import sentences, tr
from app.library import model_text
from app.library.entries import Action, Choices, LibraryEntry, LibrarySection, heading, import_buttons
from app.library.view_model import LibraryViewModel
from app.platform.files import show_folder
from app.widgets.builders import confirm, empty, focus_kept, make_button, set_progress
from app.widgets.text import size
from engine import protocol

_NONE, _LITTLE = 2_000_000_000, 10_000_000_000  # bytes free on a disk


class InstalledModels(LibrarySection):
    """Installed models. opened: a model's name. import_folder, import_file: something is to be imported.
    lowering_requested: the experts of a protocol.ModelCard are to have fewer bits. discover_requested: there is no
    model, and those to download were asked for.
    """

    opened = Signal(str)
    import_folder = Signal()
    import_file = Signal()
    lowering_requested = Signal(object)
    discover_requested = Signal()

    def __init__(self, view_model: LibraryViewModel, known: Models, parent: QWidget | None = None) -> None:
        super().__init__(tr("My models"), parent)
        self._view_model, self._models = view_model, known
        self.head.addLayout(import_buttons(self, self.import_folder, self.import_file))
        self._jobs = QVBoxLayout()
        self.head.addLayout(self._jobs)
        self.job_entries: dict[str, LibraryEntry] = {}
        self.discover = self.way_on(tr("Discover models"), self.discover_requested)
        self._places = QVBoxLayout()
        self.foot.addLayout(self._places)
        self._shown: object = None
        self._listed: tuple[protocol.ModelCard, ...] = ()  # whose entries are shown, in their order
        known.listed.connect(self.refresh)
        known.changed.connect(self.refresh)
        view_model.jobs_changed.connect(self._show_jobs)
        view_model.folders_changed.connect(self._show_places)
        view_model.folders_changed.connect(self.refresh)  # whether there is another one to move to
        self.align_columns([tr("Use"), tr("In use"), tr("Resume"), tr("Find again")], [tr("More")])
        self.refresh()
        self._show_places()

    @Slot()
    def refresh(self) -> None:
        """Show the library as it is; entries are made again only where they would look otherwise, and not while a title
        is being edited.
        """
        card = self._models.card
        busy = [job.model for job in self._view_model.jobs.values()]
        looks = (
            self._models.known,
            self._models.cards,
            card.path if card is not None else "",
            self._models.state,
            busy,
            self._view_model.folders,
            self._view_model.deleted,
        )
        if looks == self._shown or any(entry.editor is not None for entry in self.entries):
            return
        self._shown, self._listed = looks, self._models.cards
        blank = tr("No models yet") if self._models.known else tr("Loading models…")
        self.show_entries([self._entry(card) for card in self._listed], blank)
        self.discover.setVisible(not self._listed and self._models.known)
        for entry in self.entries:
            entry.title_left.connect(self.refresh)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """F2 renames the model that has the focus, as a chat in the list of chats."""
        if event.key() != Qt.Key.Key_F2 or not self._rename_focused():
            super().keyPressEvent(event)

    def _rename_focused(self) -> bool:
        now = self.window().focusWidget()
        held = (c for e, c in zip(self.entries, self._listed) if now is not None and e.isAncestorOf(now))
        card = next(held, None)
        if card is None or not card.usable or self._why_not_renamed(card):
            return False
        self._edit_title(card)
        return True

    def _why_not_renamed(self, card: protocol.ModelCard) -> str:
        """Why a model keeps its name; '' where it can have another."""
        if card.name == "builtin":
            return tr("Built-in model")
        return tr("Folder not connected") if card.state == model_text.MISSING else self._busy(card)

    def _edit_title(self, card: protocol.ModelCard) -> None:
        entry = self.entries[self._listed.index(card)]
        entry.edit_title(partial(self._rename, entry, card))

    def _rename(self, entry: LibraryEntry, card: protocol.ModelCard, title: str) -> None:
        def refused(event: protocol.Failed) -> None:
            if entry.editor is not None:
                entry.editor.refuse(sentences(event.sentence, event.action))
            else:  # it was left
                self._view_model.failed.emit(event)

        self._view_model.rename(card, title, entry.end_editing, refused)

    def _entry(self, card: protocol.ModelCard) -> LibraryEntry:
        open_now = self._models.card is not None and self._models.card.path == card.path
        busy = self._busy(card)
        away = tr("Folder not connected") if card.state == model_text.MISSING else ""
        in_use = tr("In use") if open_now else ""
        builtin = tr("Built-in model") if card.name == "builtin" else ""
        actions: list[Action | Choices] = []
        if card.usable:
            words_ = tr("In use") if open_now and self._models.state == backend.READY else tr("Use")
            actions.append(Action(words_, partial(self.opened.emit, card.name), primary=not open_now, why=in_use))
        elif card.state == model_text.UNFINISHED:
            actions.append(
                Action(tr("Resume"), partial(self._view_model.continue_import, card), primary=True, why=busy)
            )
        if card.usable or away:
            rename, why = partial(self._edit_title, card), self._why_not_renamed(card)
            actions.append(Action(tr("Rename") + "\tF2", rename, menu=True, why=why))
        if card.usable:
            actions.append(Action(tr("Verify files"), partial(self._view_model.verify, card), menu=True, why=busy))
            actions += self._bits(card, busy)
            folders = self._folders_for(card)
            alone = "" if folders else tr("Add another folder first")
            actions.append(Choices(tr("Move to folder"), folders, why=in_use or busy or alone))
        if away:
            actions.append(Action(tr("Find again"), self._view_model.refresh))
        actions.append(Action(tr("Show in folder"), partial(self._show, card.path), menu=True, why=away))
        kept = builtin or away or in_use or busy
        actions.append(Action(tr("Delete"), partial(self._view_model.delete, card.name), menu=True, why=kept))
        checked = model_text.verified(card.verified)
        damaged = card.verified is not None and card.verified.damaged > 0
        facts = model_text.joined(model_text.card_facts(card), "" if damaged else checked)
        made = LibraryEntry(card.title, facts, fit=card.fit, note=card.note, actions=actions)
        if card.problem or damaged:
            made.show_problem(sentences(card.problem, card.action) or checked)
        return made

    def _busy(self, card: protocol.ModelCard) -> str:
        """Why nothing can be done with a model now: a job is at work on it; '' where none is."""
        busy = any(job.model == card.title for job in self._view_model.jobs.values())
        return tr("Another job is running") if busy else ""

    def _bits(self, card: protocol.ModelCard, busy: str) -> list[Action]:
        """Actions on the bits of its experts. busy: why they cannot be done now."""
        if card.expert_bits:
            there = any(model.name == card.name for model in self._view_model.deleted)
            restore = partial(self._view_model.restore_original, card)
            return [Action(tr("Restore original"), restore, menu=True, why=busy)] if there else []
        possible = bool(card.tiers) and max(card.tiers) in (4, 8) and card.name != "builtin"
        smaller = Action(tr("Shrink…"), partial(self.lowering_requested.emit, card), menu=True, why=busy)
        return [smaller] if possible else []

    def _folders_for(self, card: protocol.ModelCard) -> dict[str, Callable[[], object]]:
        """The other folders of the library, with the space in each, and what moves a model there."""
        usable = [f for f in self._view_model.folders if f.there and f.writable]
        others = [f for f in usable if Path(f.path) not in Path(card.path).parents]
        if len(usable) < 2:
            return {}
        return {model_text.joined(f.path, _space(f)): partial(self._view_model.move, card, f.path) for f in others}

    @Slot()
    def _show_jobs(self) -> None:
        for gone in set(self.job_entries) - set(self._view_model.jobs):
            entry = self.job_entries.pop(gone)
            self._jobs.removeWidget(entry)
            entry.hide()
            entry.deleteLater()
        for job in self._view_model.jobs.values():
            if job.id not in self.job_entries:
                stop = Action(tr("Stop"), partial(self._view_model.link.stop, job.id))
                made = LibraryEntry(job.text, "", actions=[stop], progress=True)
                made.facts.show()
                self.job_entries[job.id] = made
                self._jobs.addWidget(made)
                self.refresh()
            p, entry = job.progress, self.job_entries[job.id]
            entry.show_facts(model_text.joined(p.text, model_text.progress(p.done, p.total, p.unit, p.rate, p.left)))
            set_progress(entry.bar, p.done, p.total)

    @Slot()
    def _show_places(self) -> None:
        with focus_kept(self):
            self._make_places()

    def _make_places(self) -> None:
        empty(self._places)
        self._places.addWidget(heading(tr("Model folders"), self))
        for folder in self._view_model.folders:
            self._places.addWidget(self._folder(folder))
        add = make_button(tr("Add folder…"), self, self._add_folder)
        self._places.addWidget(add, 0, Qt.AlignmentFlag.AlignLeft)
        if self._view_model.deleted:
            self._places.addWidget(heading(tr("Trash"), self))
            for model in self._view_model.deleted:
                self._places.addWidget(self._deleted(model))
            clear = make_button(tr("Empty trash"), self, self.empty_trash)
            self._places.addWidget(clear, 0, Qt.AlignmentFlag.AlignLeft)

    def _folder(self, folder: protocol.ModelFolder) -> LibraryEntry:
        actions = []
        if not folder.first and folder.there and folder.writable:
            actions.append(
                Action(tr("Save new models here"), partial(self._view_model.add_folder, folder.path, True), menu=True)
            )
        if not folder.own:
            actions.append(
                Action(tr("Remove from list"), partial(self._view_model.forget_folder, folder.path), menu=True)
            )
        facts = model_text.joined(
            tr("default") if folder.first else "",
            tr("{size} of models", size=size(folder.models)) if folder.there else "",
            tr("{size} of downloads", size=size(folder.downloads)) if folder.downloads else "",
            _space(folder) if folder.there else "",
        )  # fmt: skip
        made = LibraryEntry(folder.path, facts, actions=actions, progress=folder.there)
        if folder.problem:
            made.show_problem(folder.problem)
        if folder.there and folder.total:
            made.bar.setAccessibleName(tr("Disk usage of {folder}", folder=folder.path))
            set_progress(made.bar, folder.total - folder.free, folder.total)
            made.bar.setProperty("level", "full" if folder.free < _NONE else "warning" if folder.free < _LITTLE else "")
        return made

    def _deleted(self, model: protocol.DeletedModel) -> LibraryEntry:
        until = day(date.fromtimestamp(model.expires))
        return LibraryEntry(
            model.title or model.name, model_text.joined(size(model.nbytes), tr("kept until {date}", date=until)),
            actions=[self._back(model)],
        )  # fmt: skip

    def _back(self, model: protocol.DeletedModel) -> Action:
        smaller = next((c for c in self._models.cards if c.name == model.name and c.expert_bits), None)
        if smaller is not None:  # whose original this is
            return Action(tr("Restore original"), partial(self._view_model.restore_original, smaller))
        return Action(tr("Restore"), partial(self._view_model.restore, model.name))

    @Slot()
    def empty_trash(self) -> None:
        """Delete for good the models that were deleted, after asking."""
        amount = size(sum(model.nbytes for model in self._view_model.deleted))
        confirm(
            self, tr("Empty trash?"), tr("Deleted models are removed permanently. This frees {amount}.",
            amount=amount), tr("Empty trash"), self._view_model.empty_trash,
        )  # fmt: skip

    @Slot()
    def _add_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self, tr("Model folder"), QDir.homePath())
        if folder:
            self._view_model.add_folder(folder, False)

    def _show(self, path: str) -> None:
        if why := show_folder(path):
            self._view_model.message_posted.emit(why)


def _space(folder: protocol.ModelFolder) -> str:
    return tr("{free} of {total} free", free=size(folder.free), total=size(folder.total))
