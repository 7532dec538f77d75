"""Tables of coming experts outlive the session that learnt them, where that may be remembered; nowhere else."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.calibration import teaching
from engine.calibration.calibrator import QUICK, open_calibrated
from engine.calibration.teaching import GateTeacher, TableTeacher
from engine.errors import UnderhillError
from engine.experts.predictors import RoutingContext, RoutingShape, TokenTable
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.session import Session, predictor_store
from engine.session.predictor_store import KINDS, LearntTables, empty
from tests.engine.calibration.idling import idle, rested
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

SMALL = {"dial": "exact", "threads": 1, "cache_fraction": 0.4}
SHAPE = RoutingShape(rows=3, experts=8, k=2)
CHATS = (("Hello! What can you do?", "Tell me a joke."), ("What is 3 + 4?", "And 12 - 5?"))


@pytest.fixture
def store(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The built-in model's, with nothing learnt before and after; a little calibration text."""
    monkeypatch.setattr(teaching, "TEXT", 1200)
    path = home / "models" / "builtin"
    _clear(path)
    yield path
    _clear(path)


def _clear(path: Path) -> None:
    for file in path.glob("learnt*"):
        file.unlink()


def chatted(session: Session) -> None:
    """Two chats, each of two questions."""
    for chat in CHATS:
        said: list[Message] = []
        for question in chat:
            said.append(Message("user", question))
            stats = session.generate(said, Sampling(temperature=0, max_tokens=24), (), Listener())
            said.append(Message("assistant", stats.text))


def known(session: Session) -> set[int]:
    table = session.tables.of("tokens")
    assert isinstance(table, TokenTable)
    return set(table.rows_of)


def taught(session: Session) -> None:
    teacher = TableTeacher(session, lambda: session.ahead.tables)
    while not teacher.complete:
        teacher.step()


