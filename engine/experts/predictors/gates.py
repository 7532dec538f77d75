"""Stacked gates (hobbit, section 3.3): the routers of the next layers on what this layer's experts are given.

The paper multiplies the next p at once. Here each is multiplied when it is asked for, since a walk often ends at the
first. Attention and experts of the rows in between move the hidden state, so gates can be taught what lies between.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from engine.experts.predictors.predictor import Floats, Predictor, RoutingContext
from engine.experts.predictors.trace_view import TraceView
from engine.kernels.dense import PackedMatrix, set_bias
from engine.kernels.native import NativeKernel
from engine.native.memory import Arena, huge

BITS = 8  # of a weight; 4 would find 2 to 3 of 100 experts fewer (built-in model)
RIDGE = 100.0  # tokens' worth of the belief that nothing lies between two rows; from 30 to 300 little changes
LEAST_SCALE = 1e-4  # of the largest: channels that a norm all but silences tell nothing once divided by it

Product = Callable[[Floats], Floats]


@dataclass(frozen=True, eq=False, kw_only=True)
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
        return _ranking(scores, self.choice)


def _ranking(scores: Floats, choice: Floats | None) -> Floats:
    return scores if choice is None else np.asarray(1 / (1 + np.exp(-scores)) + choice, np.float32)


@dataclass(frozen=True, eq=False)
class LinearMap:
    """scores [E] = weight x + bias [E]. weight: [E, H], float16 where it lies in a file so; or [E, 2 H], of two inputs,
    the second being what the experts of the row that it speaks for were given for the token before.
    """

    weight: NDArray[np.floating]
    bias: Floats


def folded(source: Gate, target: Gate) -> LinearMap:
    """The target's router on what the source's experts are given, as if only the norms' weights lay between."""
    bias = np.zeros(len(target.weight), np.float32) if target.bias is None else target.bias
    weight = target.weight if target.scale is None else target.weight * target.scale
    if target.shift is not None:
        bias = bias + target.weight @ target.shift
    if source.given_scale is None:
        return LinearMap(weight, bias)
    size = np.abs(source.given_scale)
    heard = size > LEAST_SCALE * size.max()
    # The source's experts are given norm(h) * given_scale; divided by that, the input is the normed hidden state that
    # the target's router would multiply by its own scale. What the norm silences is left out: 1 / scale would blow up
    # its noise.
    weight = np.where(heard, weight / np.where(heard, source.given_scale, 1), 0).astype(np.float32)
    if source.given_shift is not None:
        bias = bias - weight @ source.given_shift
    return LinearMap(weight, bias)


def stacked(gates: Sequence[Gate], depth: int) -> list[list[LinearMap]]:
    """By row, the routers of up to `depth` rows after it, folded."""
    rows = range(len(gates))
    return [[folded(gates[row], gates[t]) for t in rows[row + 1 : row + 1 + depth]] for row in rows]


class StackedGates(Predictor):
    """The next routers on this row's gating input, and, where they were taught to, on what they saw one token ago."""

    def __init__(
        self,
        gates: Sequence[Gate],
        maps: Sequence[Sequence[LinearMap]],
        kernel: NativeKernel | None = None,
        name: str = "gates",
    ) -> None:
        """maps: by row, one per row after it that it speaks for. kernel: multiplies, with BITS a weight; else numpy."""
        self.name = name
        self._choices = [gate.choice for gate in gates]  # of the gates themselves nothing is kept
        hidden = gates[0].weight.shape[1]
        self._wide = [[one.weight.shape[1] > hidden for one in own] for own in maps]
        self._remembers = any(map(any, self._wide))
        self._before = np.zeros((len(gates) if self._remembers else 0, hidden), np.float32)
        self._both = np.zeros(2 * hidden, np.float32)
        self._now, self._then = self._both[:hidden], self._both[hidden:]
        arena = _Pages()
        self._products = [[_product(one, kernel, arena) for one in own] for own in maps]

    def begin_sequence(self) -> None:
        """There is no token before."""
        self._before[:] = 0

    def interrupted(self) -> None:
        """What was seen last is not of the token before."""
        self._before[:] = 0

    def put_aside(self) -> Floats:
        """See Predictor.put_aside."""
        kept = self._before.copy()
        self._before[:] = 0
        return kept

    def bring_back(self, records: object) -> None:
        """See Predictor.bring_back."""
        assert isinstance(records, np.ndarray)
        self._before[:] = records

    def scores(self, context: RoutingContext, row: int) -> Floats | None:
        """See Predictor.scores."""
        x = context.gating
        ahead = row - context.row
        if x is None or context.row < 0 or ahead > len(self._products[context.row]):
            return None
        if self._wide[context.row][ahead - 1]:
            self._now[:] = x
            self._then[:] = self._before[row]
            x = self._both
        return _ranking(self._products[context.row][ahead - 1](x), self._choices[row])

    def learn(self, context: RoutingContext) -> None:
        """What this row is given is what was given before, for the next token."""
        if self._remembers and context.gating is not None:
            self._before[context.row] = context.gating


