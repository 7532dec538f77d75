"""The window's access to the engine: commands and events, and the models there are."""

from __future__ import annotations

import itertools
import logging
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.i18n.translate import localized, tr
from app.platform.main_thread import MainThreadQueue
from app.teams.words import team_name
from engine import client, protocol
from engine.translatable import NO_TEXT, translated

_log = logging.getLogger(__name__)

Listener = Callable[[protocol.Event], object]
NONE, LOADING, READY, FAILED, STOPPED = "none", "loading", "ready", "failed", "stopped"


class RunningEngine:
    """An engine that outlives a window: its events go to whichever link is there, whose ids no other link had."""

    def __init__(
        self,
        start: Callable[[Callable[[protocol.Event], None]], protocol.Engine],
        numbers: Iterator[int] | None = None,
    ) -> None:
        """numbers: that ids of commands are made of; those of the engine before it, which commands may still bear."""
        self.receive: Listener = lambda event: None  # on a thread of the engine
        self.numbers = itertools.count(1) if numbers is None else numbers
        self.engine = start(lambda event: self.receive(event))  # type: ignore[arg-type]


class EngineLink(QObject):
    """On the window's thread: telemetry: protocol.Telemetry, at most five a second. plan_changed: protocol.PlanChanged.
    model_changed: protocol.ModelCard. transfer_changed: protocol.Transfer. server_changed: protocol.ServerState.
    died: protocol.Failed, of an engine that does nothing more.
    started: there is another engine now, which knows of no model.
    """

    telemetry = Signal(object)
    plan_changed = Signal(object)
    model_changed = Signal(object)
    transfer_changed = Signal(object)
    server_changed = Signal(object)
    tool_servers_changed = Signal(object)  # tuple[protocol.ToolServerCard, ...]
    died = Signal(object)
    started = Signal()

    def __init__(
        self,
        main_queue: MainThreadQueue,
        start: Callable[[Callable[[protocol.Event], None]], protocol.Engine] = client.start_subprocess,
        running: RunningEngine | None = None,
    ) -> None:
        """running: one that another window has handed over; None starts one."""
        super().__init__(main_queue)
        self._main_queue = main_queue
        self._listeners: dict[str, Listener] = {}
        self._closed = False
        self._start = start
        self._watched: protocol.Look | None = None
        self._waiting: list[protocol.Command] = []  # while there is no engine, or it is held
        self._held = False
        self._ending: threading.Thread | None = None
        self._texts: deque[protocol.TextDelta] = deque()  # hundreds a second: handed over together
        self._listen_to(running or RunningEngine(start))

    def _listen_to(self, running: RunningEngine) -> None:
        self._running, self.engine = running, running.engine
        running.receive = self._receive

    def new_id(self) -> str:
        """An id for a command."""
        return f"w{next(self._running.numbers)}"

    def hand_over(self) -> RunningEngine:
        """The engine, for the link of another window; this one neither sends nor hears any more."""
        self._closed = True
        self._listeners.clear()
        self._running.receive = lambda event: None
        return self._running

    def send(self, command: protocol.Command, listener: Listener | None = None) -> None:
        """Queue a command. listener gets each of its events, the last being Done, Cancelled or Failed.

        After `close` nothing is sent any more, though events of earlier commands are still delivered.
        """
        if self._closed:
            return
        if listener is not None:
            self._listeners[command.id] = listener
        if self._held or self._ending is not None:
            self._waiting.append(command)
        else:
            self.engine.send(command)

    def ask(self, kind: Callable[..., protocol.Command], listener: Listener | None, *values: Any) -> str:
        """Send a new command with these values after its id; returns the id. listener: see `send`."""
        command = kind(self.new_id(), *values)
        self.send(command, listener)
        return command.id

    def request(
        self, done: Callable[[Any], object], failed: Callable[[protocol.Failed], object],
        kind: Callable[..., protocol.Command], *values: Any,
    ) -> str:  # fmt: skip
        """As `ask`, for a command that ends in one result: done(result) or failed(event) follows."""

        def listener(event: protocol.Event) -> None:
            if isinstance(event, protocol.Done):
                done(event.result)
            elif isinstance(event, protocol.Failed):
                failed(event)

        return self.ask(kind, listener, *values)

    def watch(self, look: protocol.Look) -> None:
        """Subscribe to telemetry with these details."""
        self._watched = look
        self.ask(protocol.Watch, None, look)

    def stop(self, target: str) -> None:
        """Cancel the command `target`."""
        self.ask(protocol.Stop, None, target)

    def hold(self) -> None:
        """Send nothing until `release`: what is asked for waits."""
        self._held = True

    def release(self) -> None:
        """Send what waits."""
        self._held = False
        if self._ending is None and not self._closed:
            waiting, self._waiting = self._waiting, []
            for command in waiting:
                self.engine.send(command)

    def restart(self) -> None:
        """Take another engine, once the one there is has let go of its memory; `started` follows."""
        if self._ending is None and not self._closed:
            self._ending = threading.Thread(target=self._end, name="engine-end", daemon=True)
            self._ending.start()

    def close(self) -> None:
        """End the engine and wait for it."""
        self._closed = True
        if self._ending is not None:
            self._ending.join()
        else:
            self.engine.close()

    def _end(self) -> None:
        """On a thread of its own: what hangs may take a while."""
        self.engine.close()
        self._main_queue.post(self._start_again)

    def _start_again(self) -> None:
        if self._closed:
            return
        _log.info("The engine is started again")
        # What was asked for meanwhile bears its id already: a number used twice would give its answer to somebody else.
        self._listen_to(RunningEngine(self._start, self._running.numbers))
        self._ending = None
        if self._watched is not None:
            self.engine.send(protocol.Watch(self.new_id(), self._watched))
        self.release()
        self.started.emit()

    def _receive(self, event: protocol.Event) -> None:
        """Runs on a thread of the engine: only hand over."""
        if not isinstance(event, protocol.TextDelta):
            self._main_queue.post(self._deliver, event)
            return
        self._texts.append(event)
        if len(self._texts) == 1:  # else a turn that takes them is on its way
            self._main_queue.post(self._deliver_texts)

    def _deliver_texts(self) -> None:
        """Deliver all text received, in one piece for each answer; nothing in it is translated."""
        received = []
        with suppress(IndexError):  # the engine may add one more at any time: that one is taken, too, or posts a turn
            while True:
                received.append(self._texts.popleft())
        for answer, deltas in itertools.groupby(received, key=attrgetter("id")):
            if (follower := self._listeners.get(answer)) is not None:
                parts = list(deltas)
                tokens = tuple(itertools.chain.from_iterable(part.token_ids for part in parts))
                follower(protocol.TextDelta(answer, "".join(part.text for part in parts), tokens))

    def _deliver(self, received: protocol.Event) -> None:
        match event := localized(received):
            case protocol.Telemetry():
                return self.telemetry.emit(event)
            case protocol.PlanChanged():
                return self.plan_changed.emit(event)
            case protocol.ModelChanged():
                return self.model_changed.emit(event.card)
            case protocol.TransferChanged():
                return self.transfer_changed.emit(event.transfer)
            case protocol.ServerChanged():
                return self.server_changed.emit(event.state)
            case protocol.ToolServersChanged():
                return self.tool_servers_changed.emit(event.servers)
        terminal = isinstance(event, protocol.TERMINAL)
        listener = self._listeners.pop(event.id, None) if terminal else self._listeners.get(event.id)
        if listener is not None:
            listener(event)
        if isinstance(event, protocol.Failed) and event.kind in protocol.GONE:
            self.died.emit(event)


