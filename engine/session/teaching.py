"""Teach what coming experts are predicted with, on calibration text, in steps that can be stopped at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.experts.predictors import RoutingContext, walk
from engine.library.listing import TOY
from engine.models.gates import gates_of, has_gates
from engine.session import calibration, predictor_store
from engine.session.evaluate import sequences
from engine.session.routing_capture import RoutingCapture
from engine.session.tables import possible
from engine.translatable import msg

if TYPE_CHECKING:
    from engine.session.session import Session

TEXT = 20_000  # tokens of calibration text that tables learn from: all that there is
OFTEN = 64  # texts between two keepings


def _texts(session: Session, tokens: int) -> list[list[int]]:
    return sequences(session.chat, resources.path("calibration", "calibration.jsonl"), session.context.limit, tokens)


def _read(session: Session, seen: RoutingCapture, ids: list[int], cancelled: Callable[[], bool]) -> None:
    with (
        calibration.interruptible(session, cancelled),
        session.runtime.telemetry.aside(),
        seen.watching(ids),
        session.exactly(),
    ):
        session.context.run_through(ids, cancelled)


class GateTeacher:
    """The gates of coming layers, where what calibration taught them is missing, damaged or of an earlier version."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._seen = RoutingCapture(session)
        decoder, file = session.decoder, session.store.path / predictor_store.FILE
        self.complete = not has_gates(decoder) or predictor_store.read(file, gates_of(decoder)) is not None
        tokens = calibration.QUICK if session.card.parameters < TOY else calibration.TOKENS
        self._left = [] if self.complete else _texts(session, tokens)
        self._total = len(self._left) + 1

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 * (self._total - 1 - len(self._left)) // self._total

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Read a text, or, behind the last one, learn. Raises UnderhillError: CANCELLED, DISK_ERROR."""
        session = self._session
        if self._left:
            _read(session, self._seen, self._left[0], cancelled)
            del self._left[0]
            return
        run = self._seen.observed()
        assert run is not None
        with calibration.writing(session.store.path):
            predictor_store.learn(session, run, cancelled)
        self.complete = True
        session.ahead.begin()


class TableTeacher:
    """The tables, text by text; how many each has learnt is kept with it, so that the next start goes on from there."""

    def __init__(self, session: Session) -> None:
        self._session, self._tables = session, session.tables
        self._kinds = possible(self._tables.shape)
        self._texts = _texts(session, TEXT)
        self._walk: Iterator[RoutingContext] | None = None  # over the text under way
        self._learning: tuple[str, ...] = ()  # the tables that learn from it
        self._generation = self._tables.generation

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self._next >= len(self._texts)

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 * self._next // len(self._texts)

    @property
    def _next(self) -> int:
        return min(self._tables.taught(kind) for kind in self._kinds)

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Learn one text. Raises UnderhillError: CANCELLED, what keeping raises."""
        tables, number = self._tables, self._next
        if self._generation != tables.generation:  # all was forgotten, and what is under way with it
            self._generation, self._walk = tables.generation, None
        if self._walk is None:
            seen = RoutingCapture(self._session, gating=False)
            _read(self._session, seen, self._texts[number], cancelled)
            run = seen.observed()
            assert run is not None
            self._learning = tuple(kind for kind in self._kinds if tables.taught(kind) == number)
            self._walk = walk(run, [tables.of(kind) for kind in self._learning])
        for sight in self._walk:
            if sight.row < 0 and cancelled():
                raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        self._walk = None
        for kind in self._learning:
            tables.learnt(kind, number + 1)
        if tables.remember and ((number + 1) % OFTEN == 0 or self.complete):
            with calibration.writing(self._session.store.path):
                tables.keep()
        if self.complete:
            tables.release(self._session.ahead.tables)
