"""SHA-256 that can be put away in the middle and taken up by another process; hashlib's cannot."""

from __future__ import annotations

from ctypes import c_int, c_int64, c_void_p
from pathlib import Path

import numpy as np

from engine.native.library import load_library

WAYS = ("plain", "sha")  # as in the C enum, the fastest last
BLOCK = 64  # bytes
_START = "6a09e667bb67ae853c6ef372a54ff53a510e527f9b05688c1f83d9ab5be0cd19"  # FIPS 180-4, section 5.3.3


def ways(path: Path | None = None) -> tuple[str, ...]:
    """How native code can compute it on this processor, the fastest last."""
    found = load_library(path).uh_sha256_ways()
    return tuple(name for way, name in enumerate(WAYS) if found >> way & 1)


class Sha256:
    """Of bytes that come in pieces."""

    def __init__(self, state: str = "", way: str | None = None, path: Path | None = None) -> None:
        """state: of an earlier one; '' begins. way: one of `ways`; None takes the fastest. Raises ValueError."""
        if way is not None and way not in ways(path):
            raise ValueError(f"this processor cannot compute SHA-256 by {way}")
        self._function, self._way = load_library(path).uh_sha256, -1 if way is None else WAYS.index(way)
        # CDLL: lets go of the interpreter's lock, so that a download is hashed beside an answer.
        self._function.argtypes, self._function.restype = (c_int, c_void_p, c_void_p, c_int64), None
        words, _, length = state.partition(":")
        self._length = int(length or 0)
        if len(words) not in (0, len(_START)) or self._length % BLOCK:
            raise ValueError(f"{state!r} is no state of a SHA-256")
        # Big-endian in a state that is kept, as FIPS prints it, so that a journal may move to another machine; native
        # in memory.
        self._words = np.frombuffer(bytes.fromhex(words or _START), ">u4").astype(np.uint32)
        self._rest = b""

    def update(self, data: memoryview) -> None:
        """Add contiguous bytes."""
        self._length += data.nbytes
        if self._rest:
            take = min(BLOCK - len(self._rest), data.nbytes)
            self._rest, data = self._rest + bytes(data[:take]), data[take:]
            if len(self._rest) < BLOCK:
                return
            self._blocks(np.frombuffer(self._rest, np.uint8))
            self._rest = b""
        whole = data.nbytes // BLOCK * BLOCK
        if whole:
            self._blocks(np.frombuffer(data[:whole], np.uint8))
        self._rest = bytes(data[whole:])

    @property
    def state(self) -> str:
        """To go on from later. Raises ValueError unless the bytes so far are whole blocks."""
        if self._rest:
            raise ValueError(f"{self._length} bytes are no whole number of blocks")
        return f"{self._words.astype('>u4').tobytes().hex()}:{self._length}"

    def hexdigest(self) -> str:
        """Of the bytes so far."""
        # FIPS 180-4, 5.1.1: a 1 bit, zeros, and the length in bits as 8 bytes, up to a whole block; 9 = 1 + 8.
        zeros = (-self._length - 9) % BLOCK
        end = np.frombuffer(self._rest + b"\x80" + bytes(zeros) + (8 * self._length).to_bytes(8, "big"), np.uint8)
        # The padding goes through a state that is then put back, so that `update` may go on after a digest.
        before = self._words.copy()
        self._blocks(end)
        found = self._words.astype(">u4").tobytes().hex()
        self._words = before
        return found

    def _blocks(self, data: np.ndarray[tuple[int], np.dtype[np.uint8]]) -> None:
        # `_words` is written in place. C takes whole blocks only; FIPS 180-4 pads the last ones in `hexdigest`.
        self._function(self._way, self._words.ctypes.data, data.ctypes.data, data.nbytes // BLOCK)
