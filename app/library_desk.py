"""The part of the window that deals with the library page: when it shows, and what it asks of the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

from app.language.words import say
from app.library.page import LibraryPage
from app.library.shelf import Shelf
from app.models import Models
from app.remedies import show_failure
from app.widgets.import_dialog import ImportDialog
from engine import api

if TYPE_CHECKING:
    from app.window import MainWindow


class LibraryDesk(QObject):
    """page: None until it is shown for the first time."""

    def __init__(self, window: MainWindow, shelf: Shelf, known: Models) -> None:
        super().__init__(window)
        self._window, self._shelf, self._models = window, shelf, known
        self.page: LibraryPage | None = None
        window.header.library_wanted.connect(self.show)
        window.header.import_wanted.connect(self.choose_folder)
        shelf.failed.connect(self._failed)
        shelf.said.connect(self._said)
        shelf.deleted_one.connect(self._deleted)

    @Slot()
    def show(self) -> LibraryPage:
        """Bring the page up."""
        if self.page is None:
            self.page = LibraryPage(self._shelf, self._models, self._window.pages)
            self._window.pages.addWidget(self.page)
            self.page.closed.connect(self._window.show_chat)
            self.page.opened.connect(self._open)
            self.page.yours.import_folder.connect(self.choose_folder)
            self.page.yours.import_file.connect(self.choose_file)
            self.page.elsewhere.wanted.connect(self._import_found)
        self.page.begin()
        self._window.pages.setCurrentWidget(self.page)
        return self.page

    @Slot(str)
    def _open(self, name: str) -> None:
        self._window.show_chat()
        self._window.desk.open_model(name)

    @Slot()
    def choose_folder(self) -> None:
        """Ask for a folder to import."""
        folder = QFileDialog.getExistingDirectory(self._window, say("The folder of the model"))
        if folder:
            self._import(folder)

    @Slot()
    def choose_file(self) -> None:
        """Ask for a file to import."""
        path, _ = QFileDialog.getOpenFileName(
            self._window, say("The file of the model"), "", say("GGUF models") + " (*.gguf)"
        )
        if path:
            self._import(path)

    @Slot(object)
    def _import_found(self, model: api.FoundModel) -> None:
        self._import(model.path, model.name)

    def _import(self, path: str, name: str = "") -> None:
        dialog = ImportDialog(path, self._window, name)
        if dialog.exec():
            self._models.import_folder(path, dialog.name(), dialog.top())
        dialog.deleteLater()

    @Slot(object)
    def _failed(self, event: api.Failed) -> None:
        show_failure(self._window, event)

    @Slot(str)
    def _said(self, sentence: str) -> None:
        self._window.toast.say(sentence)

    @Slot(str)
    def _deleted(self, name: str) -> None:
        self._window.toast.say(
            say("{name} is in the trash.", name=name), say("Undo"), lambda: self._shelf.restore(name)
        )
