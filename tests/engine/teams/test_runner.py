"""A team run over a message: which step is asked what, in which order, and what the answer is."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.generation.messages import Message
from engine.teams import folder
from engine.teams.conditions import Facts, has_code, holds
from engine.teams.definition import FINISH, Condition, Team, TeamStep
from engine.teams.language import language_of
from engine.teams.runner import TeamRun, chosen
from tests.engine.teams.test_definition import teams


def user(text: str) -> tuple[Message, ...]:
    """A chat of one message, behind an older turn."""
    return (Message("user", "before"), Message("assistant", "so"), Message("user", text))


def played(team: Team, text: str, says: dict[str, str], attached: bool = False) -> tuple[TeamRun, dict[str, str]]:
    """The run, and what each step that was asked was sent."""
    run, asked = TeamRun(team, user(text), attached), {}
    while (question := run.next()) is not None:
        asked[question.step.name] = question.messages[-1].content
        run.said(says.get(question.step.name, question.step.name))
    return run, asked


def answer(run: TeamRun) -> str:
    """The name of the step whose words are the answer."""
    return run.team.steps[run.answer].name


def test_draft_and_check() -> None:
    team = folder.find("team:Draft and check")
    run, asked = played(team, "Why?", {"Draft": "<think>\nhm\n</think>\n\nBecause.", "Check": '"right"'})
    assert list(asked) == ["Draft", "Check"]
    assert asked["Draft"] == "Why?"
    assert "Because." in asked["Check"]
    assert "hm" not in asked["Check"]
    assert answer(run) == "Draft"
    assert run.states == ["done", "done", "skipped"]
    run, asked = played(team, "Why?", {"Check": '"has mistakes"'})
    assert list(asked) == ["Draft", "Check", "Improve"]
    assert answer(run) == "Improve"


def test_code_or_talk() -> None:
    team = folder.find("code-or-talk")
    assert list(played(team, "```\nx = 1\n```\nwhy?", {})[1]) == ["Code"]
    assert list(played(team, "a loop", {"Sort": '"programming"'})[1]) == ["Sort", "Code"]
    run, asked = played(team, "a poem", {"Sort": "Something else"})
    assert list(asked) == ["Sort", "Talk"]
    assert run.states == ["done", "done", "skipped"]


def test_answer_in_my_language() -> None:
    team = folder.find("answer-in-my-language")
    assert list(played(team, "What is the weather?", {})[1]) == ["Answer"]
    run, asked = played(team, "今天天气怎么样？", {"Into English": "How is the weather?", "Answer": "Fine."})
    assert asked["Answer"] == "How is the weather?"
    assert asked["Translate back"].startswith("Translate this into Chinese.")
    assert asked["Translate back"].endswith("Fine.")
    assert answer(run) == "Translate back"
    assert list(played(team, "Zzyx", {})[1]) == ["Answer"]  # no language that can be told


def test_only_what_nothing_can_follow_is_final() -> None:
    team = folder.find("answer-in-my-language")
    finals = {}
    for text in ("What is this for?", "这是什么？"):
        run = TeamRun(team, user(text))
        while (question := run.next()) is not None:
            finals[text, question.step.name] = question.final
            run.said("x")
    assert finals == {
        ("What is this for?", "Answer"): True, ("这是什么？", "Into English"): False, ("这是什么？", "Answer"): False,
        ("这是什么？", "Translate back"): True,
    }  # fmt: skip
    run = TeamRun(folder.find("draft-and-check"), user("Why?"))
    question = run.next()
    assert question is not None
    assert not question.final


def test_history_is_seen_only_where_wanted() -> None:
    run = TeamRun(Team("T", (TeamStep(name="A", history=False), TeamStep(name="B", tell="And {A}?"))), user("q"))
    first = run.next()
    assert first is not None
    assert [m.content for m in first.messages] == ["q"]
    run.said("a")
    second = run.next()
    assert second is not None
    assert [m.content for m in second.messages] == ["before", "so", "And a?"]


def test_what_fills_a_hole_is_not_looked_into() -> None:
    team = Team("T", (TeamStep(name="A"), TeamStep(name="B", tell="{A} {message} {x} {0}")))
    assert played(team, "{A}", {"A": "{message}"})[1]["B"] == "{message} {A} {x} {0}"


def test_a_jump_leaves_out_what_lies_between() -> None:
    team = Team(
        "T", (TeamStep(name="A", then="C"), TeamStep(name="B"), TeamStep(name="C", then=FINISH), TeamStep(name="D"))
    )
    run, asked = played(team, "q", {})
    assert list(asked) == ["A", "C"]
    assert run.states == ["done", "skipped", "done", "skipped"]


@given(teams(), st.text(max_size=60), st.data())
def test_every_run_ends_and_asks_no_step_twice(team: Team, text: str, data: st.DataObject) -> None:
    run = TeamRun(team, (Message("user", text),), data.draw(st.booleans()))
    asked: list[int] = []
    final = False
    while (question := run.next()) is not None:
        assert not final  # nothing follows what was said to be final
        final = question.final
        asked.append(question.number)
        assert len(question.messages[-1].content) <= 8 * (len(text) + 8000) + 1000
        run.said(data.draw(st.text(max_size=20) | st.sampled_from(['"yes"', "no"])))
    assert asked == sorted(set(asked))
    assert {n for n, state in enumerate(run.states) if state == "done"} == set(asked)
    assert "waiting" not in run.states
    assert run.answer < 0 or not team.steps[run.answer].note


@pytest.mark.parametrize(
    ("condition", "text", "wanted"),
    [
        (Condition("contains", values=("Straße",)), "die STRASSE", True),
        (Condition("contains", values=("x", "rust")), "I like Rust", True),
        (Condition("contains", values=("x",), unless=True), "y", True),
        (Condition("says", values=("OK",)), " ok. ", True),
        (Condition("says", values=("OK",)), "ok then", False),
        (Condition("longer", length=3), "abc", False),
        (Condition("longer", length=3), "abcd", True),
        (Condition("language", values=("de", "fr")), "Wie ist das Wetter?", True),
        (Condition("language", values=("en",), unless=True), "12345", False),
        (Condition("attachment"), "", False),
    ],
)
def test_conditions(condition: Condition, text: str, wanted: bool) -> None:
    assert holds(condition, Facts(text)) is wanted


def test_attachments() -> None:
    assert holds(Condition("attachment"), Facts("q", True))
    assert not holds(Condition("attachment", unless=True), Facts("q", True))


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("What is a good name for a cat?", "en"), ("What does 你好 mean?", "en"),
        ("Write me a poem about the sea", "en"), ("Hello!", "en"),
        ("Wie geht es dir?", "de"), ("Comment vas-tu aujourd'hui ?", "fr"), ("¿Dónde está la biblioteca?", "es"),
        ("Come stai? Vorrei sapere perché il cielo è blu", "it"), ("Você pode me ajudar com isso?", "pt"),
        ("Hoe laat is het?", "nl"), ("今天天气怎么样？", "zh"), ("今日の天気はどうですか", "ja"),
        ("오늘 날씨 어때?", "ko"),
        ("Как дела?", "ru"), ("Як справи? Що їмо?", "uk"), ("كيف حالك؟", "ar"), ("מה שלומך?", "he"),
        ("आप कैसे हैं?", "hi"),
        ("สบายดีไหม", "th"), ("Τι κάνεις;", "el"), ("Python 里的 list comprehension 怎么写？", "zh"), ("", ""),
        ("x = 1", ""), ("```\nde der die das\n```\nWhat does this do?", "en"),
    ],
)  # fmt: skip
def test_languages(text: str, code: str) -> None:
    assert language_of(text) == code


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("```python\nprint(1)\n```", True),
        ("def f(x):\n    return x", True),
        ("int main() {\n  return 0;\n}", True),
        ("Please import more tea; we are out of it.\nThanks", False),
        ("How do I sort a list?", False),
        ("Traceback (most recent call last):\n  x = y", True),
    ],
)
def test_code(text: str, wanted: bool) -> None:
    assert has_code(text) is wanted


def test_choices() -> None:
    assert chosen('"Yes"', ("yes", "no")) == "yes"
    assert chosen(" NO ", ("yes", "no")) == "no"
    assert chosen("perhaps", ("yes", "no")) == "perhaps"
    assert chosen(json.dumps(["yes"]), ("yes", "no")) == '["yes"]'
