"""HOBBIT's weights, fitted in idle time and kept with the model, beat LRU per layer in the runtime and in replays."""

from __future__ import annotations

import io
import json
import tempfile
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

from engine.calibration.calibrator import open_calibrated
from engine.cli.chat import recording
from engine.cli.main import main
from engine.experts.policies import DEFAULT
from engine.session.policy_weights import read
from tests.audit.f01_sequences import chain
from tests.audit.finding import Finding
from tests.engine.calibration.idling import idle, rest

SHARES = (0.125, 0.25, 0.5)
POLICIES = ("hobbit", "lru_layer")
OPEN = {"dial": "exact", "cache_fraction": 0.25, "threads": 1}


def examine() -> Finding:
    """A session rests until the weights of its dial are there; then chats on other text are recorded and replayed."""
    with open_calibrated("builtin", OPEN) as session:
        store = session.store.path
        unfitted = not read(store)
        before, said, steps = session._weights, set[str](), 0
        while "exact" not in read(store) and not idle(session).over:
            rest(session)
            said.add(session.card.doing.split(" (")[0])
            steps += 1
        in_force = session._weights != before
    with open_calibrated("builtin", OPEN) as session:
        survives = session._weights != DEFAULT
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "chats.npz"
        ran = {f"{100 * share:g} %": {policy: _ran(policy, share, trace) for policy in POLICIES} for share in SHARES}
        found, single = _replayed(trace), _replayed(trace, "--one-by-one")
    replayed, one_by_one = _misses(found), _misses(single)
    beats = all(row["hobbit"] < row["lru_layer"] for rows in (ran, replayed, one_by_one) for row in rows.values())
    shown = any("Fitting" in sentence for sentence in said)
    kept = {dial: len(one.weights.pairs) for dial, one in read(store).items()}
    return Finding(
        unfitted and shown and in_force and survives and found["fitted"] and beats,
        {
            "unfitted at first": unfitted,
            "said while idle": sorted(said - {""}),
            "steps": steps,
            "sizes fitted by dial": kept,
            "in force at once": in_force,
            "in force after a restart": survives,
            "replay uses them": found["fitted"],
            "tokens replayed": found["tokens"],
            "experts missed by the runtime, Exact": ran,
            "misses in the replay of the same chats": replayed,
            "the same, prompts token by token": one_by_one,
        },
    )


def _ran(policy: str, share: float, trace: Path) -> int:
    """Experts missed over a chain of chats of several questions each; its trace is left in the file."""
    options = {**OPEN, "cache_fraction": share, "policy": policy, "prefetch": "off", "remember_routing": False}
    with open_calibrated("builtin", options) as session, recording(session, str(trace)) as made:
        assert made is not None
        before = session.counters().misses
        chain(session)
        made.answered()
        return session.counters().misses - before


def _misses(found: dict[str, Any]) -> dict[str, dict[str, int]]:
    """By cache size and policy."""
    kept = ("hobbit", "lru_layer", "lru", "belady")
    return {
        f"{100 * share:g} %": {
            row["policy"]: row["misses"] for row in found["replays"] if row["share"] == share and row["policy"] in kept
        }
        for share in SHARES
    }


def _replayed(trace: Path, *more: str) -> dict[str, Any]:
    said = io.StringIO()
    with redirect_stdout(said):
        main(["trace", "replay", str(trace), "--json", *more, "--cache", *map(str, SHARES)])
    found: dict[str, Any] = json.loads(said.getvalue())
    return found
