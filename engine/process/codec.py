"""Commands and events as JSON and back, to the last type: dataclasses and enumerations of the engine by their names.

An array stands for a tuple; what JSON has no form for is an object of one entry, whose name says what it is.
"""

from __future__ import annotations

import base64
import dataclasses
import enum
import importlib
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import NoneType
from typing import IO, Any

from engine.sandbox import frames
from engine.translatable import Translatable, as_json, from_json

LEAVES = frozenset({int, float, str, bool, NoneType})
_OURS = "engine."  # only what is declared below here is made by name


def pack(thing: object) -> bytes:
    """Raises TypeError for what is neither plain data nor a dataclass or an enumeration of the engine."""
    return json.dumps(_plain(thing), separators=(",", ":")).encode()


def unpack(packed: bytes) -> Any:
    """What `pack` was given. Raises ValueError for what it did not make."""
    try:
        return _real(json.loads(packed))
    except (LookupError, TypeError, AttributeError, ImportError, RecursionError, ArithmeticError) as cause:
        raise ValueError(f"not packed here: {cause!r}") from cause


@cache
def _fields(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


@cache
def _declared(name: str) -> Any:
    module, _, path = name.partition(":")
    # The other process may have been led astray by what it read: a name from it must not import, and so run, anything
    # but this engine.
    if not module.startswith(_OURS):
        raise ValueError(f"not of the engine: {name}")
    found: Any = importlib.import_module(module)
    for part in path.split("."):
        found = getattr(found, part, None)
    if not (isinstance(found, type) and (dataclasses.is_dataclass(found) or issubclass(found, enum.Enum))):
        raise ValueError(f"neither a dataclass nor an enumeration: {name}")
    return found


def _plain(thing: Any) -> Any:
    kind = type(thing)
    if kind in LEAVES:
        return thing
    if kind is tuple:
        return thing if LEAVES.issuperset(map(type, thing)) else [_plain(each) for each in thing]
    if kind is list:
        return {"list": _plain(tuple(thing))}
    if kind is dict:
        if all(type(key) is str for key in thing):
            return {"map": {key: _plain(value) for key, value in thing.items()}}
        return {"dict": [[_plain(key), _plain(value)] for key, value in thing.items()]}
    if kind is bytes:
        return {"bytes": base64.b64encode(thing).decode("ascii")}
    if kind is Translatable:
        return {"translatable": as_json(thing)}
    if isinstance(thing, Path):
        return {"path": str(thing)}
    name = f"{kind.__module__}:{kind.__qualname__}"
    if name.startswith(_OURS) and isinstance(thing, enum.Enum):
        return {"enum": [name, _plain(thing.value)]}
    if name.startswith(_OURS) and dataclasses.is_dataclass(kind):
        return {"made": [name, *(_plain(getattr(thing, field)) for field in _fields(kind))]}
    raise TypeError(f"the engine cannot say this: {thing!r}")


def _real(plain: Any) -> Any:
    if type(plain) is list:
        return tuple(plain) if LEAVES.issuperset(map(type, plain)) else tuple(map(_real, plain))
    if type(plain) is not dict:
        return plain
    ((name, value),) = plain.items()
    return _READERS[name](value)


def _made(value: list[Any]) -> Any:
    kind = _declared(value[0])
    thing = object.__new__(kind)
    for field, each in zip(_fields(kind), value[1:], strict=True):
        object.__setattr__(thing, field, _real(each))  # as it was, without running __post_init__
    return thing


_READERS: dict[str, Callable[[Any], Any]] = {
    "list": lambda value: list(_real(value)),
    "map": lambda value: {key: _real(each) for key, each in value.items()},
    "dict": lambda value: {_real(key): _real(each) for key, each in value},
    "bytes": base64.b64decode,
    "path": Path,
    "translatable": from_json,
    "enum": lambda value: _declared(value[0])(_real(value[1])),
    "made": _made,
}


def write_message(stream: IO[bytes], thing: object) -> None:
    """Send one thing now. Raises OSError when the other side has ended, TypeError as `pack`."""
    frames.send(stream, pack(thing))


def read_message(stream: IO[bytes]) -> Any:
    """The next thing. Raises EOFError when the other side has ended, in the middle of one, too."""
    return unpack(frames.receive(stream))
