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
class Machine:
    """Memory in bytes, rates in bytes per second.

    ram_limit: the smallest of physical memory and the control group's limit. ram_free: what a program can still
    take now, page cache counted as free. disk_rate: random reads of expert-sized blocks on the store's disk.
    isa: what the native kernels run on here, or 'torch'.
    """

    cores: int
    ram_limit: int
    ram_free: int
    memory_rate: float
    disk_rate: float
    disk_free: int
    isa: str = "torch"
    gpus: tuple[Gpu, ...] = ()
    os: str = "linux"
