"""Stacked gates (hobbit, section 3.3): the routers of the next layers on what this layer's experts are given.

The paper multiplies the next p at once. Here each is multiplied when it is asked for, since a walk often ends at the
first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from engine.experts.predictors.predictor import Floats, Sight
from engine.kernels.dense import Packed, set_bias
from engine.kernels.memory import Arena, huge
from engine.kernels.native import NativeKernel

BITS = 8  # of a weight; 4 would find 2 to 3 of 100 experts fewer (built-in model)
LEAST_SCALE = 1e-4  # of the largest: channels that a norm all but silences tell nothing once divided by it

Product = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False)
class Gate:
    """The router of one row. weight: [E, H]; bias: [E]. All float32.

    scale, shift: [H], of the norm before it, None where there is none. given_scale, given_shift: the same of the norm
    before the experts, where that is another. choice: [E], added to the sigmoid of the scores before the best are
    taken (DeepSeek-V3); None: the scores alone decide.
    """

    weight: Floats
    bias: Floats | None = None
    scale: Floats | None = None
    shift: Floats | None = None
    given_scale: Floats | None = None
    given_shift: Floats | None = None
    choice: Floats | None = None

    def ranking(self, scores: Floats) -> Floats:
        """By what the best are taken. scores: [..., E], the router's own."""
        if self.choice is None:
            return scores
        return np.asarray(1 / (1 + np.exp(-scores)) + self.choice, np.float32)


@dataclass(frozen=True, eq=False)
class Linear:
    """scores [E] = weight [E, H] x + bias [E]."""

    weight: Floats
    bias: Floats


def folded(source: Gate | None, target: Gate) -> Linear:
    """The target's router on what the source's experts are given, as if only the norms' weights lay between.

    source None: on a residual stream divided by its root mean square.
    """
    bias = np.zeros(len(target.weight), np.float32) if target.bias is None else target.bias
    weight = target.weight if target.scale is None else target.weight * target.scale
    if target.shift is not None:
        bias = bias + target.weight @ target.shift
    if source is None or source.given_scale is None:
        return Linear(weight, bias)
    size = np.abs(source.given_scale)
    heard = size > LEAST_SCALE * size.max()
    weight = np.where(heard, weight / np.where(heard, source.given_scale, 1), 0).astype(np.float32)
    if source.given_shift is not None:
        bias = bias - weight @ source.given_shift
    return Linear(weight, bias)


def stacked(gates: Sequence[Gate], depth: int, on: Literal["gating", "after"] = "gating") -> list[list[Linear]]:
    """By row, the routers of up to `depth` rows after it, folded."""
    rows = range(len(gates))
    return [[folded(gates[r] if on == "gating" else None, gates[t]) for t in rows[r + 1 : r + 1 + depth]] for r in rows]


class StackedGates:
    """The next routers on this row's gating input, or on the hidden state behind its experts (on='after')."""

    def __init__(
        self,
        gates: Sequence[Gate],
        maps: Sequence[Sequence[Linear]],
        on: Literal["gating", "after"] = "gating",
        kernel: NativeKernel | None = None,
        name: str | None = None,
    ) -> None:
        """maps: by row, one per row after it that it speaks for. kernel: multiplies, with BITS a weight; else numpy."""
        self.name = name or ("gates" if on == "gating" else "after")
        self._gates, self._on = gates, on
        arena = _Pages()
        self._products = [[_product(one, kernel, arena) for one in own] for own in maps]

    def begin_sequence(self) -> None:
        """Nothing is kept."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        x = sight.gating if self._on == "gating" else sight.after
        ahead = row - sight.row
        if x is None or sight.row < 0 or ahead > len(self._products[sight.row]):
            return None
        if self._on == "after":
            x = x * np.float32(1 / math.sqrt(float(np.dot(x, x)) / len(x) + 1e-6))
        return self._gates[row].ranking(self._products[sight.row][ahead - 1](x))

    def learn(self, sight: Sight) -> None:
        """Nothing to learn."""


def _product(own: Linear, kernel: NativeKernel | None, arena: Arena) -> Product:
    if kernel is None:
        return lambda x: np.asarray(own.weight @ x + own.bias, np.float32)
    return _Native(own, kernel, arena)


class _Pages(Arena):
    """Pages of its own for every matrix: shared huge ones would take 2 MB where a small model's gates have 100 kB."""

    def take(self, nbytes: int) -> torch.Tensor:
        """See Arena.take."""
        return huge(nbytes)


class _Native:
    """The product by native code; its answer is written over by the next call."""

    def __init__(self, own: Linear, kernel: NativeKernel, arena: Arena) -> None:
        self._kernel, self._shape = kernel, own.weight.shape[1:]
        self._packed = Packed([torch.from_numpy(own.weight)], BITS, kernel, arena)
        self._bias = torch.from_numpy(own.bias)  # the view holds its address alone
        set_bias(self._packed.view, self._bias)
        self._y = torch.empty(1, len(own.weight))
        self._out = self._y.numpy()[0]
        self._address = self._y.data_ptr()
        self._x: Floats | None = None  # that was given last: mostly the same memory, filled anew
        self._given = 0

    def __call__(self, x: Floats) -> Floats:
        if x is not self._x:
            if x.dtype != np.float32 or x.shape != self._shape or not x.flags.c_contiguous:
                raise ValueError(f"x is {x.dtype} {x.shape}; expected contiguous float32 {self._shape}")
            self._x, self._given = x, x.ctypes.data
        self._kernel.glance(self._packed.view, self._given, self._address)
        return self._out
