"""A computer as the planner sees it: plain numbers, so that any laptop can be simulated."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from statistics import fmean

GB = 10**9  # as disks and downloads are sold; with 2**30 a plan would promise 7 % too much
NEAR = 1.25  # as much as the best of some short measurements may be above another that counts as well
# Weights times tokens a second and core, by the tokens that each weight meets, where it was not measured.
PRODUCTS = {2: 8e10, 4: 1.2e11, 8: 1e11, 32: 1.6e11, 128: 2e11}


def size(nbytes: int) -> str:
    """A number of bytes in words, as for a sentence: 1.5 GB, 300 MB."""
    return f"{nbytes / GB:.1f} GB" if nbytes >= GB else f"{nbytes / 1e6:.0f} MB"


@dataclass(frozen=True, kw_only=True)
class Gpu:
    """One graphics card. Memory in bytes. pinned: bytes per second to it, from pinned memory; rate: of its own memory,
    as measured, or by its clock; 0: not known. unified: its memory is the computer's. capability: of its kernels, as
    CUDA counts them."""

    name: str
    total: int
    free: int
    pinned: float = 0.0
    rate: float = 0.0
    unified: bool = False
    capability: tuple[int, int] = (0, 0)


@dataclass(frozen=True)
class Memory:
    """Bytes. limit: the smallest of physical memory and the control groups' limits. free: what a program can still take
    of the machine now, page cache counted as free. group_free: of its control groups, the least; None: no group limits.
    """

    limit: int
    free: int
    group_free: int | None = None

    @property
    def available(self) -> int:
        """What this process can still take."""
        return min(self.limit, self.free, self.limit if self.group_free is None else self.group_free)

    def plus(self, held: int) -> Memory:
        """As if `held` bytes more were free: those that a new plan gives out again."""
        return Memory(self.limit, self.free + held, None if self.group_free is None else self.group_free + held)


@dataclass(frozen=True)
class DiskPoint:
    """Bytes per second of random reads of `nbytes` each, `depth` of them under way at once, into huge pages.

    direct: past the system's file cache; if not, of what is not in it.
    """

    nbytes: int
    depth: int
    direct: bool
    rate: float


@dataclass(frozen=True, kw_only=True)
class Machine:
    """Memory in bytes, rates in bytes per second.

    cores: that compute: where there are two kinds, the fast ones. disk_rate: random reads of expert-sized blocks on the
    store's disk, several at once. isa: what the native kernels run on here. disk_points: the disk in more detail, where
    it was measured. kernel_shares: of the memory's rate, what native kernels reach on experts of each tier; those not
    measured are taken to reach DEFAULT_SHARES. products: weights times tokens that they multiply in a second, by how
    many tokens an expert has at once; empty: not measured. on_battery: None where there is none.
    """

    cores: int
    memory: Memory
    memory_rate: float
    disk_rate: float
    disk_free: int
    isa: str = "portable"
    gpus: tuple[Gpu, ...] = ()
    os: str = "linux"
    disk_points: tuple[DiskPoint, ...] = ()
    kernel_shares: Mapping[int, float] = field(default_factory=dict)
    products: Mapping[int, float] = field(default_factory=dict)
    on_battery: bool | None = None

    def reading(self, direct: bool) -> Machine:
        """As if files could be read past the file cache alone, or through it alone, where that was measured."""
        points = tuple(point for point in self.disk_points if point.direct == direct)
        return replace(self, disk_points=points) if points else self

    def measured(self, direct: bool) -> bool:
        """Whether it is known how fast files are read in this way."""
        return any(point.direct == direct for point in self.disk_points)

    def disk_rate_at(self, nbytes: int) -> float:
        """Random reads of so many bytes: what was measured at that size, or between the sizes around it."""
        found: dict[int, list[float]] = {}
        for point in self.disk_points:
            found.setdefault(point.nbytes, []).append(point.rate)
        levels = {size: level(rates) for size, rates in found.items()}
        return _between(levels, nbytes) if levels else self.disk_rate

    def products_at(self, tokens: float) -> float:
        """Of packed weights, where each meets so many tokens: as measured, or between the numbers around it."""
        return _between(self.products or {at: self.cores * rate for at, rate in PRODUCTS.items()}, tokens)


def level(rates: Collection[float]) -> float:
    """What short measurements say that differ in how something was asked for, the best way to be taken: the mean of
    those near the best. The best alone is the best by luck, too: a disk swings by a tenth within a second.
    """
    best = max(rates)
    return fmean(rate for rate in rates if rate * NEAR >= best)


def _between(known: Mapping[int, float], at: float) -> float:
    """What is known at `at`, or between its neighbours, on a straight line of logarithms; beyond the ends, theirs."""
    smaller = max((size for size in known if size <= at), default=min(known))
    larger = min((size for size in known if size >= at), default=max(known))
    if smaller == larger or at <= smaller:
        return known[smaller]
    # Sizes were measured in doublings, and rates bend with the size's order: on linear scales nearly all sizes would be
    # judged by the larger neighbour.
    between = math.log(at / smaller) / math.log(larger / smaller)
    return known[smaller] ** (1 - between) * known[larger] ** between
