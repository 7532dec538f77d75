"""Ling and Ring in float64, written down from their published description: transformers has no class of theirs.

Sources: the model cards of Ling-lite and Ling-mini-2.0, and "Every FLOP Counts" (arXiv 2503.05139), section 2. One pass
over all tokens, no cache, every expert computed for every token.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor


def logits(config: Mapping[str, Any], weights: Mapping[str, Tensor], ids: Sequence[int]) -> Tensor:
    """[T, V] float64."""
    w = {name: tensor.double() for name, tensor in weights.items()}
    x = w["model.word_embeddings.weight"][torch.tensor(list(ids))]
    for i in range(config["num_hidden_layers"]):
        p = f"model.layers.{i}"
        x = x + attention(config, w, f"{p}.attention", rms(x, w[f"{p}.input_layernorm.weight"], config))
        h = rms(x, w[f"{p}.post_attention_layernorm.weight"], config)
        dense = i < config.get("first_k_dense_replace", 0)
        x = x + (mlp(w, f"{p}.mlp", h) if dense else moe(config, w, f"{p}.mlp", h))
    head = w["lm_head.weight"]
    if config.get("norm_head"):
        head = head / (head.square().sum(0, keepdim=True).sqrt() + 1e-7)
    return rms(x, w["model.norm.weight"], config) @ head.T


def rms(x: Tensor, scale: Tensor, config: Mapping[str, Any]) -> Tensor:
    return x / (x.square().mean(-1, keepdim=True) + config["rms_norm_eps"]).sqrt() * scale


def attention(config: Mapping[str, Any], w: Mapping[str, Tensor], p: str, x: Tensor) -> Tensor:
    heads, kv, dim = config["num_attention_heads"], config["num_key_value_heads"], config["head_dim"]
    together = x @ w[f"{p}.query_key_value.weight"].T + w.get(f"{p}.query_key_value.bias", torch.zeros(1))
    q, k, v = together.unflatten(1, (-1, dim)).split((heads, kv, kv), 1)
    if config.get("use_qk_norm"):
        q, k = rms(q, w[f"{p}.query_layernorm.weight"], config), rms(k, w[f"{p}.key_layernorm.weight"], config)
    out = torch.zeros(len(x), heads, dim, dtype=torch.float64)
    q, k = turned(config, q), turned(config, k)
    for head in range(heads):
        own = head // (heads // kv)
        scores = (q[:, head] @ k[:, own].T) / dim**0.5
        scores = scores.masked_fill(torch.ones(len(x), len(x)).triu(1).bool(), float("-inf"))
        out[:, head] = scores.softmax(-1) @ v[:, own]
    return out.flatten(1) @ w[f"{p}.dense.weight"].T + w.get(f"{p}.dense.bias", torch.zeros(1))


def turned(config: Mapping[str, Any], x: Tensor) -> Tensor:
    """The first part of each head rotated, pairs (i, i + half)."""
    dim = int(config["head_dim"] * config.get("partial_rotary_factor", 1.0))
    half = dim // 2
    speed = config["rope_theta"] ** (-torch.arange(half, dtype=torch.float64) * 2 / dim)
    angle = torch.arange(len(x), dtype=torch.float64)[:, None, None] * speed
    a, b, rest = x[..., :half], x[..., half:dim], x[..., dim:]
    return torch.cat((a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin(), rest), -1)


def mlp(w: Mapping[str, Tensor], p: str, x: Tensor) -> Tensor:
    gate, up, down = (w[f"{p}.{part}_proj.weight"] for part in ("gate", "up", "down"))
    g = x @ gate.T
    return (g * g.sigmoid() * (x @ up.T)) @ down.T


def moe(config: Mapping[str, Any], w: Mapping[str, Tensor], p: str, x: Tensor) -> Tensor:
    found = x @ w[f"{p}.gate.weight"].T
    k, count = config["num_experts_per_tok"], config["num_experts"]
    if config.get("score_function") == "sigmoid":
        scores = found.sigmoid()
        rated = scores + w[f"{p}.gate.expert_bias"]
        groups = rated.unflatten(1, (config["n_group"], -1))
        best = groups.topk(2).values.sum(-1).topk(config["topk_group"]).indices
        for token in range(len(x)):
            for group in set(range(config["n_group"])) - set(best[token].tolist()):
                groups[token, group] = float("-inf")
        chosen = groups.flatten(1).topk(k).indices
        scale = config["routed_scaling_factor"]
    else:
        scores, scale = found.softmax(-1), 1.0
        chosen = scores.topk(k).indices
    kept = torch.zeros_like(scores).scatter(1, chosen, scores.gather(1, chosen))
    if config.get("norm_topk_prob", True):
        kept = kept / kept.sum(-1, keepdim=True)
    out = sum(kept[:, e : e + 1] * scale * mlp(w, f"{p}.experts.{e}", x) for e in range(count))
    return out + mlp(w, f"{p}.shared_experts", x) if config["num_shared_experts"] else out
