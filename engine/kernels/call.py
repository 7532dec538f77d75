"""What goes into one kernel call for one MoE layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.kernels.activation import SWIGLU_KINDS, Activation
from engine.record.layout import ExpertSpec


@dataclass(frozen=True, eq=False)
class Parts:
    """An expert where it lies: parts by index, each a contiguous uint8 tensor of at least that part's bytes.

    tier: what it runs at; parts that it does not need may be there and are let go of. Checked once, here, so that calls
    need not: raises ValueError. planes: how many parts hold its codes. addresses: of these three (0 where there are
    fewer) and of the parameters (0: raw), valid as long as this object lives.
    """

    spec: ExpertSpec
    parts: Mapping[int, Tensor]
    tier: int
    planes: int = field(init=False)
    addresses: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        layout = self.spec.layout
        needed = layout.parts_for(self.tier)
        missing = [layout.parts[index].name for index in needed if index not in self.parts]
        if missing:
            raise ValueError(f"tier {self.tier} needs the parts {', '.join(missing)}, which are not there")
        parts = {index: self.parts[index] for index in needed}
        for index, tensor in parts.items():
            part = layout.parts[index]
            if tensor.dtype != torch.uint8 or not tensor.is_contiguous() or tensor.numel() < part.nbytes:
                raise ValueError(f"part {part.name} must be contiguous uint8 of at least {part.nbytes} bytes")
            if tensor.device.type != "cpu":  # the library reads at their addresses
                raise ValueError(f"part {part.name} must be in ordinary memory")
        codes = [parts[part.index] for part in layout.codes_for(self.tier)]
        params = 0 if self.spec.raw else parts[layout.params_for(self.tier).index].data_ptr()
        # Addresses of `parts`, kept below; whoever has leased them must not release them before the kernel has
        # returned.
        places = (*(*(t.data_ptr() for t in codes), 0, 0)[:3], params)
        object.__setattr__(self, "parts", parts)
        object.__setattr__(self, "planes", len(codes))
        object.__setattr__(self, "addresses", places)


@dataclass(frozen=True)
class Work:
    """One expert and the slots it fills. Slot t * K + k is the k-th choice of token t."""

    expert: Parts
    slots: Sequence[int]


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
