"""The linear layers of an open model on the card, where that is faster: proved, and measured, before they are used."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.matrices import CardMatrices, CardMatrix, nbytes_of, supports
from engine.cuda.operands import TOLERANCE
from engine.kernels.native import NativeKernel
from engine.native.library import MatrixView
from engine.native.op_graph import OpGraph
from engine.translatable import msg

TURNS = 3  # through all matrices on each side, of which the middle counts: by then others have pushed each from caches


@dataclass(frozen=True)
class LinearPlace:
    """A matrix, and the op that multiplies with it."""

    graph: OpGraph
    at: int
    view: MatrixView


@dataclass(frozen=True)
class Tried:
    """A matrix on the card. seconds: of a product by the card, and by the processor."""

    place: LinearPlace
    matrix: CardMatrix
    card: float
    host: float


class CardLinears:
    """Linear layers that the card computes for single tokens. nbytes: that they take there; worst: the largest
    difference from the processor's products, relative to the norm of a row; seconds: of all of them in a token, by the
    card and by the processor.
    """

    def __init__(
        self, device: CardDevice, ptx: bytes, kernel: NativeKernel, places: Sequence[LinearPlace], room: int
    ) -> None:
        """Bring as many as there is room for, the largest first, and keep those that are faster there. room: bytes.

        Raises CardError where one differs from the processor, or the card fails.
        """
        fitting, left = [], room
        for place in sorted((p for p in places if supports(p.view)), key=lambda p: -nbytes_of(p.view)):
            if nbytes_of(place.view) <= left:
                fitting.append(place)
                left -= nbytes_of(place.view)
        self.nbytes, self.worst, self.seconds = 0, 0.0, (0.0, 0.0)
        self._matrices: CardMatrices | None = None
        self._kept: list[Tried] = []
        if not fitting:
            return
        device.on_close(self.stop)
        self._matrices = CardMatrices(device, ptx, [place.view for place in fitting], exact=kernel.exact)
        placed = [(place, self._matrices.place(place.view)) for place in fitting]
        self.worst = max(_difference(matrix, kernel) for _, matrix in placed)
        refuse_others(device, self.worst)
        for tried in measure(placed, kernel):
            if tried.card < tried.host:
                self._keep(tried)
            else:
                self._matrices.remove(tried.matrix)

    def _keep(self, tried: Tried) -> None:
        self._kept.append(tried)
        self.nbytes += nbytes_of(tried.place.view)
        self.seconds = self.seconds[0] + tried.card, self.seconds[1] + tried.host
        tried.place.graph.put_on_card(tried.place.at, tried.matrix.address)

    @property
    def matrices(self) -> list[CardMatrix]:
        """Those that are on the card."""
        return [tried.matrix for tried in self._kept]

    @property
    def count(self) -> int:
        """How many there are on the card."""
        return len(self._kept)

    @property
    def computed(self) -> int:
        """Products of the card since it was opened."""
        return 0 if self._matrices is None else self._matrices.computed

    @property
    def error(self) -> CardError | None:
        """What made the card fail; the processor computed the product that it was asked for. None: it works."""
        return None if self._matrices is None else self._matrices.error

    def rest(self, resting: bool) -> None:
        """Leave products to the processor, or take them again."""
        for tried in self._kept:
            tried.place.graph.put_on_card(tried.place.at, 0 if resting else tried.matrix.address)

    def stop(self) -> None:
        """From now on the processor computes all. Safe to call twice."""
        for tried in self._kept:
            tried.place.graph.put_on_card(tried.place.at, 0)
        if self._matrices is not None:
            self._matrices.stop()
        self._kept, self.nbytes = [], 0


def refuse_others(device: CardDevice, worst: float) -> None:
    """Raises CardError where products differ from the processor's by more than the order of sums explains. worst: the
    largest difference, relative to the norm of a row."""
    if not worst <= TOLERANCE:
        raise CardError(
            msg(
                "{name} and the CPU give different results: shared weights differ by {worst}.",
                name=device.facts.name,
                worst=f"{worst:.2g}",
            ),
            msg("Update the driver, or set “Compute device” to CPU."),
        )


def _difference(matrix: CardMatrix, kernel: NativeKernel) -> float:
    view = matrix.view
    x, found = torch.randn(1, view.cols, generator=torch.Generator().manual_seed(view.rows)), torch.empty(1, view.rows)
    expected = kernel.linear(view, x, torch.empty(1, view.rows))
    matrix.product(x, found)
    return worst_row(found, expected)


def worst_row(found: Tensor, expected: Tensor) -> float:
    """The largest difference of a row of [T, N], relative to its norm."""
    worst = (found - expected).norm(dim=1) / expected.norm(dim=1).clamp_min(1e-30)
    return float(worst.max().nan_to_num(torch.inf))


def measure(placed: Sequence[tuple[LinearPlace, CardMatrix]], kernel: NativeKernel) -> list[Tried]:
    """One after the other, as in a token, so that none is in a cache when its turn comes."""
    room = {id(m): (torch.randn(1, m.view.cols), torch.empty(1, m.view.rows)) for _, m in placed}

    def took(compute: Callable[[CardMatrix, Tensor, Tensor], object]) -> list[float]:
        turns: list[list[float]] = []
        for _ in range(TURNS):
            turns.append([])
            for _, matrix in placed:
                start = time.perf_counter()
                compute(matrix, *room[id(matrix)])
                turns[-1].append(time.perf_counter() - start)
        return [statistics.median(each) for each in zip(*turns, strict=True)]

    card = took(CardMatrix.product)
    host = took(lambda matrix, x, y: kernel.linear(matrix.view, x, y))
    return [Tried(*pair, *times) for pair, *times in zip(placed, card, host, strict=True)]
