"""Teams that programs ask: the steps of all of them wait in the model's queue, each as a request of its own."""

from __future__ import annotations

import itertools
import queue
from collections.abc import Callable
from dataclasses import replace

from engine import limits, protocol
from engine.errors import UnderhillError
from engine.service.command_worker import CancelledWork, CommandWorker, EngineClosed
from engine.service.endpoints import Endpoints
from engine.service.named_workers import NamedWorkers
from engine.service.teams import TeamAnswer
from engine.teams.definition import PREFIX

NEEDS = (
    "engine.endpoints.asking", "engine.endpoints.folder", "engine.library.library", "engine.library.settings_file",
    "engine.teams.folder", "engine.teams.runner",
)  # fmt: skip
AT_ONCE = limits.WAITING_REQUESTS  # threads at most; what is asked beyond waits for one of them
_PATIENCE = 0.05  # seconds between two looks whether a team was stopped, while its step says nothing


class BackgroundTeams(NamedWorkers):
    """Runs teams on threads of their own, which wait while their steps are answered (coserve, section 4.2).

    A step is a request like that of a program for one model: it carries the chain that it belongs to, is grouped with
    others for that model, and is answered together with them. On the model's thread a whole team would come before the
    next one, and open each of its models once for every message. Teams that a person asks run there, before all others.
    """

    def __init__(
        self,
        model: CommandWorker,
        endpoints: Endpoints,
        opened: Callable[[], bool],
        emit: Callable[[protocol.Event], None],
    ) -> None:
        """opened: whether a model is open, for steps that name none."""
        super().__init__(lambda name: CommandWorker(f"team-{name}", self._do, emit, needs=NEEDS))
        self._model, self._endpoints, self._opened, self._emit = model, endpoints, opened, emit
        self._numbers = itertools.count()
        self._events: dict[str, queue.SimpleQueue[protocol.Event]] = {}  # of steps that are asked, by their ids

    def worker(self, command: protocol.Command) -> CommandWorker | None:
        """The thread for a message to a team in the background; None for any other command."""
        if not (isinstance(command, protocol.Generate) and command.background and command.model.startswith(PREFIX)):
            return None
        workers = (self.of(str(number)) for number in range(AT_ONCE))
        return next((worker for worker in workers if not worker.busy), None) or self.of("0")

    def take(self, event: protocol.Event) -> bool:
        """Whether an event is about a step that is asked here, and so is nobody else's. From any thread."""
        events = self._events.get(event.id)
        if events is not None:
            events.put(event)
        return events is not None

    def _do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> protocol.Stats:
        assert isinstance(command, protocol.Generate)
        team = TeamAnswer(command, self._emit, lambda asked, emit: self._answer(asked, cancelled, emit))
        return team.run(self._opened())

    def _answer(
        self, asked: protocol.Generate, cancelled: Callable[[], bool], emit: Callable[[protocol.Event], None]
    ) -> protocol.Stats:
        """Of one step. Raises UnderhillError, CancelledWork."""
        if self._endpoints.takes(asked):
            return self._endpoints.answer(asked, cancelled, emit)
        step = replace(asked, id=f"{asked.id}/{next(self._numbers)}")
        events = self._events[step.id] = queue.SimpleQueue[protocol.Event]()
        stopped = False
        try:
            self._model.put(step)
            while True:
                if not stopped and cancelled():
                    stopped = self._model.cancel(step.id)
                try:
                    event = events.get(timeout=_PATIENCE)
                except queue.Empty:
                    continue
                match event:
                    case protocol.Done():
                        stats: protocol.Stats = event.result
                        return stats
                    case protocol.Cancelled():
                        raise CancelledWork(event.result)
                    case protocol.Failed():
                        raise UnderhillError(event.kind, event.sentence, event.action)
                emit(replace(event, id=asked.id))
        except EngineClosed:
            raise CancelledWork() from None
        finally:
            del self._events[step.id]
