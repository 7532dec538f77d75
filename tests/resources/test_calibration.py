"""Calibration and evaluation chats: well formed, apart from each other, and enough of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest


def _chats(path: Path) -> list[list[dict[str, str]]]:
    return [json.loads(line)["messages"] for line in path.read_text(encoding="utf-8").splitlines()]


@pytest.mark.parametrize("name", ["calibration.jsonl", "eval.jsonl"])
def test_chats_alternate_and_end_with_an_answer(resources: Path, name: str) -> None:
    path = resources / "calibration" / name
    assert 50_000 < path.stat().st_size < 120_000
    for messages in _chats(path):
        roles = [m["role"] for m in messages if m["role"] != "system"]
        assert roles == ["user", "assistant"] * (len(roles) // 2)
        assert len(roles) >= 4
        assert all(m["content"].strip() for m in messages)


def test_no_chat_is_used_for_both(resources: Path) -> None:
    calibration, evaluation = (
        {json.dumps(m) for m in _chats(resources / "calibration" / name)}
        for name in ("calibration.jsonl", "eval.jsonl")
    )
    assert not calibration & evaluation
