"""Controllers of the engine: opening models, restarting it where it has stopped, and staying offline."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app import backend
from app.backend import EngineLink, Models, Network
from app.chat.conversation import Conversation
from app.controllers.chat_navigator import ChatNavigator
from app.dialogs import PrivacyDialog
from app.i18n.translate import tr
from app.library.view_model import LibraryViewModel
from app.platform import logs
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.teams.words import team_name
from app.theme.theme import Theme
from app.widgets.builders import open_dialog
from engine import protocol

LOADING, MODEL, ENGINE = "load", "model:", "engine"  # what banners are about; MODEL is followed by the model's name
_SMALL_MODEL = 1_000_000_000  # parameters; below, the simpler examples are offered


class ModelController(QObject):
    """Answers the header's menu; shows banners of what was opened or imported, or could not be."""

    def __init__(
        self, shell: Shell, known: Models, conversation: Conversation, preferences: Preferences, state: WindowState,
        navigator: ChatNavigator,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._shell, self._models, self._conversation = shell, known, conversation
        self._preferences, self._state, self._navigator = preferences, state, navigator
        self._there: set[str] = set()  # what banners are about that concern a model of the last list
        known.changed.connect(self._model_changed)
        known.loaded.connect(self._model_loaded)
        known.load_failed.connect(self._load_failed)
        known.listed.connect(self._withdraw_deleted)
        known.failed.connect(shell.show_failure)
        known.imported.connect(self._imported)
        known.notice_received.connect(shell.live.figures.show_notice)
        shell.header.chosen.connect(self._choose_model)
        shell.header.team_chosen.connect(self.choose_team)
        known.team = preferences.team
        self._model_changed()

    @Slot(str)
    def _choose_model(self, name: str) -> None:
        """Have a model answer that was chosen in the menu, and no team any more."""
        self.choose_team("")
        if self._models.state != backend.READY or self._models.card is None or self._models.card.name != name:
            self.open_model(name)

    @Slot(str)
    def choose_team(self, team: str) -> None:
        """Have a team answer, also after the next start; '' for the open model."""
        self._preferences.team = team
        self._state.save()
        self._models.choose_team(team)

    @Slot(str)
    def open_model(self, name: str) -> None:
        """Open a model, which is then also the one that the next start opens."""
        if name != self._preferences.model:
            self._preferences.model = name
            self._state.save()
        self._shell.live.forget()
        self._shell.banners.withdraw_about(lambda about: about.startswith(MODEL))  # another one was chosen
        self._models.load(name, self._preferences.engine_for(name))

    @Slot()
    def reload(self) -> None:
        """Open the preferred model, with the settings as they are now."""
        self.open_model(self._preferences.model)

    @Slot()
    def _model_changed(self) -> None:
        state = self._models.state
        self._conversation.answers.model_opening = state == backend.LOADING
        words = {
            backend.READY: tr("Send a message"),
            backend.LOADING: tr("Send a message (queued until the model is ready)"),
            backend.STOPPED: tr("Engine stopped"),
        }.get(state, tr("Select a model to start"))  # fmt: skip
        team = self._models.team_card
        self._conversation.team.choose(*((team.id, team_name(team)) if team is not None else ("", "")))
        alone = team is not None and team.team is not None and all(step.model for step in team.team.steps)
        if alone and state != backend.STOPPED:
            words = tr("Send a message")
        self._shell.composer.set_ready(state in (backend.READY, backend.LOADING) or alone, words)
        card = self._models.card
        if card is not None:
            self._conversation.model = card.title
            summary = card.fit.sentence if card.fit is not None else ""
            plan = (*card.plan, card.doing) if card.doing else card.plan
            self._shell.welcome.show_model(card.title, card.note, summary, plan, card.parameters < _SMALL_MODEL)
            self._shell.live.figures.show_plan(plan)
        elif state == backend.LOADING:
            self._shell.welcome.show_model("", tr("Loading model…"), "", (), True)
        else:
            self._shell.welcome.show_model("", tr("Select a model or import one"), "", (), True)

    @Slot(object)
    def _load_failed(self, event: protocol.Failed) -> None:
        self._shell.show_failure(event, (tr("Try again"), self.reload), about=LOADING)

    @Slot(object)
    def _model_loaded(self, card: protocol.ModelCard) -> None:
        self._shell.banners.withdraw_about(LOADING.__eq__)
        if card.backend == "compatibility":
            text = tr("{model} runs in compatibility mode, more slowly", model=card.title)
            self._shell.banners.show_banner("warning", text, about=MODEL + card.name)

    @Slot(object)
    def _imported(self, card: protocol.ModelCard) -> None:
        button = tr("Use model"), partial(self._open_to_chat, card.name)
        said = tr("{model} imported", model=card.title)
        self._shell.banners.show_banner("info", said, button=button, about=MODEL + card.name)

    @Slot()
    def _withdraw_deleted(self) -> None:
        there = {MODEL + card.name for card in self._models.cards}
        gone, self._there = self._there - there, there  # one that was just made may not be listed yet
        self._shell.banners.withdraw_about(gone.__contains__)

    def _open_to_chat(self, name: str) -> None:
        self._navigator.show_chat()
        self.open_model(name)


class EngineController(QObject):
    """Shows a banner that offers a restart; restarts at once where the engine was killed over an answer."""

    def __init__(
        self, shell: Shell, link: EngineLink, view_model: LibraryViewModel, database: DatabaseThread, log: Path
    ) -> None:
        """log: where it is written what is known of an engine that ended."""
        super().__init__(shell)
        self._shell, self._link, self._view_model, self._database, self._log = shell, link, view_model, database, log
        self._noted = False  # in the log: every command that waited fails
        link.died.connect(self._died)
        link.started.connect(self._started)

    @Slot(object)
    def _died(self, event: protocol.Failed) -> None:
        if not self._noted:
            self._noted = True
            path, text = self._log, event.cause or event.sentence
            self._database.submit(lambda store: logs.note_crash(path, text), None, lambda problem: None)
        if event.kind is protocol.Kind.HELD:
            self._link.restart()
        else:
            self._shell.show_failure(event, about=ENGINE)

    @Slot()
    def _started(self) -> None:
        self._noted = False
        self._shell.banners.withdraw_about((ENGINE, LOADING).__contains__)
        self._view_model.refresh()


class NetworkController(QObject):
    """Shows in the header whether Underhill is offline, and what is sent when."""

    def __init__(self, shell: Shell, theme: Theme, network: Network) -> None:
        super().__init__(shell)
        self._shell, self._theme, self._network = shell, theme, network
        network.changed.connect(self._show_offline)
        shell.header.offline.clicked.connect(lambda: shell.setting_requested.emit("offline"))
        shell.header.privacy.triggered.connect(self.show_privacy)
        self._show_offline()

    @Slot()
    def _show_offline(self) -> None:
        self._shell.header.show_offline(self._network.offline, self._network.by_environment)

    @Slot()
    def show_privacy(self) -> PrivacyDialog:
        """Every use of the network."""
        return open_dialog(PrivacyDialog(self._theme, self._shell))
