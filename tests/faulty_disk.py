"""A disk that fails: errors, short writes, no space, and a power cut after which what was not synced may be lost.

Python's own calls are wrapped while a FaultyDisk is entered. At the call whose number was drawn something goes wrong;
after a power cut nothing can be done any more, and `lose` makes of the folder what a disk may hold then: files whose
bytes were not synced are as they were, cut, or zeros at their end; renames whose directory was not synced are undone,
the last ones first.
"""

from __future__ import annotations

import errno
import os
import random
import shutil
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

KINDS = ("EIO", "ENOSPC", "short", "cut")


class PowerCut(BaseException):
    """The computer is off. No Exception, so that nobody mends anything after it."""


class FaultyDisk:
    """``with FaultyDisk(folder, seed):``. fault: what goes wrong, and at which call; it may be beyond the last."""

    def __init__(self, top: Path, seed: int, calls: int = 60) -> None:
        self.top = top
        self._random = random.Random(seed)
        self.fault = (self._random.choice(KINDS), self._random.randrange(calls))
        self._count = 0
        self.off = False
        self._synced: dict[int, bytes] = {}
        self._renamed: list[tuple[Path, Path, Path | None]] = []
        self._aside = top.with_name(top.name + ".aside")
        self._before: dict[str, Any] = {}

    def __enter__(self) -> FaultyDisk:
        self._aside.mkdir(exist_ok=True)
        for file in _files(self.top):
            self._synced[file.stat().st_ino] = file.read_bytes()
        wrapped = {"fsync": self._fsync, "write": self._write, "rename": self._rename, "replace": self._rename,
                   "unlink": self._plain, "rmdir": self._plain, "ftruncate": self._plain}  # fmt: skip
        for name, by in wrapped.items():
            self._before[name] = getattr(os, name)
            setattr(os, name, self._wrapped(self._before[name], by))
        self.write_bytes = Path.write_bytes
        disk = self

        def write_bytes(path: Path, data: bytes) -> int:
            kind = disk.next()
            if kind in ("ENOSPC", "short", "cut", "EIO"):
                disk.write_bytes(path, bytes(data[: len(data) // 2]))
                disk.fail("ENOSPC" if kind == "short" else kind)
            return disk.write_bytes(path, data)

        Path.write_bytes = write_bytes  # type: ignore[assignment,method-assign]
        return self

    def __exit__(self, *_: object) -> bool:
        """Whether it was the power cut that ended it: what was raised after that, no computer would have raised."""
        for name, before in self._before.items():
            setattr(os, name, before)
        Path.write_bytes = self.write_bytes  # type: ignore[method-assign]
        return self.off

    def lose(self) -> None:
        """What a power cut may leave. Call after leaving, where `off`."""
        kept = self._random.randrange(len(self._renamed) + 1)
        for source, target, replaced in reversed(self._renamed[kept:]):
            if os.path.lexists(target):
                if source.is_file():  # written later under the same name, which the disk does not know yet
                    source.unlink()
                os.rename(target, source)
                if replaced is not None:
                    os.rename(replaced, target)
        for file in _files(self.top):
            now, before = file.read_bytes(), self._synced.get(file.stat().st_ino)
            if now == before:
                continue
            cut = self._random.randrange(len(now) + 1)
            states = [now, now[:cut], now[:cut] + b"\0" * (len(now) - cut)]
            file.write_bytes(self._random.choice([*states, b"" if before is None else before]))
        shutil.rmtree(self._aside)

    def _wrapped(self, call: Callable[..., Any], by: Callable[..., Any]) -> Callable[..., Any]:
        def wrapper(*arguments: Any, **named: Any) -> Any:
            if not self._concerns(arguments[0]):
                return call(*arguments, **named)
            return by(call, self.next(), *arguments, **named)

        return wrapper

    def next(self) -> str:
        """What goes wrong with this call, '' for nothing."""
        if self.off:
            raise PowerCut
        self._count += 1
        return self.fault[0] if self._count - 1 == self.fault[1] else ""

    def fail(self, kind: str) -> None:
        if kind == "cut":
            self.off = True
            raise PowerCut
        if kind in ("EIO", "ENOSPC"):
            number = getattr(errno, kind)
            raise OSError(number, os.strerror(number))

    def _plain(self, call: Callable[..., Any], kind: str, *arguments: Any, **named: Any) -> Any:
        self.fail("EIO" if kind == "short" else kind)
        return call(*arguments, **named)

    def _write(self, call: Callable[..., Any], kind: str, fd: int, data: Any) -> int:
        half = memoryview(data)[: max(1, len(data) // 2)]
        if kind:
            written = int(call(fd, half))
            self.fail(kind)
            return written
        return int(call(fd, data))

    def _fsync(self, call: Callable[..., Any], kind: str, fd: int) -> None:
        self.fail("EIO" if kind == "short" else kind)
        path = Path(os.readlink(f"/proc/self/fd/{fd}"))
        if stat.S_ISDIR(os.fstat(fd).st_mode):
            self._renamed = [r for r in self._renamed if path not in (r[0].parent, r[1].parent)]
        else:
            self._synced[os.fstat(fd).st_ino] = path.read_bytes()

    def _rename(self, call: Callable[..., Any], kind: str, source: Any, target: Any) -> None:
        self.fail("EIO" if kind == "short" else kind)
        source, target = Path(source), Path(target)
        replaced = None
        if target.is_file():
            replaced = self._aside / str(len(list(self._aside.iterdir())))
            os.link(target, replaced)
        call(source, target)
        self._renamed.append((source, target, replaced))

    def _concerns(self, what: Any) -> bool:
        path = os.readlink(f"/proc/self/fd/{what}") if isinstance(what, int) else os.fspath(what)
        path = str(path)  # locks end with the process, which this one outlives
        return (path + os.sep).startswith(f"{self.top}{os.sep}") and not path.removesuffix(" (deleted)").endswith(
            ".lock"
        )


def _files(top: Path) -> Iterator[Path]:
    return (p for p in sorted(top.rglob("*")) if p.is_file() and not p.is_symlink())
