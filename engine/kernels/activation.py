"""What stands between the up and down projections of an expert."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

ActivationKind = Literal["silu", "gelu", "gelu_tanh", "relu", "relu2", "clamped_swiglu"]
KINDS: tuple[ActivationKind, ...] = ("silu", "gelu", "gelu_tanh", "relu", "relu2", "clamped_swiglu")  # as in the C enum


@dataclass(frozen=True)
class Activation:
    """h = act(gate) * up, or act(up) where the experts have no gate.

    clamped_swiglu (gpt-oss): gate <= limit, |up| <= limit, (up + 1) * gate * sigmoid(alpha * gate); needs a gate.
    """

    kind: ActivationKind = "silu"
    alpha: float = 1.702
    limit: float = 7.0

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"activation {self.kind!r}: choose one of {KINDS}")

    def apply(self, gate: Tensor | None, up: Tensor) -> Tensor:
        """gate, up: [N, I]. Returns [N, I] in the same dtype."""
        if self.kind == "clamped_swiglu":
            if gate is None:
                raise ValueError("clamped_swiglu needs a gate")
            g = gate.clamp(max=self.limit)
            return (up.clamp(-self.limit, self.limit) + 1) * (g * torch.sigmoid(self.alpha * g))
        h = self._plain(up if gate is None else gate)
        return h if gate is None else h * up

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
