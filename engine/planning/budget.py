"""One byte ceiling for the whole process: what may be used, and what everything in it takes beside its own bytes."""

from __future__ import annotations

from engine.hardware.machine import GB, Memory, size
from engine.translatable import Translatable, msg

MARGIN = 2 * GB  # left to the rest of the computer
# Left within a control group's limit, where it is the group that limits: nobody else lives there, but the kernel
# charges page tables, its own structures and files being read to it as well.
GROUP_MARGIN, GROUP_PART = 32_000_000, 100
# What no other figure here names: modules that come with the first model, thread stacks, first calls of libraries,
# text, what the allocator keeps (measured: 33 MB, and some 40 after a prompt).
BASE = 56_000_000
# Experts lie in slabs of huge pages: one page begun in every slab of 128 (engine/native/memory.py), and one more.
HUGE, PAGES_PER_SLAB = 2 << 20, 128
ENTRY = 10_000  # of the interpreter's memory for an expert that is resident, in three parts (measured: 8 to 10 kB)


def ceiling(memory: Memory, asked_gb: object, in_use: int, why: list[Translatable]) -> int:
    """Most bytes for the whole process: what was asked, but never beyond what is free less a margin. Says which it is.

    in_use: resident bytes of this process that stay; they are its own already.
    """
    free = memory.free + in_use
    safe = free - min(MARGIN, free // 4)
    if memory.group_free is not None:
        inside = min(memory.group_free + in_use, memory.limit)
        safe = min(safe, inside - max(GROUP_MARGIN, inside // GROUP_PART))
    if asked_gb is None:
        why.append(
            msg(
                "{available} of memory free; the app may use {safe}.",
                available=size(memory.available),
                safe=size(safe),
            )
        )
        return safe
    asked = int(float(str(asked_gb)) * GB)
    if asked > safe:
        why.append(
            msg(
                "Memory limit lowered from {asked} GB to {at_most}: no more is free.",
                asked=f"{round(asked / GB, 2):g}",
                at_most=at_most(safe),
            )
        )
        return safe
    why.append(
        msg(
            "Memory limit {asked}; the app itself uses {in_use}.",
            asked=size(asked),
            in_use=size(in_use),
        )
    )
    return asked


def held_by(cache_bytes: int, record_bytes: int, experts: int) -> int:
    """Memory that a cache of so many bytes takes. record_bytes: of the least that is kept of one of `experts`."""
    entries = min(experts, -(-cache_bytes // record_bytes))
    return cache_bytes + -(-cache_bytes // PAGES_PER_SLAB) + HUGE + ENTRY * entries


def cache_within(room: int, record_bytes: int, experts: int) -> int:
    """The largest cache that `room` bytes hold; 0 or less where there is none."""
    slabs = 1 + 1 / PAGES_PER_SLAB
    # held_by the other way round. It counts an entry for each expert or for each record that fits, whichever are fewer,
    # so of the two caches that each would allow the larger is right. 1: held_by rounds up.
    with_all = (room - HUGE - 1 - ENTRY * experts) / slabs
    by_size = (room - HUGE - 1 - ENTRY) / (slabs + ENTRY / record_bytes)
    return int(max(with_all, by_size))


def at_least(nbytes: int) -> str:
    """As `size`, but never less than it is: whoever provides that much provides enough."""
    return size(_whole(nbytes + _step(nbytes) - 1))


def at_most(nbytes: int) -> str:
    """As `size`, but never more than it is."""
    return size(_whole(nbytes))


def _whole(nbytes: int) -> int:
    """The next lower that `size` tells from its neighbours."""
    return nbytes // _step(nbytes) * _step(nbytes)


def _step(nbytes: int) -> int:
    return GB // 10 if nbytes >= GB else 10**6
