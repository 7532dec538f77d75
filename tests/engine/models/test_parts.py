"""Prompts of several sequences side by side: the bits that each has alone, in every family and every way of holding."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.layers.state import SequenceState
from engine.models.layers.weight_format import WeightFormat
from engine.native.op_graph import MOST_ROWS
from tests.engine.models.op_graph.test_families import CONFIGS
from tests.engine.models.op_graph.test_rows import IDS, Failing, Noise, Rolling
from tests.engine.models.open_decoder import without_op_graph

SPECS = {name: read_spec(config) for name, config in CONFIGS.items()}
SEEN = (0, 20, 3, 0)  # tokens that each of the sequences holds before
COMES = (MOST_ROWS + 1, 41, 23, 64)  # and that are fed to it then: too many for the native op graph,
FEW = (5, 1, 3, 7)  # or as many as it takes


class Heard(Rolling):
    """rows: of each call."""

    def __init__(self) -> None:
        self.rows: list[int] = []

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        self.rows.append(len(x))
        return super().moe(layer, x, ids, weights)


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    made = NativeKernel(2)
    yield made
    made.close()


def begun(decoder: Decoder) -> list[SequenceState]:
    """Sequences that hold SEEN tokens."""
    states = [decoder.new_state() for _ in SEEN]
    for state, seen in zip(states, SEEN, strict=True):
        if seen:
            decoder.forward(IDS[:seen], state, "none", horizon=len(IDS))
            state.snapshot()
    return states


def parts_of(states: list[SequenceState], comes: Sequence[int] = COMES) -> list[tuple[Tensor, SequenceState, Any, int]]:
    texts = [torch.tensor(IDS[own:] + IDS[:own])[:count] for own, count in enumerate(comes)]
    wants = ("last", "none", "all", "last")
    return [(ids, state, want, 90) for ids, state, want in zip(texts, states, wants, strict=True)]


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("kind", ["f32", "bf16", "int8", "int4"])
def test_prompts_side_by_side_have_the_bits_of_each_alone(name: str, kind: Any, kernel: NativeKernel) -> None:
    heard, kv = Heard(), torch.float32 if kind == "f32" else torch.bfloat16
    decoder = Decoder(SPECS[name], Noise(SPECS[name]), heard, WeightFormat(kind, kernel=kernel), kv)
    for comes in (COMES, FEW):
        assert decoder.joins(comes)
        apart, together = begun(decoder), begun(decoder)
        wanted = [decoder.forward(*part) for part in parts_of(apart, comes)]
        heard.rows.clear()
        found = decoder.forward_parts(parts_of(together, comes))
        assert not heard.rows or set(heard.rows) == {sum(comes)}
        for one, other in zip(found, wanted, strict=True):
            assert (one is None) == (other is None)
            assert one is None or torch.equal(one, other)  # type: ignore[arg-type]
        for left, alike in zip(together, apart, strict=True):  # what they left behind shows in the next tokens
            for count in (1, MOST_ROWS + 4):
                more = [decoder.forward(IDS[:count], state, "all", 90) for state in (left, alike)]
                assert torch.equal(*more)  # type: ignore[arg-type]


def test_what_joins(kernel: NativeKernel) -> None:
    """As few as the native op graph takes, or more of each than it takes: which are other sums."""
    spec = SPECS["qwen3_moe"]
    native = Decoder(spec, Noise(spec), Rolling(), WeightFormat("int8", kernel=kernel), torch.bfloat16)
    assert native.joins([MOST_ROWS - 3, 3])
    assert not native.joins([MOST_ROWS - 3, 4])
    assert native.joins([MOST_ROWS + 1, 500])
    assert not native.joins([MOST_ROWS, 500])
    with without_op_graph():
        assert Decoder(spec, Noise(spec), Rolling(), WeightFormat(kernel=kernel)).joins([1, 500])


def test_few_tokens_of_sequences_that_turn_differently_stay_exact(kernel: NativeKernel) -> None:
    """One is longer than the original context and the others are not."""
    spec = SPECS["qwen3_moe dynamic"]
    decoder = Decoder(spec, Noise(spec), Rolling(), WeightFormat("int8", kernel=kernel), torch.bfloat16)
    apart, together = (
        [(*part[:2], "all", 200_000 if at == 1 else 0) for at, part in enumerate(parts_of(begun(decoder), FEW))]
        for _ in range(2)
    )
    wanted = [decoder.forward(*part) for part in apart]  # type: ignore[arg-type]
    for one, other in zip(decoder.forward_parts(together), wanted, strict=True):  # type: ignore[arg-type]
        assert torch.equal(one, other)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["qwen3_moe", "qwen3_next"])
def test_experts_that_fail_leave_every_sequence_as_it_was(name: str, kernel: NativeKernel) -> None:
    experts = Failing()
    decoder = Decoder(SPECS[name], Noise(SPECS[name]), experts, WeightFormat("int8", kernel=kernel), torch.bfloat16)
    states = begun(decoder)
    experts.gone = True
    for comes in (COMES, FEW):
        with pytest.raises(OSError, match="gone"):
            decoder.forward_parts(parts_of(states, comes))
        assert [state.length for state in states] == list(SEEN)
    experts.gone = False
    wanted = [decoder.forward(*part) for part in parts_of(begun(decoder))]
    for one, other in zip(decoder.forward_parts(parts_of(states)), wanted, strict=True):
        assert one is None or torch.equal(one, other)  # type: ignore[arg-type]
