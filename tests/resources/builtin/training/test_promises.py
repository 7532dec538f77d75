"""What the figures of the model card are counted by."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from training.checkpoint import Checkpoint
from training.promises import remembered, summed, sums

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def model(root: Path) -> Checkpoint:
    return Checkpoint(root / "resources" / "builtin" / "model")


def test_sums_are_right_or_wrong_as_greedy_decoding_says(model: Checkpoint) -> None:
    asked = sums()[::40]
    wrong = {w.question for w in summed(model, asked)}
    said = {q: model.answer([{"role": "user", "content": q}], limit=30) for q, _ in asked}
    assert wrong == {q for q, answer in asked if said[q] != answer}
    assert len(wrong) < len(asked)


def test_what_is_expected_must_be_in_the_answer(model: Checkpoint, tmp_path: Path) -> None:
    told = {"told": ["My name is Clara."], "asked": "What is my name?"}
    path = tmp_path / "questions.json"
    path.write_text(json.dumps([{**told, "expected": "Clara"}, {**told, "expected": "Xq"}]), encoding="utf-8")
    count, wrong = remembered(model, path)
    assert count == 2
    assert [w.expected for w in wrong] == ["Xq"]


def test_the_model_keeps_what_its_card_promises(model: Checkpoint, root: Path) -> None:
    count, forgotten = remembered(model, root / "tests" / "resources" / "builtin" / "memory_questions.json")
    assert len(forgotten) <= 0.1 * count, forgotten
    asked = sums()[::4]
    miscounted = summed(model, asked)
    assert len(miscounted) <= 0.05 * len(asked), miscounted
