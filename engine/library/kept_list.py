"""Lists that a person has made, each in a JSON file of the data folder."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from engine.errors import Kind, UnderhillError
from engine.filesystem import replace_file
from engine.regular_file import read_json
from engine.store.output import writing
from engine.translatable import Translatable, msg

T = TypeVar("T")


def read_list(file: Path, entry: Callable[[Any], T], most: int, action: Translatable) -> tuple[T, ...]:
    """What is kept in a file, in its order; none where there is no file. entry: makes one of what is written.

    action: what to do about a file that is damaged. Raises UnderhillError(BROKEN_FILE).
    """
    try:
        return tuple(entry(each) for each in read_json(file)[:most])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, LookupError, AttributeError, UnderhillError) as cause:
        raise UnderhillError(Kind.BROKEN_FILE, msg("{file} is damaged.", file=file), action) from cause


def write_list(file: Path, entries: Iterable[Mapping[str, Any]]) -> None:
    """Keep these in a file. Raises UnderhillError: DISK_FULL, DISK_ERROR."""
    with writing(file):
        file.parent.mkdir(parents=True, exist_ok=True)
        replace_file(file, json.dumps(list(entries), ensure_ascii=False, indent=1).encode())
