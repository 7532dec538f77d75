"""Mamba-2, Kimi Delta Attention and other mixers of late families against transformers, and against plain formulas."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from engine.errors import UnderhillError
from engine.models.families import read_spec
from engine.models.layers.deltanet import channel_chunks, channel_step
from engine.models.layers.mamba2 import scan, scan_step
from tests.engine.models.families.tiny import raw, tiny
from tests.engine.models.parity import assert_parity

CASES: dict[str, tuple[str, dict[str, Any]]] = {
    "nemotron": ("nemotron_h", {}),
    "nemotron in groups, biases": (
        "nemotron_h",
        {"n_group": 4, "topk_group": 2, "use_bias": True, "use_conv_bias": False, "norm_topk_prob": False},
    ),
    "nemotron, experts in a latent space": ("nemotron_h", {"moe_latent_size": 20, "n_shared_experts": 1}),
    "nemotron, latent with biases": ("nemotron_h", {"moe_latent_size": 64, "mlp_bias": True}),
    "granite": ("granitemoehybrid", {}),
    "granite rotating, biases": (
        "granitemoehybrid",
        {"position_embedding_type": "rope", "mamba_proj_bias": True, "mamba_conv_bias": False, "attention_bias": True},
    ),
    "longcat": ("longcat_flash", {}),
    "longcat without passing": ("longcat_flash", {"zero_expert_num": 0, "attention_bias": True}),
    "mimo": ("mimo_v2_flash", {}),
    "mimo, wide values": ("mimo_v2_flash", {"v_head_dim": 24, "attention_bias": True, "attention_value_scale": None}),
    "kimi": ("kimi_linear", {}),
    "kimi with query rank": ("kimi_linear", {"q_lora_rank": 14, "norm_topk_prob": False}),
}


@pytest.mark.parametrize("name", CASES)
def test_parity(name: str, tmp_path: Path) -> None:
    family, changes = CASES[name]
    assert_parity(tiny(family, **changes), tmp_path)


@pytest.mark.parametrize("tokens", [1, 5, 64, 150])
def test_a_scan_in_chunks_is_the_recurrence(tokens: int) -> None:
    generator = torch.Generator().manual_seed(tokens)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    u, dt, rate = random(tokens, 6, 5), random(tokens, 6).abs(), -random(6).exp()
    b, c = random(tokens, 2, 7), random(tokens, 2, 7)
    chunked, stepped = random(6, 5, 7), torch.empty(0)
    stepped = chunked.clone()
    found = scan(u, dt, rate, b, c, chunked, chunk=16)
    one = [scan_step(u[t : t + 1], dt[t : t + 1], rate, b[t : t + 1], c[t : t + 1], stepped) for t in range(tokens)]
    torch.testing.assert_close(found, torch.cat(one))
    torch.testing.assert_close(chunked, stepped)


@pytest.mark.parametrize("tokens", [1, 5, 32, 75])
def test_a_delta_rule_by_channel_in_chunks_is_the_recurrence(tokens: int) -> None:
    generator = torch.Generator().manual_seed(tokens)

    def random(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    q, k, v = (random(tokens, 3, 6) / 3 for _ in range(3))
    g, beta = -random(tokens, 3, 6).abs(), random(tokens, 3).sigmoid()
    chunked = random(3, 6, 6)
    stepped = chunked.clone()
    found = channel_chunks(q, k, v, g, beta, chunked, chunk=16)
    one = [channel_step(q[t], k[t], v[t], g[t], beta[t], stepped) for t in range(tokens)]
    torch.testing.assert_close(found, torch.stack(one))
    torch.testing.assert_close(chunked, stepped)


def test_blocks_are_read_in_either_spelling() -> None:
    config = raw("nemotron_h")
    del config["layers_block_type"]
    letters = read_spec({**config, "hybrid_override_pattern": "ME*EM-E"})
    assert letters == read_spec(raw("nemotron_h"))
    with pytest.raises(UnderhillError, match="'S'"):
        read_spec({**config, "hybrid_override_pattern": "MES"})
