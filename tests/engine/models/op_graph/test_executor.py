"""Single tokens through native ops: which decoders, what they leave behind, and that it is the same model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import AutoConfig

from engine.errors import Kind, UnderhillError
from engine.experts.backend import GraphLayers, Step
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.layers import state as state_module
from engine.models.layers.weight_format import WeightFormat
from engine.native.op_graph import GraphStep
from engine.translatable import translated
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.families.tiny import FAMILIES, tiny
from tests.engine.models.open_decoder import without_op_graph
from tests.engine.models.parity import TOLERANCE, Pair, compare, make_pair
from tests.engine.models.reference_experts import ReferenceExperts

IDS = [5, 17, 3, 88, 41, 2, 60, 9, 33, 71, 14, 6]
PLAIN = [
    "qwen2_moe with windows",
    "gpt_oss",
    "glm4_moe in groups",
    "granitemoe",
    "phimoe with biases",
    "hunyuan_v1_moe",
]


@pytest.fixture(scope="module")
def kernel() -> Iterator[NativeKernel]:
    made = NativeKernel(2)
    yield made
    made.close()


def config(name: str) -> Any:
    if name in FAMILIES:
        return tiny(name)
    model_type, changes = CASES[name]
    return AutoConfig.for_model(model_type, **{**COMMON, **changes})


def again(pair: Pair, kernel: NativeKernel, experts: Any = None, **kwargs: Any) -> Decoder:
    """The pair's model, native."""
    decoder = Decoder(
        pair.ours.spec, pair.weights, experts or ReferenceExperts(pair.model), WeightFormat(kernel=kernel), **kwargs
    )
    assert decoder.native_layers
    return decoder


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    with without_op_graph():
        return make_pair(config("qwen2_moe with windows"), tmp_path_factory.mktemp("qwen2"))


def fed(decoder: Decoder, ids: list[int], state: Any) -> Tensor:
    """Logits of every token, one at a time."""
    steps = [decoder.forward([token], state) for token in ids]
    return torch.cat([step for step in steps if step is not None])


@pytest.mark.parametrize("name", [*PLAIN, "gemma4_text"])
def test_pieces_of_the_cache_do_not_show(
    name: str, tmp_path: Path, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 2)
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 4)
    pair = make_pair(config(name), tmp_path)
    pair.ours = again(pair, kernel)
    assert compare(pair).largest <= TOLERANCE


def test_a_decoder_says_why_it_has_no_op_graph(pair: Pair, kernel: NativeKernel) -> None:
    assert not pair.ours.native_layers
    assert "more slowly than native code would: " in pair.ours.why_not_native
    native = again(pair, kernel)
    assert native.native_layers
    assert native.why_not_native == ""


def test_heads_too_wide_for_the_native_ops_stay_with_torch(tmp_path: Path, kernel: NativeKernel) -> None:
    wide = make_pair(
        AutoConfig.for_model("qwen3_moe", **{**COMMON, **CASES["qwen3_moe"][1], "head_dim": 528}), tmp_path
    )
    decoder = Decoder(wide.ours.spec, wide.weights, ReferenceExperts(wide.model), WeightFormat(kernel=kernel))
    assert not decoder.native_layers
    assert "4 queries of 528 on 2 key heads" in decoder.why_not_native
    assert compare(Pair(wide.model, decoder, wide.config, wide.weights)).largest <= TOLERANCE


@pytest.mark.parametrize(("kind", "allowed"), [("bf16", 1e-3), ("int8", 4e-3)])
def test_cheaper_weights_cost_little(kind: Any, allowed: float, pair: Pair, kernel: NativeKernel) -> None:
    cheap = Decoder(pair.ours.spec, pair.weights, ReferenceExperts(pair.model), WeightFormat(kind, kernel=kernel))
    assert cheap.native_layers
    wanted = fed(pair.ours, IDS, pair.ours.new_state()).double().log_softmax(-1)
    got = fed(cheap, IDS, cheap.new_state()).double().log_softmax(-1)
    assert 0 < float((wanted.exp() * (wanted - got)).sum(-1).mean()) < allowed


def test_the_same_tokens_give_the_same_bits(pair: Pair, kernel: NativeKernel) -> None:
    decoder = again(pair, kernel)
    assert torch.equal(*(fed(decoder, IDS, decoder.new_state()) for _ in range(2)))


