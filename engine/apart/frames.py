"""Commands and events through a pipe: each behind its length."""

from __future__ import annotations

import struct
from typing import IO, Any

from engine.apart.words import pack, unpack

_LENGTH = struct.Struct("<Q")


def write(stream: IO[bytes], thing: object) -> None:
    """Send one thing now. Raises OSError when nobody reads any more, TypeError as `pack`."""
    packed = pack(thing)
    stream.write(_LENGTH.pack(len(packed)) + packed)
    stream.flush()


def read(stream: IO[bytes]) -> Any:
    """The next thing. Raises EOFError when the other side has ended, in the middle of one, too."""
    return unpack(_exactly(stream, _LENGTH.unpack(_exactly(stream, _LENGTH.size))[0]))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    got = stream.read(count)
    if len(got) < count:
        raise EOFError
    return got
