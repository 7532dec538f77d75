"""Own training text: right, complete, reproducible."""

from __future__ import annotations

import json
import re
from itertools import islice
from pathlib import Path
from random import Random

import pytest
from training.generate import read_keys, select
from training.generator import arithmetic, memory, reading, writing
from training.generator.chats import _short, chats
from training.generator.phrasing import casual
from training.generator.tables import DIALOGUES, GIRLS, LISTS, NAMES, PETS, STORIES, TABLES

_EQUATION = re.compile(r"(\d+) ([-+*]) (\d+) = (\d+)")


@pytest.fixture(scope="module")
def sample() -> list[list[dict[str, str]]]:
    return list(islice(chats(7), 3000))


def test_every_sum_is_right(sample: list[list[dict[str, str]]]) -> None:
    answers = [m["content"] for messages in sample for m in messages if m["role"] == "assistant"]
    sums = [(int(a), op, int(b), int(c)) for text in answers for a, op, b, c in _EQUATION.findall(text)]
    assert len(sums) > 300
    for a, op, b, c in sums:
        assert {"+": a + b, "-": a - b, "*": a * b}[op] == c


@pytest.mark.parametrize("seed", range(50))
def test_word_problems_use_the_numbers_of_the_question(seed: int) -> None:
    question, answer = arithmetic.word_problem(Random(seed))
    equation = _EQUATION.search(answer)
    assert equation
    assert {equation[1], equation[3]} == set(re.findall(r"\d+", question))


@pytest.mark.parametrize("seed", range(50))
def test_passages_hold_their_answer(seed: int) -> None:
    question, answer = reading.passage(Random(seed))
    last = answer.rstrip(".").split()[-1]
    assert last in question


def test_no_slot_is_left_open(sample: list[list[dict[str, str]]]) -> None:
    for messages in sample:
        for message in messages:
            assert not re.search(r"\{\w*\}|\[\w[^\]]*/", message["content"]), message
            assert message["content"].strip()


def test_chats_alternate(sample: list[list[dict[str, str]]]) -> None:
    for messages in sample:
        roles = [m["role"] for m in messages if m["role"] != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2)


def test_the_seed_decides(sample: list[list[dict[str, str]]]) -> None:
    assert list(islice(chats(7), 200)) == sample[:200]
    assert list(islice(chats(8), 200)) != sample[:200]


@pytest.mark.parametrize("seed", range(40))
def test_girls_in_stories_are_girls(seed: int) -> None:
    _, text = writing.story(Random(seed))
    for name in re.findall(r"girl named (\w+)|Princess (\w+)", text):
        assert "".join(name) in GIRLS


def test_every_story_and_dialogue_can_be_filled() -> None:
    rng = Random(0)
    stories = {writing.story(rng)[1][:12] for _ in range(1500)}
    assert len(stories) >= len(STORIES)
    dialogues = {tuple(a for _, a in writing.dialogue(rng)) for _ in range(1500)}
    assert len(dialogues) >= len(DIALOGUES)


def test_dialogues_begin_with_the_user_and_take_turns() -> None:
    for script in DIALOGUES:
        assert [line.startswith("> ") for line in script] == [True, False] * (len(script) // 2), script


def test_tables_hold_no_contradiction() -> None:
    assert set(TABLES["continents"]) <= set(TABLES["capitals"])
    assert all(len(set(items)) == len(items) >= 5 for items in LISTS.values())


def test_questions_to_be_copied_keep_their_letters() -> None:
    question = "What is the last letter of candle?"
    words = set(question.lower().rstrip("?").replace("what is", "").split())
    for seed in range(300):
        assert words <= set(casual(question, Random(seed), slips=False).lower().rstrip("?").split())


def test_excluded_chats_are_left_out(tmp_path: Path) -> None:
    held = list(islice(select(3, set(), exchanges=2, distinct=True), 40))
    path = tmp_path / "held.jsonl"
    path.write_text("".join(json.dumps({"messages": m}) + "\n" for m in held), encoding="utf-8")
    keys = read_keys([path])
    assert len(keys) == 40
    rest = list(islice(select(3, keys), 400))
    assert not [m for m in rest if m in held]
    assert all(sum(m["role"] == "user" for m in messages) >= 2 for messages in held)


def test_what_is_asked_for_was_told() -> None:
    rng = Random(0)
    words: set[str] = set()
    for _ in range(600):
        turns = memory.told_and_asked(rng, _short)
        for at, (question, answer) in enumerate(turns):
            found = re.fullmatch(r"Your (\w+) is (?:called|named) (\w+)\.", answer)
            if found and question.endswith("?"):
                words.add(found[2])
                assert any(found[2] in told for told, _ in turns[:at]), turns
    assert len(words) > 150  # a vocabulary without end: hardly any word comes twice
    assert len(words - set(NAMES) - set(PETS)) > 0.7 * len(words)


def test_no_training_text_has_a_sum_that_is_held_out(sample: list[list[dict[str, str]]]) -> None:
    held = sum(arithmetic.held_out(a, b) for a in range(10, 100) for b in range(10, 100))
    assert held == 324
    sums = re.compile(r"\b([1-9]\d) ?(?:\+|plus) ?([1-9]\d)\b")
    asked = {(int(a), int(b)) for m in sample for t in m for a, b in sums.findall(t["content"])}
    assert len(asked) > 1000
    assert not any(arithmetic.held_out(a, b) for a, b in asked)


def test_the_memory_questions_have_names_that_the_generator_does_not_know(root: Path) -> None:
    path = root / "tests" / "resources" / "builtin" / "memory_questions.json"
    questions = json.loads(path.read_text(encoding="utf-8"))
    assert len(questions) >= 20
    for question in questions:
        assert question["expected"] in " ".join(question["told"])
        assert question["expected"] not in question["asked"]
        assert question["expected"] not in {*NAMES, *PETS, *TABLES["capitals"].values(), *TABLES["capitals"]}
