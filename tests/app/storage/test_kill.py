"""A process killed while it streams loses no chat, and of the answer at most what was not yet promised."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from app.storage.store import ChatStore

pytestmark = pytest.mark.long

ROOT = Path(__file__).parents[3]


def test_kill_at_random_moments(tmp_path: Path) -> None:
    path = tmp_path / "chats.db"
    dice = random.Random(11)
    for round_ in range(1, 7):
        process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("stream_and_die.py")), str(path)],
            cwd=ROOT, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert process.stdout is not None
        first = process.stdout.readline()
        timer = threading.Timer(dice.uniform(0.0, 0.15), process.kill)
        timer.start()
        lines = [first, *process.stdout]
        process.wait()
        timer.join()
        promised = int([line for line in lines if line.endswith("\n")][-1].split()[1])
        store = ChatStore(path)
        assert store.check() == "ok"
        chats = store.chats()
        assert len(chats) == round_
        question, answer = store.path(max(chats, key=lambda c: c.id).id)
        assert question.content == "Count, please."
        assert [len(file.image) for file in question.attachments] == [100_000]
        assert answer.state == "cut"
        assert len(answer.content.split()) >= promised
        assert len(answer.token_ids) == len(answer.content.split())
        store.close()
