"""What attacks are made of: bytes spoiled the same way every time, JSON that is none, files that are none."""

from __future__ import annotations

import os
import random
import socket
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

# JSON texts that no reader expects; by what is wrong with them.
JSON: dict[str, bytes] = {
    "nothing": b"",
    "a word": b"hello",
    "zeros": b"\0" * 4096,
    "no UTF-8": b'{"a": "\xff\xfe"}',
    "half a surrogate": b'{"\\ud800": "\\udfff"}',
    "deep lists": b"[" * 100_000,
    "deep objects": b'{"a":' * 50_000,
    "whole deep lists": b"[" * 50_000 + b"]" * 50_000,
    "a long number": b'{"version": ' + b"9" * 5000 + b"}",
    "a number of 4000 digits": b'{"version": ' + b"9" * 4000 + b"}",
    "no number": b'{"version": NaN, "a": Infinity, "b": -Infinity}',
    "a huge exponent": b'{"version": 1e999999}',
    "null": b"null",
    "a list": b"[]",
    "a number": b"7",
    "text": b'"text"',
    "an empty object": b"{}",
    "cut off": b'{"version": 1, "a": [1, 2',
    "a key twice": b'{"version": 1, "version": []}',
    "many empty lists": b"[" + b"[]," * 1_000_000 + b"[]]",
    "many keys": b"{" + b",".join(b'"k%d":{}' % i for i in range(100_000)) + b"}",
    "one byte too many of everything": b" " * (9 << 20) + b"{}",
}

VALUES: dict[str, Any] = {
    "none": None, "true": True, "text": "x", "long text": "x" * 1_000_000, "list": [], "list of lists": [[[]]],
    "object": {"a": 1}, "minus one": -1, "huge": 10**30, "digits": 10**300, "float": 0.5, "nan": float("nan"),
    "inf": float("inf"),
}  # fmt: skip


def spoiled(data: bytes, count: int, seed: int, within: int | None = None) -> Iterator[tuple[str, bytes]]:
    """A file in `count` states of disrepair: bits flipped, cut, pieces doubled, overwritten, swapped, filled."""
    rng = random.Random(seed)
    most = min(len(data), within or len(data))
    for number in range(count):
        at, other = rng.randrange(most), rng.randrange(most)
        size = rng.choice((1, 2, 4, 8, 64))
        made = bytearray(data)
        kind = ("flip", "cut", "double", "random", "swap", "ones", "zeros", "number")[number % 8]
        if kind == "flip":
            for _ in range(rng.choice((1, 3, 20))):
                made[rng.randrange(most)] ^= 1 << rng.randrange(8)
        elif kind == "cut":
            del made[at:]
        elif kind == "double":
            made[at:at] = made[other : other + size]
        elif kind == "random":
            made[at : at + size] = rng.randbytes(size)
        elif kind == "swap":
            one, two = bytes(made[at : at + size]), bytes(made[other : other + size])
            made[at : at + size], made[other : other + size] = two, one
        elif kind in ("ones", "zeros"):
            made[at : at + size] = (b"\xff" if kind == "ones" else b"\0") * size
        else:
            made[at : at + 8] = rng.choice((2**63 - 1, 2**62, 2**40, 2**32 - 1, 2**31, 10**8)).to_bytes(8, "little")
        yield f"{kind} {number}", bytes(made)


def changed(value: Any, seed: int, count: int) -> Iterator[tuple[str, Any]]:
    """A JSON value with one of its leaves or branches made something else, chosen by the seed."""
    rng = random.Random(seed)
    places = list(_places(value, ()))
    for number in range(count):
        place = rng.choice(places)
        kind, new = rng.choice(list(VALUES.items()))
        yield f"{'.'.join(map(str, place))} {kind} {number}", _with(value, place, new)


def _places(value: Any, path: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, Mapping) else enumerate(value) if isinstance(value, list) else ()
    for key, one in list(inner)[:200]:
        yield (*path, key)
        yield from _places(one, (*path, key))


def _with(value: Any, place: tuple[Any, ...], new: Any) -> Any:
    if not place:
        return new
    copy = dict(value) if isinstance(value, Mapping) else list(value)
    copy[place[0]] = _with(copy[place[0]], place[1:], new)
    return copy


# ---- what stands where a file should -----------------------------------------------------------------------------


def _pipe(path: Path) -> None:
    os.mkfifo(path, 0o600)


def _socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # addresses are short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


def _sparse(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 42)


def _link(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _link_to_pipe(path: Path) -> None:
    os.mkfifo(path.with_name("pipe"), 0o600)
    path.symlink_to("pipe")


def _loop(path: Path) -> None:
    path.symlink_to(path.name)


STANDING: dict[str, Callable[[Path], None]] = {
    "a pipe": _pipe,
    "a link to a pipe": _link_to_pipe,
    "a socket": _socket,
    "a link to /dev/zero": _link("/dev/zero"),
    "a link to /dev/random": _link("/dev/random"),
    "a link to /dev/full": _link("/dev/full"),
    "a link to the terminal": _link("/dev/tty"),
    "a link to itself": _loop,
    "a link to nothing": _link("/nonexistent/file"),
    "a folder": lambda path: path.mkdir(),
    "a sparse file of 4 TB": _sparse,
}


def put(path: Path, data: bytes) -> Path:
    """Write a file, its folders too; gives its path back."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)
    return path
