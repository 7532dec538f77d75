"""The order of requests between models: a person before programs, grouped by model, and nobody starves."""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from engine.protocol import Command, Generate
from engine.service.command_queue import CommandQueue

WINDOW = 256  # a request is overtaken by fewer than so many that came after it
PATIENCE = 60.0  # seconds after which only models with an older request go before it


class _Waiting(NamedTuple):
    command: Generate
    number: int
    came: float


class RequestQueue(CommandQueue):
    """Dependency-aware request scheduling (coserve, section 4.2), on one executor: the model's thread.

    What a person asked for goes first, in the order in which it came. Requests in the background are grouped by model:
    a run takes all of one model before another is switched to, and the next run is that of the model which adds the
    least time for each of its requests, loading included where it is not open.

    Nobody starves: a request is overtaken by fewer than `window` that came after it, a person's among them. Once the
    oldest has waited for PATIENCE, a run takes no more than had come when it began, and the next is that of the oldest.
    """

    def __init__(
        self,
        cost: Callable[[str, int], float] = lambda model, n: 0.0,
        now: Callable[[], float] = time.monotonic,
        *,
        window: int = WINDOW,
    ) -> None:
        """cost: seconds that n requests for a model of this name take, if it is the next; '' is the current one."""
        super().__init__()
        self._cost, self._now, self._window = cost, now, window
        self._background: list[_Waiting] = []  # in the order in which they came
        self._numbers = itertools.count()
        self._asked: dict[str, int] = {}  # numbers of the requests of a person, by id
        self._model: str | None = None  # of the run under way
        self._begun = 0  # the number that was the next when it began

    def __len__(self) -> int:
        return len(self._waiting) + len(self._background)

    def __iter__(self) -> Iterator[Command]:
        return itertools.chain(self._waiting, (one.command for one in self._background))

    def put(self, command: Command) -> None:
        """See CommandQueue."""
        if not isinstance(command, Generate):
            super().put(command)
            return
        number = next(self._numbers)
        if command.background:
            self._background.append(_Waiting(command, number, self._now()))
        else:
            self._asked[command.id] = number
            super().put(command)

    def urgent(self) -> Command | None:
        """See CommandQueue: never one in the background."""
        first = super().urgent()
        return None if first is None or self._overtaken_enough(first) else first

    def head(self) -> Command | None:
        """See CommandQueue: in the background, the next of the run under way, or the oldest where there is none."""
        first = self.urgent()
        if first is not None or not self._background:
            return first
        within = self._within()
        return (self._going_on(within) or within[0]).command

    def take(self) -> Command:
        """See CommandQueue."""
        if self.urgent() is not None:
            command = super().take()
            self._asked.pop(command.id, None)
            return command
        chosen = self._next()
        self._background.remove(chosen)
        return chosen.command

    def remove(self, command: Command) -> None:
        """See CommandQueue."""
        found = next((one for one in self._background if one.command is command), None)
        if found is not None:
            self._background.remove(found)
            return
        super().remove(command)
        self._asked.pop(command.id, None)

    def _overtaken_enough(self, command: Command) -> bool:
        """Whether the oldest in the background may not be overtaken by this one; what is no request always may."""
        if not self._background or command.id not in self._asked:
            return False
        return self._asked[command.id] >= self._background[0].number + self._window

    def _next(self) -> _Waiting:
        """Of those in the background."""
        within, overdue = self._within(), self._overdue()
        going_on = self._going_on(within)
        if going_on is not None:
            return going_on
        groups: dict[str, list[_Waiting]] = {}
        for one in within:
            groups.setdefault(one.command.model, []).append(one)
        self._model = within[0].command.model if overdue else self._next_model({m: len(g) for m, g in groups.items()})
        self._begun = within[-1].number + 1
        return groups[self._model][0]

    def _within(self) -> list[_Waiting]:
        """Those in the background that may be next, the oldest first."""
        last = self._background[0].number + self._window
        return list(itertools.takewhile(lambda one: one.number < last, self._background))

    def _overdue(self) -> bool:
        return self._now() - self._background[0].came >= PATIENCE

    def _going_on(self, within: list[_Waiting]) -> _Waiting | None:
        """The next of the run under way."""
        overdue = self._overdue()
        mine = (one for one in within if one.command.model == self._model)
        return next((one for one in mine if not overdue or one.number < self._begun), None)

    def _next_model(self, counts: dict[str, int]) -> str:
        """The model that a new run is of. counts: requests by model, that of the oldest first."""
        return min(counts, key=lambda model: self._cost(model, counts[model]) / counts[model])
