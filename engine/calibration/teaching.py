"""Teach what coming experts are predicted with, on calibration text, in steps that can be stopped at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from engine.calibration.evaluate import shipped_texts
from engine.calibration.routing_capture import RoutingCapture
from engine.errors import Kind, UnderhillError
from engine.experts.predictors import (
    Predictor,
    PredictorTable,
    RoutingContext,
    StackedGates,
    TraceView,
    evidence,
    fitted_row,
    walk,
)
from engine.models.gates import gates_of, has_gates
from engine.session import predictor_store
from engine.session.loaded_model import LoadedModel, keeping
from engine.session.predictor_store import ALL, DEPTH, Learnt, Maps, empty, fitting, possible, table
from engine.translatable import msg

FITTED = 0.8  # of the text is for the gates, the rest for the weights of all predictors
WEIGHED = 1000  # tokens of that rest; with more the weights hardly move
TEXT = 20_000  # tokens of calibration text that tables learn from: all that there is
OFTEN = 64  # texts between two writings of the tables


def _read(model: LoadedModel, seen: RoutingCapture, ids: list[int], cancelled: Callable[[], bool]) -> None:
    with model.measuring(cancelled), seen.watching(ids), model.exactly():
        model.context.run_through(ids, cancelled)


class GateTeacher:
    """The gates of coming layers, where what calibration taught them is missing, damaged or of an earlier version."""

    def __init__(self, model: LoadedModel, tokens: int, taught: Callable[[], None]) -> None:
        """tokens: of text that they are taught with. taught: called once they are, so that they are used."""
        self._model, self._taught = model, taught
        self._seen = RoutingCapture(model)
        decoder, file = model.decoder, model.store.path / predictor_store.FILE
        self.complete = not has_gates(decoder) or predictor_store.read(file, gates_of(decoder)) is not None
        self._left = [] if self.complete else shipped_texts(model, tokens)
        self._total = len(self._left) + 1

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 * (self._total - 1 - len(self._left)) // self._total

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Read a text, or, behind the last one, learn. Raises UnderhillError: CANCELLED, DISK_ERROR."""
        model = self._model
        if self._left:
            _read(model, self._seen, self._left[0], cancelled)
            del self._left[0]
            return
        run = self._seen.view()
        assert run is not None
        with keeping(model.store.path):
            teach_gates(model, run, cancelled)
        self.complete = True
        self._taught()


class TableTeacher:
    """The tables, text by text; how many each has learnt is kept with it, so that the next start goes on from there."""

    def __init__(self, model: LoadedModel, in_use: Callable[[], tuple[str, ...]]) -> None:
        """in_use: says which kinds of tables are asked and learn now; the others are put away in the end."""
        self._model, self._tables, self._in_use = model, model.tables, in_use
        self._kinds = possible(self._tables.shape)
        self._texts = shipped_texts(model, TEXT)
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
            seen = RoutingCapture(self._model, gating=False)
            _read(self._model, seen, self._texts[number], cancelled)
            run = seen.view()
            assert run is not None
            self._learning = tuple(kind for kind in self._kinds if tables.taught(kind) == number)
            self._walk = walk(run, [tables.of(kind) for kind in self._learning])
        for step in self._walk:
            if step.row < 0 and cancelled():
                raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        self._walk = None
        for kind in self._learning:
            tables.learnt(kind, number + 1)
        if tables.remember and ((number + 1) % OFTEN == 0 or self.complete):
            with keeping(self._model.store.path):
                tables.keep()
        if self.complete:
            tables.release(self._in_use())


def teach_gates(
    model: LoadedModel, run: TraceView, cancelled: Callable[[], bool] = lambda: False
) -> dict[str, PredictorTable]:
    """Fit linear maps from a layer's input to the routers of the next layers, and keep them with the store.

    Nothing is done without gates or with too little text.

    Returns the tables that were taught all of `run`, by kind. Raises OSError, UnderhillError(CANCELLED).
    """
    tokens = run.ids.shape[1]
    cut = round(FITTED * tokens)
    if not has_gates(model.decoder) or run.gating is None or cut in (0, tokens):
        return {}
    gates = gates_of(model.decoder)
    text, rest = run.part(0, cut), run.part(cut, min(tokens, cut + WEIGHED))
    maps: Maps = []
    for row in range(len(gates)):
        _stop_if(cancelled())
        maps.append(fitted_row(text, gates, row, DEPTH))
    kinds = fitting(model.tables.shape)
    shape = model.tables.shape
    taught = {kind: empty(kind, shape) for kind in possible(shape)}
    own: Predictor = StackedGates(gates, maps)
    parts: list[Predictor] = [own, *(taught[kind] if kind in taught else table(kind, shape) for kind in kinds[1:])]
    for step in walk(text, parts):
        _stop_if(step.row < 0 and cancelled())
    found = evidence(rest, parts, DEPTH, gates)
    all_weights = np.zeros((DEPTH + 1, len(ALL)), np.float32)
    all_weights[:, [ALL.index(kind) for kind in kinds]] = found.weights()
    predictor_store.write(model.store.path / predictor_store.FILE, Learnt(maps, found.weights((0, 1)), all_weights))
    for step in walk(run.part(cut + rest.ids.shape[1], tokens), list(taught.values())):
        _stop_if(step.row < 0 and cancelled())
    return taught


def _stop_if(asked: bool) -> None:
    if asked:
        raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
