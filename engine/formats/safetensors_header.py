"""The headers of safetensors files, checked before anything they say is believed or allocated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import limits
from engine.errors import UnderhillError
from engine.formats.errors import broken_file, missing, unreadable
from engine.regular_file import open_regular, parse_json
from engine.store import dtypes
from engine.translatable import msg


@dataclass(frozen=True)
class SafetensorsEntry:
    """One tensor of a checkpoint. dtype as in safetensors; offset from the start of the file."""

    name: str
    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


def read_header(path: Path) -> dict[str, SafetensorsEntry]:
    """Every tensor of a safetensors file.

    Raises UnderhillError: MISSING_FILE, DISK_ERROR, or BROKEN_FILE when the file is cut short or its header lies.
    """
    try:
        with open_regular(path) as file:
            size = file.seek(0, 2)
            file.seek(0)
            text = file.read(header_length(path, size, file.read(8)))
    except FileNotFoundError as cause:
        raise missing(path) from cause
    except OSError as cause:
        raise unreadable(path, cause) from cause
    return parse_header(path, size, text)


def header_length(path: Path, size: int, start: bytes) -> int:
    """Bytes of the header that follows the first 8 of a safetensors file of `size` bytes.

    Raises UnderhillError(BROKEN_FILE) when there cannot be such a header.
    """
    length = int.from_bytes(start[:8], "little")
    if size < 8 or length > min(size - 8, limits.HEADER_BYTES):
        raise _broken(
            path,
            msg("its header is longer than the file") if length <= limits.HEADER_BYTES else msg("its header is huge"),
        )
    return length


def parse_header(path: Path, size: int, text: bytes) -> dict[str, SafetensorsEntry]:
    """Every tensor of a safetensors file of `size` bytes with this header, wherever that file lies.

    Raises UnderhillError(BROKEN_FILE) when the file is too short for it, or the header lies.
    """
    try:
        header = parse_json(text)
    except ValueError as cause:
        raise _broken(path, msg("its header is not readable")) from cause
    if not isinstance(header, dict):
        raise _broken(path, msg("its header is not a JSON object"))
    if len(header) > limits.TENSORS:
        raise _broken(path, msg("it lists {header} tensors", header=f"{len(header):,}"))
    end = 8 + len(text)
    entries = {name: _entry(path, name, value, end) for name, value in header.items() if name != "__metadata__"}
    for entry in sorted(entries.values(), key=lambda e: (e.offset, e.nbytes)):
        if entry.offset < end:
            raise _broken(path, msg("{name} overlaps another tensor", name=entry.name))
        end = entry.offset + entry.nbytes
    if end > size:
        raise broken_file(
            msg("{name} is cut short: it should have {end} bytes and has {size}.", name=path.name, end=end, size=size)
        )
    return entries


def _entry(path: Path, name: str, value: Any, start: int) -> SafetensorsEntry:
    try:
        name.encode()
    except UnicodeEncodeError as cause:  # half of a surrogate pair
        raise _broken(path, msg("it has a tensor called {name}, which is not text", name=name)) from cause
    match value:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [begin, end]} if (
            type(begin) is type(end) is int  # False is an int to Python, not to JSON
        ):
            pass
        case _:
            raise _broken(path, msg("the entry of {name} is not readable", name=name))
    if dtype not in dtypes.TORCH:
        raise _broken(path, msg("{name} has the unknown type {dtype}", name=name, dtype=dtype))
    if len(shape) > limits.DIMENSIONS or any(type(n) is not int or not 0 <= n <= 2**40 for n in shape):
        raise _broken(path, msg("the shape of {name} is impossible", name=name))
    if not 0 <= begin <= end or end - begin != dtypes.nbytes(dtype, tuple(shape)):
        raise _broken(path, msg("the size of {name} does not fit its shape", name=name))
    return SafetensorsEntry(name, path, dtype, tuple(shape), start + begin, end - begin)


def _broken(path: Path, what: str) -> UnderhillError:
    return broken_file(msg("{name} is damaged: {what}.", name=path.name, what=what))
