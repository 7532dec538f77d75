"""A sequence in transformers' caches: cut, restored, interrupted, and bounded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.engine.models.compat.parity import open_compat

Saved = Callable[[str], tuple[Path, Any]]


def feed(decoder: Any, state: Any, ids: list[int]) -> Tensor:
    logits = decoder.forward(ids, state)
    assert logits is not None
    return logits


@pytest.mark.parametrize("model_type", ["kolibri1", "deepseek_v32", "aria_text"])
def test_rows_are_cut_anywhere_far_behind_the_window(saved: Saved, model_type: str) -> None:
    decoder, _ = open_compat(saved(model_type)[0])
    ids = list(range(3, 63))  # windows hold 8
    state = decoder.new_state()
    feed(decoder, state, ids)
    for length in (40, 11, 4):  # further and further back
        assert state.rollback(length) == length
        fresh = decoder.new_state()
        expected = feed(decoder, fresh, [*ids[:length], 77])
        torch.testing.assert_close(feed(decoder, state, [77]), expected, atol=1e-5, rtol=0)
        assert state.rollback(length) == length
    state.snapshot()
    assert state.snapshot_lengths == ()


@pytest.mark.parametrize("model_type", ["kimi_linear", "minimax", "inkling_text"])
def test_recurrent_families_come_back_to_a_snapshot_or_to_the_start(saved: Saved, model_type: str) -> None:
    decoder, _ = open_compat(saved(model_type)[0])
    ids = list(range(3, 33))
    state = decoder.new_state()
    feed(decoder, state, ids[:10])
    state.snapshot()
    feed(decoder, state, ids[10:25])
    assert state.rollback(24) == 10
    assert state.length == 10
    expected = feed(decoder, decoder.new_state(), [*ids[:10], 70, 71])
    torch.testing.assert_close(feed(decoder, state, [70, 71]), expected, atol=1e-5, rtol=0)
    assert state.rollback(11) == 10  # the snapshot stays usable
    torch.testing.assert_close(feed(decoder, state, [70, 71]), expected, atol=1e-5, rtol=0)
    assert state.rollback(9) == 0
    expected = feed(decoder, decoder.new_state(), ids)
    torch.testing.assert_close(feed(decoder, state, ids), expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize("model_type", ["kimi_linear", "kolibri1", "jamba", "minimax"])
def test_an_interrupted_pass_leaves_the_sequence_usable(
    saved: Saved, model_type: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoder, backend = open_compat(saved(model_type)[0])
    ids = list(range(3, 23))
    state = decoder.new_state()
    feed(decoder, state, ids[:12])
    state.snapshot()
    feed(decoder, state, ids[12:16])
    last = max(decoder.experts)
    working = type(backend).moe

    def fails(self: Any, layer: int, *rest: Any) -> Tensor:
        if layer == last:
            raise OSError("the disk is gone")
        return working(self, layer, *rest)

    with monkeypatch.context() as patched:
        patched.setattr(type(backend), "moe", fails)
        with pytest.raises(OSError, match="gone"):
            decoder.forward(ids[16:], state)
    assert state.length in (12, 16)
    logits = feed(decoder, state, ids[state.length :])
    torch.testing.assert_close(logits, feed(decoder, decoder.new_state(), ids), atol=1e-5, rtol=0)


def test_snapshots_are_bounded_in_number_and_bytes(saved: Saved) -> None:
    decoder, _ = open_compat(saved("kimi_linear")[0])
    state = decoder.new_state()
    state.max_snapshots = 3
    for token in range(3, 9):
        feed(decoder, state, [token])
        state.snapshot()
        state.snapshot()  # the same length twice is one
    assert state.snapshot_lengths == (4, 5, 6)
    held = state.nbytes
    state.max_snapshot_bytes = 0
    feed(decoder, state, [9])
    state.snapshot()
    assert state.snapshot_lengths == ()
    assert 0 < state.nbytes < held
