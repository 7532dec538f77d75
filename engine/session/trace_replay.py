"""Recordings of routing and their model: what a session is recorded under, and a trace made ready to be replayed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from engine.experts.policies import DEFAULT
from engine.experts.precision import EXACT, Thresholds, full_tier
from engine.library import library
from engine.session import policy_weights, routing_history
from engine.session.session import Session
from engine.session.thresholds import UNCALIBRATED, thresholds_of
from engine.store.manifest import fingerprint
from engine.tracing.recorder import Recorder
from engine.tracing.replay import Replayer
from engine.tracing.trace import Trace, TraceConditions

RECORDED = "recorded"  # instead of a dial: the one that a trace was recorded under


class Prepared(NamedTuple):
    """fitted: whether hobbit has the weights fitted to this model. matrices: of past answers that activation has."""

    replayer: Replayer
    fitted: bool
    matrices: int


def recorder_of(session: Session, most: int | None = None) -> Recorder:
    """A recorder of this session's routing, under what is in force now. most: see Recorder."""
    spec = session.store.spec(session.store.layers[0])
    known = TraceConditions(
        model=session.card.title,
        dial=str(session.settings["dial"]),
        thresholds=session.thresholds,
        tier=full_tier(spec, session.plan.tier),
        spec=spec,
        fingerprint=fingerprint(session.store.path),
        low=session.low,
    )
    return Recorder(session.store.layers, session.card.experts, known, most)


def prepare_replay(trace: Trace, dial: str = RECORDED, cancelled: Callable[[], bool] = lambda: False) -> Prepared:
    """A trace with what its model has learned, where that is in the library still. dial: a quality, or RECORDED.

    Raises UnderhillError(CANCELLED), as Replayer does.
    """
    mark = trace.conditions.fingerprint
    store = next((path for path in library.models() if fingerprint(path) == mark), None) if mark else None
    used = trace.conditions.dial if dial == RECORDED else dial
    own = {} if store is None else policy_weights.read(store)
    past = None if store is None else routing_history.collection_of(store, len(trace.layers), trace.experts)
    weights = own[used].weights if used in own else DEFAULT
    replayer = Replayer(trace, _thresholds(trace, dial, store), weights, collection=past, cancelled=cancelled)
    return Prepared(replayer, used in own, 0 if past is None else len(past))


def _thresholds(trace: Trace, dial: str, store: Path | None) -> Thresholds:
    if dial == RECORDED:
        return trace.conditions.thresholds
    if store is None:
        return EXACT if dial == "exact" else UNCALIBRATED[dial]
    return thresholds_of(store, dial)
