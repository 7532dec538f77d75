"""The part of the window that deals with models: opening, importing, and the settings that go with them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Slot

from app.backend import models
from app.backend.models import Models
from app.chat.conversation import Conversation
from app.controllers.failure_banner import show_failure
from app.i18n.translate import tr
from app.settings.controller import SettingsController
from app.settings.dialog import SettingsDialog
from app.settings.preferences import Preferences
from app.theme.theme import Theme
from engine import protocol

if TYPE_CHECKING:
    from app.main_window import MainWindow

_SMALL_MODEL = 1_000_000_000  # parameters; below, the simpler examples are offered


class ModelController(QObject):
    """Answers the header's menu and the settings dialog, and tells the page what the model is doing."""

    def __init__(
        self, window: MainWindow, theme: Theme, known: Models, conversation: Conversation, remembered: Preferences
    ) -> None:
        super().__init__(window)
        self._window = window
        self._models = known
        self._conversation = conversation
        self._preferences = remembered
        self._settings = SettingsController(window, theme, known, conversation, remembered, self.reload)
        known.changed.connect(self._model_changed)
        known.loaded.connect(self._model_loaded)
        known.load_failed.connect(self._load_failed)
        known.failed.connect(self._engine_failed)
        known.imported.connect(self._imported)
        known.noticed.connect(self._noticed)
        window.header.chosen.connect(self.open_model)
        window.header.settings.clicked.connect(self.open_settings)
        self._model_changed()

    @Slot(str)
    def open_model(self, name: str) -> None:
        """Open a model, which is then also the one that the next start opens."""
        if name != self._preferences.model:
            self._preferences.model = name
            self._window.remembering.save()
        self._window.live.forget()
        self._models.load(name, self._preferences.engine_for(name))

    @Slot()
    def reload(self) -> None:
        """Open the preferred model, with the settings as they are now."""
        self.open_model(self._preferences.model)

    @Slot()
    def _model_changed(self) -> None:
        state = self._models.state
        self._conversation.opening = state == models.LOADING
        words = {
            models.READY: tr("Write a message"),
            models.LOADING: tr("Write a message – it is answered once the model is open"),
            models.STOPPED: tr("The engine has stopped"),
        }.get(state, tr("Choose a model above to begin"))  # fmt: skip
        self._window.composer.set_ready(state in (models.READY, models.LOADING), words)
        card = self._models.card
        if card is not None:
            self._conversation.model = card.title
            sentences = (*card.plan, card.doing) if card.doing else card.plan
            self._window.welcome.show_model(card.title, card.note, sentences, card.parameters < _SMALL_MODEL)
        elif state == models.LOADING:
            self._window.welcome.show_model("", tr("Opening the model. This takes a moment the first time."), (), True)
        else:
            self._window.welcome.show_model("", tr("Choose a model at the top, or import one you have."), (), True)

    @Slot(object)
    def _model_loaded(self, card: protocol.ModelCard) -> None:
        self._window.banners.withdraw(_has_come(card))
        if card.backend == "compatibility":
            self._window.banners.show_banner(
                "warning", tr("{model} runs through the compatibility backend.", model=card.title),
                tr("It works, but more slowly than families that Underhill knows itself."),
            )  # fmt: skip

    @Slot(object)
    def _load_failed(self, event: protocol.Failed) -> None:
        show_failure(self._window, event, (tr("Try again"), self.reload))

    @Slot(object)
    def _engine_failed(self, event: protocol.Failed) -> None:
        show_failure(self._window, event)

    @Slot(str)
    def _noticed(self, notice: str) -> None:
        self._window.banners.show_banner("info", notice)

    @Slot(object)
    def _imported(self, card: protocol.ModelCard) -> None:
        self._window.banners.show_banner(
            "info", _has_come(card), button=(tr("Open it"), partial(self._open_to_chat, card.name))
        )

    def _open_to_chat(self, name: str) -> None:
        self._window.show_chat()
        self.open_model(name)

    @Slot()
    def open_settings(self) -> SettingsDialog:
        """Show the settings; they are in force as they change."""
        return self._settings.open()

    def close_settings(self) -> None:
        """The window goes."""
        self._settings.close()


def _has_come(card: protocol.ModelCard) -> str:
    return tr("{model} has been imported.", model=card.title)
