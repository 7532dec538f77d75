"""Stacked gates (hobbit, section 3.3): the next layers' routers on what this layer's experts get, in one product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from engine.experts.predictors.predictor import Floats, Sight
from engine.kernels.dense import Packed
from engine.kernels.memory import Arena
from engine.kernels.native import NativeKernel

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
        """maps: by row, one per row after it that it speaks for. kernel: multiplies, with 8-bit weights; else numpy."""
        self.name = name or ("gates" if on == "gating" else "after")
        self._gates, self._on = gates, on
        arena = Arena()
        self._products = [_product(own, kernel, arena) if own else None for own in maps]
        self._depths = [len(own) for own in maps]
        self._stamp, self._found = -1, np.zeros((0, 0), np.float32)

    def begin_sequence(self) -> None:
        """Nothing is kept."""

    def scores(self, sight: Sight, row: int) -> Floats | None:
        """See Predictor.scores."""
        x = sight.gating if self._on == "gating" else sight.after
        ahead = row - sight.row
        if x is None or sight.row < 0 or ahead > self._depths[sight.row]:
            return None
        if self._stamp != sight.stamp:
            product = self._products[sight.row]
            assert product is not None
            if self._on == "after":
                x = x / np.sqrt(np.dot(x, x) / len(x) + 1e-6)
            self._found = product(x).reshape(self._depths[sight.row], -1)
            self._stamp = sight.stamp
        return self._gates[row].ranking(self._found[ahead - 1])

    def learn(self, sight: Sight) -> None:
        """Nothing to learn."""


def _product(own: Sequence[Linear], kernel: NativeKernel | None, arena: Arena) -> Product:
    weight = np.concatenate([one.weight for one in own])
    bias = np.concatenate([one.bias for one in own])
    if kernel is None:
        return lambda x: np.asarray(weight @ x + bias, np.float32)
    packed = Packed([torch.from_numpy(weight)], 8, kernel, arena)
    y = torch.empty(1, len(weight))
    out = y.numpy()[0]

    def multiply(x: Floats) -> Floats:
        kernel.linear(packed.view, torch.from_numpy(x)[None], y)
        return out + bias

    return multiply
