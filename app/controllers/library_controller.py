"""Shows the library page, imports models, and tells how downloads go, wherever one is in the window."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import QDir, QObject, QTimer, Slot
from PySide6.QtWidgets import QFileDialog

from app.backend import Models
from app.controllers.chat_navigator import ChatNavigator
from app.i18n.translate import plural, sentences, tr
from app.library.dialogs import ImportDialog, SmallerDialog
from app.library.model_text import UNFINISHED
from app.library.page import LibraryPage
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.shell import Shell
from app.widgets.text import size
from engine import protocol

_DOWNLOADS, _TEAMS, _ENDPOINTS = 3, 4, 5  # sections of the library page
_HALTED = "halted downloads"  # what a banner is about
_FAILED = "failed downloads"


class LibraryController(QObject):
    """page: None until it is shown for the first time."""

    def __init__(
        self, shell: Shell, view_model: LibraryViewModel, known: Models, network: Network, navigator: ChatNavigator
    ) -> None:
        super().__init__(shell)
        self._network = network
        self._shell, self._view_model, self._models, self._navigator = shell, view_model, known, navigator
        self.page: LibraryPage | None = None
        self._choose_again = self.choose_folder  # where what is imported now came from
        self._folder = QDir.homePath()  # that what is imported was last chosen in
        self._then_smaller = ("", 0.0)  # what is imported now, and by how much its loss may rise behind that
        self._refused = ""  # why the last import was; said by a banner
        self._failed: set[str] = set()  # downloads whose failure was said, by id
        self._reminded = False  # of downloads that the last run left half-way
        shell.header.open_library.triggered.connect(self.show)
        shell.header.downloads.clicked.connect(self.show_downloads)
        shell.header.open_teams.triggered.connect(self.show_teams)
        shell.header.open_endpoints.triggered.connect(self.show_endpoints)
        view_model.transfers_changed.connect(self._show_transfers)
        shell.header.import_folder.triggered.connect(self.choose_folder)
        shell.header.import_file.triggered.connect(self.choose_file)
        known.import_failed.connect(self._import_failed)
        known.imported.connect(self._imported)
        view_model.model_lowered.connect(self._offer_lowering_undo)
        view_model.failed.connect(shell.show_failure)
        view_model.message_posted.connect(shell.toast.show_message)
        view_model.model_deleted.connect(self._offer_deletion_undo)

    @Slot()
    def show(self) -> LibraryPage:
        """Show the library page."""
        if self.page is None:
            self.page = self._shell.library_page = LibraryPage(
                self._view_model, self._models, self._network, self._shell.pages
            )
            self._shell.pages.addWidget(self.page)
            self._shell.toast.covers.connect(self.page.bottom_spacer.setFixedHeight)
            self.page.closed.connect(self._navigator.show_chat)
            self.page.opened.connect(self._open)
            self.page.yours.import_folder.connect(self.choose_folder)
            self.page.yours.import_file.connect(self.choose_file)
            self.page.yours.lowering_requested.connect(self._make_smaller)
            self.page.elsewhere.import_requested.connect(self._import_found)
            self.page.downloads.setting_requested.connect(self._shell.setting_requested)
            self.page.discover.setting_requested.connect(self._shell.setting_requested)
            self.page.teams.chosen.connect(self._shell.team_requested)
            self.page.teams.used.connect(self._navigator.show_chat)
            self.page.teams.posted.connect(self._post)
            self.page.endpoints.chosen.connect(self._shell.header.endpoint_chosen)
            self.page.endpoints.used.connect(self._navigator.show_chat)
            self.page.endpoints.posted.connect(self._post)
        self.page.begin()
        self._shell.pages.setCurrentWidget(self.page)
        return self.page

    @Slot(str)
    def _open(self, name: str) -> None:
        self._navigator.show_chat()
        self._shell.model_requested.emit(name)

    @Slot()
    def choose_folder(self) -> None:
        """Ask for a folder to import."""
        if self._import_running():
            return
        folder = QFileDialog.getExistingDirectory(self._shell, tr("Model folder"), self._folder)
        if folder:
            self._folder = str(Path(folder).parent)
            self._import(folder)

    @Slot()
    def choose_file(self) -> None:
        """Ask for a file to import."""
        if self._import_running():
            return
        path, _ = QFileDialog.getOpenFileName(
            self._shell, tr("Model file"), self._folder, tr("GGUF models") + " (*.gguf)"
        )
        if path:
            self._folder = str(Path(path).parent)
            self._import(path)

    @Slot(object)
    def _import_found(self, model: protocol.FoundModel) -> None:
        if not self._import_running():
            self._import(model.path, model.name)

    def import_path(self, path: str) -> None:
        """Offer to import a file or folder, as one that the file manager opens."""
        QTimer.singleShot(0, self, partial(self._import_unless_running, path))  # its dialog waits for the person

    def _import_unless_running(self, path: str) -> None:
        if not self._import_running():
            self._import(path)

    def _import_running(self) -> bool:
        """Whether a model is being imported; a toast says so."""
        if self._models.importing is not None:
            self._shell.toast.show_message(tr("Another model is being imported. Wait for it to finish."))
        return self._models.importing is not None

    def _import(self, path: str, name: str = "") -> None:
        taken = [card.name for card in self._models.cards if card.state != UNFINISHED]  # which can be gone on with
        dialog = ImportDialog(path, self._shell, name, taken)
        self._choose_again = self.choose_folder if Path(path).is_dir() else self.choose_file
        if dialog.exec():
            self._shell.banners.withdraw(self._refused)
            self._then_smaller = (dialog.name(), dialog.tolerance())
            self._models.import_folder(path, dialog.name(), dialog.top())
        dialog.deleteLater()

    @Slot(object)
    def _imported(self, card: protocol.ModelCard) -> None:
        (name, tolerance), self._then_smaller = self._then_smaller, ("", 0.0)
        if tolerance and name == card.name:
            self._view_model.lower(card, tolerance)

    @Slot(object)
    def _make_smaller(self, card: protocol.ModelCard) -> None:
        dialog = SmallerDialog(card, self._view_model, self._shell)
        dialog.lowering_requested.connect(self._view_model.lower)
        dialog.open()

    @Slot(object, object)
    def _offer_lowering_undo(self, card: protocol.ModelCard, saved: int) -> None:
        undo = partial(self._view_model.restore_original, card)
        said = tr("{model} is {saved} smaller. The original is in the trash.", model=card.title, saved=size(saved))
        self._shell.toast.show_message(said, tr("Undo"), undo)

    @Slot(object)
    def _import_failed(self, event: protocol.Failed) -> None:
        """Show why an import failed, and offer another source, unless the disk or the memory is to blame."""
        self._refused = event.sentence
        if event.kind in (protocol.Kind.DISK_FULL, protocol.Kind.OUT_OF_MEMORY, *protocol.GONE):
            self._shell.show_failure(event)
        else:
            another = (tr("Choose another…"), self._choose_again)
            self._shell.banners.show_banner("error", event.sentence, event.action, event.cause, another)

    @Slot(str)
    def _offer_deletion_undo(self, name: str) -> None:
        said = tr("{name} moved to trash", name=self._models.title(name) or name)
        self._shell.toast.show_message(said, tr("Undo"), lambda: self._view_model.restore(name))

    # ---- downloads --------------------------------------------------------------------------------------------

    @Slot()
    def show_downloads(self) -> None:
        """Show the downloads in the library."""
        self.show().show_section(_DOWNLOADS)

    @Slot()
    def show_teams(self) -> None:
        """Show the teams in the library."""
        self.show().show_section(_TEAMS)

    @Slot()
    def show_endpoints(self) -> None:
        """Show the endpoints in the library."""
        self.show().show_section(_ENDPOINTS)

    @Slot(str, object)
    def _post(self, text: str, undo: Callable[[], object] | None) -> None:
        self._shell.toast.show_message(text, tr("Undo") if undo is not None else "", undo)

    @Slot(object)
    def _show_transfers(self, _: object) -> None:
        failed = self._view_model.failed_transfers()
        self._shell.header.show_downloads(*self._view_model.under_way(), len(failed))
        self._tell_failed(failed)
        if not self._reminded:
            self._reminded = True
            self._remind()
        elif not any(t.state == protocol.PAUSED for t in self._view_model.transfers.values()):
            self._shell.banners.withdraw_about(_HALTED.__eq__)

    def _tell_failed(self, failed: list[protocol.Transfer]) -> None:
        """Say once of each download that it failed; withdraw the banner when all were tried again or cancelled."""
        now, before = {t.id for t in failed}, self._failed
        self._failed = now
        if not now:
            self._shell.banners.withdraw_about(_FAILED.__eq__)
        if not now - before:
            return
        last = next(t for t in reversed(failed) if t.id not in before)
        sentence = (
            tr("Download failed: {model}", model=self._view_model.title_of(last))
            if len(failed) == 1
            else plural("1 download failed", "%n downloads failed", len(failed))
        )

        def again() -> None:
            for transfer in failed:
                self._view_model.resume(transfer.id)

        self._shell.banners.withdraw_about(_FAILED.__eq__)
        self._shell.banners.show_banner(
            "error", sentence, sentences(last.problem, last.action), "", (tr("Try again"), again),
            (tr("Downloads"), self.show_downloads), about=_FAILED,
        )  # fmt: skip

    def _remind(self) -> None:
        """Offer to resume downloads that were paused, or halted when Underhill was closed."""
        halted = [t for t in self._view_model.transfers.values() if t.state == protocol.PAUSED]
        if not halted:
            return
        first = halted[0]
        so_far = tr("{done} of {total}", done=size(first.done), total=size(first.total)) if first.total else ""
        sentence = (
            plural("1 unfinished download", "%n unfinished downloads", len(halted))
            if len(halted) > 1 or not so_far
            else tr("Unfinished download: {model} ({so_far})", model=self._view_model.title_of(first), so_far=so_far)
        )

        def go_on() -> None:
            for transfer in halted:
                self._view_model.resume(transfer.id)

        action = tr("It was paused, or interrupted when the app closed.")
        self._shell.banners.show_banner(
            "info", sentence, action, "", (tr("Resume"), go_on), (tr("Downloads"), self.show_downloads), about=_HALTED
        )
