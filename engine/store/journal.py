"""What an unfinished import has safely on disk: one JSON line per finished part, appended after the data is synced."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from engine.limits import COMPANION_BYTES
from engine.regular_file import parse_json, read_regular

NAME = "journal.jsonl"
PARTIAL = ".partial"  # ending of the directory of a store that is not whole yet


class Journal:
    """Finished parts by key. entries: what an earlier, interrupted run of the same import left."""

    def __init__(self, path: Path, identity: str) -> None:
        """Continue the journal at `path` if it belongs to the same import, else begin an empty one. Raises OSError."""
        self.entries: dict[str, Any] = {}
        lines, length = _whole_lines(path)
        self.resumed = bool(lines) and lines[0] == ("import", identity)
        if self.resumed:
            self.entries = dict(lines[1:])
        self._file = path.open("r+b" if self.resumed else "wb")
        # What a crash left of its last line goes first: a new line written behind it would be unreadable, and with it
        # all that follow.
        self._file.truncate(length if self.resumed else 0)
        self._file.seek(0, os.SEEK_END)
        if not self.resumed:
            self._write([["import", identity]])

    def append(self, parts: dict[str, Any]) -> None:
        """Add finished parts durably. Their data must be on disk already. Raises OSError."""
        self._write([[k, v] for k, v in parts.items()])
        self.entries.update(parts)

    def close(self) -> None:
        """Release the file."""
        self._file.close()

    def _write(self, lines: list[list[Any]]) -> None:
        self._file.write(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        self._file.flush()
        os.fsync(self._file.fileno())


def _whole_lines(path: Path) -> tuple[list[tuple[str, Any]], int]:
    """The [key, value] lines of the journal up to the first that is not whole, and their length in bytes."""
    try:
        whole = read_regular(path, COMPANION_BYTES)
    except FileNotFoundError:
        return [], 0
    lines, length = [], 0
    # Behind the last newline is nothing, or half a line. What is not whole ends the journal: lines behind it were never
    # synced with it.
    for text in whole.split(b"\n")[:-1]:
        try:
            key, value = parse_json(text)
        except (ValueError, TypeError):
            break
        lines.append((str(key), value))
        length += len(text) + 1
    return lines, length
