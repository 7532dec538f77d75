"""The timeline: what it is told comes out as trace events, and it shows that reads overlap computing."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import UnderhillError
from engine.experts.keys import ExpertKey, Urgency
from engine.experts.runtime import ExpertRuntime
from engine.record.layout import ExpertSpec
from engine.tracing.timeline import EXPERTS, FIRST_READER, LAYERS, WAITS, Timeline, TimelineEvent, read
from tests.engine.experts.sources import MemorySource
from tests.waiting import LONGEST

SPEC = ExpertSpec(48, 40, 8, 16)


@pytest.fixture
def source() -> MemorySource:
    return MemorySource(SPEC)


@pytest.fixture
def runtime(source: MemorySource) -> Iterator[ExpertRuntime]:
    opened = source.open(12, 2, exact=True)
    yield opened
    source.gate.set()
    opened.close()


def ask(runtime: ExpertRuntime, layer: int, *experts: int) -> None:
    """One token that chose these."""
    ids, weights = torch.tensor([experts]), torch.full((1, len(experts)), 1 / len(experts))
    runtime.moe(layer, torch.ones(1, SPEC.hidden), ids, weights)


def of(timeline: Timeline, row: int) -> list[TimelineEvent]:
    return [event for event in timeline.events if event.row == row]


def reads(timeline: Timeline) -> list[TimelineEvent]:
    return [event for event in timeline.events if event.row >= FIRST_READER]


def test_a_read_goes_on_while_what_is_there_is_computed(
    source: MemorySource, runtime: ExpertRuntime, monkeypatch: pytest.MonkeyPatch
) -> None:
    ask(runtime, 0, 1)  # is there from now on
    timeline, kernel = Timeline(), runtime.kernel
    compute, began = kernel.run, source.started
    while began.acquire(blocking=False):
        pass
    source.gate.clear()

    def run(*arguments: object) -> None:
        """The disk is slow: its read begins before the first computation ends."""
        if not source.gate.is_set():
            assert began.acquire(timeout=LONGEST)
        compute(*arguments)  # type: ignore[arg-type]

    def computed(*arguments: Any) -> None:
        """And ends after it."""
        Timeline.computed(timeline, *arguments)
        source.gate.set()

    monkeypatch.setattr(kernel, "run", run)
    monkeypatch.setattr(timeline, "computed", computed)
    runtime.observe(timeline)
    ask(runtime, 0, 1, 2)
    hit, miss = of(timeline, EXPERTS)
    (read,) = reads(timeline)
    assert read.start < hit.end <= read.end <= miss.start
    waits = of(timeline, WAITS)  # none where the read ended first, on a busy computer
    assert len(waits) <= 1
    assert all(hit.end <= wait.start <= wait.end <= miss.start for wait in waits)
    assert read.details["expert"] == 2
    assert read.details["class"] == "demand"
    assert read.details["bytes"] == source.expert_bytes
    assert [event.details["experts"] for event in (hit, miss)] == [1, 1]


def test_layers_and_tokens_are_told_apart(source: MemorySource, runtime: ExpertRuntime) -> None:
    timeline = Timeline()
    runtime.observe(timeline)
    for _ in range(2):
        for layer in source.layers:
            ask(runtime, layer, 3)
    assert [event.name for event in of(timeline, LAYERS)] == ["layer 2", "next token, layer 0", "layer 2"]
    assert [event.details["layer"] for event in of(timeline, EXPERTS)] == [0, 2, 0, 2]
    own, experts = of(timeline, LAYERS), of(timeline, EXPERTS)
    assert all(before.end <= between.start <= between.end <= after.start
               for before, between, after in zip(experts, own, experts[1:]))  # fmt: skip
    heard = len(timeline.events)
    runtime.observe(None)
    ask(runtime, 0, 4)
    assert len(timeline.events) == heard


def test_a_layer_that_fails_is_left(source: MemorySource, runtime: ExpertRuntime) -> None:
    source.failing.add(ExpertKey(0, 5))
    timeline = Timeline()
    runtime.observe(timeline)
    with pytest.raises(UnderhillError, match="could not read"):
        ask(runtime, 0, 5)
    ask(runtime, 2, 1)
    assert [event.name for event in of(timeline, LAYERS)] == ["layer 2"]


def test_the_file_holds_complete_events_in_named_rows(tmp_path: Path) -> None:
    timeline = Timeline()
    began = timeline._began
    timeline.entered(3, 1, began + 0.5)
    timeline.chunk(1, ExpertKey(3, 7), (1, 2), Urgency.PREFETCH, 4096, (began + 0.25, began + 0.75))
    timeline.waited(3, began + 0.5, began + 0.75)
    timeline.left(3, began + 1)
    timeline.save(tmp_path / "timeline.json")
    events = json.loads((tmp_path / "timeline.json").read_text(encoding="utf-8"))["traceEvents"]
    names = {e["tid"]: e["args"]["name"] for e in events if e["name"] == "thread_name"}
    complete = {names[e["tid"]]: e for e in events if e["ph"] == "X"}
    assert set(complete) == {"experts", "waits for the disk", "reader 1"}
    read = complete["reader 1"]
    assert (read["name"], read["ts"], read["dur"]) == ("prefetch 3.7", 250_000, 500_000)
    assert read["args"] == {"layer": 3, "expert": 7, "parts": [1, 2], "bytes": 4096, "class": "prefetch"}
    assert complete["experts"]["ts"] == pytest.approx(500_000)
    assert all(e["dur"] >= 0 for e in complete.values())


def test_a_file_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        Timeline().save(tmp_path / "nowhere" / "timeline.json")


def test_a_saved_timeline_knows_its_passes_and_leaves_out_what_lies_between_answers(tmp_path: Path) -> None:
    timeline = Timeline()
    began = time.perf_counter()

    def run(tokens: int, at: float) -> None:
        for layer, offset in ((0, 0.0), (1, 0.4)):
            timeline.entered(layer, tokens, began + at + offset)
            timeline.left(layer, began + at + offset + 0.3)

    run(5, 1.0)
    run(1, 2.0)
    timeline.pause()  # the answer is over; the next begins much later
    run(3, 60.0)
    timeline.save(tmp_path / "t.json")
    found = read(tmp_path / "t.json")
    assert [tokens for _, tokens in found.passes] == [5, 1, 3]
    assert found.seconds == pytest.approx((0.7, 1.0, 0.7))  # the second counts from the end of the first
    assert [e.details["tokens"] for e in found.events_of(1)] == [1] * 4
    few = Timeline(most=4)
    for number in range(4):
        few.entered(0, 1, began + number)
        few.left(0, began + number + 0.5)
    few.save(tmp_path / "few.json")
    assert len(read(tmp_path / "few.json").passes) == 2  # whole ones alone
