"""Fit the cache policy's weights to a model's own routing."""

from __future__ import annotations

from collections.abc import Callable

from engine import resources
from engine.experts.policies import WeightsByShare
from engine.experts.precision import full_tier
from engine.session import calibration, policy_weights
from engine.session.evaluate import sequences
from engine.session.session import Session
from engine.tracing.fit import fit
from engine.tracing.recorder import Recorder
from engine.tracing.trace import Conditions

DIALS = ("exact", "balanced", "fast")
TOKENS = 1536  # of calibration text; with more the weights move, what they save does not


def fit_policy(
    session: Session, progress: Callable[[int, int], None] = lambda done, total: None, tokens: int = TOKENS
) -> dict[str, WeightsByShare]:
    """Send calibration text through the model, fit the weights under every dial, keep them with the store.

    They are used from the next opening on. Takes the reading of the text and some 15 seconds a dial for 1,000 tokens of
    6 layers of 28 experts, more for larger models; progress counts steps. Raises UnderhillError(DISK_ERROR) where the
    store cannot be written to.
    """
    store = session.store
    spec = store.spec(store.layers[0])
    known = Conditions(tier=full_tier(spec, session.plan.tier), spec=spec)
    recorder = Recorder(store.layers, session.card.experts, known)
    texts = sequences(session.chat, resources.path("calibration", "calibration.jsonl"), session.context.limit, tokens)
    progress(0, 1 + len(DIALS))
    with session.listening(recorder, recorder.begin_pass), session.exactly():
        for ids in texts:
            session.logits(ids, one_by_one=False)
    trace = recorder.trace().one_by_one()
    found: dict[str, WeightsByShare] = {}
    for done, dial in enumerate(DIALS, 1):
        progress(done, 1 + len(DIALS))
        found[dial] = fit(trace, calibration.thresholds_of(store.path, dial))
    policy_weights.keep(store.path, found)
    progress(1 + len(DIALS), 1 + len(DIALS))
    return found