def test_what_chats_taught_is_known_after_a_restart_and_grows(store: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        before = known(opened)
        chatted(opened)
        first = known(opened)
        assert len(first) > len(before)
    with open_calibrated("builtin", SMALL) as opened:
        assert known(opened) == first
        assert opened.runtime.prefetch is not None
        chatted(opened)
        table = opened.tables.of("tokens")
        assert isinstance(table, TokenTable)
        assert max(table.seen) > 1
    with open_calibrated("builtin", SMALL) as opened:
        assert known(opened) >= first


def test_in_spare_time_it_learns_from_calibration_text_once(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictor_store.LearntTables, "release", lambda self, kinds: None)
    reads = []
    step = TableTeacher.step
    monkeypatch.setattr(TableTeacher, "step", lambda self, wanted: (reads.append(self._next), step(self, wanted))[1])
    with open_calibrated("builtin", SMALL) as opened:
        said = rested(opened, until=lambda: idle(opened).queue == [])
        assert any("Training predictors (" in sentence for sentence in said)
        assert reads
        counts = {kind: opened.tables.of(kind).state() for kind in KINDS}
        assert len(known(opened)) > 100
        assert all(state["counts"].any() for state in counts.values())
    reads.clear()
    with open_calibrated("builtin", SMALL) as opened:
        assert TableTeacher(opened, lambda: opened.ahead.tables).complete
        for kind, state in counts.items():
            after = opened.tables.of(kind).state()
            assert all(np.array_equal(after[name], state[name]) for name in state), kind


def test_the_first_layer_is_foreseen_as_well_after_a_restart(store: Path) -> None:
    def foreseen(session: Session) -> float:
        chatted(session)
        assert session.runtime.prefetch is not None
        seen = session.runtime.prefetch.stats
        assert seen.first_said > 100
        return seen.first_recall

    with open_calibrated("builtin", SMALL) as opened:
        taught(opened)
        before = foreseen(opened)
        assert "% correct" in opened.ahead.sentence()
    with open_calibrated("builtin", SMALL) as opened:
        after = foreseen(opened)
    assert before > 0.6
    assert after >= before


def test_a_text_that_is_interrupted_is_learnt_once(store: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        whole = {kind: empty(kind, opened.tables.shape) for kind in KINDS}
        teacher, stops, asked = TableTeacher(opened, lambda: opened.ahead.tables), 0, 0

        def wanted() -> bool:
            nonlocal asked
            asked += 1
            return asked % 97 == 0

        opened.tables.forget()
        while not teacher.complete:
            try:
                teacher.step(wanted)
            except UnderhillError:
                stops += 1
        assert stops > 2
        parts = {kind: opened.tables.of(kind).state() for kind in KINDS}
        opened.tables.forget()
        taught(opened)
        for kind in whole:
            once = opened.tables.of(kind).state()
            assert all(np.array_equal(once[name], parts[kind][name]) for name in once), kind


@pytest.mark.parametrize("when", ["while it is open", "before it is opened"])
def test_where_nothing_is_to_be_remembered_nothing_is(store: Path, when: str) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        taught(opened)
        chatted(opened)
    assert {path.name for path in store.glob("learnt*")} == {f"learnt-{kind}.safetensors" for kind in KINDS}
    if when == "while it is open":
        with open_calibrated("builtin", SMALL) as opened:
            held = known(opened)
            opened.update({"remember_routing": False})
            assert not list(store.glob("learnt*"))
            assert held
            assert not known(opened)
            assert opened.ahead.choose("tokens").predictor is opened.tables.of("tokens")
            chatted(opened)
    else:
        with open_calibrated("builtin", {**SMALL, "remember_routing": False}) as opened:
            assert not known(opened)
            chatted(opened)
            assert known(opened)  # it learns, and forgets
    assert not list(store.glob("learnt*"))


def test_after_it_was_forgotten_it_is_learnt_anew_in_spare_time(store: Path) -> None:
    with open_calibrated("builtin", SMALL) as opened:
        rested(opened, until=lambda: len(idle(opened).queue) < 2)
        opened.update({"remember_routing": False})
        opened.update({"remember_routing": True})
        assert not known(opened)
        idle(opened).queue.clear()
        rested(opened)
        assert len(known(opened)) > 100


@pytest.mark.parametrize("harm", ["cut", "foreign", "impossible", "huge"])
def test_a_file_that_cannot_be_this_models_counts_as_none(
    tmp_path: Path, harm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = made(tmp_path, [(5, 0), (6, 1)])
    path = tmp_path / "learnt-tokens.safetensors"
    if harm == "cut":
        path.write_bytes(path.read_bytes()[:-3])
    elif harm == "foreign":
        (tmp_path / "manifest.json").write_text("another model", encoding="utf-8")
    elif harm == "impossible":
        state = first.of("tokens").state()
        state["experts"] = np.zeros_like(state["experts"])  # one expert named many times over
        held = first._held["tokens"]
        monkeypatch.setattr(held.table, "state", lambda: state)
        first._write("tokens", held)
    else:
        monkeypatch.setitem(predictor_store.MOST, "tokens", 100)
    again = LearntTables(tmp_path, SHAPE, remember=True)
    table = again.of("tokens")
    assert isinstance(table, TokenTable)
    assert not table.rows_of
    assert again.taught("tokens") == 0
    if harm != "huge":
        table.add(7, np.zeros((3, 1), np.int64))
        again.keep()
        assert LearntTables(tmp_path, SHAPE, remember=True).of("tokens").state()["ids"].tolist() == [7]


def made(store: Path, sights: list[tuple[int, int]]) -> LearntTables:
    """Tables of a store that were taught (token, expert), and kept."""
    found = LearntTables(store, SHAPE, remember=True)
    see(found, sights)
    found.keep()
    return found


def see(found: LearntTables, sights: list[tuple[int, int]]) -> None:
    sight = RoutingContext()
    for token, expert in sights:
        sight.begin(token)
        for _ in range(SHAPE.rows):
            sight.routed([expert, expert + 1], None)
            for kind in KINDS:
                found.of(kind).learn(sight)


def test_two_sessions_of_one_model_lose_nothing_of_each_other(tmp_path: Path) -> None:
    first, second = (LearntTables(tmp_path, SHAPE, remember=True) for _ in range(2))
    for one in (first, second):
        one.of("tokens")
    see(first, [(5, 0), (5, 0), (6, 1)])
    see(second, [(5, 0), (7, 4)])
    first.keep()
    second.keep()
    after = LearntTables(tmp_path, SHAPE, remember=True)
    tokens: Any = after.of("tokens")
    assert {token: int(tokens.seen[at]) for token, at in tokens.rows_of.items()} == {5: 2, 6: 1, 7: 1}
    paths: Any = after.of("paths")
    assert {key[1:] for key in paths.counts} == {(0, 0), (1, 1), (4, 4)}
    pairs: Any = after.of("pairs")
    assert {int(e) for e in np.flatnonzero(pairs.counts[0, 0].sum(1))} == {0, 1, 2, 4, 5}
    second.keep()  # nothing is new: nothing is written
    stamp = (tmp_path / "learnt-tokens.safetensors").stat().st_mtime_ns
    second.keep()
    assert (tmp_path / "learnt-tokens.safetensors").stat().st_mtime_ns == stamp


@pytest.mark.parametrize("experts", [8, 300])
def test_a_token_table_never_takes_more_than_its_bytes(experts: int) -> None:
    table = TokenTable.within(RoutingShape(rows=20, experts=experts, k=4), 200_000)
    for token in range(2000):
        table.add(token, np.tile(np.arange(4), (20, 1)))
    assert sum(array.nbytes for array in table.state().values()) <= 200_000
    merged = TokenTable.within(RoutingShape(rows=20, experts=experts, k=4), 200_000)
    merged.add(5000, np.tile(np.arange(4), (20, 1)))
    merged.merge(table.state())
    assert len(merged.ids) == len(table.ids)


def test_gates_of_an_earlier_version_are_taught_anew_in_spare_time(store: Path) -> None:
    file = store / "foresight.safetensors"
    with open_calibrated("builtin", SMALL) as opened:
        assert GateTeacher(opened, QUICK, opened.ahead.begin).complete
        file.write_bytes(b"of another version")
        teacher = GateTeacher(opened, QUICK, opened.ahead.begin)
        shares = []
        while not teacher.complete:
            shares.append(teacher.share)
            teacher.step()
        assert shares == sorted(shares)
        assert len(shares) > 2
        assert GateTeacher(opened, QUICK, opened.ahead.begin).complete
