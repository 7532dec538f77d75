"""A small random checkpoint to import, made without transformers."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file


def write_checkpoint(
    path: Path,
    layers: int = 2,
    experts: int = 4,
    hidden: int = 64,
    inner: int = 64,
    dtype: torch.dtype = torch.bfloat16,
) -> Path:
    """A qwen3_moe-like directory in one shard per layer, with a tokenizer file and a template to take along."""
    path.mkdir(parents=True, exist_ok=True)
    generator = torch.Generator().manual_seed(7)

    def random(*shape: int) -> torch.Tensor:
        return (torch.randn(*shape, generator=generator) * 0.05).to(dtype)

    weight_map = {}
    for layer in range(layers):
        tensors = {f"model.layers.{layer}.self_attn.q_proj.weight": random(hidden, hidden)}
        if layer == 0:
            tensors |= {"model.embed_tokens.weight": random(100, hidden), "model.norm.weight": random(hidden).float()}
        for e in range(experts):
            root = f"model.layers.{layer}.mlp.experts.{e}"
            tensors |= {f"{root}.{n}_proj.weight": random(inner, hidden) for n in ("gate", "up")}
            tensors[f"{root}.down_proj.weight"] = random(hidden, inner)
        shard = f"model-{layer:05d}.safetensors"
        save_file(tensors, path / shard)
        weight_map |= dict.fromkeys(tensors, shard)
    (path / "model.safetensors.index.json").write_text(json.dumps({"weight_map": weight_map}), encoding="utf-8")
    config = {"model_type": "qwen3_moe", "num_hidden_layers": layers, "num_experts": experts, "hidden_size": hidden,
              "num_experts_per_tok": 2, "max_position_embeddings": 64}  # fmt: skip
    (path / "config.json").write_text(json.dumps(config), encoding="utf-8")
    (path / "tokenizer.json").write_text("{}", encoding="utf-8")
    (path / "chat_template.jinja").write_text("{{ messages }}", encoding="utf-8")
    return path


def contents(store: Path) -> dict[str, bytes]:
    """Every file of a directory."""
    return {p.name: p.read_bytes() for p in store.iterdir()}
