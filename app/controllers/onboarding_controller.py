"""Shows the tour at the first start, and connects its steps with probe, library and settings."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.backend import Models
from app.chat.conversation import Conversation
from app.computer_probe import ComputerProbe
from app.controllers.chat_navigator import ChatNavigator
from app.controllers.engine_controller import MODEL
from app.controllers.library_controller import LibraryController
from app.i18n.translate import tr
from app.library.model_text import fit_summary
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.onboarding import ComputerDialog, ModelStep, Tour
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.theme.theme import Theme
from app.widgets.builders import open_dialog
from engine import protocol

_COMPUTER = 1  # step of the tour


class OnboardingController(QObject):
    """tour: None until it is shown for the first time. Leaving it, in whichever way, counts as having seen it."""

    def __init__(
        self, shell: Shell, theme: Theme, conversation: Conversation, *, models: Models, view_model: LibraryViewModel,
        network: Network, preferences: Preferences, state: WindowState, navigator: ChatNavigator,
        library: LibraryController,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._shell, self._theme, self._models, self._view_model = shell, theme, models, view_model
        self._network, self._preferences, self._state = network, preferences, state
        self._navigator, self._library = navigator, library
        self.probe = ComputerProbe(models.link, conversation, self)
        self.tour: Tour | None = None
        self._wanted = ""  # repository of the model that was chosen in the tour
        self._transfer_state = ""  # of its download
        shell.header.tour.triggered.connect(self.begin)
        shell.header.computer.triggered.connect(self.show_computer)
        shell.pages.currentChanged.connect(self._page_changed)
        self.probe.measured.connect(view_model.refresh_catalogue)
        view_model.transfers_changed.connect(self._transfers_changed)

    @Slot()
    def begin(self) -> Tour:
        """From the first step."""
        return self._show(0)

    @Slot()
    def show_computer(self) -> ComputerDialog:
        """What is known of this computer, measured where that was not done."""
        if self.probe.computer is None:
            self.probe.begin()
        self._view_model.refresh_catalogue()
        return open_dialog(
            ComputerDialog(self.probe, lambda: fit_summary(self._view_model.catalogue or ()), self._shell)
        )

    def _show(self, step: int) -> Tour:
        if self.tour is None:
            choice = ModelStep(self._view_model, self._models, self._network)
            tour = self.tour = Tour(self._theme, choice, self._shell.pages)
            self._shell.pages.addWidget(tour)
            tour.finished.connect(self._navigator.show_chat)
            tour.step_changed.connect(self._step_shown)
            tour.welcome.privacy.clicked.connect(self._shell.header.privacy.trigger)
            tour.computer.again.clicked.connect(lambda: self.probe.begin(again=True))
            choice.download_requested.connect(self._get)
            choice.opened.connect(self._open)
            choice.setting.clicked.connect(self._shell.header.offline.click)
            choice.import_folder.connect(self._library.choose_folder)
            choice.import_file.connect(self._library.choose_file)
            self.probe.changed.connect(self._show_probe)
            self._view_model.catalogue_changed.connect(self._show_probe)
        self._view_model.refresh_catalogue()
        self._shell.pages.setCurrentWidget(self.tour)
        self.tour.show_step(step)
        self._show_probe()
        return self.tour

    @Slot(int)
    def _step_shown(self, step: int) -> None:
        if step >= _COMPUTER and self.probe.computer is None:
            self.probe.begin()

    @Slot()
    def _show_probe(self) -> None:
        assert self.tour is not None
        self.tour.computer.show_probe(self.probe, fit_summary(self._view_model.catalogue or ()))

    @Slot(int)
    def _page_changed(self, _: int) -> None:
        seen = self.tour is not None and self._shell.pages.currentWidget() is not self.tour
        if seen and not self._preferences.toured:
            self._preferences.toured = True
            self._state.save()

    @Slot(object)
    def _get(self, model: protocol.HubModel) -> None:
        self._wanted = model.repo
        self._view_model.get(model)

    @Slot(str)
    def _open(self, name: str) -> None:
        self._navigator.show_chat()
        if self._models.card is None or self._models.card.name != name:
            self._shell.model_requested.emit(name)

    @Slot(object)
    def _transfers_changed(self, _: object) -> None:
        """Show a banner when the model chosen in the tour has arrived, if the tour was left meanwhile."""
        t = next((t for t in self._view_model.transfers.values() if t.repo == self._wanted), None)
        before, self._transfer_state = self._transfer_state, t.state if t is not None else ""
        arrived = t is not None and t.state == protocol.FINISHED != before
        if t is None or not arrived or self._shell.pages.currentWidget() is self.tour:
            return
        name = t.name
        button = tr("Use"), lambda: self._shell.model_requested.emit(name)
        said = tr("{model} downloaded", model=self._view_model.title_of(t))
        self._shell.banners.show_banner("info", said, "", "", button, about=MODEL + name)
