"""Large memory for weights: huge pages where the system offers them, and given back to the system when let go.

Reading weights touches every page once per token; with pages of 2 MiB the processor looks up 512 times fewer of them.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import re
import sys
import threading
import weakref
from pathlib import Path

import torch
from torch import Tensor

PAGE = 4096  # what direct I/O reads to
# Of x86-64, and of arm64 with pages of 4 KiB. Elsewhere alignments are merely larger than needed.
HUGE = 2 << 20  # bytes of a huge page
SLAB = 256 << 20  # of address space, which costs nothing until it is written to
OWN_MAPPING = 1 << 20  # bytes of a block that leaves the heap alone
M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # malloc.h
MAPPED = re.compile(r"([0-9a-f]+)-([0-9a-f]+) (\S{4}) \S+ \S+ \d+\s*(/.*)?$")
LINUX = sys.platform == "linux"


def huge(nbytes: int) -> Tensor:
    """uint8 [nbytes], zero, outside of any heap; at least page-aligned, from 2 MiB on aligned to that.

    Whole huge pages inside it are asked for and never one beyond it, so that it takes no more memory than `nbytes`
    rounded up to a page. The address never changes; the memory is released with the last tensor over it.
    Raises OSError when there is none.
    """
    if not LINUX or nbytes < HUGE:
        return torch.frombuffer(_mapping(_pages(nbytes)), dtype=torch.uint8, count=nbytes)
    mapping = _mapping(_pages(nbytes) + HUGE)
    # mmap aligns to pages only; the HUGE bytes more than asked for, which are never touched, leave room to begin at a
    # multiple.
    start = -_address(mapping) % HUGE
    whole = start + nbytes // HUGE * HUGE
    _advise(mapping, "MADV_HUGEPAGE", start, whole - start)
    # The kernel would back the tail by a whole huge page at its first write: up to 2 MiB beyond what the plan counts.
    _advise(mapping, "MADV_NOHUGEPAGE", whole, len(mapping) - whole)
    return torch.frombuffer(mapping, dtype=torch.uint8, count=nbytes, offset=start)


def all_huge(nbytes: int) -> Tensor:
    """As `huge`, with its end in a huge page as well: what is read into, where disks are measured. A virtual one gives
    half into small pages."""
    return huge(-(-nbytes // HUGE) * HUGE)[:nbytes]


def keep_heap_small() -> None:
    """From now on, blocks of 1 MiB or more are mappings of their own, which go back to the system when they are freed.

    glibc puts blocks of up to 32 MB on the heap once some were freed, and cannot use the holes of those that ask for an
    alignment, as torch's do: a prompt of 1500 tokens left 260 MB in them (measured). Other libraries need no telling.
    """
    if LINUX:
        with contextlib.suppress(AttributeError, OSError):  # there is no mallopt but in glibc
            # The C library that is in the process already, under whatever name.
            libc = ctypes.CDLL(None)
            libc.mallopt(M_MMAP_THRESHOLD, OWN_MAPPING)
            libc.mallopt(M_TRIM_THRESHOLD, OWN_MAPPING)


def trim_heap() -> None:
    """Give the holes of the heap back to the system: what a prompt left there, 13 MB of a large model's (1.4 ms)."""
    if LINUX:
        with contextlib.suppress(AttributeError, OSError):  # there is no malloc_trim but in glibc
            ctypes.CDLL(None).malloc_trim(0)


def forget_code() -> None:
    """Let go of the pages of programs and libraries that are there; those that are used again are mapped again.

    Most were needed while they were loaded and are not again: of 75 MB 16 came back (measured). Only code that is as it
    lies on the disk: nothing of the process's own is lost.
    """
    if sys.platform != "linux":
        return
    with contextlib.suppress(AttributeError, OSError):
        maps = Path("/proc/self/smaps").read_text(encoding="utf-8", errors="replace")
        release = ctypes.CDLL(None).madvise
        # Addresses of mappings are beyond 2^32: without argtypes they would be cut to an int.
        release.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
        for start, end in code_of(maps):
            release(start, end - start, mmap.MADV_DONTNEED)


