"""kill -9 on the whole window, at start-up and while it streams: no question lost, of the answer at most a second."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from app.storage.store import ChatStore
from tests.app.conftest import LOCALE_C, OFFSCREEN
from tests.app.fake_engine import SENTENCE
from tests.app.window_process import ATTACHED

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.alone("kills a program at moments of its start")


def start(folder: Path, number: int | str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(Path(__file__).with_name("window_process.py")), str(folder), str(number)], cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("windows", "rounds"),
    [(1, 3), pytest.param(5, 10, marks=[pytest.mark.slow, pytest.mark.timeout(600)])],
    ids=["few", "fifty"],
)
def test_while_it_streams(tmp_path: Path, windows: int, rounds: int) -> None:
    """Several windows, each with chats of its own, are killed side by side, since they sleep most of the time."""
    with ThreadPoolExecutor(windows) as killers:
        for ended in [killers.submit(kill, tmp_path / str(n), rounds, random.Random(n)) for n in range(windows)]:
            ended.result()


def kill(folder: Path, rounds: int, dice: random.Random) -> None:
    """So many times at random moments of streaming, looking each time at what is left.

    behind: seconds that a busy computer kept the disk waiting, and the window, which else says something ten times a
    second.
    """
    folder.mkdir()
    for number in range(rounds):
        process = start(folder, number)
        assert process.stdout is not None
        shown, behind = 0, 0.0
        arrivals: list[tuple[float, int]] = []
        end = 0.0
        for line in process.stdout:
            characters, late = line.split()
            shown, behind = shown + int(characters), max(behind, float(late))
            arrivals.append((time.monotonic(), shown))
            if shown and not end:
                end = time.monotonic() + dice.uniform(1.2, 2.2)
            if end and time.monotonic() > end:
                break
        process.kill()
        told = [moment for moment, _ in arrivals] + [time.monotonic()]
        behind += max((later - earlier for earlier, later in pairwise(told)), default=0.0)
        _, said = process.communicate()
        assert [line for line in LOCALE_C.sub("", said).splitlines() if line != OFFSCREEN] == []
        until_second_ago = max((n for t, n in arrivals if t < end - 1.0 - behind), default=0)
        store = ChatStore(folder / "chats.db")
        assert store.db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        store.db.execute("INSERT INTO found(found) VALUES ('integrity-check')")  # the search index agrees
        chats = store.chats()
        assert sorted(c.title for c in chats) == sorted(f"question {n}" for n in range(number + 1))
        question, answer = store.path(chats[0].id)
        assert question.content == f"question {number}"
        assert answer.state == "cut"
        assert (SENTENCE * 5000).startswith(answer.content)
        assert len(answer.content) >= until_second_ago
        assert answer.content or behind > 1.0
        store.close()


def test_with_files_attached_to_what_is_not_sent(tmp_path: Path) -> None:
    process = start(tmp_path, "attach")
    assert process.stdout is not None
    assert process.stdout.readline() == "kept\n"
    process.kill()
    process.communicate()
    store = ChatStore(tmp_path / "chats.db")
    assert store.draft_attachments() == ATTACHED
    store.close()


def test_while_it_starts(tmp_path: Path) -> None:
    for delay in (0.1, 0.4, 0.7):
        process = start(tmp_path, 0)
        time.sleep(delay)
        process.kill()
        process.communicate()
        store = ChatStore(tmp_path / "chats.db")
        assert store.check() == "ok"
        assert all(store.path(c.id)[0].content == "question 0" for c in store.chats())
        store.close()
