"""A team answers one message through the engine, step by step, with the built-in model."""

from __future__ import annotations

import dataclasses
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.library import library
from engine.protocol import (
    AnswerOptions,
    Cancelled,
    Condition,
    DeleteTeam,
    Done,
    ExportTeam,
    Failed,
    Generate,
    ImportTeam,
    Kind,
    ListTeams,
    LoadModel,
    Message,
    SaveTeam,
    Stats,
    StepText,
    Stop,
    Team,
    TeamChanged,
    TeamStep,
    TextDelta,
)
from engine.service import pool
from engine.service.model_memory import ModelMemory
from tests.engine.service.test_service import GREEDY, HELLO, SETTINGS, Desk, go_on

pytestmark = pytest.mark.long
__all__ = ["go_on"]


@pytest.fixture
def desk(home: Path) -> Iterator[Desk]:
    """With the built-in model open, and no teams of the user's."""
    shutil.rmtree(home / "teams", ignore_errors=True)
    made = Desk()
    made.result(LoadModel, "builtin", SETTINGS)
    yield made
    made.engine.close()


def asked(desk: Desk, team: Team, **more: Any) -> str:
    """The id of a message to a team, which is saved first."""
    desk.result(SaveTeam, team)
    return desk.send(Generate, HELLO, GREEDY, model=f"team:{team.id}", settings=SETTINGS, **more)


def of(desk: Desk, ident: str, kind: type) -> list[Any]:
    return [event for event in desk.events if event.id == ident and isinstance(event, kind)]


def states(desk: Desk, ident: str) -> list[tuple[str, ...]]:
    return [tuple(step.state for step in event.steps) for event in of(desk, ident, TeamChanged)]


TWO = Team("Two", (TeamStep(name="First", note=True), TeamStep(name="Second", tell="{message} {First}")))


def test_steps_follow_each_other_and_the_last_is_the_answer(desk: Desk) -> None:
    alone = desk.result(Generate, HELLO, GREEDY).text
    ident = asked(desk, TWO)
    done = desk.wait(ident)
    assert isinstance(done, Done)
    stats: Stats = done.result
    assert states(desk, ident) == [("working", "waiting"), ("done", "working"), ("done", "done")]
    assert "".join(event.text for event in of(desk, ident, StepText)) == alone == stats.steps[0].text
    assert "".join(event.text for event in of(desk, ident, TextDelta)) == stats.text == stats.steps[1].text
    assert [step.name for step in stats.steps] == ["First", "Second"]
    both = f"{HELLO[-1].content} {alone}"
    assert desk.result(Generate, (*HELLO[:-1], Message("user", both)), GREEDY).text == stats.text


def test_a_choice_is_one_of_those_and_decides(desk: Desk) -> None:
    choose = TeamStep(name="Sort", choices=("apple", "pear"), note=True, history=False)
    apple = TeamStep(name="Apple", when=(Condition("says", "Sort", ("apple",)),), then="finish")
    ident = asked(desk, Team("Fruit", (choose, apple, TeamStep(name="Pear"))))
    stats = desk.wait(ident).result
    assert stats.steps[0].text in ("apple", "pear")
    wanted = ("done", "done", "skipped") if stats.steps[0].text == "apple" else ("done", "skipped", "done")
    assert states(desk, ident)[-1] == wanted


@pytest.mark.parametrize("name", ["draft-and-check", "code-or-talk", "answer-in-my-language"])
def test_those_that_come_along_answer(desk: Desk, name: str) -> None:
    done = desk.wait(desk.send(Generate, HELLO, GREEDY, model=f"team:{name}"))
    assert isinstance(done, Done)
    assert done.result.text
    assert done.result.finish in ("stop", "length")


def test_an_answer_that_nobody_knew_to_be_one_is_told_in_the_end(desk: Desk) -> None:
    ident = asked(
        desk,
        Team("Maybe", (TeamStep(name="A"), TeamStep(name="B", when=(Condition("contains", "A", ("no such words",)),)))),
    )
    stats = desk.wait(ident).result
    assert stats.text == stats.steps[0].text == "".join(event.text for event in of(desk, ident, TextDelta))
    assert states(desk, ident)[-1] == ("done", "skipped")


def test_stop_ends_the_whole_and_keeps_what_was_said(desk: Desk, go_on: threading.Event) -> None:
    ident = asked(desk, Team("Long", (TeamStep(name="A"), TeamStep(name="B", tell="{A}"), TeamStep(name="C"))))
    desk.first(lambda event: isinstance(event, StepText) and event.id == ident and event.step == 0)
    desk.send(Stop, ident)
    go_on.set()
    ended = desk.wait(ident)
    assert isinstance(ended, Cancelled)
    assert states(desk, ident)[-1] == ("stopped", "waiting", "waiting")
    assert ended.result.finish == "cancelled"
    assert ended.result.text
    assert ended.result.steps[0].text == ended.result.text
    assert isinstance(desk.wait(desk.send(Generate, HELLO, GREEDY)), Done)


