"""Rotary position embeddings: frequencies of every scaling variant, tables of cosines and sines, applying them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.models.spec import RopeScaling, RopeSpec


@dataclass(frozen=True)
class RopeTable:
    """cos, sin: [T, 1, dim] float32, in the layout of their spec, the sines already signed, factors multiplied in.
    halves: cosines and sines [T, dim / 2], one for each angle.
    """

    cos: Tensor
    sin: Tensor
    dim: int
    interleaved: bool
    halves: tuple[Tensor, Tensor]

    def apply(self, x: Tensor) -> Tensor:
        """Rotate the first `dim` of x [T, heads, head_dim] float32; the rest is passed through."""
        if x.shape[-1] == self.dim:
            return self._rotate(x)
        return torch.cat((self._rotate(x[..., : self.dim]), x[..., self.dim :]), -1)

    def undo(self, x: Tensor) -> Tensor:
        """Rotate x [T, heads, dim] back."""
        return self._rotate(x, -1.0)

    def _rotate(self, x: Tensor, way: float = 1.0) -> Tensor:
        if self.interleaved:
            other = x.unflatten(-1, (-1, 2)).flip(-1).flatten(-2)
        else:
            other = x.roll(self.dim // 2, -1)
        return torch.addcmul(x * self.cos, other, self.sin, value=way)


def rope_table(spec: RopeSpec, start: int, stop: int, horizon: int, step: int = 1) -> RopeTable:
    """Tables of positions start to stop, every `step`th, in a sequence that reaches `horizon` tokens."""
    frequencies, factor = rope_frequencies(spec, horizon)
    return _table(spec, torch.arange(start, stop, step, dtype=torch.float32)[:, None] * frequencies, factor)


def rope_table_of(spec: RopeSpec, positions: Tensor, horizon: int) -> RopeTable:
    """Tables of tokens that have three positions each: in time, and of pictures rows and columns. positions: [3, T].

    spec: with axes (MRoPE). Where they lie among each other, frequency 3n + 1 turns by rows and 3n + 2 by columns, as
    many as there are, and all others by time.
    """
    frequencies, factor = rope_frequencies(spec, horizon)
    if spec.apart:
        axis = torch.arange(len(spec.axes)).repeat_interleave(torch.tensor(spec.axes))
    else:
        axis = torch.zeros(len(frequencies), dtype=torch.int64)
        for number, count in enumerate(spec.axes[1:], start=1):
            axis[number : 3 * count : 3] = number
    return _table(spec, positions.float()[axis].T.contiguous() * frequencies, factor)


def _table(spec: RopeSpec, angles: Tensor, factor: float) -> RopeTable:
    cos, sin = angles.cos(), angles.sin()
    if factor != 1.0:
        cos, sin = cos * factor, sin * factor
    halves = (cos, sin)
    if spec.interleaved:
        cos, sin = cos.repeat_interleave(2, -1), torch.stack((-sin, sin), -1).flatten(-2)
    else:
        cos, sin = torch.cat((cos, cos), -1), torch.cat((-sin, sin), -1)
    return RopeTable(cos[:, None], sin[:, None], spec.dim, spec.interleaved, halves)


def rope_frequencies(spec: RopeSpec, horizon: int) -> tuple[Tensor, float]:
    """(radians per position [dim / 2] float32, factor on cosines and sines) for a sequence of `horizon` tokens."""
    scaling = spec.scaling
    if scaling is None:
        return _plain(spec, spec.theta), 1.0
    if scaling.kind == "linear":
        return _plain(spec, spec.theta) / scaling.factor, 1.0
    if scaling.kind == "dynamic":
        stretch = scaling.factor * max(horizon, scaling.max_position) / scaling.max_position - (scaling.factor - 1)
        return _plain(spec, spec.theta * stretch ** (spec.dim / (spec.dim - 2))), 1.0
    if scaling.kind == "llama3":
        return _llama3(_plain(spec, spec.theta), scaling), 1.0
    if scaling.kind == "longrope":
        beyond = horizon > scaling.original
        stretch_by = torch.tensor(scaling.long if beyond else scaling.short, dtype=torch.float32)
        return _plain(spec, spec.theta) / stretch_by, scaling.long_mscale if beyond else scaling.short_mscale
    return _yarn(spec, scaling), scaling.attention_factor


def _plain(spec: RopeSpec, theta: float) -> Tensor:
    frequencies = 1.0 / theta ** (torch.arange(0, spec.dim, 2, dtype=torch.float32) / spec.dim)
    if spec.rotated is not None:
        frequencies[spec.rotated // 2 :] = 0.0
    return frequencies


def _llama3(plain: Tensor, scaling: RopeScaling) -> Tensor:
    """Long wavelengths divided by the factor, short ones kept, a ramp in between (Llama 3.1)."""
    turns = scaling.original * plain / (2 * math.pi)  # rotations within the original context
    keep = ((turns - scaling.low_freq) / (scaling.high_freq - scaling.low_freq)).clamp(0, 1)
    return plain * (keep + (1 - keep) / scaling.factor)


def _yarn(spec: RopeSpec, scaling: RopeScaling) -> Tensor:
    """Interpolate dimensions that turn less than beta_slow times in the original context, keep those above beta_fast
    (YaRN, arXiv 2309.00071, eq. 19 to 23)."""

    def dimension(turns: float) -> float:
        return spec.dim * math.log(scaling.original / (turns * 2 * math.pi)) / (2 * math.log(spec.theta))

    low, high = dimension(scaling.beta_fast), dimension(scaling.beta_slow)
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    low, high = max(low, 0), min(high, spec.dim - 1)
    width = high - low or 0.001
    interpolate = ((torch.arange(spec.dim // 2, dtype=torch.float32) - low) / width).clamp(0, 1)
    plain = _plain(spec, spec.theta)
    return plain * (1 - interpolate) + plain / scaling.factor * interpolate
