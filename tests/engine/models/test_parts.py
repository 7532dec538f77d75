"""Prompts of several sequences side by side: the bits that each has alone, in every family and every way of holding."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from torch import Tensor

from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.layers.state import SequenceState
from engine.models.layers.weight_format import F32, WeightFormat
from engine.native.op_graph import MOST_ROWS
from tests.engine.models.op_graph.test_families import CONFIGS
from tests.engine.models.op_graph.test_rows import IDS, Failing, Noise, Rolling

SPECS = {name: read_spec(config) for name, config in CONFIGS.items()}
SEEN = (0, 20, 3, 0)  # tokens that each of the sequences holds before
COMES = (MOST_ROWS + 1, 41, 23, 64)  # and that are fed to it then: through no native op graph, as there are too many


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


def parts_of(states: list[SequenceState]) -> list[tuple[Tensor, SequenceState, Any, int]]:
    texts = [torch.tensor(IDS[own:] + IDS[:own])[:count] for own, count in enumerate(COMES)]
    wants = ("last", "none", "all", "last")
    return [(ids, state, want, 90) for ids, state, want in zip(texts, states, wants, strict=True)]


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize("kind", ["f32", "bf16", "int8", "int4"])
def test_prompts_side_by_side_have_the_bits_of_each_alone(name: str, kind: Any, kernel: NativeKernel) -> None:
    heard, dense = Heard(), F32 if kind == "f32" else WeightFormat(kind, kernel)
    decoder = Decoder(SPECS[name], Noise(SPECS[name]), heard, dense, torch.float32 if kind == "f32" else torch.bfloat16)
    apart, together = begun(decoder), begun(decoder)
    wanted = [decoder.forward(*part) for part in parts_of(apart)]
    heard.rows.clear()
    found = decoder.forward_parts(parts_of(together))
    assert not heard.rows or set(heard.rows) == {sum(COMES)}
    for one, other in zip(found, wanted, strict=True):
        assert (one is None) == (other is None)
        assert one is None or torch.equal(one, other)
    for one, other in zip(together, apart, strict=True):  # what they left behind shows in the next tokens
        more = [decoder.forward(IDS[:count], state, "all", 90) for count in (1, 20) for state in (one, other)]
        assert torch.equal(more[0], more[1])  # type: ignore[arg-type]
        assert torch.equal(more[2], more[3])  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["qwen3_moe", "qwen3_next"])
def test_experts_that_fail_leave_every_sequence_as_it_was(name: str, kernel: NativeKernel) -> None:
    experts = Failing()
    decoder = Decoder(SPECS[name], Noise(SPECS[name]), experts, WeightFormat("int8", kernel), torch.bfloat16)
    states = begun(decoder)
    experts.gone = True
    with pytest.raises(OSError, match="gone"):
        decoder.forward_parts(parts_of(states))
    experts.gone = False
    assert [state.length for state in states] == list(SEEN)
    wanted = [decoder.forward(*part) for part in parts_of(begun(decoder))]
    for one, other in zip(decoder.forward_parts(parts_of(states)), wanted, strict=True):
        assert one is None or torch.equal(one, other)  # type: ignore[arg-type]
