"""Answers recorded by the real engine: what is kept, replayed and read again by the engine that comes after it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.protocol import (
    Cancelled,
    DeleteRecording,
    Done,
    Failed,
    Generate,
    Kind,
    ListRecordings,
    LoadModel,
    ReadTimeline,
    ReplayRecording,
    StartRecording,
    Stop,
    StopRecording,
)
from engine.tracing.trace import Trace, load
from tests.engine.service.test_service import HELLO, Desk, desk

__all__ = ["desk"]

FEW = {"dial": "exact", "threads": 1, "cache_fraction": 0.2, "prefetch": "off"}
SHORT = {"temperature": 0.0, "max_tokens": 6}


def test_an_answer_is_recorded_replayed_and_shown_step_by_step_after_a_restart(desk: Desk) -> None:
    refused = desk.wait(desk.send(StartRecording))
    assert isinstance(refused, Failed)
    assert refused.kind is Kind.BAD_REQUEST
    desk.result(LoadModel, "builtin", FEW)
    desk.result(Generate, HELLO, SHORT, chat="before")
    assert desk.result(StartRecording).running
    stats = desk.result(Generate, HELLO, SHORT, chat="during")
    found = desk.result(StopRecording)
    desk.result(Generate, HELLO, SHORT, chat="after")
    (kept,) = found.kept
    trace = load(Path(kept.path) / "routing.npz")
    assert (kept.tokens, kept.answers, kept.dial) == (trace.tokens, 1, "exact")
    assert trace.token_ids[-1] in stats.token_ids
    assert not found.running
    desk.engine.close()
    again = Desk()
    try:
        assert again.result(ListRecordings).kept == (kept,)
        replay = again.result(ReplayRecording, kept.name)
        rates = {line.policy: [point.hit_rate for point in line.points] for line in replay.lines}
        assert set(rates) == {"hobbit", "lru", "lru_layer", "lfu", "edgemoe", "activation", "belady"}
        assert replay.tokens == trace.tokens
        for rate in rates.values():
            assert all(ours <= best + 1e-9 for ours, best in zip(rate, rates["belady"], strict=True))
        first = again.result(ReadTimeline, kept.name)
        last = again.result(ReadTimeline, kept.name, 10_000)
        assert sum(first.tokens) == trace.tokens  # every pass has its place
        assert last.number == len(first.tokens) - 1
        assert last.tokens[-1] == 1
        assert {span.row for span in last.spans} == {"layers", "experts", "waits", "reads"}
        assert {span.layer for span in last.spans if span.row == "experts"} == set(trace.layers)
        assert 0 < last.read < stats.bytes_read
        for found_pass in (first, last):
            whole = found_pass.seconds[found_pass.number]
            assert all(0 <= span.start <= span.end <= whole + 1e-6 for span in found_pass.spans if span.row != "reads")
            assert 0 < found_pass.layers + found_pass.experts + found_pass.waited < 3 * whole
        assert again.result(DeleteRecording, kept.name).kept == ()
        assert not Path(kept.path).exists()
    finally:
        again.engine.close()


def test_what_cannot_be_kept_or_read_is_said_and_no_answer_fails_with_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.result(LoadModel, "builtin", FEW)
    desk.result(StartRecording)
    desk.result(Generate, HELLO, SHORT)
    (kept,) = desk.result(StopRecording).kept

    def full(self: Trace, path: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Trace, "save", full)
    desk.result(StartRecording)
    assert isinstance(desk.wait(desk.send(Generate, HELLO, SHORT)), Done)
    after = desk.result(ListRecordings)
    assert (after.running, after.kept) == (False, (kept,))
    assert "No space left on device" in after.problem
    timeline = Path(kept.path) / "timeline.json"
    timeline.write_text(json.dumps({"traceEvents": [], "otherData": {"passes": []}}))
    damaged = desk.wait(desk.send(ReadTimeline, kept.name))
    assert isinstance(damaged, Failed)
    assert damaged.kind is Kind.BROKEN_FILE
    away = desk.wait(desk.send(ReadTimeline, "../models"))
    assert isinstance(away, Failed)
    assert away.kind is Kind.BAD_REQUEST
    going = desk.send(ReplayRecording, kept.name)
    desk.first(lambda e: e.id == going)
    desk.result(Stop, going)
    assert isinstance(desk.wait(going), (Cancelled, Done))
