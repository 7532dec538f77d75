"""The decoder as its callers see it: what it returns, what it leaves behind, what cheaper kinds cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from transformers import AutoConfig

from engine.errors import Kind, UnderhillError
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder
from engine.models.layers import state as state_module
from engine.models.layers.weight_format import WeightFormat
from engine.models.shapes import shapes
from engine.models.spec import AttentionSpec, DecoderSpec, MoeSpec
from engine.translatable import translated
from tests.engine.models.open_decoder import open_decoder, plain_weights
from tests.engine.models.parity import TOLERANCE, Pair, compare, make_pair
from tests.engine.models.reference_experts import ReferenceExperts

IDS = [5, 17, 3, 88, 41, 2, 60, 9, 33, 71, 14, 6]


def config(**changes: Any) -> Any:
    """A family with windows, dense and MoE layers, biases and a gated shared expert."""
    settings: dict[str, Any] = {
        "vocab_size": 97, "hidden_size": 48, "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
        "num_experts": 8, "num_experts_per_tok": 3, "intermediate_size": 64, "moe_intermediate_size": 24,
        "shared_expert_intermediate_size": 40, "use_sliding_window": True, "sliding_window": 6, "max_window_layers": 4,
        "mlp_only_layers": [1], "pad_token_id": 0,
    }  # fmt: skip
    return AutoConfig.for_model("qwen2_moe", **{**settings, **changes})


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    return make_pair(config(), tmp_path_factory.mktemp("qwen2"))


def logits(decoder: Decoder, ids: list[int], **kwargs: Any) -> torch.Tensor:
    found = decoder.forward(ids, kwargs.pop("state", None) or decoder.new_state(), **kwargs)
    assert found is not None
    return found


def divergence(wanted: torch.Tensor, got: torch.Tensor) -> float:
    """Mean KL of next-token distributions, in nats."""
    p, q = wanted.double().log_softmax(-1), got.double().log_softmax(-1)
    return float((p.exp() * (p - q)).sum(-1).mean())


def test_what_is_wanted_is_what_comes_back(pair: Pair) -> None:
    every = logits(pair.ours, IDS, want="all")
    last = logits(pair.ours, IDS)
    assert every.shape == (len(IDS), 97)
    assert last.shape == (1, 97)
    assert torch.allclose(last, every[-1:], atol=1e-6)
    state = pair.ours.new_state()
    assert pair.ours.forward(IDS[:-1], state, "none") is None
    assert state.length == len(IDS) - 1
    assert torch.allclose(logits(pair.ours, IDS[-1:], state=state), last, atol=TOLERANCE)


def test_the_same_tokens_give_the_same_bits(pair: Pair) -> None:
    assert torch.equal(logits(pair.ours, IDS), logits(pair.ours, torch.tensor(IDS).tolist()))
    first, second = pair.ours.new_state(), pair.ours.new_state()
    for token in IDS:
        assert torch.equal(logits(pair.ours, [token], state=first), logits(pair.ours, [token], state=second))


def test_pieces_of_the_cache_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(state_module, "FIRST_CHUNK", 2)
    monkeypatch.setattr(state_module, "LARGEST_CHUNK", 4)
    assert compare(make_pair(config(), tmp_path)).largest <= TOLERANCE


def test_experts_are_asked_once_per_moe_layer_in_order(pair: Pair) -> None:
    experts = ReferenceExperts(pair.model)
    decoder = Decoder(pair.ours.spec, pair.weights, experts, plain_weights())
    logits(decoder, IDS)
    assert experts.calls == [0, 2, 3]
    assert sorted(decoder.spec.moe_layers) == [0, 2, 3]
    assert [layer.router is not None for layer in decoder.layers] == [True, False, True, True]
    assert decoder.layers[2].router.weight.shape == (8, 48)


class FailingExperts(ReferenceExperts):
    """Breaks off at a layer while `failing`."""

    failing = False

    def moe(self, layer: int, *tensors: torch.Tensor) -> torch.Tensor:
        if self.failing and layer == 2:
            raise UnderhillError(Kind.DISK_ERROR, translated("An expert could not be read."))
        return super().moe(layer, *tensors)


def test_a_pass_that_breaks_off_leaves_the_sequence_as_it_was(pair: Pair) -> None:
    experts = FailingExperts(pair.model)
    decoder = Decoder(pair.ours.spec, pair.weights, experts, plain_weights())
    state = decoder.new_state()
    logits(decoder, IDS[:-2], state=state)
    for tokens in (IDS[-2:], IDS[-2:-1]):
        experts.failing = True
        with pytest.raises(UnderhillError, match="could not be read"):
            decoder.forward(tokens, state)
        assert state.length == len(IDS) - 2
    experts.failing = False
    assert torch.allclose(logits(decoder, IDS[-2:], state=state), logits(decoder, IDS), atol=TOLERANCE)


@pytest.mark.parametrize(("dense", "allowed"), [("bf16", 1e-3), ("int8", 4e-3)])
@pytest.mark.parametrize("tied", [False, True])
def test_cheaper_weights_cost_little(dense: Any, allowed: float, tied: bool, tmp_path: Path) -> None:
    exact = make_pair(config(tie_word_embeddings=tied), tmp_path)
    cheap = Decoder(
        exact.ours.spec, exact.weights, ReferenceExperts(exact.model), WeightFormat(dense, kernel=NativeKernel(1))
    )
    wanted, got = logits(exact.ours, IDS, want="all"), logits(cheap, IDS, want="all")
    assert 0 < divergence(wanted, got) < allowed
    state = cheap.new_state()
    one_by_one = torch.cat([logits(cheap, [token], state=state) for token in IDS])
    assert divergence(wanted, one_by_one) < allowed


@pytest.mark.parametrize(
    "change",
    [
        {"hidden_size": 40}, {"vocab_size": 96}, {"num_attention_heads": 8}, {"num_key_value_heads": 4},
        {"num_experts": 6}, {"intermediate_size": 60}, {"shared_expert_intermediate_size": 44},
    ],
    ids=str,
)  # fmt: skip
def test_a_config_that_contradicts_the_weights_is_refused_before_any_answer(change: dict[str, int], pair: Pair) -> None:
    with pytest.raises(UnderhillError, match=r"config\.json and its weights disagree: model\.") as caught:
        open_decoder({**pair.config, **change}, pair.weights, ReferenceExperts(pair.model))
    assert caught.value.kind is Kind.BROKEN_FILE


def test_every_weight_that_is_read_has_a_shape_to_be_compared_with(pair: Pair) -> None:
    assert pair.weights.seen <= {name for name, _ in shapes(pair.ours.spec)}


def test_keys_and_values_in_bf16_cost_little_and_half_the_bytes(pair: Pair) -> None:
    half = Decoder(pair.ours.spec, pair.weights, ReferenceExperts(pair.model), plain_weights(), torch.bfloat16)
    states = [pair.ours.new_state(), half.new_state()]
    wanted, got = (logits(d, IDS, want="all", state=s) for d, s in zip((pair.ours, half), states, strict=True))
    assert 0 < divergence(wanted, got) < 1e-3
    assert states[1].nbytes * 2 == states[0].nbytes > 0


def _replaced(spec: DecoderSpec, **changes: Any) -> DecoderSpec:
    """The spec with fields of its first layer's mixer, router or of itself changed."""
    first = spec.layers[0]
    assert isinstance(first.mixer, AttentionSpec)
    assert isinstance(first.mlp, MoeSpec)
    own = {k: v for k, v in changes.items() if k in DecoderSpec.__dataclass_fields__}
    mixer = {k: v for k, v in changes.items() if k in AttentionSpec.__dataclass_fields__}
    router = {k: v for k, v in changes.items() if k not in own and k not in mixer}
    layer = replace(
        first, mixer=replace(first.mixer, **mixer), mlp=replace(first.mlp, router=replace(first.mlp.router, **router))
    )
    return replace(spec, layers=(layer, *spec.layers[1:]), **own)


@pytest.mark.parametrize(
    "change",
    [
        {"window": 7}, {"window": None}, {"scale": 0.3}, {"rope": None}, {"qkv_bias": False}, {"normalize": True},
        {"top_k": 2}, {"scale": 0.289}, {"score": "sigmoid"}, {"embedding_multiplier": 1.01}, {"logit_softcap": 5.0},
    ],
    ids=str,
)  # fmt: skip
def test_parity_notices_a_wrong_spec(change: dict[str, Any], pair: Pair) -> None:
    decoder = Decoder(_replaced(pair.ours.spec, **change), pair.weights, ReferenceExperts(pair.model), plain_weights())
    wrong = Pair(pair.model, decoder, pair.config, pair.weights)
    assert compare(wrong).largest > 10 * TOLERANCE
