"""What a sandboxed process is asked to do in tests."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from typing import Any


def echo(*arguments: Any) -> Iterator[Any]:
    """Gives back what it is given."""
    print("libraries print things")
    yield from arguments


def count(upto: int) -> Iterator[int]:
    """Numbers, one by one."""
    yield from range(upto)


def doubled(times: int) -> Iterator[int]:
    """A text that is doubled."""
    text = "x"
    for _ in range(times):
        text += text
    yield len(text)


def told_otherwise(size: int) -> Iterator[None]:
    """As libraries do that catch what they did not expect."""
    try:
        bytearray(size)
    except MemoryError as e:
        raise ValueError("no such file") from e
    yield None


def flood(size: int) -> Iterator[str]:
    """A long answer."""
    yield "x" * size


def asleep(seconds: float) -> Iterator[str]:
    """Takes its time."""
    yield "first"
    time.sleep(seconds)
    yield "second"


def fault() -> Iterator[None]:
    """Ends the process as a fault in native code does."""
    os.abort()
    yield


class Panic(BaseException):
    """As Rust's libraries raise it."""


def panic() -> Iterator[None]:
    """Raises what is no Exception."""
    raise Panic("index out of range")
    yield


def pid() -> Iterator[int]:
    """Of the process."""
    yield os.getpid()


def busy() -> Iterator[int]:
    """Computes for ever."""
    yield os.getpid()
    while True:
        pass
