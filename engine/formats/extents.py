"""Where in files the bytes of a tensor lie, and how they are read: from a disk, or from what arrives over a network."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from engine.errors import Kind, UnderhillError
from engine.formats.safetensors_header import unreadable
from engine.regular_file import open_unbuffered
from engine.translatable import msg

Read = Callable[[Path, int, memoryview], None]  # file, offset, memory to fill; raises UnderhillError


@dataclass(frozen=True)
class FileExtent:
    """Bytes start .. stop of a file."""

    file: Path
    start: int
    stop: int


def read_file(file: Path, offset: int, into: memoryview) -> None:
    """Fill `into` from a file on a disk; unbuffered, so that memory stays flat.

    Raises UnderhillError: BROKEN_FILE where the file is too short, DISK_ERROR.
    """
    try:
        with open_unbuffered(file) as source:
            source.seek(offset)
            while into:
                n = source.readinto(into)
                if not n:
                    raise UnderhillError(
                        Kind.BROKEN_FILE, msg("{name} is cut short.", name=file.name), msg("Download the file again.")
                    )
                into = into[n:]
    except OSError as cause:
        raise unreadable(file, cause) from cause
