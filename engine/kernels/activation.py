"""What stands between the up and down projections of an expert."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.native.op_graph import KINDS, ActivationKind

__all__ = ["KINDS", "SWIGLU_KINDS", "Activation", "ActivationKind"]

SWIGLU_KINDS = frozenset(kind for kind in KINDS if kind.endswith("swiglu"))  # those that need a gate


@dataclass(frozen=True)
class Activation:
    """h = act(gate) * up, or act(up) where the experts have no gate. Four kinds bound what they multiply:

    - clamped_swiglu (gpt-oss): gate <= limit, |up| <= limit; (up + 1) * gate * sigmoid(alpha * gate)
    - limited_swiglu (DeepSeek-V4): gate <= limit, |up| <= limit; up * silu(gate)
    - late_limited_swiglu (Step 3.5): |up| <= limit; up * min(silu(gate), limit)
    - softcapped_swiglu (Inkling 2): cap(gate, limit) * sigmoid(gate) * cap(up, up_limit), cap(a, c) = c * tanh(a / c)
    """

    kind: ActivationKind = "silu"
    alpha: float = 1.702
    limit: float = 7.0
    up_limit: float = 25.0  # of softcapped_swiglu; the other kinds have one limit for both

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"activation {self.kind!r}: choose one of {KINDS}")

    def apply(self, gate: Tensor | None, up: Tensor) -> Tensor:
        """gate, up: [N, I]. Returns [N, I] in the same dtype."""
        if self.kind in SWIGLU_KINDS:
            if gate is None:
                raise ValueError(f"{self.kind} needs a gate")
            return self._swiglu(gate, up)
        h = self._plain(up if gate is None else gate)
        return h if gate is None else h * up

    def _swiglu(self, gate: Tensor, up: Tensor) -> Tensor:
        if self.kind == "softcapped_swiglu":  # the sigmoid takes the gate as it is
            return _softcap(gate, self.limit) * torch.sigmoid(gate) * _softcap(up, self.up_limit)
        u = up.clamp(-self.limit, self.limit)
        if self.kind == "late_limited_swiglu":
            return u * (gate * torch.sigmoid(gate)).clamp(max=self.limit)
        g = gate.clamp(max=self.limit)
        if self.kind == "limited_swiglu":
            return u * (g * torch.sigmoid(g))
        return (u + 1) * (g * torch.sigmoid(self.alpha * g))

    def _plain(self, a: Tensor) -> Tensor:
        match self.kind:
            case "silu":
                return a * torch.sigmoid(a)
            case "gelu":
                return 0.5 * a * torch.erfc(a * -math.sqrt(0.5))
            case "gelu_tanh":  # 0.5 (1 + tanh u) = sigmoid(2u)
                return a * torch.sigmoid(math.sqrt(8 / math.pi) * (a + 0.044715 * a**3))
            case "relu":
                return torch.relu(a)
            case _:
                return torch.relu(a) ** 2


def _softcap(a: Tensor, cap: float) -> Tensor:
    return cap * torch.tanh(a / cap)