def test_two_sequences_do_not_meet(pair: Pair, kernel: NativeKernel) -> None:
    decoder = again(pair, kernel)
    states = [decoder.new_state() for _ in range(2)]
    texts = (IDS, IDS[::-1])
    steps = [[decoder.forward([token], state) for state, token in zip(states, both)] for both in zip(*texts)]
    for at, ids in enumerate(texts):
        alone = fed(decoder, ids, decoder.new_state())
        together = torch.cat([step[at] for step in steps if step[at] is not None])  # type: ignore[misc]
        assert torch.equal(alone, together)


def test_torch_and_native_take_turns_on_one_sequence(pair: Pair, kernel: NativeKernel) -> None:
    native, state = again(pair, kernel), pair.ours.new_state()
    found = [(native, pair.ours)[at % 2].forward([token], state) for at, token in enumerate(IDS)]
    wanted = fed(pair.ours, IDS, pair.ours.new_state())
    assert torch.allclose(torch.cat([one for one in found if one is not None]), wanted, atol=TOLERANCE)


def test_nothing_is_wanted_of_a_token(pair: Pair, kernel: NativeKernel) -> None:
    decoder = again(pair, kernel)
    state = decoder.new_state()
    fed(decoder, IDS[:4], state)
    assert decoder.forward(IDS[4:5], state, "none") is None
    assert state.length == 5
    found = fed(decoder, IDS[5:], state)
    assert torch.allclose(found, fed(pair.ours, IDS, pair.ours.new_state())[5:], atol=TOLERANCE)


def test_logits_stay_when_the_next_token_comes(pair: Pair, kernel: NativeKernel) -> None:
    decoder = again(pair, kernel)
    state = decoder.new_state()
    first = decoder.forward(IDS[:1], state)
    assert first is not None
    kept = first.clone()
    decoder.forward(IDS[1:2], state)
    assert torch.equal(first, kept)


def test_the_next_tokens_logits_are_the_same_bits_and_lie_where_others_will(pair: Pair, kernel: NativeKernel) -> None:
    decoder = again(pair, kernel)
    state, wanted = decoder.new_state(), fed(decoder, IDS, decoder.new_state())
    found = []
    for token, own in zip(IDS, wanted, strict=True):
        logits = decoder.forward([token], state, "next")
        assert logits is not None
        assert torch.equal(logits[0], own)
        found.append(logits.data_ptr())
    assert len(set(found)) == 1


class FailingExperts(ReferenceExperts):
    """Breaks off at a layer while `failing`."""

    failing = False

    def moe(self, layer: int, *tensors: Tensor) -> Tensor:
        if self.failing and layer == 2:
            raise UnderhillError(Kind.DISK_ERROR, translated("An expert could not be read."))
        return super().moe(layer, *tensors)


def test_a_token_that_breaks_off_leaves_the_sequence_as_it_was(
    pair: Pair, kernel: NativeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 2)
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 2)
    experts = FailingExperts(pair.model)
    decoder = again(pair, kernel, experts)
    state = decoder.new_state()
    found = []
    for token in IDS:
        experts.failing = True
        with pytest.raises(UnderhillError, match="could not be read"):
            decoder.forward([88 - token], state)
        assert state.length == len(found)
        experts.failing = False
        found.append(fed(decoder, [token], state))
    assert torch.allclose(torch.cat(found), fed(pair.ours, IDS, pair.ours.new_state()), atol=TOLERANCE)


class SteppingExperts(ReferenceExperts):
    """Has the short way for one token."""

    def moe_step(self, layer: int, step: Step) -> None:
        step.y.copy_(super().moe(layer, step.x, step.ids, step.weights))

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        return layers.run_one(at, step)

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        assert len(x) > 1, "the short way was not taken"
        return super().moe(layer, x, ids, weights)


def test_the_short_way_through_the_experts_is_taken(pair: Pair, kernel: NativeKernel) -> None:
    experts = SteppingExperts(pair.model)
    decoder = again(pair, kernel, experts)
    assert torch.allclose(
        fed(decoder, IDS, decoder.new_state()), fed(pair.ours, IDS, pair.ours.new_state()), atol=TOLERANCE
    )
    assert experts.calls == [0, 1, 2] * len(IDS)


@pytest.mark.parametrize("name", ["qwen3_moe", "gpt_oss", "gemma4_text"])
def test_keys_and_values_in_bf16_cost_little(name: str, tmp_path: Path, kernel: NativeKernel) -> None:
    pair = make_pair(config(name), tmp_path)
    half = again(pair, kernel, kv_dtype=torch.bfloat16)
    wanted = fed(pair.ours, IDS, pair.ours.new_state()).double().log_softmax(-1)
    got = fed(half, IDS, half.new_state()).double().log_softmax(-1)
    assert 0 < float((wanted.exp() * (wanted - got)).sum(-1).mean()) < 1e-3
