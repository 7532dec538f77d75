"""Cache-aware routing in an open model: over several chats, a change of the preset, and a restart."""

from __future__ import annotations

import dataclasses

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.library import dials
from engine.library.dials import Calibration, Cost, DialCost
from engine.session.session import Session
from engine.session.thresholds import BY_HAND, substitute_for
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

SETTINGS = {"dial": "balanced", "threads": 1, "cache_fraction": 0.5}
GREEDY = Sampling(temperature=0.0, max_tokens=24)
ASKED = ("Write a short story about a fox.", "Count to ten.", "What is the moon?")


def replaced(session: Session, text: str) -> int:
    """How many experts others stood in for in an answer to this, in a chat of its own."""
    before = session.counters().substituted
    stats = session.generate((Message("user", text),), GREEDY, (), Listener())
    assert stats.substituted == session.counters().substituted - before
    return stats.substituted


def test_it_acts_in_every_chat_but_not_under_exact(home: None) -> None:
    for _ in range(2):  # as after a restart
        with open_calibrated("builtin", {**SETTINGS, "cache_aware_routing": "on"}) as session:
            assert all(replaced(session, text) for text in ASKED)
            session.update({"dial": "exact"})
            assert [replaced(session, text) for text in ASKED] == [0, 0, 0]
            session.update({"dial": "fast"})
            assert all(replaced(session, text) for text in ASKED)
            session.update({"cache_aware_routing": "off"})
            assert [replaced(session, text) for text in ASKED] == [0, 0, 0]


def test_exact_says_the_same_whatever_is_set(home: None) -> None:
    said = []
    for wanted in ("on", "off"):
        with open_calibrated("builtin", {**SETTINGS, "dial": "exact", "cache_aware_routing": wanted}) as session:
            said.append([session.generate((Message("user", text),), GREEDY, (), Listener()).text for text in ASKED])
    assert said[0] == said[1]


def test_auto_takes_what_calibration_found(home: None) -> None:
    with open_calibrated("builtin", {**SETTINGS, "cache_aware_routing": "auto"}) as session:
        assert [replaced(session, text) for text in ASKED] == [0, 0, 0]  # nothing was measured yet
        store, found = session.store.path, dials.read(session.store.path)
        assert found is not None
        cost = Cost(0.0, 0.001)
        own = {name: DialCost(one.t1, one.t2, cost, cost, 0.5) for name, one in found.dials.items()}
        measured: Calibration = dataclasses.replace(found, dials=own)
        dials.write(store, measured)
        assert dials.read(store) == measured
        session.calibrated(measured)
        assert all(replaced(session, text) for text in ASKED)
        wanted = {"dial": "fast", "cache_aware_routing": "auto"}
        assert substitute_for(store, wanted) == 0.5
        assert substitute_for(store, {**wanted, "cache_aware_routing": "on"}) == BY_HAND["fast"]
        assert substitute_for(store, {**wanted, "cache_aware_routing": "off"}) == 0.0
        assert substitute_for(store, {**wanted, "dial": "exact"}) == 0.0
    with open_calibrated("builtin", SETTINGS) as session:  # and the next start does, too
        assert all(replaced(session, text) for text in ASKED)