def _product(own: LinearMap, kernel: NativeKernel | None, arena: Arena) -> Product:
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

    def __init__(self, own: LinearMap, kernel: NativeKernel, arena: Arena) -> None:
        self._kernel, self._shape = kernel, own.weight.shape[1:]
        self._packed = PackedMatrix([torch.from_numpy(own.weight)], BITS, kernel, arena)
        self._bias = torch.from_numpy(own.bias)  # the view holds its address alone
        set_bias(self._packed.view, self._bias)
        self._y = torch.empty(1, len(own.weight))
        self._out = self._y.numpy()[0]
        # `_out` is the same memory; taken once, as numpy and torch need longer for an address than a small gate's
        # product.
        self._address = self._y.data_ptr()
        self._x: Floats | None = None  # that was given last: mostly the same memory, filled anew
        self._given = 0

    def __call__(self, x: Floats) -> Floats:
        if x is not self._x:
            if x.dtype != np.float32 or x.shape != self._shape or not x.flags.c_contiguous:
                raise ValueError(f"x is {x.dtype} {x.shape}; expected contiguous float32 {self._shape}")
            # Keeping x keeps its address valid, and spares asking again for the same array.
            self._x, self._given = x, x.ctypes.data
        self._kernel.glance(self._packed.view, self._given, self._address)
        return self._out


# ---- gates that were taught what lies between -----------------------------------------------------------------------

# The folded gate of a coming row answers as if nothing lay between. Ridge regression adds to it what, over a recorded
# run, the true router's scores had beyond that, from the same input and from what the coming row's experts were given
# for the token before: that is known long since, and attention brings much of it over.


def fitted_row(run: TraceView, gates: Sequence[Gate], row: int, depth: int) -> list[LinearMap]:
    """Maps of one row to the scores of up to `depth` rows after it. run: with gating inputs."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    found = []
    for target in range(row + 1, min(row + depth, len(gates) - 1) + 1):
        x = np.concatenate([run.gating[row].astype(np.float32), _before(run, target)], 1)
        found.append(_fitted(x, own_scores(run, gates[target], target), folded(gates[row], gates[target])))
    return found


def own_scores(run: TraceView, gate: Gate, row: int) -> Floats:
    """[N, E]: what the router of a row said."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    own = folded(gate, gate)
    return run.gating[row].astype(np.float32) @ own.weight.T + own.bias


def _before(run: TraceView, row: int) -> Floats:
    """[N, H]: what the experts of a row were given for the token before; 0 where a sequence begins."""
    assert run.gating is not None, "only a run with gating inputs can be fitted to"
    found = np.roll(run.gating[row].astype(np.float32), 1, axis=0)
    # np.roll brings the last token of the sequence before; and what Prefetcher knows of the first token of a sequence
    # is nothing either.
    found[sorted(run.starts)] = 0
    return found


def _fitted(x: Floats, wanted: Floats, prior: LinearMap) -> LinearMap:
    """argmin |x W + b - wanted|^2 + RIDGE |S (W - prior)|^2, S being the size of each channel of x.

    prior: for the first channels of x; of the others nothing is believed.
    """
    size = np.sqrt(np.square(x).mean(0)) + np.float32(1e-6)
    # A channel that is next to silent would be scaled up until its noise counts as much as any other's signal.
    size = np.maximum(size, size.max() * np.float32(1e-4))
    scaled = np.concatenate([x / size, np.ones((len(x), 1), np.float32)], 1)
    believed = prior.weight.shape[1]
    rest = wanted - (x[:, :believed] @ prior.weight.T + prior.bias)
    if len(x) < scaled.shape[1]:  # the same solution from the smaller of the two matrices
        # Products in float32, for speed; solved in float64, since normal equations square the condition of the inputs.
        gram = (scaled @ scaled.T).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = scaled.T @ np.linalg.solve(gram, rest).astype(np.float32)
    else:
        gram = (scaled.T @ scaled).astype(np.float64)
        gram[np.diag_indices_from(gram)] += RIDGE
        found = np.linalg.solve(gram, scaled.T @ rest).astype(np.float32)
    weight = np.ascontiguousarray((found[:-1] / size[:, None]).T)
    weight[:, :believed] += prior.weight
    return LinearMap(weight, prior.bias + found[-1])
