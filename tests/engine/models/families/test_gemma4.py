"""Gemma 4 with experts against transformers, as a text model and as the text half of one with images."""

from __future__ import annotations

from pathlib import Path

import pytest
from transformers import Gemma4Config

from engine.errors import Kind, UnderhillError
from engine.models.families import read_spec
from engine.models.spec import AttentionSpec
from tests.engine.models.families.tiny import COMMON, GEMMA, raw, tiny
from tests.engine.models.parity import assert_parity

GAIN = 2.0  # the embedding is multiplied by sqrt(hidden): at 4, transformers itself strays 1e-5 from float64


@pytest.mark.parametrize(
    "changes",
    [
        {"final_logit_softcapping": 1.5},
        {"attention_k_eq_v": False, "attention_bias": True},
        {"hidden_size_per_layer_input": 6, "vocab_size_per_layer_input": 97},
    ],
    ids=["values from keys, softcap", "own values, biases", "per-layer inputs"],
)
def test_parity(changes: dict[str, object], tmp_path: Path) -> None:
    pair = assert_parity(tiny("gemma4_text", **changes), tmp_path, gain=GAIN)
    assert {name for name in pair.weights.names - pair.weights.seen if ".experts." not in name} == set()


def test_parity_of_the_text_half(tmp_path: Path) -> None:
    pair = assert_parity(Gemma4Config(text_config={**COMMON, **GEMMA}), tmp_path, gain=GAIN)
    assert pair.ours.spec.embedding == "model.language_model.embed_tokens"


def _shapes(config: dict[str, object]) -> list[tuple[int, int, int]]:
    mixers = [layer.mixer for layer in read_spec(config).layers]
    return [(m.heads, m.kv_heads, m.head_dim) for m in mixers if isinstance(m, AttentionSpec)]


def test_shapes_are_read_in_either_spelling() -> None:
    hub = raw("gemma4_text")
    saved = tiny("gemma4_text").to_dict()
    assert _shapes(hub) == _shapes(saved) == [(4, 2, 8), (4, 1, 16)] * 2
    assert _shapes({**hub, "attention_k_eq_v": False}) == [(4, 2, 8), (4, 2, 16)] * 2


def test_without_layer_types_one_in_six_is_full_and_so_is_the_last() -> None:
    config = raw("gemma4_text", num_hidden_layers=8)
    del config["layer_types"]
    windows = [layer.mixer.window for layer in read_spec(config).layers if isinstance(layer.mixer, AttentionSpec)]
    assert windows == [6, 6, 6, 6, 6, None, 6, None]


@pytest.mark.parametrize("changes", [{"num_kv_shared_layers": 2}, {"use_bidirectional_attention": "all"}])
def test_what_it_does_not_compute_it_refuses(changes: dict[str, object]) -> None:
    with pytest.raises(UnderhillError) as caught:
        read_spec(raw("gemma4_text", **changes))
    assert caught.value.kind == Kind.UNSUPPORTED_MODEL


def test_a_dense_gemma_is_refused() -> None:
    with pytest.raises(UnderhillError, match="dense"):
        read_spec(raw("gemma4_text", enable_moe_block=False, num_kv_shared_layers=2))
