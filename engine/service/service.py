"""The engine behind a queue: commands in on any thread, events out, the model on one worker thread."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import protocol, settings
from engine.errors import Kind, UnderhillError
from engine.generation import model_files
from engine.service import questions, recordings, teams
from engine.service.answering import Answering
from engine.service.background_teams import BackgroundTeams
from engine.service.command_worker import CommandWorker, EngineClosed
from engine.service.comparing import COMPARING, Comparing, changes_of
from engine.service.documents import DocumentThreads, DocumentWorker
from engine.service.endpoints import Endpoints
from engine.service.hub_worker import ASKING, HubWorker
from engine.service.library_worker import LONG, QUICK, LibraryWorker
from engine.service.lowerer import LOWERING, Lowerer
from engine.service.model_manager import ModelManager
from engine.service.named_workers import NamedWorkers
from engine.service.needed_modules import LIGHT, NEEDS
from engine.service.open_model import OpenModel
from engine.service.recordings import RECORDING, REPLAYING, Recordings
from engine.service.request_queue import RequestQueue
from engine.service.teams import TEAMS, TeamAnswer
from engine.service.tools import ToolServers
from engine.service.transfers import TRANSFERS, Transfers
from engine.teams.definition import PREFIX as TEAM
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.session import Session

PULSE = 0.2  # seconds between two snapshots at least, and between two steps of the idle tasks
_log = logging.getLogger(__name__)
Asking = protocol.Generate | protocol.GenerateApart | protocol.MeasureDivergence
Report = Callable[[Translatable, int, int], None]

QUIET = 3.0  # seconds after the last command before the engine does more of its own than to warm up


class Service:
    """Implements protocol.Engine.

    Threads: 'model' owns the open models; 'library' imports, so that a long import leaves the chat alone; 'control'
    answers what must not wait long (Watch, ListModels) and sends telemetry; 'stop' does nothing but stop, so that Stop
    never waits. torch and all that the work needs is imported by the first of them that works, while the others wait.
    """

    def __init__(self, on_event: Callable[[protocol.Event], None]) -> None:
        self._on_event = on_event
        # Not reentrant: the callback may not send. A worker that has died answers on the thread that sends, which would
        # wait for this lock in its own hands.
        self._emitting = threading.Lock()  # every worker emits; the callback gets one event at a time
        self._current: OpenModel | None = None
        self.models = ModelManager()
        self._quiet_since = time.monotonic()
        self._look = protocol.Look()
        self._telemetry_at = 0.0  # when telemetry was last sent, or could have been
        self._model = CommandWorker(
            "model", self._on_model, self._emit, needs=NEEDS, idle=self._run_idle_tasks, pulse=PULSE,
            queue=RequestQueue(self.models.cost),
        )  # fmt: skip
        self._endpoints, self._tools = Endpoints(self._emit), ToolServers(self._emit)
        self._teams = BackgroundTeams(self._model, self._endpoints, self._has_model, self._emit)
        self._library_worker = LibraryWorker(
            self._emit, self._open_store, lambda target: self._library.holds(target), self.models.is_closed
        )
        self._library = CommandWorker(
            "library", self._library_worker.do, self._emit, needs=NEEDS, idle=self._library_worker.tidy, pulse=PULSE
        )
        self._answering = Answering(self._model, self._emit, self._ready, self._disk_failed, self._joined)
        self._comparing = Comparing(self._model, self._emit, self._asked, self._reopened_under, self._disk_failed)
        self._failed: list[Session] = []  # beside the current one, to be closed once nothing is answered
        self._opened = ""  # what the open model was called when it was asked for
        # Settings to open the current model with again before it is used: its disk failed, or another took its memory.
        self._reopen: dict[str, Any] | None = None
        self._lowerer = Lowerer(self._borrow, self._close_for)
        self._hub_worker = HubWorker(self._emit)
        self._transfers = Transfers(self._emit, self._hub_worker.hub)
        self._hub = CommandWorker("hub", self._hub_worker.do, self._emit, needs=NEEDS)
        self._catalogue = CommandWorker("catalogue", self._look_up, self._emit, needs=NEEDS)
        documents = DocumentWorker(self._emit, lambda: self.session, self._is_answering, self._person_waits)
        self._documents = DocumentThreads(documents, self._emit)
        self._recordings = Recordings()
        self._replays = CommandWorker("replays", self._replay, self._emit, needs=NEEDS)
        # What Stop stops, and what ends first; the model last, as others borrow it.
        self._workers: tuple[CommandWorker | NamedWorkers | ToolServers, ...] = (
            self._hub, self._catalogue, self._teams, self._endpoints, self._tools, self._replays, self._library,
            self._documents, self._model,
        )  # fmt: skip
        self._halt = CommandWorker("stop", self._on_stop, self._emit)
        self._control = CommandWorker(
            "control", self._on_control, self._emit, needs=NEEDS, light=LIGHT, idle=self._send_telemetry,
            pulse=self._look.pulse,
        )  # fmt: skip
        self._routes = self._make_routes()

    def _make_routes(self) -> tuple[tuple[CommandWorker, tuple[type[protocol.Command], ...]], ...]:
        """Which worker serves which commands."""
        return (
            (self._halt, (protocol.Stop, protocol.Ping)),
            (self._control, (protocol.ListModels, protocol.CountTokens, protocol.RecommendSettings, *LIGHT, *QUICK)),
            (self._control, (*TRANSFERS, *TEAMS, *RECORDING)),
            (self._replays, REPLAYING),
            (self._library, LONG),
            (self._hub, ASKING),
            (self._catalogue, (protocol.ListCatalogue, protocol.ListUnavailableChoices)),
            (self._model, (protocol.LoadModel, protocol.UnloadModel, protocol.Generate, protocol.UpdateSettings)),
            # on the thread of the model, which would compute and read meanwhile
            (self._model, (protocol.DeleteModel, protocol.ProbeComputer, protocol.Calibrate, *LOWERING, *COMPARING)),
        )

    # ---- protocol.Engine -------------------------------------------------------------------------------------------

    def send(self, command: protocol.Command) -> None:
        """Queue a command on the thread that serves it."""
        if isinstance(command, protocol.LoadModel):
            model_files.PROCESS.warm()  # it starts while this one imports what it needs
        routed = (worker for worker, kinds in self._routes if isinstance(command, kinds))
        named = (group.worker(command) for group in (self._teams, self._endpoints, self._tools, self._documents))
        worker = next(filter(None, named), None) or next(routed, None)
        if worker is None:
            raise TypeError(f"not a command of the engine: {command!r}")
        worker.put(command)

    def close(self, timeout: float = 10.0) -> None:
        """Shutdown and wait for the worker to end."""
        with contextlib.suppress(EngineClosed):
            if self._control.died:
                self._shut_down()
            else:
                self.send(protocol.Shutdown("shutdown"))
        self._control.join(timeout)

    @property
    def session(self) -> Session | None:
        """Of the model in use; from any thread."""
        opened = self._current
        return None if opened is None else opened.session

    def _emit(self, event: protocol.Event) -> None:
        if not self._teams.take(event):
            with self._emitting:
                self._on_event(event)

    # ---- control ----------------------------------------------------------------------------------------------

    def _on_stop(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        if isinstance(command, protocol.Stop):
            return any(worker.cancel(command.target) for worker in self._workers)
        session = self.session
        return 0 if session is None else session.beat()

    def _on_control(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        match command:
            case protocol.Watch():
                self._look, self._control.pulse = command.look, command.look.pulse
                if time.monotonic() - self._telemetry_at >= PULSE:
                    self._send_telemetry()  # who looks at something else sees it soon
            case protocol.ListModels():
                return questions.with_open_model(self._library_worker.cards(command.settings), self.session)
            case protocol.CountTokens():
                return questions.count_tokens(self._loaded(), command.texts, command.images)
            case protocol.RecommendSettings():
                return questions.recommended(self.session)
            case protocol.Shutdown():
                self._shut_down()
            case protocol.KeepSettings():
                return self._keep(command.settings)
            case protocol.RenameModel():
                return questions.renamed(self._library_worker.answer(command), self.session, self._emit)
            case _ if isinstance(command, TRANSFERS):
                return self._transfers.answer(command)
            case _ if isinstance(command, TEAMS):
                return teams.answer(command)
            case _ if isinstance(command, RECORDING):
                return self._recordings.answer(command, self.session)
            case _:
                return self._library_worker.answer(command)
        return None

    def _is_answering(self) -> bool:
        return bool(self._answering.sessions) or self._model.waiting()

    def _person_waits(self) -> bool:
        return self._model.urgent() is not None or self._answering.for_person

    def _look_up(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        """What needs torch, but neither the model nor a hub."""
        if isinstance(command, protocol.ListUnavailableChoices):
            return questions.unavailable_choices()
        return self._hub_worker.catalogue(command, cancelled)

    def _replay(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        return recordings.work(command, self._library_worker.reporter(command, cancelled, "replays"), cancelled)

    def _shut_down(self) -> None:
        self._hub_worker.go_offline()
        for worker in self._workers:
            worker.close()
        self._transfers.close()
        for worker in self._workers:
            worker.join()
        self._release()
        self._halt.close()
        self._halt.join()
        self._control.close()  # this thread, where it lives: it ends once the Done of Shutdown is out

    def _keep(self, changes: dict[str, Any]) -> dict[str, settings.Value]:
        now = questions.keep_settings(changes)
        if "offline" in changes:
            self._tools.look_again()
        if now["offline"]:
            self._hub_worker.go_offline()
            self._transfers.go_offline()
            self._endpoints.go_offline()
        return now

    def _open_store(self) -> Path | None:
        session = self.session
        return None if session is None else session.store.path

    def _send_telemetry(self) -> None:
        session = self.session
        self._telemetry_at = time.monotonic()
        if session is not None and (snapshot := session.snapshot(self._look)) is not None:
            self._emit(protocol.Telemetry(id="", **vars(snapshot)))

    # ---- the model --------------------------------------------------------------------------------------------

    def _run_idle_tasks(self) -> None:
        """One step of the idle tasks of the open model, between two commands."""
        opened = self._current
        self.models.close_unwanted(opened)
        quiet = time.monotonic() - self._quiet_since >= QUIET
        if quiet:
            self.models.split_memory()
            self.models.save()
        if opened is None:
            return
        if opened.idle_tasks.use(self._model.waiting, quiet):
            self._emit(protocol.ModelChanged("", questions.current_card(opened.session)))

    def _on_model(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        try:
            return self._done_by_model(command, cancelled)
        finally:
            self._quiet_since = time.monotonic()

    def _done_by_model(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        match command:
            case protocol.LoadModel():
                return self._load(command, cancelled)
            case protocol.UnloadModel():
                return self._release()
            case protocol.UpdateSettings():
                return self._update(command.settings)
            case protocol.Generate():
                return self._generate(command, cancelled)
            case protocol.Calibrate():
                self._reopened_if_needed().idle_tasks.calibrate()
            case protocol.DeleteModel():
                return self._delete(command)
            case protocol.ProbeComputer():
                return self._measure(command, cancelled)
            case _ if isinstance(command, COMPARING):
                return self._comparing.do(command, cancelled)
            case _ if isinstance(command, LOWERING):
                return self._lowerer.do(command, self._library_worker.reporter(command, cancelled, "steps"), cancelled)
        return None

    def _measure(self, command: protocol.ProbeComputer, cancelled: Callable[[], bool]) -> protocol.Computer:
        from engine.library.computer import measure_computer

        return measure_computer(command.again, self._library_worker.reporter(command, cancelled, "steps"), cancelled)

    def _has_model(self) -> bool:
        return self._current is not None or self._reopen is not None

    def _loaded(self) -> Session:
        if self.session is None:
            raise UnderhillError(Kind.BAD_REQUEST, msg("No model loaded."), msg("Select a model first."))
        return self.session

    def _update(self, changes: dict[str, Any]) -> dict[str, Any]:
        if self._current is None and self._reopen is not None:
            self._reopen = settings.validated({**self._reopen, **changes}, settings.ENGINE)
            return dict(self._reopen)
        session = self._loaded()
        if self._comparing.own is not None:  # they hold once the answer is there
            self._comparing.own = settings.validated({**self._comparing.own, **changes}, settings.ENGINE)
            return dict(self._comparing.own)
        in_force = session.update(changes)
        if (current := self._current) is not None:
            self.models.settings_changed(current)
        _log.info("Settings changed: %s", {name: in_force[name] for name in changes if name in in_force})
        self._emit(protocol.PlanChanged("", session.sentences))
        return in_force

    def _load(self, command: protocol.LoadModel, cancelled: Callable[[], bool]) -> protocol.ModelCard:
        from engine.hardware import graphics
        from engine.library import damage
        from engine.planning import offload

        chosen = settings.validated(command.settings, settings.ENGINE)
        offload.demand(str(chosen["mode"]), graphics.gpus)  # before anything is closed for it
        self._current = None  # telemetry pauses; the pool keeps the old one as long as there is room for both
        self.models.release(lambda one: self._reopen is not None or damage.is_known(one.session.store.path))
        session = self._open(command.model, chosen, self._library_worker.reporter(command, cancelled))
        self._opened = command.model
        return questions.current_card(session)

    def _open(self, model: str, chosen: Mapping[str, Any], report: Report) -> Session:
        opened = self._acquired(model, chosen, report)
        session = opened.session
        session.on_notice = lambda notice: self._plan_changed(session, notice)
        self._current, self._reopen = opened, None
        return session

    def _acquired(self, model: str, chosen: Mapping[str, Any], report: Report) -> OpenModel:
        opened = self.models.acquire(model, chosen, report)
        opened.session.update({s.name: chosen[s.name] for s in settings.ENGINE if s.live})
        self.models.settings_changed(opened)
        return opened

    @contextlib.contextmanager
    def _borrow(self, model: str, chosen: dict[str, Any], report: Report) -> Iterator[Callable[[str], Session]]:
        """Opens a model under these settings, Exact and its other weights held as is asked for, beside the open one or
        for a while in its place; behind it, that is open again as it was.
        """
        before = self._current
        then = {} if before is None else dict(before.session.settings)
        lent: list[OpenModel] = []
        self._current = None

        def open_with(dense: str) -> Session:
            wanted = settings.validated({**chosen, "dense": dense, "dial": "exact", "tier": "top"}, settings.ENGINE)
            lent.append(self._acquired(model, wanted, report))
            return lent[-1].session

        try:
            yield open_with
        finally:
            self.models.release(lambda one: one is not before and one in lent)
            if before is not None and self.models.holds(before):
                before.session.update({s.name: then[s.name] for s in settings.ENGINE if s.live})
                self._current = before
            elif before is not None:
                self._open(self._opened, then, report)

    @contextlib.contextmanager
    def _close_for(self, path: Path, report: Report) -> Iterator[None]:
        """While this lasts the model at this path is closed; if it was the open one, it is opened again behind it."""
        open_one = self.session
        settings_then = None if open_one is None or open_one.store.path != path else dict(open_one.settings)
        if settings_then is not None:
            self._current = None
        self.models.release(lambda one: one.session.store.path == path)
        try:
            yield
        finally:
            if settings_then is not None:
                session = self._open(self._opened, settings_then, report)
                self._emit(protocol.ModelChanged("", questions.current_card(session)))

    def _plan_changed(self, session: Session, notice: Translatable) -> None:
        """Say so, on the thread that watches memory; not of models that are only kept open."""
        if session is self.session:
            self._emit(protocol.PlanChanged("", session.sentences, notice))

    def _release(self) -> None:
        self._current = self._reopen = None
        self.models.close()

    def _generate(self, command: protocol.Generate, cancelled: Callable[[], bool]) -> None:
        """Each answer that is made meanwhile ends its own command, and goes on where this one is at its end."""
        outer = len(self._answering.sessions)
        self._model.complete(self._model.run_of(command), lambda: self._answered(command, cancelled))
        with self.models.going_on():
            self._answering.drain(but=outer)
        if self._failed and not self._answering.sessions:
            failed, self._failed = self._failed, []
            self.models.release(lambda one: one.session in failed)

    def _answered(self, command: protocol.Generate, cancelled: Callable[[], bool]) -> protocol.Stats:
        if not command.model.startswith(TEAM):
            return self._answer(command, cancelled, self._emit)
        team = TeamAnswer(command, self._emit, lambda asked, emit: self._answer(asked, cancelled, emit))
        return team.run(self._has_model())

    def _answer(
        self, command: protocol.Generate, cancelled: Callable[[], bool], emit: Callable[[protocol.Event], None]
    ) -> protocol.Stats:
        """Of one model, or of an endpoint that a team asks. emit: told of it as it comes."""
        if self._endpoints.takes(command):
            return self._endpoints.answer(command, cancelled, emit)
        if self._ready(command) is None:
            self._answering.drain()  # what is opened may take the place of a model that answers
        opened = self._asked(command, cancelled)
        with self.models.answering(opened, self._chain(command)), self._recordings.listening(opened.session):
            return self._answering.answer(command, opened.session, cancelled, emit)

    def _chain(self, command: protocol.Generate) -> list[str]:
        return [name or self._opened for name in command.chain]

    def _joined(self, command: protocol.Generate, session: Session) -> None:
        """It is answered together with what is answered already."""
        self.models.joined(session, self._chain(command))

    def _ready(self, command: protocol.Generate) -> Session | None:
        """The session that answers this, where nothing has to be opened for it."""
        if self._reopen is not None or command.model.startswith(TEAM):
            return None
        try:
            return self.session if not command.model or self._is_current(command.model) else None
        except UnderhillError:  # no model can be called that: it is told so when its turn comes
            return None

    def _disk_failed(self, session: Session) -> None:
        if session is self.session:
            self._reopen = dict(self._comparing.own or session.settings)
        else:
            self._failed.append(session)

    def _asked(self, command: Asking, cancelled: Callable[[], bool]) -> OpenModel:
        """The model that a command is for, opened if need be."""
        beside = self._beside(command, cancelled) if command.model else None
        if beside is None and isinstance(command, COMPARING):  # a page shows what is done for it
            return self._reopened_if_needed(self._library_worker.reporter(command, cancelled))
        return self._reopened_if_needed() if beside is None else beside

    def _beside(self, command: Asking, cancelled: Callable[[], bool]) -> OpenModel | None:
        """The model that a command names, opened without becoming the current one; None where it is that one."""
        if self._is_current(command.model):
            return None
        chosen = settings.validated({**command.settings, **changes_of(command)}, settings.ENGINE)
        before, self._current = self._current, None  # telemetry pauses, as the pool may close it
        try:
            opened = self.models.acquire(command.model, chosen, self._library_worker.reporter(command, cancelled))
            live = {s.name: chosen[s.name] for s in settings.ENGINE if s.live}
            if any(opened.session.settings[name] != value for name, value in live.items()):
                opened.session.update(live)
                self.models.settings_changed(opened)
            return opened
        finally:
            if before is not None and self.models.holds(before):
                self._current = before
            elif before is not None:
                self._reopen = dict(before.session.settings)

    def _is_current(self, model: str) -> bool:
        from engine.library import library

        if not self._has_model():
            return False
        open_store = self._open_store()
        return model == self._opened or (open_store is not None and library.location(model) == open_store)

    def _reopened_if_needed(self, report: Report = lambda text, done, total: None) -> OpenModel:
        """The current model. Opened again where it was closed for another, or where the disk failed under its last
        answer: a disk that was pulled out and plugged in again is there, and yet no file that was open can be read.
        """
        if (then := self._reopen) is not None:
            failed, self._current = self._current, None
            self.models.release(lambda one: one is failed)
            session = self._open(self._opened, then, report)
            self._emit(protocol.ModelChanged("", questions.current_card(session)))
        self._loaded()
        assert self._current is not None
        return self._current

    @contextlib.contextmanager
    def _reopened_under(
        self, command: protocol.Command, cancelled: Callable[[], bool], chosen: Mapping[str, Any]
    ) -> Iterator[OpenModel]:
        """The current model, loaded again under these settings; before it is used next, with its own."""
        from engine.hardware import graphics
        from engine.planning import offload

        offload.demand(str(chosen["mode"]), graphics.gpus)  # before anything is closed for it
        self._reopen, self._current = dict(self._loaded().settings), None
        lent: list[OpenModel] = []
        try:
            lent.append(self._acquired(self._opened, chosen, self._library_worker.reporter(command, cancelled)))
            yield lent[0]
        finally:
            self.models.release(lambda one: one in lent)

    def _delete(self, command: protocol.DeleteModel) -> bool:
        in_use = (self._open_store(), *(session.store.path for session in self._answering.sessions))
        return self.models.delete(command.name, in_use, now=command.now)
