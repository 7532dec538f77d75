"""Answers outside every chat: at a quality of their own, and an ordinary chat is as if they had never been."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.errors import UnderhillError
from engine.library import library
from engine.protocol import (
    Cancelled,
    Divergence,
    Done,
    Failed,
    Generate,
    GenerateApart,
    Kind,
    LoadModel,
    MeasureDivergence,
    Message,
    ModelChanged,
    Progress,
    QuestionApart,
    Stats,
    Stop,
    TextDelta,
    UpdateSettings,
)
from engine.server.serving_engine import ServingEngine
from engine.session import Session
from engine.translatable import msg
from tests.engine.service.test_service import GREEDY, HELLO, Desk, go_on

pytestmark = pytest.mark.long
__all__ = ["go_on"]

FEW = {"dial": "exact", "threads": 1, "cache_fraction": 0.2}
CAT = QuestionApart((Message("user", "Tell me a story about a cat."),), GREEDY)


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    made = Desk()
    made.result(LoadModel, "builtin", FEW)
    yield made
    made.engine.close()


def session(desk: Desk) -> Session:
    assert isinstance(desk.engine, ServingEngine)
    found = desk.engine.service.session
    assert found is not None
    return found


def apart(desk: Desk, dial: str, model: str = "") -> str:
    return desk.send(GenerateApart, CAT, model, dial, FEW)


def answer(desk: Desk, dial: str, model: str = "") -> Stats:
    event = desk.wait(apart(desk, dial, model))
    assert isinstance(event, Done), event
    return event.result


def test_the_quality_holds_for_that_answer_alone(desk: Desk) -> None:
    fast = answer(desk, "fast")
    assert fast.precision.get("2", 0) + fast.precision.get("skipped", 0) > 0
    exact = answer(desk, "exact")
    assert exact.precision.get("2", 0) == exact.precision.get("skipped", 0) == 0
    ordinary = desk.result(Generate, CAT.messages, GREEDY)
    assert ordinary.text == exact.text
    assert ordinary.precision.get("2", 0) == 0
    assert session(desk).settings["dial"] == "exact"
    assert (exact.prompt_seconds > 0, exact.decode_tokens_per_second > 0) == (True, True)


def test_no_answer_profits_of_what_was_read_before(desk: Desk) -> None:
    desk.result(Generate, CAT.messages, GREEDY, chat="1")
    for dial in ("exact", "fast", "fast"):
        assert answer(desk, dial).reused_tokens == 0


def test_the_chat_goes_on_without_being_read_again(desk: Desk) -> None:
    first = desk.result(Generate, HELLO, GREEDY, chat="1")
    held = list(session(desk).context.tokens)
    answer(desk, "fast")
    turns = (*HELLO, Message("assistant", first.text, first.token_ids), Message("user", "And then?"))
    assert desk.result(Generate, turns, GREEDY, chat="1").reused_tokens >= len(held) - 1


def test_nothing_is_learnt_of_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    answered: list[bool] = []
    monkeypatch.setattr(Session, "_answered", lambda self, made, continue_last: answered.append(True))
    assert isinstance(desk.engine, ServingEngine)
    usage = desk.engine.service.models.records.usage
    key = desk.engine.service.models.records.key("builtin")
    before = usage.probability(key)
    answer(desk, "fast")
    assert answered == []
    assert usage.probability(key) == before
    desk.result(Generate, HELLO, GREEDY)
    assert answered == [True]


def test_a_setting_changed_meanwhile_holds_behind_it(desk: Desk, go_on: threading.Event) -> None:
    command = apart(desk, "fast")
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    opened = session(desk)
    desk.result(UpdateSettings, {"dial": "balanced"})
    assert opened.runtime.thresholds == opened.thresholds_under("fast")
    go_on.set()
    assert isinstance(desk.wait(command), Done)
    assert opened.runtime.thresholds == opened.thresholds_under("balanced") == opened.thresholds


def test_stop_keeps_what_there_is_and_puts_the_quality_back(desk: Desk, go_on: threading.Event) -> None:
    command = apart(desk, "fast")
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    desk.result(Stop, command)
    event = desk.wait(command)
    assert isinstance(event, Cancelled)
    assert event.result.text
    assert session(desk).runtime.thresholds.exact


def test_a_chat_waits_for_it_and_is_answered_at_its_own_quality(desk: Desk, go_on: threading.Event) -> None:
    command = apart(desk, "fast")
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    asked = desk.send(Generate, HELLO, GREEDY)
    assert desk.of(asked) == []
    go_on.set()
    event = desk.wait(asked)
    assert isinstance(event, Done)
    assert event.result.precision.get("2", 0) == 0
    ends = [e.id for e in desk.events if isinstance(e, Done)]
    assert ends.index(command) < ends.index(asked)


def test_another_model_answers_and_the_open_one_stays(desk: Desk) -> None:
    shutil.copytree(session(desk).store.path, library.location("other"), dirs_exist_ok=True)
    before = session(desk)
    there = answer(desk, "exact", "other")
    assert there.text == answer(desk, "exact", "builtin").text
    assert session(desk) is before
    missing = desk.wait(apart(desk, "exact", "nowhere"))
    assert isinstance(missing, Failed)
    assert missing.kind is Kind.NOT_A_MODEL
    assert missing.sentence
    assert desk.result(Generate, HELLO, GREEDY).text


def test_how_far_two_qualities_are_apart(desk: Desk) -> None:
    tokens = answer(desk, "exact").token_ids
    command = desk.send(MeasureDivergence, CAT, tokens, ("exact", "fast"), "", FEW)
    event = desk.wait(command)
    assert isinstance(event, Done)
    found = event.result
    assert isinstance(found, Divergence)
    assert (found.tokens, found.alike) == (len(tokens), False)
    assert found.kl > 0
    assert any(isinstance(e, Progress) and e.total == len(tokens) for e in desk.of(command))
    assert session(desk).runtime.thresholds.exact


def changed(desk: Desk, changes: dict[str, object], model: str = "") -> str:
    return desk.send(GenerateApart, CAT, model, "exact", FEW, changes)


@pytest.fixture
def in_force(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The settings of every answer as it begins."""
    seen: list[dict[str, Any]] = []
    begin = Session.begin

    def noted(self: Session, *args: Any, **more: Any) -> Any:
        seen.append(dict(self.settings))
        return begin(self, *args, **more)

    monkeypatch.setattr(Session, "begin", noted)
    return seen


