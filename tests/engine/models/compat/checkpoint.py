"""A tiny random checkpoint on disk, in the layout of the hub, and what reads it back in tests."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from safetensors import safe_open
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, PretrainedConfig

from engine.hub.mapping import ExpertPlan, Piece
from engine.models.compat.experts import ACTIVATIONS, RoutedExperts


def random_model(config: PretrainedConfig, seed: int = 0) -> Any:
    """transformers' own model, float32, with weights large enough that every part of it shows in the logits."""
    torch.manual_seed(seed)
    try:
        model = AutoModelForCausalLM.from_config(config)
    except ValueError:
        model = AutoModelForImageTextToText.from_config(config)
    model = model.float().eval()
    with torch.no_grad():
        for tensor in (*model.parameters(), *(b for name, b in model.named_buffers() if name.endswith("bias"))):
            if tensor.dim() >= 2:
                tensor.normal_(0, 0.1)
            elif tensor.is_floating_point():
                tensor.add_(torch.randn_like(tensor) * 0.1)
    return model


class Checkpoint:
    """A directory as save_pretrained writes it (which turns names back into those of the hub)."""

    def __init__(self, path: Path) -> None:
        self.config: dict[str, Any] = json.loads((path / "config.json").read_text())
        self._where = {}
        for file in sorted(path.glob("*.safetensors")):
            with safe_open(file, "pt") as opened:
                self._where.update(dict.fromkeys(opened.keys(), file))
        self.without: set[str] = set()

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._where if name not in self.without)

    def has(self, name: str) -> bool:
        return name in self._where and name not in self.without

    def get(self, name: str) -> Tensor:
        assert name not in self.without, f"{name} is an expert's, and the decoder asked for it"
        return self.read(name)

    def read(self, name: str) -> Tensor:
        with safe_open(self._where[name], "pt") as opened:
            return opened.get_tensor(name)

    @property
    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: tuple(self.read(name).shape) for name in self._where}


def take(checkpoint: Checkpoint, piece: Piece) -> Tensor:
    """What a piece says, done literally."""
    tensor = checkpoint.read(piece.key)
    if piece.index is not None:
        tensor = tensor[piece.index]
    if piece.transpose:
        tensor = tensor.T
    return tensor[piece.start : piece.stop : piece.step].float()


class MemoryExperts:
    """An expert backend that holds every expert in float32, read one by one from a checkpoint by a plan."""

    def __init__(self, checkpoint: Checkpoint, plan: ExpertPlan) -> None:
        self.layers = {
            layer: [
                (
                    {part: take(checkpoint, piece) for part, piece in expert.matrices.items()},
                    {part: take(checkpoint, piece) for part, piece in expert.biases.items()},
                )
                for expert in experts
            ]
            for layer, experts in plan.layers.items()
        }
        self.routed: dict[int, RoutedExperts] = {}
        self.calls = 0

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        assert x.dtype == weights.dtype == torch.float32
        self.calls += 1
        routed = self.routed[layer]
        out = torch.zeros_like(x)
        for number in ids.unique().tolist():
            token, slot = (ids == number).nonzero(as_tuple=True)
            matrices, biases = self.layers[layer][number]
            h = x[token]
            up = F.linear(h, matrices["up"], biases.get("up"))
            gate, up = (F.linear(h, matrices["gate"], biases.get("gate")), up) if routed.has_gate else (up, torch.ones_like(up))
            numbers = {"alpha": routed.alpha, "limit": routed.limit, "up_limit": routed.up_limit}
            y = F.linear(ACTIVATIONS[routed.activation](gate, up, **numbers), matrices["down"], biases.get("down"))
            out.index_add_(0, token, y * weights[token, slot, None])
        return out