def code_of(smaps: str) -> list[tuple[int, int]]:
    """From where to where code is mapped from files that nobody has written to, as /proc/self/smaps tells (proc(5))."""
    found = []
    at: tuple[int, int] | None = None
    for line in smaps.splitlines():
        if not line[:1].isupper() and (mapped := MAPPED.match(line)):  # figures of a mapping begin with their names
            at = (int(mapped[1], 16), int(mapped[2], 16)) if mapped[3] == "r-xp" and mapped[4] else None
        elif at is not None and line.startswith("Anonymous:") and line.split()[1] == "0":
            found.append(at)
    return found


class Arena:
    """Page-aligned tensors cut one behind the other from huge slabs: for those too small to fill huge pages alone.

    Memory comes as it is first written to, by whole huge pages: up to 2 MiB per slab of 256 MiB beyond what was cut.
    What is let go is given back at once, whatever else lives in its slab. Thread-safe. Elsewhere than on Linux, where
    a part of a mapping cannot be given back, every tensor is a mapping of its own.
    """

    def __init__(self) -> None:
        self._slab: mmap.mmap | None = None
        self._at = self._end = 0
        # Guards where the next tensor is cut. A leaf: nothing else is locked under it.
        self._lock = threading.Lock()

    def take(self, nbytes: int) -> Tensor:
        """uint8 [nbytes], zero. Raises OSError when there is no memory."""
        if not LINUX:
            return huge(nbytes)
        size = _pages(nbytes)
        with self._lock:
            # What is left of the old slab is address space that was never written to: it costs nothing.
            if self._slab is None or self._at + size > self._end:
                length = max(SLAB, -(-size // HUGE) * HUGE)
                self._slab = _mapping(length + HUGE)
                self._at = -_address(self._slab) % HUGE
                self._end = self._at + length
                _advise(self._slab, "MADV_HUGEPAGE", self._at, length)
            slab, start = self._slab, self._at
            self._at += size
        # The tensor holds `piece`, and that the slab; `piece` is what is finalized, since views of the tensor keep it
        # too.
        piece = (ctypes.c_ubyte * nbytes).from_buffer(slab, start)
        # atexit off: at the end the system takes everything, and views may still be in use by other threads.
        weakref.finalize(piece, _give_back, slab, start, size).atexit = False
        return torch.frombuffer(piece, dtype=torch.uint8)


def _give_back(slab: mmap.mmap, start: int, size: int) -> None:
    if sys.platform != "win32":  # where `take` makes no slab
        slab.madvise(mmap.MADV_DONTNEED, start, size)
    # or the system would in time fill the hole again, to make whole huge pages of what is left around it
    _advise(slab, "MADV_NOHUGEPAGE", start, size)


def _mapping(nbytes: int) -> mmap.mmap:
    """Private, so that neighbours count as one: Linux allows a process 65530, and a model may have more parts."""
    if sys.platform == "win32":
        return mmap.mmap(-1, nbytes)
    return mmap.mmap(-1, nbytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)


def _advise(mapping: mmap.mmap, advice: str, start: int, nbytes: int) -> None:
    """What the kernel can do without: one built without huge pages refuses."""
    if sys.platform != "win32" and nbytes and hasattr(mmap, advice):
        with contextlib.suppress(OSError):
            mapping.madvise(getattr(mmap, advice), start, nbytes)


def _address(mapping: mmap.mmap) -> int:
    # The exported buffer is let go at once; a mapping is never resized, so its address holds as long as it lives.
    return ctypes.addressof(ctypes.c_char.from_buffer(mapping))


def _pages(nbytes: int) -> int:
    return -(-nbytes // PAGE) * PAGE
