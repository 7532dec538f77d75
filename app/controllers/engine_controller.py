"""Controllers of the engine: opening models, restarting it where it has stopped, and staying offline."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, Slot

from app import backend
from app.backend import EngineLink, Models
from app.chat.conversation import Conversation
from app.chat.image_support import reads_images
from app.controllers.chat_navigator import ChatNavigator
from app.dialogs import PrivacyDialog
from app.i18n.translate import tr
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.platform import logs
from app.settings.preferences import Preferences, WindowState
from app.shell import Shell
from app.storage.database_thread import DatabaseThread
from app.theme.theme import Theme
from app.transcript.notes import summary
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
        choice = conversation.choice
        choice.answering, choice.title, choice.load = lambda: known.answering, known.title, self._load_for
        choice.hosts = known.hosts
        choice.reads_images = lambda key: reads_images(known, key) is not False
        choice.context = lambda: known.card.context_length if known.card is not None else 0
        self._shell, self._models, self._conversation = shell, known, conversation
        self._preferences, self._state, self._navigator = preferences, state, navigator
        self._there: set[str] = set()  # what banners are about that concern a model of the last list
        known.changed.connect(self._model_changed)
        known.loaded.connect(self._model_loaded)
        known.load_failed.connect(self._load_failed)
        known.listed.connect(self._withdraw_deleted)
        known.listed.connect(self.follow_chat)
        known.teams_listed.connect(self.follow_chat)
        known.endpoints_listed.connect(self.follow_chat)
        conversation.opened.connect(self.follow_chat)
        conversation.opened.connect(self._show_remote)
        conversation.finished.connect(self._show_remote)
        known.failed.connect(shell.show_failure)
        known.imported.connect(self._imported)
        known.notice_received.connect(shell.live.figures.show_notice)
        shell.header.chosen.connect(self.choose_model)
        shell.header.team_chosen.connect(self.choose_team)
        shell.header.endpoint_chosen.connect(self.choose_endpoint)
        shell.welcome.models_requested.connect(shell.header.open_library.trigger)
        shell.welcome.import_requested.connect(shell.header.import_folder.trigger)
        self._first_chat = preferences.chat  # that is opened at the start
        first = preferences.new_chat_model
        if not self._first_chat and first and backend.is_model(first):
            preferences.model = first  # which the new chat at the start is going to need
        self.follow_chat()
        self._model_changed()

    def begin_with(self, name: str) -> None:
        """Before the start: have this model opened, and answer in the chat that is open then."""
        self._preferences.model = self._conversation.new_model = name
        self._conversation.keep_model(self._first_chat, name)
        self.follow_chat()

    @Slot(str)
    def choose_model(self, name: str) -> None:
        """Have a model answer in the open chat, and open it."""
        self._choose(name)
        if self._models.state != backend.READY or self._models.wanted != name:
            self.open_model(name)

    @Slot(str)
    def choose_team(self, team: str) -> None:
        """Have the team with this id answer in the open chat."""
        self._choose(backend.team_key(team))

    @Slot(str)
    def choose_endpoint(self, key: str) -> None:
        """Have the endpoint with this key answer in the open chat."""
        self._choose(key)

    def _choose(self, key: str) -> None:
        self._conversation.set_model(key)
        self._remember(key)
        self._models.choose(key)

    def _remember(self, key: str) -> None:
        """Keep which team or endpoint answers in the next new chat, or none, if that is as the last one."""
        team = "" if backend.is_model(key) else key.removeprefix(protocol.TEAM_PREFIX)
        if team != self._preferences.team:
            self._preferences.team = team
            self._state.save()

    @Slot()
    def follow_chat(self) -> None:
        """Have the model or team answer that the open chat has; nothing is opened before a message is sent."""
        c, p = self._conversation, self._preferences
        key = c.model
        if not key and c.chat is not None:  # of a version that did not keep it
            key = self._models.key_of(next((m.model for m in reversed(c.messages) if m.model), ""))
        elif not key:
            last = p.team if not p.team or backend.is_endpoint(p.team) else backend.team_key(p.team)
            key = p.new_chat_model or last
        self._models.choose(key)

    def _load_for(self, key: str) -> str:
        """Have the model opened that is asked for an answer. Returns the id of the command that it waits for, or ''."""
        self._remember(key)
        self.follow_chat()  # it has the one that answers, also where that stands in for a missing one
        models = self._models
        opened = models.wanted == key and models.state in (backend.READY, backend.LOADING)
        if key and backend.is_model(key) and not opened and models.state != backend.STOPPED:
            self.open_model(key)
        return models.loading

    @Slot(str)
    def open_model(self, name: str) -> None:
        """Open a model, which is then also the one that the next start opens."""
        if name != self._preferences.model:
            self._preferences.model = name
            self._state.save()
        self._shell.live.forget()
        self._shell.banners.withdraw_about(lambda about: about.startswith(MODEL))  # another one was chosen
        finish = self._conversation.answers.wait_for(self._models.loading)
        self._models.load(name, self._preferences.engine_for(name), finish=finish)

    @Slot()
    def reload(self) -> None:
        """Open the preferred model, with the settings as they are now."""
        self.open_model(self._preferences.model)

    @Slot()
    def _model_changed(self) -> None:
        state = self._models.state
        self._show_remote()
        self._conversation.answers.model_opening = state == backend.LOADING
        if state == backend.STOPPED:
            self._shell.live.forget()  # what the panels tell was said by an engine that is gone
        words = {
            backend.READY: tr("Send a message"),
            backend.LOADING: tr("Send a message (queued until the model is ready)"),
            backend.STOPPED: tr("Engine stopped"),
        }.get(state, tr("Select a model to start"))  # fmt: skip
        team, other = self._models.team_card, self._models.to_load
        alone = team is not None and team.team is not None and all(step.model for step in team.team.steps)
        remote = self._models.endpoint_card
        at_once = (alone or bool(other) or remote is not None) and state != backend.STOPPED
        if at_once:
            words = tr("Send a message")
        if at_once and (model := self._models.title(other)):
            words = tr("Send a message (loads {model})", model=model)
        if at_once and remote is not None:
            words = tr("Send a message (leaves this computer)")
        self._shell.composer.set_ready(state in (backend.READY, backend.LOADING) or at_once, words)
        if self._models.card is not None:
            self._shell.live.figures.show_plan(_plan(self._models.card))
        card = self._models.card_of(other) if other else self._models.card
        if remote is not None:
            note = tr("Answers come from {host}. Your messages leave this computer.", host=remote.endpoint.host)
            self._shell.welcome.show_model(remote.endpoint.name, note, "", (), False)
        elif card is not None:
            summary, plan = card.fit.sentence if card.fit is not None else "", _plan(card)
            self._shell.welcome.show_model(card.title, card.note, summary, plan, card.parameters < _SMALL_MODEL)
        elif state == backend.LOADING:
            self._shell.welcome.show_model("", tr("Loading model…"), "", (), True)
        else:
            self._shell.welcome.show_choice(returning=state == backend.FAILED or self._has_chats)

    @property
    def _has_chats(self) -> bool:
        return bool(self._first_chat) or self._shell.sidebar.model.rowCount() > 0

    @Slot()
    def _show_remote(self) -> None:
        """Show in the panel where answers come from that no model here gives, and what the last one's server told."""
        card, messages = self._models.endpoint_card, self._conversation.messages
        words = ""
        if card is not None:
            words = tr("Answers come from {host}. The panels show this computer.", host=card.endpoint.host)
            if messages and messages[-1].stats.get("endpoint"):
                words = "\n".join(filter(None, (words, summary(messages[-1]))))
        self._shell.live.figures.show_remote(words)

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
        button = tr("Use"), partial(self._open_to_chat, card.name)
        said = tr("{model} imported", model=card.title)
        self._shell.banners.show_banner("info", said, button=button, about=MODEL + card.name)

    @Slot()
    def _withdraw_deleted(self) -> None:
        there = {MODEL + card.name for card in self._models.cards}
        gone, self._there = self._there - there, there  # one that was just made may not be listed yet
        self._shell.banners.withdraw_about(gone.__contains__)

    def _open_to_chat(self, name: str) -> None:
        self._navigator.show_chat()
        self.choose_model(name)


def _plan(card: protocol.ModelCard) -> tuple[str, ...]:
    """How a model runs here, in sentences."""
    return (*card.plan, card.doing) if card.doing else card.plan


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
