"""Teams that programs ask: their steps are requests of their own, grouped by model and answered together."""

from __future__ import annotations

import threading

import pytest

from engine.protocol import (
    Cancelled,
    Done,
    Failed,
    Generate,
    Kind,
    LoadModel,
    Message,
    SaveTeam,
    StepText,
    Stop,
    Team,
    TeamChanged,
    TeamStep,
    TextDelta,
)
from tests.engine.service.test_service import GREEDY, SETTINGS, Desk, go_on
from tests.engine.service.test_several_models import MODELS, WHOLE, Memory, answered, desk, opened, place

pytestmark = pytest.mark.long
__all__ = ["desk", "go_on", "place"]

TEXTS = ("Tell me a story about a cat.", "Write three short sentences.", "Why is it so?", "What is a dog?")
FIRST = TeamStep(name="First", model=MODELS[0], note=True)
RELAY = Team("Relay", (FIRST, TeamStep(name="Then", model=MODELS[1], tell="{First}")))
ALIKE = Team("Alike", (TeamStep(name="First"), TeamStep(name="Then", tell="{First}")))


def ask(desk: Desk, team: Team, text: str = TEXTS[0]) -> str:
    """A program's message; returns its id."""
    return desk.send(
        Generate, (Message("user", text),), GREEDY, chat="server", background=True, model=f"team:{team.id}",
        settings=SETTINGS,
    )  # fmt: skip


def test_steps_for_one_model_come_together_and_each_model_is_opened_once(desk: Desk) -> None:
    desk.result(SaveTeam, RELAY)
    alone = [answered(desk, ask(desk, RELAY, text)) for text in TEXTS]
    records = Memory.manager.records
    assert records.usage.preliminaries(records.key(MODELS[1])) == {records.key(MODELS[0])}  # of its chain
    Memory.nbytes = WHOLE
    desk.result(LoadModel, MODELS[2], SETTINGS)
    before = Memory.manager.pool.opened
    together = [ask(desk, RELAY, text) for text in TEXTS]
    assert [answered(desk, ident) for ident in together] == alone
    assert Memory.manager.pool.opened - before <= 3  # 8, were one team to come after the other


def test_teams_that_ask_the_open_model_are_answered_at_once(desk: Desk) -> None:
    desk.result(SaveTeam, ALIKE)
    desk.result(LoadModel, MODELS[0], SETTINGS)
    alone = [answered(desk, ask(desk, ALIKE, text)) for text in TEXTS]
    passes = opened(desk).session.answers.pass_seconds
    assert max(passes) == 1
    together = [ask(desk, ALIKE, text) for text in TEXTS]
    assert [answered(desk, ident) for ident in together] == alone
    assert max(opened(desk).session.answers.pass_seconds) > 1


def test_what_is_told_of_steps_bears_the_id_of_the_message(desk: Desk) -> None:
    desk.result(SaveTeam, RELAY)
    ident = ask(desk, RELAY)
    text = answered(desk, ident)
    assert all(event.id in ("", ident) or not event.id.startswith(ident) for event in desk.events)
    told = desk.of(ident)
    assert "".join(event.text for event in told if isinstance(event, TextDelta)) == text
    states = [tuple(step.state for step in event.steps) for event in told if isinstance(event, TeamChanged)]
    assert states == [("working", "waiting"), ("done", "working"), ("done", "done")]
    assert sum(isinstance(event, Done | Failed | Cancelled) for event in told) == 1


def test_stop_ends_the_step_and_the_team(desk: Desk, go_on: threading.Event) -> None:
    desk.result(SaveTeam, ALIKE)
    desk.result(LoadModel, MODELS[0], SETTINGS)
    ident = ask(desk, ALIKE)
    desk.first(lambda event: isinstance(event, StepText) and event.id == ident)
    waiting = ask(desk, ALIKE, TEXTS[1])
    desk.send(Stop, ident)
    ended = desk.wait(ident)
    assert isinstance(ended, Cancelled)
    assert ended.result.finish == "cancelled"
    assert [step.state for step in ended.result.steps] == ["stopped", "waiting"]
    go_on.set()
    assert isinstance(desk.wait(waiting), Done)


def test_a_step_that_fails_ends_its_team_alone(desk: Desk) -> None:
    long = TeamStep(name="Then", model=MODELS[0], tell=("x " * 3900) + "{First}", history=False)
    breaks = Team("Breaks", (FIRST, long))
    desk.result(SaveTeam, breaks)
    desk.result(SaveTeam, RELAY)
    failing, good = ask(desk, breaks), ask(desk, RELAY)
    failed = desk.wait(failing)
    assert isinstance(failed, Failed), failed
    assert failed.kind is Kind.CONTEXT_FULL
    assert isinstance(desk.wait(good), Done)


def test_a_model_that_is_missing_is_told_before_anything_is_asked(desk: Desk) -> None:
    far = Team("Far", (FIRST, TeamStep(name="B", model="nowhere")))
    desk.result(SaveTeam, far)
    failed = desk.wait(ask(desk, far))
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.NOT_FOUND
    assert len(desk.of(failed.id)) == 1


def test_the_engine_ends_while_teams_wait(desk: Desk, go_on: threading.Event) -> None:
    desk.result(SaveTeam, RELAY)
    asked = [ask(desk, RELAY, text) for text in TEXTS]
    desk.first(lambda event: isinstance(event, StepText))
    desk.engine.close()
    assert all(isinstance(desk.wait(ident), Cancelled) for ident in asked)
