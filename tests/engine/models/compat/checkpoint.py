"""A tiny random checkpoint on disk, in the layout of the hub, and what reads it back in tests."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText, PretrainedConfig

from engine.convert.pieces import ExpertPlan, MatrixPiece
from engine.formats.checkpoint import Checkpoint
from engine.kernels.activation import Activation


def random_model(config: PretrainedConfig, seed: int = 0) -> Any:
    """transformers' own model, float32, with weights large enough that every part of it shows in the logits."""
    torch.manual_seed(seed)
    try:
        model = AutoModelForCausalLM.from_config(config)
    except ValueError:
        model = AutoModelForImageTextToText.from_config(config)
    model = model.float().eval()
    with torch.no_grad():
        for table in (b for name, b in model.named_buffers() if name.endswith("tid2eid")):
            table.copy_(torch.rand(len(table), 8).argsort(-1)[:, : table.shape[1]])
        for tensor in (*model.parameters(), *(b for name, b in model.named_buffers() if name.endswith("bias"))):
            if tensor.dim() >= 2:
                tensor.normal_(0, 0.1)
            elif tensor.is_floating_point():
                tensor.add_(torch.randn_like(tensor) * 0.1)
    return model


class Dense:
    """What the decoder may read of a checkpoint: everything but the experts."""

    def __init__(self, checkpoint: Checkpoint, plan: ExpertPlan) -> None:
        self.checkpoint, self.plan = checkpoint, plan

    def __iter__(self) -> Iterator[str]:
        return iter(self.plan.dense)

    def has(self, name: str) -> bool:
        return name in self.plan.dense

    def get(self, name: str) -> Tensor:
        assert name in self.plan.dense, f"{name} is not the decoder's"
        return self.checkpoint.tensor(name)


def shapes(checkpoint: Checkpoint) -> dict[str, tuple[int, ...]]:
    return {name: entry.shape for name, entry in checkpoint.entries.items()}


def take(checkpoint: Checkpoint, piece: MatrixPiece) -> Tensor:
    """What a piece says, done literally."""
    tensor = checkpoint.tensor(piece.key)
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
        self.activations: dict[int, Activation] = {}  # by layer
        self.calls = 0

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        assert x.dtype == weights.dtype == torch.float32
        self.calls += 1
        out = torch.zeros_like(x)
        for number in ids.unique().tolist():
            token, slot = (ids == number).nonzero(as_tuple=True)
            matrices, biases = self.layers[layer][number]
            h = x[token]
            up = F.linear(h, matrices["up"], biases.get("up"))
            gate = F.linear(h, matrices["gate"], biases.get("gate")) if "gate" in matrices else None
            y = F.linear(self.activations[layer].apply(gate, up), matrices["down"], biases.get("down"))
            out.index_add_(0, token, y * weights[token, slot, None])
        return out
