"""Calls of a kernel as the tests make them."""

from __future__ import annotations

import ctypes

import torch
from torch import Tensor

from engine.experts.execution.requests import slots_by_expert
from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import EXPERT, NativeKernel, expert_layout
from engine.record.layout import ExpertSpec
from tests.engine.kernels.reference import TorchKernel

SILU = Activation()


def run(kernel: NativeKernel | TorchKernel, spec: ExpertSpec, experts: dict[int, Parts], x: Tensor, ids: Tensor,
        activation: Activation = SILU) -> Tensor:  # fmt: skip
    """The rows of all slots, [T * K, H]."""
    out = torch.full((ids.numel(), spec.hidden), float("nan"))
    work = [Work(experts[e], slots) for e, slots in slots_by_expert(ids.flatten().tolist()).items()]
    kernel.run(spec, activation, work, x, ids.shape[1], out)
    return out


def run_one(kernel: NativeKernel, spec: ExpertSpec, experts: list[Parts], x: Tensor, weights: Tensor,
            activation: Activation = SILU) -> Tensor:  # fmt: skip
    """One token through `experts`, weighted, by the combined call. x, weights: one-dimensional. Returns [H]."""
    packed = b"".join(EXPERT.pack(*e.addresses, e.planes, index, 1, 0) for index, e in enumerate(experts))
    buffer, y = ctypes.create_string_buffer(packed), torch.full((spec.hidden,), float("nan"))
    layout = ctypes.addressof(expert_layout(spec, activation))
    kernel.moe_one(layout, ctypes.addressof(buffer), len(experts), x.data_ptr(), weights.data_ptr(), y.data_ptr())
    return y


def routed(tokens: int, k: int, experts: int, seed: int = 0) -> Tensor:
    """[T, K] ids, different ones for each token."""
    random = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(experts, generator=random)[:k] for _ in range(tokens)])
