"""Several models under one budget in the running engine: chains of several chats, switching back, and a restart."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest

from engine.library import library
from engine.protocol import Done, Generate, LoadModel, Message, Stats, UpdateSettings
from engine.server.serving_engine import ServingEngine
from engine.service import model_memory
from engine.service.model_manager import ModelManager
from engine.service.model_records import ModelRecords
from engine.service.open_model import OpenModel
from engine.store import manifest
from engine.store.reader import load_manifest
from tests.engine.service.test_service import GREEDY, HELLO, SETTINGS, Desk

pytestmark = pytest.mark.long

MODELS = ("builtin", "other", "third")
WHOLE = 36_000_000  # bytes of each of them at the most
CAT = (Message("user", "Tell me a story about a cat."),)


class Memory(model_memory.ModelMemory):
    """So many bytes for models as a test says."""

    nbytes = 10 * WHOLE
    manager: ModelManager

    def free(self, chosen: Any) -> int:
        return Memory.nbytes - sum(one.parts.total for one in Memory.manager.pool)

    def demand(self, model: str, chosen: Any) -> int | None:
        return WHOLE


@pytest.fixture
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with three models that differ."""
    monkeypatch.setattr(model_memory, "ModelMemory", Memory)
    monkeypatch.setattr(Memory, "nbytes", 10 * WHOLE)
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    for name in MODELS:
        path = library.location(name)
        shutil.copytree(home / "models" / "builtin", path)
        known = load_manifest(path)
        changed = replace(known, source=replace(known.source, revision=name))
        if name != "builtin":
            (path / manifest.NAME).write_bytes(manifest.dumps(changed))
    return tmp_path


@pytest.fixture
def desk(place: Path) -> Iterator[Desk]:
    made = started()
    yield made
    made.engine.close()


def started() -> Desk:
    made = Desk()
    assert isinstance(made.engine, ServingEngine)
    Memory.manager = made.engine.service.models
    return made


def opened(desk: Desk) -> OpenModel:
    """The current model."""
    assert isinstance(desk.engine, ServingEngine)
    current: OpenModel = next(one for one in Memory.manager.pool if one.session is desk.engine.service.session)
    return current


def ask(desk: Desk, model: str, *chain: str, what: tuple[Message, ...] = HELLO, chat: str = "server") -> str:
    """A program's request; returns its id."""
    return desk.send(
        Generate, what, GREEDY, chat=chat, background=True, model=model, settings=SETTINGS, chain=chain or ()
    )


def answered(desk: Desk, ident: str) -> str:
    event = desk.wait(ident)
    assert isinstance(event, Done), event
    assert isinstance(event.result, Stats)
    return event.result.text


def test_a_model_used_before_is_there_still_with_its_hottest_experts(desk: Desk) -> None:
    desk.result(LoadModel, "builtin", SETTINGS)
    first = desk.result(Generate, HELLO, GREEDY)
    a = opened(desk)
    before = set(a.session.runtime.cache.residency())
    Memory.nbytes = 2 * WHOLE - 20_000_000
    desk.result(LoadModel, "other", SETTINGS)
    b = opened(desk)
    kept = set(a.session.runtime.cache.residency())
    assert kept < before
    assert len(kept) > len(before) / 8
    uses = a.session.counters().activations
    rows = {layer: row for row, layer in enumerate(a.session.store.layers)}

    def mean(keys: set[Any]) -> float:
        return sum(uses[rows[key.layer]][key.expert] for key in keys) / len(keys)

    assert mean(kept) > mean(before - kept)  # of those that were used, the most used
    desk.result(Generate, HELLO, GREEDY)
    desk.result(LoadModel, "builtin", SETTINGS)
    assert opened(desk) is a
    assert Memory.manager.pool.opened == 2
    assert Memory.manager.pool.holds(b)
    again = desk.result(Generate, HELLO, GREEDY)
    assert again.text == first.text
    assert again.reused_tokens > 0  # its context was left alone
    a.session.cache_budget.computing(1)
    assert a.session.runtime.cache.capacity >= a.session.facts.expert_bytes[8]  # it has its memory again


def test_all_parts_stay_within_the_budget(desk: Desk) -> None:
    """Contexts grow while an answer is made; the session takes that from its own experts (test_cache_budget.py)."""
    Memory.nbytes = 2 * WHOLE
    for model in (*MODELS, *MODELS):
        answered(desk, ask(desk, model))
        parts = [one.parts for one in Memory.manager.pool]
        assert sum(part.total - part.context for part in parts) <= Memory.nbytes