def test_a_setting_holds_for_that_answer_alone(desk: Desk, in_force: list[dict[str, Any]]) -> None:
    before, room = session(desk), session(desk).plan.cache_bytes
    own = dict(before.settings)
    assert isinstance(desk.wait(changed(desk, {"cache_fraction": 1.0, "prefetch": "off"})), Done)
    assert (in_force[0]["cache_fraction"], in_force[0]["prefetch"]) == (1.0, "off")
    assert session(desk) is before
    assert (before.settings, before.plan.cache_bytes) == (own, room)
    assert desk.result(Generate, HELLO, GREEDY).text
    assert in_force[1] == own


def test_stop_puts_the_setting_back(desk: Desk, go_on: threading.Event) -> None:
    own = dict(session(desk).settings)
    command = changed(desk, {"cache_fraction": 1.0})
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    assert session(desk).settings["cache_fraction"] == 1.0
    desk.result(Stop, command)
    assert isinstance(desk.wait(command), Cancelled)
    assert session(desk).settings == own


def test_what_is_set_meanwhile_holds_behind_the_answer(desk: Desk, go_on: threading.Event) -> None:
    command = changed(desk, {"cache_fraction": 1.0})
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    said = desk.result(UpdateSettings, {"cache_fraction": 0.4, "prefetch": "off"})
    assert (said["cache_fraction"], said["prefetch"]) == (0.4, "off")
    assert (session(desk).settings["cache_fraction"], session(desk).settings["prefetch"]) == (1.0, "auto")
    go_on.set()
    assert isinstance(desk.wait(command), Done)
    assert (session(desk).settings["cache_fraction"], session(desk).settings["prefetch"]) == (0.4, "off")


def test_a_setting_that_needs_it_has_the_model_loaded_again_and_as_it_was(
    desk: Desk, in_force: list[dict[str, Any]]
) -> None:
    first, own = desk.result(Generate, HELLO, GREEDY), dict(session(desk).settings)
    command = changed(desk, {"activations": "exact"})
    assert isinstance(desk.wait(command), Done)
    assert in_force[1] == {**own, "activations": "exact"}
    assert any(isinstance(e, Progress) and e.text == "Loading model" for e in desk.of(command))
    assert isinstance(desk.engine, ServingEngine)
    assert desk.engine.service.session is None  # until it is asked again
    assert desk.result(UpdateSettings, {"cache_fraction": 0.3})["activations"] == "auto"
    assert desk.result(Generate, HELLO, GREEDY).text == first.text
    assert session(desk).settings == {**own, "cache_fraction": 0.3}
    assert any(isinstance(e, ModelChanged) and e.card.name == "builtin" for e in desk.events)


def test_stop_leaves_nothing_of_a_model_that_was_loaded_for_it(desk: Desk, go_on: threading.Event) -> None:
    own = dict(session(desk).settings)
    command = changed(desk, {"kv_cache": "int8"})
    desk.first(lambda e: isinstance(e, TextDelta) and e.id == command)
    desk.result(Stop, command)
    assert isinstance(desk.wait(command), Cancelled)
    go_on.set()
    assert isinstance(desk.engine, ServingEngine)
    assert list(desk.engine.service.models.pool) == []
    assert desk.result(Generate, HELLO, GREEDY).text
    assert session(desk).settings == own


def test_what_cannot_be_changed_so_says_why_and_changes_nothing(desk: Desk) -> None:
    before, own = session(desk), dict(session(desk).settings)
    for changes in ({"dial": "fast"}, {"remember_routing": False}, {"threads": 0}, {"mode": "gpu"}):
        event = desk.wait(changed(desk, changes))
        assert isinstance(event, Failed), changes
        assert event.sentence
    assert session(desk) is before
    assert before.settings == own


def test_where_its_own_cannot_come_back_it_is_loaded_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    own, update, refused = dict(session(desk).settings), Session.update, [False]

    def refuse(self: Session, changes: dict[str, Any]) -> dict[str, Any]:
        if len(changes) > 1 and not refused[0]:
            refused[0] = True
            raise UnderhillError(Kind.OUT_OF_MEMORY, msg("Too little memory."), msg("Close other apps."))
        return update(self, changes)

    monkeypatch.setattr(Session, "update", refuse)
    before = session(desk)
    assert isinstance(desk.wait(changed(desk, {"cache_fraction": 1.0})), Done)
    assert refused[0]
    assert desk.result(Generate, HELLO, GREEDY).text
    assert session(desk) is not before
    assert session(desk).settings == own


def test_another_model_has_the_setting_for_that_answer_alone(desk: Desk, in_force: list[dict[str, Any]]) -> None:
    shutil.copytree(session(desk).store.path, library.location("other"), dirs_exist_ok=True)
    before, own = session(desk), dict(session(desk).settings)
    for changes in ({"cache_fraction": 1.0}, {"activations": "exact"}, {}):
        assert isinstance(desk.wait(changed(desk, changes, "other")), Done)
        assert in_force[-1] == {**own, **changes}
    assert session(desk) is before
    assert before.settings == own
