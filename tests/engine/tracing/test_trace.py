"""Traces: what was routed comes back in the order it happened, and damaged files are refused."""

from __future__ import annotations

import contextlib
import errno
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.experts.precision import EXACT, Thresholds
from engine.record.layout import ExpertSpec
from engine.tracing.recorder import Recorder
from engine.tracing.trace import UNKNOWN, TraceConditions, load

LAYERS = (1, 3)


KNOWN = TraceConditions(
    model="a model",
    dial="balanced",
    thresholds=Thresholds(0.6, 0.9),
    tier=4,
    spec=ExpertSpec(48, 32, 8, 16, has_bias=True),
    low=4,
)


def record(passes: list[int]) -> tuple[Recorder, list[tuple[int, torch.Tensor, torch.Tensor]]]:
    recorder, said = Recorder(LAYERS, 8, KNOWN), []
    generator = torch.Generator().manual_seed(0)
    for count in passes:
        for layer in LAYERS:
            ids = torch.randint(0, 8, (count, 2), generator=generator)
            weights = torch.rand(count, 2, generator=generator).half().float()
            recorder(layer, ids, weights)
            said.append((layer, ids, weights))
    return recorder, said


def visit(
    recorder: Recorder, tokens: list[int], position: int, layers: tuple[int, ...] = LAYERS, begins: bool = False
) -> None:
    recorder.begin_pass(tokens, position, begins)
    for layer in layers:
        recorder(layer, torch.zeros(len(tokens), 2, dtype=torch.long), torch.ones(len(tokens), 2))


def test_a_trace_gives_back_every_step_in_order(tmp_path: Path) -> None:
    recorder, said = record([5, 1, 1, 3])
    recorder.trace().save(tmp_path / "t.npz")
    trace = load(tmp_path / "t.npz")
    ends = trace.passes.cumsum()
    steps = [
        (layer, trace.ids[row, end - count : end], trace.weights[row, end - count : end])
        for count, end in zip(trace.passes, ends, strict=True)
        for row, layer in enumerate(trace.layers)
    ]
    assert len(steps) == len(said)
    for (layer, ids, weights), (l2, i2, w2) in zip(steps, said, strict=True):
        assert layer == l2
        assert np.array_equal(ids, i2.numpy())
        assert np.array_equal(weights.astype(np.float32), w2.numpy())


def test_a_pass_that_broke_off_is_left_out() -> None:
    recorder, _ = record([2])
    recorder(1, torch.zeros(4, 2, dtype=torch.long), torch.ones(4, 2))  # layer 3 never came
    again = torch.ones(1, 2, dtype=torch.long)
    recorder(1, again, torch.ones(1, 2))
    recorder(3, again, torch.ones(1, 2))
    assert recorder.trace().passes.tolist() == [2, 1]


def test_tokens_sequences_and_conditions_are_kept(tmp_path: Path) -> None:
    recorder = Recorder(LAYERS, 8, KNOWN)
    visit(recorder, [5, 6, 7], 0)
    visit(recorder, [8], 3)
    visit(recorder, [9], 4, LAYERS[:1])  # broke off
    visit(recorder, [9], 4)
    visit(recorder, [1, 2], 3, LAYERS[:1], begins=True)  # broke off, and the sequence begins all the same
    visit(recorder, [1, 2], 3)  # what it shares with the last one was not read again
    recorder.trace().save(tmp_path / "t.npz")
    trace = load(tmp_path / "t.npz")
    assert trace.token_ids.tolist() == [5, 6, 7, 8, 9, 1, 2]
    assert trace.passes.tolist() == [3, 1, 1, 2]
    assert trace.positions.tolist() == [0, 3, 4, 3]
    assert trace.begins.tolist() == [True, False, False, True]
    assert trace.sequences == 2
    assert trace.conditions == KNOWN
    first = trace.first(4)
    assert (first.tokens, first.passes.tolist(), first.ids.shape) == (4, [3, 1], (2, 4, 2))
    assert trace.first(99).tokens == 7
    singly = trace.one_by_one()
    assert singly.passes.tolist() == [1] * 7
    assert singly.positions.tolist() == [0, 1, 2, 3, 4, 3, 4]
    assert singly.begins.tolist() == [True, *[False] * 4, True, False]
    assert singly.ids is trace.ids


def test_a_file_of_version_1_opens_without_what_it_did_not_know(tmp_path: Path) -> None:
    path = tmp_path / "old.npz"
    record([3, 1])[0].trace().save(path)
    with np.load(path) as z:
        old = {name: z[name] for name in ("layers", "experts", "ids", "weights", "passes")}
    np.savez(path, version=np.int32(1), **old)
    trace = load(path)
    assert (trace.token_ids == UNKNOWN).all()
    assert trace.positions.tolist() == [0, 3]
    assert (trace.conditions.spec, trace.conditions.thresholds) == (None, EXACT)
    np.savez(path, version=np.int32(4), **old)
    with pytest.raises(UnderhillError, match="version 4, which this Underhill does not know"):
        load(path)


def test_a_full_disk_is_told_and_what_stood_there_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "t.npz"
    record([2])[0].trace().save(path)
    whole = path.read_bytes()

    def full(file: BinaryIO, **arrays: object) -> None:
        file.write(b"PK some of it")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(UnderhillError, match="No space left on device") as error:
        record([4])[0].trace().save(path)
    assert error.value.kind is Kind.DISK_FULL
    assert path.read_bytes() == whole
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(UnderhillError, match="cannot be written"):
        record([4])[0].trace().save(tmp_path / "nowhere" / "t.npz")


def test_nothing_recorded_is_said() -> None:
    with pytest.raises(UnderhillError, match="Nothing was recorded"):
        Recorder(LAYERS, 8).trace()


def test_missing_cut_and_contradicting_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UnderhillError) as error:
        load(tmp_path / "none.npz")
    assert error.value.kind is Kind.MISSING_FILE
    path = tmp_path / "t.npz"
    record([4])[0].trace().save(path)
    whole = path.read_bytes()
    for bad in (whole[: len(whole) // 2], b"", b"hello"):
        path.write_bytes(bad)
        with pytest.raises(UnderhillError, match="damaged"):
            load(path)
    path.write_bytes(whole)
    with np.load(path) as z:
        arrays = dict(z)
    for wrong in (
        {"ids": arrays["ids"] + np.uint16(100)},
        {"ids": np.full(arrays["ids"].shape, "a")},
        {"ids": arrays["ids"].astype(np.int64) - 100},
        {"passes": np.array([5, -1], np.int32)},
        {"passes": np.array([[4]], np.int32)},
        {"passes": np.array([4.0])},
        {"positions": np.array([-1], np.int32)},
        {"token_ids": np.zeros(3, np.int32)},
        {"layers": np.array([1, 1], np.int32)},
        {"thresholds": np.array([0.9, 0.1])},
        {"weights": np.full(arrays["weights"].shape, np.nan, np.float16)},
    ):
        np.savez(path, **{**arrays, **wrong})
        with pytest.raises(UnderhillError, match="contradicts"):
            load(path)


def test_a_file_with_any_byte_changed_is_read_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "t.npz"
    record([4])[0].trace().save(path)
    whole = path.read_bytes()
    for at in range(0, len(whole), 2):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 0x55]) + whole[at + 1 :])
        with contextlib.suppress(UnderhillError):
            load(path)
