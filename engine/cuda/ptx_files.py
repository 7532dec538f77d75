"""The kernels as they are shipped: PTX, which the driver of a card compiles for it."""

from __future__ import annotations

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
            return resources.path("cuda", f"{flavour}.ptx").read_bytes() + b"\0"
    raise ValueError(f"there are no kernels for compute capability {capability}")
