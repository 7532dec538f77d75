"""Messages through a pipe, each behind its length: bytes, and JSON values."""

from __future__ import annotations

import json
import struct
from typing import IO, Any

from engine.regular_file import parse_json

_LENGTH = struct.Struct("<Q")


class FrameTooLarge(ValueError):
    """The other side announced more bytes than are taken."""


def send(stream: IO[bytes], packed: bytes) -> None:
    """Send a message now. Raises OSError when the other side has ended."""
    stream.write(_LENGTH.pack(len(packed)) + packed)
    stream.flush()


def receive(stream: IO[bytes], max_bytes: int | None = None) -> bytes:
    """The next one. Raises EOFError when the other side has ended, also in the middle of one; FrameTooLarge."""
    length = _LENGTH.unpack(_exactly(stream, _LENGTH.size))[0]
    if max_bytes is not None and length > max_bytes:
        raise FrameTooLarge(f"{length} bytes")
    return _exactly(stream, length)


def write(stream: IO[bytes], value: object) -> None:
    """Send a JSON value. Raises as `send`."""
    send(stream, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass"))


def read(stream: IO[bytes], max_bytes: int) -> Any:
    """The next JSON value. Raises as `receive`, and ValueError for what is none."""
    # surrogatepass: texts may hold half a surrogate pair (JSON's \ud800 in an imported chat), which strict UTF-8
    # refuses.
    return parse_json(receive(stream, max_bytes).decode("utf-8", "surrogatepass"))


def _exactly(stream: IO[bytes], count: int) -> bytes:
    got = stream.read(count)
    if len(got) < count:
        raise EOFError
    return got
