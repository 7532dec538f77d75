"""The disk that holds the models is pulled out in the middle of an answer, and plugged in again."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine import protocol
from engine.library.home import HOME
from engine.process.engine_process import EngineProcess
from engine.store.verify import verify
from tests.vanishing_disk import VanishingDisk, vanishing_disk
from tests.waiting import PROCESS

pytestmark = pytest.mark.alone("shuts down a file system that it has mounted")

Events = queue.Queue[protocol.Event]
STORY = (protocol.Message("user", "Tell me a long story about a fox."),)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[VanishingDisk]:
    with vanishing_disk(tmp_path) as disk:
        yield disk


@pytest.mark.slow
def test_an_answer_ends_with_a_sentence_and_the_next_once_it_is_back_is_whole(
    disk: VanishingDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(HOME, str(disk.top / "home"))
    events: Events = queue.Queue()
    engine = EngineProcess(events.put)
    try:
        engine.send(protocol.LoadModel("load", "builtin", {"cache_fraction": 0.0}))
        assert isinstance(ended(events, "load"), protocol.Done)
        engine.send(protocol.Generate(id="g", messages=STORY, sampling={"max_tokens": 20_000, "temperature": 5.0}))
        while not isinstance(events.get(timeout=PROCESS), protocol.TextDelta):
            continue
        disk.vanish()
        failed = ended(events, "g")
        assert isinstance(failed, protocol.Failed)
        assert failed.kind is protocol.Kind.DISK_ERROR
        (disk.top / "home").touch()  # so that nothing is made anew in its place
        engine.send(protocol.Generate(id="h", messages=STORY, sampling={"max_tokens": 5}))
        refused = ended(events, "h")
        assert isinstance(refused, protocol.Failed)
        assert refused.kind is not protocol.Kind.INTERNAL
        disk.come()
        engine.send(protocol.Generate(id="i", messages=STORY, sampling={"max_tokens": 5}))
        assert isinstance(answer := ended(events, "i"), protocol.Done), answer
    finally:
        engine.close()
    assert verify(disk.top / "home" / "models" / "builtin") == ()


def ended(events: Events, command: str) -> protocol.Event:
    """How it ended."""
    while True:
        event = events.get(timeout=PROCESS)
        if event.id == command and isinstance(event, protocol.TERMINAL):
            return event
