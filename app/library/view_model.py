"""View model of the library page: state as the engine reports it, and commands to the engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.backend import EngineLink, Models
from app.i18n.translate import tr
from engine import protocol
from engine.translatable import translated


@dataclass(frozen=True)
class Job:
    """A long job on a model of the library. text: what is done with which model."""

    id: str
    model: str
    text: str
    progress: protocol.Progress


class LibraryViewModel(QObject):
    """On the window's thread; every method returns at once. None stands for 'not known yet'.

    failed: protocol.Failed of anything that has no place of its own to say so. message_posted: on what was done.
    """

    catalogue_changed = Signal()
    results_changed = Signal()
    found_changed = Signal()
    transfers_changed = Signal(object)  # protocol.Transfer that is another now, or None: any of them may be
    folders_changed = Signal()
    jobs_changed = Signal()
    described = Signal(object)  # protocol.ModelDetails
    failed = Signal(object)
    message_posted = Signal(str)
    model_deleted = Signal(str)  # name; it can be restored
    model_lowered = Signal(object, object)  # protocol.ModelCard, and bytes saved; it can be undone

    def __init__(self, link: EngineLink, known: Models, settings: Callable[[], dict[str, Any]]) -> None:
        """settings: those of the engine that are chosen now, under which is judged what fits."""
        super().__init__(link)
        self.link, self._models, self._settings = link, known, settings
        self.catalogue: tuple[protocol.HubModel, ...] | None = None
        self.words = ""
        self.results: tuple[protocol.HubModel, ...] = ()
        self.pages = self.matches = 0
        self.searching = False
        self.search_problem: protocol.Failed | None = None
        self.found: tuple[protocol.FoundModel, ...] | None = None
        self.finding: protocol.Progress | None = None
        self.transfers: dict[str, protocol.Transfer] = {}
        self.folders: tuple[protocol.ModelFolder, ...] = ()
        self.deleted: tuple[protocol.DeletedModel, ...] = ()
        self.jobs: dict[str, Job] = {}
        self._search = ""  # id of the search that counts
        self._page = 0
        self._asked = False  # whether anybody has looked at the page yet
        link.transfer_changed.connect(self._transfer_changed)
        known.listed.connect(self._library_changed)

    def title_of(self, transfer: protocol.Transfer) -> str:
        """What a model that is downloaded is called: as in the library once it is there, until then as in the lists."""
        listed = (*(self.catalogue or ()), *self.results)
        same = (m for m in listed if (m.repo, m.gguf_name) == (transfer.repo, transfer.gguf))
        return (
            self._models.title(transfer.name)
            or next((model.title for model in same), "")
            or transfer.name
            or transfer.repo
        )

    # ---- what there is ----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Ask the engine again for everything that costs next to nothing."""
        self._asked = True
        self._models.refresh()  # folders and trash are asked for once the reply is there
        self.refresh_transfers()
        self.refresh_catalogue()

    def refresh_transfers(self) -> None:
        """Ask for the list of transfers."""
        self._ask(self._transfers_listed, protocol.ListTransfers)

    def under_way(self) -> tuple[int, float]:
        """Number of running transfers, and what share of their bytes is here."""
        moving = [t for t in self.transfers.values() if t.state in (protocol.QUEUED, protocol.RUNNING)]
        total = sum(t.total for t in moving)
        return len(moving), sum(t.done for t in moving) / total if total else 0.0

    def failed_transfers(self) -> list[protocol.Transfer]:
        """Transfers that failed and were neither tried again nor cancelled."""
        return [t for t in self.transfers.values() if t.state == protocol.FAILED]

    def refresh_catalogue(self) -> None:
        """Ask for the catalogue, with fit badges under the settings as they are now."""
        self._ask(self._catalogue_listed, protocol.ListCatalogue, self._settings())

    def find(self) -> None:
        """Search the folders of other apps."""
        if self.finding is None:
            self.finding = protocol.Progress(id="", text=translated(tr("Searching…")))
            self.link.ask(protocol.FindModels, self._on_find_event)
            self.found_changed.emit()

    # ---- the hub ----------------------------------------------------------------------------------------------

    def search(self, words: str) -> None:
        """Search the hub; empty words show the catalogue."""
        if self._search:
            self.link.stop(self._search)
        self.words, self.results, self.pages, self.matches = words.strip(), (), 0, 0
        self.search_problem = None
        self._search = ""
        self.searching = False
        if self.words:
            self._ask_page(0)
        self.results_changed.emit()

    def load_more(self) -> None:
        """Load the next page of search results."""
        if not self.searching and self._page + 1 < self.pages:
            self.search_problem = None
            self._ask_page(self._page + 1)
            self.results_changed.emit()

    def describe(self, repo: str, gguf: str = "") -> None:
        """Ask for all that is known of a model on the hub; `described` or `failed` follows. gguf: see PullModel."""
        describe = partial(protocol.DescribeModel, gguf=gguf, settings=self._settings())
        self._ask(self.described.emit, describe, repo)

    def get(self, model: protocol.HubModel) -> None:
        """Download a model, in as many bits as suit this computer best."""
        self.pull(model, max(4, model.fit.tier) if model.fit is not None else 8)

    def pull(self, model: protocol.HubModel, top: int) -> None:
        """Download a model, under the name that the unquantized one has."""
        name = model.original.rpartition("/")[2]
        self._ask(self._transfer_changed, partial(protocol.PullModel, top=top, gguf=model.gguf_name), model.repo, name)

    def pause(self, transfer: str) -> None:
        """Pause a transfer."""
        self._ask(self._transfer_changed, protocol.PauseTransfer, transfer)

    def resume(self, transfer: str) -> None:
        """Resume a transfer."""
        self._ask(self._transfer_changed, protocol.ResumeTransfer, transfer)

    def cancel(self, transfer: str) -> None:
        """Cancel a transfer and remove what has arrived of it."""
        self._ask(self._transfer_changed, protocol.CancelTransfer, transfer)

    # ---- the library ------------------------------------------------------------------------------------------

    def delete(self, name: str) -> None:
        """Move a model to the trash."""
        self._ask(partial(self._deleted, name), protocol.DeleteModel, name)

    def restore(self, name: str) -> None:
        """Restore a model from the trash."""
        self._ask(self._restored, protocol.RestoreModel, name)

    def rename(
        self, card: protocol.ModelCard, title: str, done: Callable[[], object],
        refused: Callable[[protocol.Failed], object],
    ) -> None:  # fmt: skip
        """Show a model under another name. refused: gets why it cannot be called so."""

        def renamed(_: protocol.ModelCard) -> None:
            done()
            self._models.refresh()

        self.link.request(renamed, refused, protocol.RenameModel, card.name, title)

    def empty_trash(self) -> None:
        """Remove deleted models for good."""
        self._ask(lambda freed: self._library_changed(), protocol.EmptyTrash)

    def verify(self, card: protocol.ModelCard) -> None:
        """Verify the checksums of a model."""
        self._begin(card, tr("Verifying {model}…", model=card.title), self._verified, protocol.VerifyModel)

    def move(self, card: protocol.ModelCard, folder: str) -> None:
        """Move a model to another folder of the library."""
        self._begin(card, tr("Moving {model}…", model=card.title), self._moved, protocol.MoveModel, folder)

    def measure(self, card: protocol.ModelCard, tolerance: float, listener: Callable[[protocol.Event], None]) -> str:
        """Measure how few bits its experts can do with. listener: gets each event, the last with a LoweringOffer."""
        return self.link.ask(protocol.MeasureLowering, listener, card.name, tolerance, self._settings())

    def lower(self, card: protocol.ModelCard, tolerance: float) -> None:
        """Replace a model by a copy whose experts have fewer bits."""

        def done(_: str, lowered: protocol.ModelCard) -> None:
            self.model_lowered.emit(lowered, card.expert_bytes - lowered.expert_bytes)

        text = tr("Shrinking {model}…", model=card.title)
        self._begin(card, text, done, protocol.LowerModel, tolerance, self._settings())

    def restore_original(self, card: protocol.ModelCard) -> None:
        """Replace a smaller model by its original."""
        self._begin(
            card, tr("Restoring {model}…", model=card.title),
            lambda title, _: self.message_posted.emit(tr("{model} restored", model=title)),
            protocol.RestoreOriginal,
        )  # fmt: skip

    def continue_import(self, card: protocol.ModelCard) -> None:
        """Continue an unfinished import."""
        self._begin(card, tr("Importing {model}…", model=card.title), self._moved, protocol.ContinueImport)

    def add_folder(self, folder: str, first: bool) -> None:
        """Add a folder to the library. first: new models go there."""
        self._ask(self._folders_changed, protocol.AddFolder, folder, first)

    def forget_folder(self, folder: str) -> None:
        """Take a folder out of the library."""
        self._ask(self._folders_changed, protocol.ForgetFolder, folder)

    # ---- what the engine says ---------------------------------------------------------------------------------

    def _ask(self, done: Callable[[Any], object], kind: Callable[..., protocol.Command], *values: Any) -> None:
        self.link.request(done, self.failed.emit, kind, *values)

    def _begin(
        self, card: protocol.ModelCard, text: str, done: Callable[[str, Any], object],
        kind: Callable[..., protocol.Command], *values: Any,
    ) -> None:  # fmt: skip
        """Begin a job on a model. text: shown meanwhile. done: gets the model's title and the result."""
        command, model = kind(self.link.new_id(), card.name, *values), card.title

        def listener(event: protocol.Event) -> None:
            if isinstance(event, protocol.Progress):
                self.jobs[command.id] = Job(command.id, model, text, event)
            else:
                self.jobs.pop(command.id, None)
                if isinstance(event, protocol.Done):
                    done(model, event.result)
                elif isinstance(event, protocol.Failed):
                    self.failed.emit(event)
                self._models.refresh()
            self.jobs_changed.emit()

        self.jobs[command.id] = Job(
            command.id, model, text, protocol.Progress(id=command.id, text=translated(tr("Waiting…")))
        )
        self.jobs_changed.emit()
        self.link.send(command, listener)

    def _verified(self, model: str, report: protocol.VerifyReport) -> None:
        if report.damaged:
            sentence = translated(tr("{model} is damaged.", model=model))
            self.failed.emit(
                protocol.Failed("", protocol.Kind.BROKEN_FILE, sentence, report.action, "\n".join(report.damaged))
            )
        else:
            self.message_posted.emit(tr("{model}: all files OK", model=model))

    def _moved(self, model: str, card: protocol.ModelCard) -> None:
        self.message_posted.emit(tr("{model} moved to {folder}", model=model, folder=card.path))

    def _restored(self, card: protocol.ModelCard) -> None:
        self.message_posted.emit(tr("{name} restored", name=card.title))
        self._models.refresh()

    def _deleted(self, name: str, restorable: bool) -> None:
        if restorable:
            self.model_deleted.emit(name)
        self._models.refresh()

    @Slot()
    def _library_changed(self) -> None:
        if not self._asked:
            return
        self._ask(self._folders_listed, protocol.ListFolders)
        self._ask(self._deleted_listed, protocol.ListDeleted)

    def _folders_changed(self, folders: tuple[protocol.ModelFolder, ...]) -> None:
        self._folders_listed(folders)
        self._models.refresh()  # those in a folder come and go with it

    def _folders_listed(self, folders: tuple[protocol.ModelFolder, ...]) -> None:
        self.folders = folders
        self.folders_changed.emit()

    def _deleted_listed(self, deleted: tuple[protocol.DeletedModel, ...]) -> None:
        self.deleted = deleted
        self.folders_changed.emit()

    def _catalogue_listed(self, models: tuple[protocol.HubModel, ...]) -> None:
        self.catalogue = models
        self.catalogue_changed.emit()

    def _on_find_event(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Progress):
            self.finding = event
        else:
            self.finding = None
            if isinstance(event, protocol.Done):
                self.found = event.result
            elif isinstance(event, protocol.Failed):
                self.failed.emit(event)
        self.found_changed.emit()

    def _ask_page(self, page: int) -> None:
        self._search, self.searching = self.link.new_id(), True
        command = protocol.SearchModels(self._search, self.words, page, self._settings())
        self.link.send(command, partial(self._on_search_event, self._search, self.results))

    def _on_search_event(self, command: str, before: tuple[protocol.HubModel, ...], event: protocol.Event) -> None:
        """before: what earlier pages had."""
        if command != self._search:
            return
        page = event.page if isinstance(event, protocol.Listed) else getattr(event, "result", None)
        if isinstance(page, protocol.SearchPage):
            self.results = (*before, *page.models)
            self._page, self.pages, self.matches = page.page, page.pages, page.found
        if isinstance(event, protocol.Failed):
            self.search_problem = event
        if not isinstance(event, (protocol.Listed, protocol.Progress)):
            self.searching, self._search = False, ""
        self.results_changed.emit()

    def _transfers_listed(self, transfers: tuple[protocol.Transfer, ...]) -> None:
        self.transfers = {t.id: t for t in transfers}
        self.transfers_changed.emit(None)

    @Slot(object)
    def _transfer_changed(self, transfer: protocol.Transfer) -> None:
        known = self.transfers.get(transfer.id)
        if transfer.state == protocol.CANCELLED:
            self.transfers.pop(transfer.id, None)
        else:
            self.transfers[transfer.id] = transfer
        if transfer.state == protocol.FINISHED and (known is None or known.state != protocol.FINISHED):
            self.message_posted.emit(tr("{model} downloaded", model=self.title_of(transfer)))
            self._models.refresh()
            self.refresh_catalogue()
        self.transfers_changed.emit(transfer if known is not None and transfer.id in self.transfers else None)
