"""A computer as the planner sees it: plain numbers, so that any laptop can be simulated."""

from __future__ import annotations

from dataclasses import dataclass

GB = 10**9


@dataclass(frozen=True)
class Gpu:
    """One graphics card. Memory in bytes."""

    name: str
    total: int
    free: int


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
class Machine:
    """Memory in bytes, rates in bytes per second.

    disk_rate: random reads of expert-sized blocks on the store's disk. isa: what the native kernels run on here, or
    'torch'.
    """

    cores: int
    memory: Memory
    memory_rate: float
    disk_rate: float
    disk_free: int
    isa: str = "torch"
    gpus: tuple[Gpu, ...] = ()
    os: str = "linux"
