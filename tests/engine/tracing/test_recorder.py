"""Traces: what was routed comes back in the order it happened, and damaged files are refused."""

from __future__ import annotations

import contextlib
from pathlib import Path

import numpy as np
import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.tracing.recorder import Recorder, load

LAYERS = (1, 3)


def record(passes: list[int]) -> tuple[Recorder, list[tuple[int, torch.Tensor, torch.Tensor]]]:
    recorder, said = Recorder(LAYERS, 8), []
    generator = torch.Generator().manual_seed(0)
    for count in passes:
        for layer in LAYERS:
            ids = torch.randint(0, 8, (count, 2), generator=generator)
            weights = torch.rand(count, 2, generator=generator).half().float()
            recorder(layer, ids, weights)
            said.append((layer, ids, weights))
    return recorder, said


def test_a_trace_gives_back_every_step_in_order(tmp_path: Path) -> None:
    recorder, said = record([5, 1, 1, 3])
    recorder.trace().save(tmp_path / "t.npz")
    steps = list(load(tmp_path / "t.npz").steps())
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
