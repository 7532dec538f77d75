"""What comes through a pipe between processes: frames and messages that the other side never sends."""

from __future__ import annotations

import io
import json
import struct
from functools import partial
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.process.codec import pack, unpack
from engine.protocol import TextDelta
from engine.sandbox import frames
from engine.translatable import translated
from tests.attack.case import Case
from tests.attack.given import JSON, VALUES, spoiled

MOST = 1 << 20
DELTA = "engine.protocol.events:TextDelta"
MESSAGES: dict[str, Any] = {
    "a class of the system": {"made": ["os:stat_result", 1]},
    "a function": {"made": ["engine.errors:as_error", 1]},
    "an exception": {"made": ["engine.errors:UnderhillError", "x", "y"]},
    "a module that is none": {"made": ["engine.nothing:X"]},
    "a module outside": {"made": ["subprocess:Popen", ["true"]]},
    "a class of another name": {"made": ["engine.protocol.commands:__class__"]},
    "an enumeration of nothing": {"enum": ["engine.errors:Kind", "nothing"]},
    "too few fields": {"made": ["engine.protocol.events:TextDelta"]},
    "too many fields": {"made": ["engine.protocol.events:TextDelta", *range(20)]},
    "two names": {"made": [], "enum": []},
    "no name": {},
    "an unknown name": {"pickle": "gASV"},
    "bytes that are none": {"bytes": "§"},
    "a path that is none": {"path": 5},
    "a map of lists": {"map": [1]},
    "a dict of one": {"dict": [[1]]},
}


def cases() -> list[Case]:
    good = pack(TextDelta("a", "hello", (1, 2)))
    whole = io.BytesIO()
    frames.write(whole, {"a": [1, 2, 3], "b": "text"})
    found = [Case(f"frame: {kind}", partial(_frame, data), True) for kind, data in spoiled(whole.getvalue(), 40, 10)]
    found += [
        Case(f"length {n}", partial(_frame, struct.pack("<Q", n) + b"{}")) for n in (0, 3, MOST + 1, 2**40, 2**64 - 1)
    ]
    found += [Case(f"frame of {what}", partial(_json, text), True) for what, text in JSON.items()]
    found += [Case(f"message: {kind}", partial(_message, data), True) for kind, data in spoiled(good, 40, 11)]
    found += [Case(f"message of {what}", partial(_message, text), True) for what, text in JSON.items()]
    found += [Case(f"message: {what}", partial(_message, json.dumps(m).encode())) for what, m in MESSAGES.items()]
    found += [Case(f"field: {what}", partial(_message, json.dumps({"made": [DELTA, v, v, v]}).encode()),
                   True) for what, v in VALUES.items()]  # fmt: skip
    return found


def _frame(data: bytes, folder: Path) -> None:
    """Its contract: EOFError and ValueError, which the side that reads takes for the other's end."""
    try:
        frames.read(io.BytesIO(data), MOST)
    except (EOFError, ValueError) as cause:
        raise _ended() from cause


def _json(text: bytes, folder: Path) -> None:
    _frame(struct.pack("<Q", len(text)) + text, folder)


def _message(data: bytes, folder: Path) -> None:
    """Its contract: ValueError."""
    try:
        unpack(data)
    except ValueError as cause:
        raise _ended() from cause


def _ended() -> UnderhillError:
    return UnderhillError(Kind.STOPPED, translated("The other side said what makes no sense."))
