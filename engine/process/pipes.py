"""Commands and events through a pipe."""

from __future__ import annotations

from typing import IO, Any

from engine.process.codec import pack, unpack
from engine.sandbox import frames


def write(stream: IO[bytes], thing: object) -> None:
    """Send one thing now. Raises OSError when nobody reads any more, TypeError as `pack`."""
    frames.send(stream, pack(thing))


def read(stream: IO[bytes]) -> Any:
    """The next thing. Raises EOFError when the other side has ended, in the middle of one, too."""
    return unpack(frames.receive(stream))
