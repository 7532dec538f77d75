"""One kernel call for one MoE layer: what goes in, and what every kernel promises."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

import torch
from torch import Tensor

from engine.kernels.activation import SWIGLU_KINDS, Activation
from engine.store.layout import ExpertSpec


@dataclass(frozen=True, eq=False)
class Planes:
    """An expert where it lies: its first planes, each a contiguous uint8 tensor of at least that plane's bytes.

    tier: what it runs at; further planes may be there and are not read. Checked once, here, so that calls need not:
    raises ValueError. addresses: of the planes in ordinary memory, valid as long as this object lives; else empty.
    """

    spec: ExpertSpec
    planes: tuple[Tensor, ...]
    tier: int
    addresses: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        needed = self.spec.layout.planes_for(self.tier)
        if len(self.planes) < len(needed):
            raise ValueError(f"tier {self.tier} needs {len(needed)} planes; {len(self.planes)} are there")
        planes = self.planes[: len(needed)]
        for plane, tensor in zip(needed, planes):
            if tensor.dtype != torch.uint8 or not tensor.is_contiguous() or tensor.numel() < plane.nbytes:
                raise ValueError(f"plane {plane.index} must be contiguous uint8 of at least {plane.nbytes} bytes")
            if tensor.device != planes[0].device:
                raise ValueError("the planes of one expert must be on one device")
        here = planes[0].device.type == "cpu"
        object.__setattr__(self, "planes", planes)
        object.__setattr__(self, "addresses", tuple(t.data_ptr() for t in planes) if here else ())


@dataclass(frozen=True)
class Work:
    """One expert and the slots it fills. Slot t * K + k is the k-th choice of token t."""

    expert: Planes
    slots: Sequence[int]


class Kernel(Protocol):
    """The same call, whoever computes it. Tests compare each kernel against float64."""

    name: str

    def run(
        self, spec: ExpertSpec, activation: Activation, work: Sequence[Work], x: Tensor, k: int, out: Tensor
    ) -> None:
        """out[slot] = expert(x[slot // k]) for every slot of the work; other slots are left as they are.

        x: [T, H] and out: [T * k, H], float32, contiguous, in ordinary memory. The bits of a slot depend on its
        expert, tier and x, and on which slots of that expert are in this call: never on the rest of the work.
        """

    def combine(self, out: Tensor, weights: Tensor) -> Tensor:
        """[T, H] float32: sum over k, in order, of weights[t, k] * out[t * K + k].

        out: [T * K, H], weights: [T, K]. A weight of exactly 0 drops its slot unread: so a skipped expert is left out.
        """

    def close(self) -> None:
        """Release threads and scratch memory."""


def check_call(spec: ExpertSpec, activation: Activation, work: Sequence[Work], x: Tensor, k: int, out: Tensor) -> None:
    """Refuse what would make a kernel read or write where it must not. Raises ValueError."""
    if activation.kind in SWIGLU_KINDS and not spec.has_gate:
        raise ValueError(f"{activation.kind} needs experts with a gate")
    if x.dim() != 2 or x.shape[1] != spec.hidden:
        raise ValueError(f"x is {tuple(x.shape)}; the experts take [*, {spec.hidden}]")
    slots = x.shape[0] * k
    if out.shape != (slots, spec.hidden) or out.dtype != x.dtype:
        raise ValueError(f"out is {out.dtype} {tuple(out.shape)}; expected {x.dtype} {(slots, spec.hidden)}")
    for name, tensor in (("x", x), ("out", out)):
        if not tensor.is_contiguous() or tensor.device.type != "cpu":
            raise ValueError(f"{name} must be contiguous and in ordinary memory")
    for item in work:
        if item.expert.spec is not spec and item.expert.spec != spec:
            raise ValueError("an expert of another shape or encoding is among the work")
        if not item.slots or min(item.slots) < 0 or max(item.slots) >= slots:
            raise ValueError(f"slots {list(item.slots)[:8]} are not among the {slots} of this call")