def team_key(team: str) -> str:
    """Key of the team with this id, among the names of models."""
    return f"{protocol.TEAM_PREFIX}{team}"


def is_team(key: str) -> bool:
    """Whether a key is that of a team."""
    return key.startswith(protocol.TEAM_PREFIX)


def is_endpoint(key: str) -> bool:
    """Whether a key is that of an endpoint, as EndpointCard.key gives it."""
    return key.startswith(protocol.ENDPOINT_PREFIX)


def is_model(key: str) -> bool:
    """Whether a key is that of a model on this computer."""
    return not is_team(key) and not is_endpoint(key)


def is_path(model: str) -> bool:
    """Whether a model is asked for by its folder, which no list of models has."""
    return "/" in model or "\\" in model


class Models(QObject):
    """state: one of NONE, LOADING, READY, FAILED, and STOPPED, with the engine. progress: of loading.

    importing: the import under way, or None.
    """

    changed = Signal()
    listed = Signal()
    teams_listed = Signal()
    endpoints_listed = Signal()
    loaded = Signal(object)  # protocol.ModelCard
    load_failed = Signal(object)  # protocol.Failed
    imported = Signal(object)  # protocol.ModelCard
    import_failed = Signal(object)  # protocol.Failed
    import_changed = Signal()
    failed = Signal(object)  # protocol.Failed, of anything else
    notice_received = Signal(str)  # what changed about how the model runs, unasked

    def __init__(
        self, link: EngineLink, parent: QObject | None = None, settings: Callable[[], dict[str, Any]] = dict
    ) -> None:
        """settings: those of the engine that a model is opened with."""
        super().__init__(parent)
        self.link, self._settings = link, settings
        self.cards: tuple[protocol.ModelCard, ...] = ()
        self.known = False  # whether the engine has listed the models
        self.teams: tuple[protocol.TeamCard, ...] = ()
        self.endpoints: tuple[protocol.EndpointCard, ...] = ()
        self.choice = ""  # who is to answer in the open chat, a key as `key_of` gives it; '' is the open model
        self.card: protocol.ModelCard | None = None
        self.wanted = ""  # what was last asked for
        self.state = NONE
        self.progress = protocol.Progress(id="", text=NO_TEXT)
        self.importing: protocol.Progress | None = None
        self._teams_known = self._endpoints_known = False
        self._loading = ""
        self._import = ""
        link.plan_changed.connect(self._plan_changed)
        link.model_changed.connect(self._card_changed)
        link.died.connect(self._died)

    def refresh(self) -> None:
        """Ask for the list of models."""
        self.link.request(self._listed, self.failed.emit, protocol.ListModels, self._settings())
        self.refresh_teams()
        self.refresh_endpoints()

    def refresh_endpoints(self) -> None:
        """Ask for the list of endpoints."""
        self.link.request(self._list_endpoints, self.failed.emit, protocol.ListEndpoints)

    def refresh_teams(self) -> None:
        """Ask for the list of teams."""
        self.link.request(self._teams_listed, self.failed.emit, protocol.ListTeams)

    def choose(self, key: str) -> None:
        """Have a model or a team answer in the open chat; nothing is opened yet. key: '' for the open model."""
        if key != self.choice:
            self.choice = key
            self.changed.emit()

    @property
    def team_card(self) -> protocol.TeamCard | None:
        """The team that answers; None where a single model does."""
        return next((c for c in self.teams if c.team is not None and team_key(c.id) == self.choice), None)

    @property
    def endpoint_card(self) -> protocol.EndpointCard | None:
        """The endpoint that answers; None where a model or a team does."""
        return next((card for card in self.endpoints if card.key == self.choice), None)

    def hosts(self, key: str) -> str:
        """Where messages go that this model, team or endpoint answers; '' where they stay on this computer."""
        team = next((card.team for card in self.teams if team_key(card.id) == key), None)
        asked = [step.model for step in team.steps] if team is not None else [key]
        return ", ".join(dict.fromkeys(card.endpoint.host for card in self.endpoints if card.key in asked))

    @property
    def to_load(self) -> str:
        """Name of the model that the next message of the open chat opens; '' where it opens none."""
        other = self.choice not in ("", self.wanted) and is_model(self.choice)
        return self.choice if other and not self.missing else ""

    @property
    def missing(self) -> str:
        """Key of the model or team that is to answer, and cannot: it is deleted, or its disk is away."""
        if is_team(self.choice):
            return self.choice if self._teams_known and self.team_card is None else ""
        if is_endpoint(self.choice):
            return self.choice if self._endpoints_known and self.endpoint_card is None else ""
        there = self.choice in ("", self.wanted) or is_path(self.choice) or not self.cards
        usable = any(card.usable for card in self.cards if card.name == self.choice)
        return "" if there or usable else self.choice

    @property
    def answering(self) -> str:
        """Key of who answers the next message of the open chat; '' where no model was ever asked for."""
        other = self.team_card is not None or self.endpoint_card is not None
        return self.choice if other else self.to_load or self.wanted

    def card_of(self, model: str) -> protocol.ModelCard | None:
        """Card of a model; None where there is none of that name."""
        opened = self.card if model == self.wanted and self.state == READY else None
        return opened or next((card for card in self.cards if card.name == model), None)

    def title(self, key: str) -> str:
        """What a model, team or endpoint is called; '' where that is not known (yet)."""
        if is_team(key):
            return next((team_name(card) for card in self.teams if team_key(card.id) == key), "")
        if is_endpoint(key):
            return next((card.endpoint.name for card in self.endpoints if card.key == key), "")
        card = self.card_of(key)
        return card.title if card is not None else ""

    def key_of(self, title: str) -> str:
        """Key of the model or team that is called so: a model's name, or what `team_key` makes of a team's id.

        A model that was renamed since is found by its name, which was its title before.
        """
        keys = [*(card.name for card in self.cards), *(team_key(card.id) for card in self.teams)]
        named = (card.name for card in self.cards if card.name == title)
        return next((key for key in keys if self.title(key) == title), "") or next(named, "")

    @property
    def loading(self) -> str:
        """Id of the command that opens a model; '' where none is being opened."""
        return self._loading if self.state == LOADING else ""

    def load(self, model: str, settings: dict[str, Any], *, finish: bool = False) -> None:
        """Open a model; one that is still being opened is left off, or with `finish` opened first."""
        if self.state == LOADING and not finish:
            self.link.stop(self._loading)
        self.wanted = model
        self.state = LOADING
        self.progress = protocol.Progress(id="", text=translated(tr("Loading model")))
        self._loading = self.link.new_id()
        command = protocol.LoadModel(self._loading, model, dict(settings))
        self.link.send(command, partial(self._on_load_event, self._loading))
        self.changed.emit()

    def cancel_load(self) -> None:
        """Stop opening."""
        if self.state == LOADING:
            self.link.stop(self._loading)

    def update(self, values: dict[str, Any], failed: Callable[[protocol.Failed], object] | None = None) -> None:
        """Change live settings of the open model; it takes them mid-answer. failed: None emits the signal."""
        if self.state == READY and values:
            # Done: the library's estimates are made with these settings, too
            self.link.request(
                lambda _: self.refresh(), failed or self.failed.emit, protocol.UpdateSettings, dict(values)
            )

    def import_folder(self, path: str, name: str, top: int) -> None:
        """Quantize a checkpoint into the library."""
        self._import = self.link.new_id()
        self.importing = protocol.Progress(id=self._import, text=translated(tr("Reading model files")))
        self.link.send(protocol.ImportModel(self._import, path, name, top), self._on_import_event)
        self.import_changed.emit()

    def cancel_import(self) -> None:
        """Stop importing; what is done is kept, and a later import of the same folder goes on from there."""
        if self.importing is not None:
            self.link.stop(self._import)

    def _listed(self, cards: Sequence[protocol.ModelCard]) -> None:
        self.cards, self.known = tuple(cards), True
        self.listed.emit()

    def _list_endpoints(self, cards: Sequence[protocol.EndpointCard]) -> None:
        self.endpoints = tuple(cards)
        self._endpoints_known = True
        self.endpoints_listed.emit()
        self.changed.emit()

    def _teams_listed(self, cards: Sequence[protocol.TeamCard]) -> None:
        self.teams = tuple(cards)
        self._teams_known = True
        self.teams_listed.emit()
        self.changed.emit()

    def _on_load_event(self, command: str, event: protocol.Event) -> None:
        if command != self._loading:
            return
        if isinstance(event, protocol.Progress):
            self.progress = event
        elif isinstance(event, protocol.Done):
            self.card, self.state = event.result, READY
            self.loaded.emit(self.card)
            self.refresh()
        elif isinstance(event, protocol.Cancelled):
            self.card, self.state = None, NONE
        elif isinstance(event, protocol.Failed):
            self.card, self.state = None, FAILED
            self.load_failed.emit(event)
        self.changed.emit()

    @Slot(object)
    def _plan_changed(self, event: protocol.PlanChanged) -> None:
        if self.card is not None:
            self.card = replace(self.card, plan=event.plan)
            self.changed.emit()
        if event.notice:
            self.notice_received.emit(event.notice)

    @Slot(object)
    def _card_changed(self, card: protocol.ModelCard) -> None:
        if self.card is not None and card.path == self.card.path:
            self.card = card
            self.changed.emit()

    @Slot(object)
    def _died(self, _: protocol.Failed) -> None:
        if self.state in (LOADING, READY):
            self.state = STOPPED
            self.changed.emit()

    def _on_import_event(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Progress):
            self.importing = event
        else:
            self.importing = None
            if isinstance(event, protocol.Done):
                self.imported.emit(event.result)
            elif isinstance(event, protocol.Failed):
                self.import_failed.emit(event)
            self.refresh()  # what is done of one that broke off is there, too, and can go on
        self.import_changed.emit()
