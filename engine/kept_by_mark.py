"""What was found out from files, kept as long as they are as they were."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Generic, TypeVar

from engine.regular_file import FileMark, mark_of

MOST = 256  # files of which something is kept: some kB each
T = TypeVar("T")


class KeptByMark(Generic[T]):
    """Of the files that were read last, at most MOST. Thread-safe."""

    def __init__(self) -> None:
        self._kept: dict[Path, tuple[FileMark, T]] = {}  # of the file that was read last at the end
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def of(self, file: Path, find_out: Callable[[], T]) -> T:
        """What `find_out` gave since the file was last written, or gives now. Raises what it raises."""
        try:
            mark = mark_of(file)
        except OSError:  # what is wrong there `find_out` says
            mark = None
        with self._lock:
            kept = self._kept.get(file)
        if kept is not None and kept[0] == mark:
            return kept[1]
        found = find_out()
        if mark is not None:
            with self._lock:
                self._kept.pop(file, None)
                self._kept[file] = mark, found
                while len(self._kept) > MOST:
                    del self._kept[next(iter(self._kept))]
        return found