def test_answers_of_several_chats_come_in_runs_and_as_they_are_alone(desk: Desk) -> None:
    """In memory for one model: each is opened once for all that wait, and what it says is its own."""
    alone = {model: answered(desk, ask(desk, model, what=CAT)) for model in MODELS}
    Memory.nbytes = WHOLE
    before = Memory.manager.pool.opened
    desk.result(LoadModel, "builtin", SETTINGS)
    running = desk.send(Generate, HELLO, GREEDY)
    asked = [(model, ask(desk, model, what=CAT, chat=f"chat {n}")) for n in range(3) for model in MODELS]
    desk.wait(running)
    for model, ident in asked:
        assert answered(desk, ident) == alone[model]
    model_of = {ident: model for model, ident in asked}
    order = [model_of[event.id] for event in desk.events if isinstance(event, Done) and event.id in model_of]
    assert len([*groupby(order)]) == 3
    assert Memory.manager.pool.opened - before <= 4


def test_what_was_seen_of_models_survives_a_restart(place: Path) -> None:
    desk = started()
    for chat in ("a", "b", "c"):  # chains of several chats
        answered(desk, ask(desk, "builtin", "builtin", "other", chat=chat))
        answered(desk, ask(desk, "other", "builtin", "other", chat=chat))
    answered(desk, ask(desk, "third"))
    desk.engine.close()
    again = started()
    records = Memory.manager.records
    first, then, third = (records.key(model) for model in MODELS)
    assert records.usage.preliminaries(then) == {first}
    assert records.usage.probability(first) == pytest.approx(3 / 7, abs=0.02)
    for key in (first, then, third):
        profile = records.profile(key)
        assert profile.load > 0
        assert sum(profile.latency) > 0
        assert profile.nbytes > 20_000_000
    # What only goes on from a model that is not open makes way first, though it is asked for more often.
    answered(again, ask(again, "other"))
    answered(again, ask(again, "third"))
    Memory.nbytes = 2 * WHOLE
    pool = Memory.manager.pool
    other = next(one for one in pool if one.key == then)
    assert pool.idle("", None)[0] is other
    answered(again, ask(again, "builtin", "builtin", "other"))
    assert pool.idle("", None)[0].key == third
    again.engine.close()


def test_where_uses_are_not_to_be_remembered_none_are(desk: Desk) -> None:
    """What was counted goes as soon as that is said, be it of the open model or in a request for another."""
    desk.result(LoadModel, "builtin", SETTINGS)
    desk.result(Generate, HELLO, GREEDY)
    answered(desk, ask(desk, "other", "builtin", "other"))
    records = Memory.manager.records
    first, then = (records.key(model) for model in MODELS[:2])
    desk.result(UpdateSettings, {"remember_routing": False})
    assert not records.usage.knows(first)
    assert not ModelRecords().usage.knows(first)
    assert records.usage.knows(then)
    forgetful = {**SETTINGS, "remember_routing": False}
    answered(desk, desk.send(Generate, HELLO, GREEDY, background=True, model="other", settings=forgetful))
    assert not ModelRecords().usage.knows(then)


def test_a_person_is_answered_before_programs_that_came_earlier(desk: Desk) -> None:
    desk.result(LoadModel, "builtin", SETTINGS)
    asked = [ask(desk, "builtin", chat=f"chat {n}") for n in range(4)]
    person = desk.send(Generate, CAT, GREEDY)
    for ident in (*asked, person):
        answered(desk, ident)
    order = [event.id for event in desk.events if isinstance(event, Done) and event.id in {*asked, person}]
    assert order.index(person) <= 1


def test_going_back_to_a_model_reads_no_other_ones_manifest(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Memory, "demand", Memory.__base__.demand)  # type: ignore[union-attr]
    for model in MODELS:  # written long ago
        os.utime(library.location(model) / manifest.NAME, (1e9, 1e9))
    Memory.nbytes = WHOLE // 3  # of one
    for model in MODELS:
        answered(desk, ask(desk, model))
    read: list[str] = []

    def loads(text: bytes) -> manifest.Manifest:
        found = parsed(text)
        read.append(found.source.revision)
        return found

    parsed = manifest.loads
    monkeypatch.setattr(manifest, "loads", loads)
    before = Memory.manager.pool.opened
    answered(desk, ask(desk, "other"))
    assert Memory.manager.pool.opened == before + 1
    assert read == ["other"]