def test_a_missing_model_is_said_before_anything_is_asked(desk: Desk) -> None:
    ident = asked(desk, Team("Far", (TeamStep(name="A"), TeamStep(name="B", model="nowhere"))))
    failed = desk.wait(ident)
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.NOT_FOUND
    assert failed.sentence == "Step B of Far asks nowhere, which isn't in the library."
    assert of(desk, ident, TeamChanged) == of(desk, ident, StepText) == []
    (card,) = [card for card in desk.result(ListTeams) if card.id == "far"]
    assert card.missing == ("nowhere",)


def test_a_step_that_fails_ends_it_and_what_was_said_is_told(desk: Desk) -> None:
    long = TeamStep(name="B", tell=("x " * 3900) + "{A}", history=False)
    ident = asked(desk, Team("Breaks", (TeamStep(name="A"), long)), options=AnswerOptions(whole=True))
    failed = desk.wait(ident)
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.CONTEXT_FULL
    last = of(desk, ident, TeamChanged)[-1].steps
    assert [step.state for step in last] == ["done", "failed"]
    assert last[0].text


def test_another_model_is_opened_for_its_step(desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where memory holds only one, each makes room for the next, and the chat's is opened again when it is needed."""
    shutil.copytree(library.location("builtin"), library.location("other"), dirs_exist_ok=True)
    monkeypatch.setattr(ModelMemory, "free", lambda self, chosen: 0)
    monkeypatch.setattr(pool, "IDLE_SHARE", 0.0)
    ident = asked(
        desk,
        Team(
            "Far", (TeamStep(name="A"), TeamStep(name="B", model="other", tell="{A}"), TeamStep(name="C", tell="{B}"))
        ),
    )
    assert isinstance(desk.wait(ident), Done)
    assert states(desk, ident)[-1] == ("done", "done", "done")
    shutil.rmtree(library.location("other"))


def test_a_team_of_a_program_gives_way_to_the_chat(desk: Desk, go_on: threading.Event) -> None:
    ident = asked(desk, TWO, background=True, chat="server")
    desk.first(lambda event: isinstance(event, StepText) and event.id == ident)
    chat = desk.send(Generate, HELLO, GREEDY)
    go_on.set()
    assert isinstance(desk.wait(chat), Done)
    assert isinstance(desk.wait(ident), Done)
    order = [event.id for event in desk.events if isinstance(event, Done)]
    assert order.index(chat) < order.index(ident)


def test_a_team_of_the_chat_ends_the_answer_of_a_program(desk: Desk, go_on: threading.Event) -> None:
    """It may open other models, for which that of the program would have to be closed under its answer."""
    running = desk.send(Generate, HELLO, GREEDY, background=True, chat="server")
    desk.first(lambda event: isinstance(event, TextDelta) and event.id == running)
    ident = asked(desk, TWO)
    go_on.set()
    ended = desk.wait(running)
    assert isinstance(ended, Failed)
    assert ended.kind is Kind.BUSY
    assert isinstance(desk.wait(ident), Done)


@pytest.mark.parametrize(
    "more",
    [
        {"options": AnswerOptions(json={})},
        {"options": AnswerOptions(logprobs=1)},
        {"continue_last": True},
    ],
)
def test_what_a_team_cannot_do_is_refused(desk: Desk, more: dict[str, Any]) -> None:
    failed = desk.wait(asked(desk, TWO, **more))
    assert isinstance(failed, Failed)
    assert failed.kind is Kind.BAD_REQUEST


def test_a_team_none_of_whose_steps_is_for_the_message(desk: Desk) -> None:
    failed = desk.wait(asked(desk, Team("None", (TeamStep(name="A", when=(Condition("attachment"),)),))))
    assert isinstance(failed, Failed)
    assert failed.sentence == "No step of None is for this message."
    desk.result(DeleteTeam, "none")
    ident = asked(desk, Team("None", (TeamStep(name="A", when=(Condition("attachment"),)),)), attached=True)
    assert isinstance(desk.wait(ident), Done)


def test_kept_shared_and_deleted(desk: Desk, tmp_path: Path) -> None:
    card = desk.result(SaveTeam, TWO)
    assert (card.id, card.team) == ("two", TWO)
    assert isinstance(desk.wait(desk.send(SaveTeam, TWO)), Failed)
    assert desk.result(SaveTeam, TWO, "", True).name == "Two 2"
    desk.result(ExportTeam, "two", str(tmp_path / "t.json"))
    assert desk.result(DeleteTeam, "two") == TWO
    assert desk.result(ImportTeam, str(tmp_path / "t.json")).team == TWO
    assert [c.id for c in desk.result(ListTeams)][3:] == ["two", "two-2"]
    broken = dataclasses.replace(TWO, steps=())
    assert isinstance(desk.wait(desk.send(SaveTeam, broken, "two")), Failed)
