"""What the window and the engine say to each other comes across as it was, types and all."""

from __future__ import annotations

import dataclasses
import io
import json
import math
from pathlib import Path
from typing import Any

import pytest

from engine import protocol
from engine.library.entries import ModelCard
from engine.process import codec
from engine.process.codec import pack, unpack


def same(a: Any, b: Any) -> bool:
    """Equal, and of the same types all through."""
    if type(a) is not type(b):
        return False
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(same(a[k], b[k]) for k in a) and all(map(same, a, b))
    if dataclasses.is_dataclass(a):
        return all(same(getattr(a, f.name), getattr(b, f.name)) for f in dataclasses.fields(a))
    return bool(a == b) or (isinstance(a, float) and math.isnan(a) and math.isnan(b))


@pytest.mark.parametrize(
    "thing",
    [
        (),
        [],
        {},
        1,
        1.0,
        True,
        None,
        "",
        "“中文” 😀 \x00\n",
        math.inf,
        math.nan,
        2**70,
        5e-324,
        b"\x00\xff",
        Path("/a b"),
        (1, (2, [3, {"a": (4, None)}])),
        {1: "one", (2, 3): [4]},
        {"list": [1], "made": {"map": 2}},
        [(), []],
        protocol.Kind.STOPPED,
        protocol.Generate(
            id="x",
            messages=(protocol.Message("user", "Hello!"),),
            sampling={"seed": 5},
            stop=("stop",),
            continue_last=True,
            thinking=None,
        ),
        protocol.TextDelta("x", "text", (1, 2)),
        protocol.Failed("x", protocol.Kind.DISK_FULL, "Sentence.", "Action.", "cause"),
    ],
)
def test_comes_back_as_it_was(thing: Any) -> None:
    assert same(unpack(pack(thing)), thing)


def test_one_after_another_through_a_pipe() -> None:
    stream = io.BytesIO()
    for number in range(3):
        codec.write_message(stream, protocol.TextDelta("x", "y" * 1000 * number, (number,)))
    whole = stream.getvalue()
    stream.seek(0)
    assert [codec.read_message(stream).token_ids for _ in range(3)] == [(0,), (1,), (2,)]
    for cut in (len(whole), len(whole) - 1, 4):  # nothing more, a part of one, a part of a length
        short = io.BytesIO(whole[:cut])
        with pytest.raises(EOFError):
            list(map(codec.read_message, [short] * 4))


def test_what_is_no_plain_data_is_refused() -> None:
    for thing in (object(), {1, 2}, print, ModelCard):
        with pytest.raises(TypeError):
            pack(thing)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "subprocess:Popen",
        "engine.process.codec:pack",
        "engine.library.entries:Path",
        "engine.protocol.commands:Engine",
    ],
)
def test_nothing_but_the_engines_own_data_is_made(name: str) -> None:
    with pytest.raises(ValueError, match=r"not of the engine|neither"):
        unpack(json.dumps({"made": [name]}).encode())
