"""The headers of safetensors files, checked before anything they say is believed or allocated."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.regular_file import open_regular, parse_json
from engine.store import dtypes


@dataclass(frozen=True)
class Entry:
    """One tensor of a checkpoint. dtype as in safetensors; offset from the start of the file."""

    name: str
    file: Path
    dtype: str
    shape: tuple[int, ...]
    offset: int
    nbytes: int


def read_header(path: Path) -> dict[str, Entry]:
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
            path, "its header is longer than the file" if length <= limits.HEADER_BYTES else "its header is huge"
        )
    return length


def parse_header(path: Path, size: int, text: bytes) -> dict[str, Entry]:
    """Every tensor of a safetensors file of `size` bytes with this header, wherever that file lies.

    Raises UnderhillError(BROKEN_FILE) when the file is too short for it, or the header lies.
    """
    try:
        header = parse_json(text)
    except ValueError as cause:
        raise _broken(path, "its header is not readable") from cause
    if not isinstance(header, dict):
        raise _broken(path, "its header is not a JSON object")
    if len(header) > limits.TENSORS:
        raise _broken(path, f"it lists {len(header):,} tensors")
    end = 8 + len(text)
    entries = {name: _entry(path, name, value, end) for name, value in header.items() if name != "__metadata__"}
    for entry in sorted(entries.values(), key=lambda e: (e.offset, e.nbytes)):
        if entry.offset < end:
            raise _broken(path, f"{entry.name} overlaps another tensor")
        end = entry.offset + entry.nbytes
    if end > size:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            f"{path.name} is cut short: it should have {end} bytes and has {size}.",
            "Download the file again.",
        )
    return entries


def _entry(path: Path, name: str, value: Any, start: int) -> Entry:
    try:
        name.encode()
    except UnicodeEncodeError as cause:  # half of a surrogate pair
        raise _broken(path, f"it has a tensor called {name!a}, which is not text") from cause
    match value:
        case {"dtype": str(dtype), "shape": list(shape), "data_offsets": [begin, end]} if (
            type(begin) is type(end) is int  # False is an int to Python, not to JSON
        ):
            pass
        case _:
            raise _broken(path, f"the entry of {name} is not readable")
    if dtype not in dtypes.TORCH:
        raise _broken(path, f"{name} has the unknown type {dtype}")
    if len(shape) > limits.DIMENSIONS or any(type(n) is not int or not 0 <= n <= 2**40 for n in shape):
        raise _broken(path, f"the shape of {name} is impossible")
    if not 0 <= begin <= end or end - begin != dtypes.nbytes(dtype, tuple(shape)):
        raise _broken(path, f"the size of {name} does not fit its shape")
    return Entry(name, path, dtype, tuple(shape), start + begin, end - begin)


def missing(path: Path) -> UnderhillError:
    """MISSING_FILE for a part of a checkpoint."""
    return UnderhillError(
        Kind.MISSING_FILE, f"{path.name} is missing from {path.parent}.", "Download the model again, or the rest of it."
    )


def unreadable(path: Path, cause: OSError) -> UnderhillError:
    """DISK_ERROR for a part of a checkpoint."""
    return UnderhillError(
        Kind.DISK_ERROR, f"{path} cannot be read ({cause.strerror or cause}).", "Check the disk and its permissions."
    )


def _broken(path: Path, what: str) -> UnderhillError:
    return UnderhillError(Kind.BROKEN_FILE, f"{path.name} is damaged: {what}.", "Download the file again.")
