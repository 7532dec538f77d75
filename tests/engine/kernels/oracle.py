"""What the kernels with activations of 8 bits should compute, in float64."""

from __future__ import annotations

import torch
from torch import Tensor

from engine.kernels.activation import Activation
from engine.kernels.call import Parts
from engine.record.layout import UNITS_AT, ExpertSpec
from tests.engine.kernels.reference import decode_matrix


def in_8_bits(x: Tensor, group: int) -> Tensor:
    """x [N, C] as it is after a round trip through 8 bits in groups of columns; a group that is not finite is NaN."""
    padded = torch.nn.functional.pad(x, (0, -x.shape[1] % group)).view(len(x), -1, group)
    peak = padded.abs().amax(dim=2, keepdim=True)
    codes = torch.where(peak > 0, (padded * (127 / peak)).round(), 0.0)
    back = torch.where(peak.isfinite(), codes * (peak / 127), float("nan"))
    return back.view(len(x), -1)[:, : x.shape[1]]


def forward_8_bits(spec: ExpertSpec, activation: Activation, expert: Parts, x: Tensor) -> Tensor:
    """One expert on x [N, H] float64, with x and h rounded to 8 bits. Raw experts round nothing."""

    def product(name: str, v: Tensor) -> Tensor:
        group = next(spec.group_of(m) for m in spec.matrices if m.name == name)
        v = v if spec.raw else in_8_bits(v, group)
        y = v @ decode_matrix(spec, expert, name, torch.float64).T
        head = spec.layout.head
        section = head.biases.get(name)
        if section is not None:
            y += expert.parts[head.index][section.offset :][: 4 * y.shape[1]].view(torch.float32)
        return y

    gate = product("gate", x) if spec.has_gate else None
    return product("down", activation.apply(gate, product("up", x)))


def unit_of(spec: ExpertSpec, expert: Parts, name: str) -> float:
    """The unit of matrix `name`, out of the header."""
    index = [m.name for m in spec.matrices].index(name)
    return float(expert.parts[spec.layout.head.index][UNITS_AT + 4 * index :][:4].view(torch.float32))
