"""The kernels as they are shipped: PTX, packed by gzip, which the driver of a card compiles for it."""

from __future__ import annotations

import gzip

from engine import resources

# Compute capabilities from which each file can be used, the best first: engine/cuda/build.py, FLAVOURS.
_FLAVOURS = (((8, 0), "sm_80"), ((7, 5), "sm_75"))
LEAST_CAPABILITY = (7, 5)  # Turing, 2018: the first that multiplies bytes on tensor cores


def ptx_for(capability: tuple[int, int]) -> bytes:
    """The kernels for a card of this compute capability, ended by a zero byte, as the driver takes text.

    Raises ValueError for a card older than LEAST_CAPABILITY.
    """
    for least, flavour in _FLAVOURS:
        if capability >= least:
            return read_ptx(flavour) + b"\0"
    raise ValueError(f"there are no kernels for compute capability {capability}")


def read_ptx(flavour: str) -> bytes:
    """The text of a flavour's kernels, such as 'sm_80'. Raises OSError, zlib.error where the file is damaged."""
    return gzip.decompress(resources.path("cuda", ptx_name(flavour)).read_bytes())


def ptx_name(flavour: str) -> str:
    """The file's name in resources/cuda/."""
    return f"{flavour}.ptx.gz"
