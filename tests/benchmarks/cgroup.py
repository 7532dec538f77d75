"""Control groups that limit the memory of a process, page cache included: version 2 where it is, else version 1."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

MOUNTS = Path("/proc/mounts")
LEAVING = 10.0  # seconds that the kernel may take to let a dead process go


# What each version calls the limit, the limit with swap, the most used, and where kills are counted.
NAMES = {
    1: ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes", "memory.max_usage_in_bytes", "memory.oom_control"),
    2: ("memory.max", "memory.swap.max", "memory.peak", "memory.events"),
}


@dataclass(frozen=True)
class Group:
    """One control group. version: 1 or 2."""

    folder: Path
    version: int

    def command(self, *arguments: str | os.PathLike[str]) -> list[str]:
        """A command line that runs `arguments` as a member from its first byte on."""
        join = 'echo $$ > "$0" && exec "$@"'
        return ["/bin/sh", "-c", join, str(self.folder / "cgroup.procs"), *map(os.fspath, arguments)]

    def limit(self, nbytes: int) -> None:
        """Set the most that its processes may take together, in memory and swap."""
        limit, swap, _, _ = map(self.folder.joinpath, NAMES[self.version])
        limit.write_text(str(nbytes))
        if swap.exists():
            swap.write_text(str(nbytes if self.version == 1 else 0))

    def most(self) -> int | None:
        """Most bytes that were ever in use; None where this kernel does not say."""
        path = self.folder / NAMES[self.version][2]
        return int(path.read_text()) if path.exists() else None

    def anonymous(self) -> int:
        """Bytes in use that are no page cache."""
        name = "total_rss" if self.version == 1 else "anon"
        return self._table("memory.stat")[name]

    def kills(self) -> int:
        """How many of its processes the kernel has killed for want of memory."""
        return self._table(NAMES[self.version][3]).get("oom_kill", 0)

    def _table(self, file: str) -> dict[str, int]:
        lines = (self.folder / file).read_text().splitlines()
        return {name: int(value) for name, value in (line.split() for line in lines)}


@contextmanager
def limited(name: str, nbytes: int) -> Iterator[Group]:
    """A group with this limit; removed afterwards. Its processes must have ended by then.

    Raises SystemExit, saying why, where none can be made.
    """
    parent, version = memory_controller()
    folder = parent / f"underhill-{name}-{os.getpid()}"
    group = Group(folder, version)
    try:
        folder.mkdir()
        group.limit(nbytes)
    except OSError as cause:
        if folder.is_dir():
            folder.rmdir()
        raise SystemExit(f"No control group with a memory limit can be made in {parent} ({cause.strerror}).") from cause
    try:
        yield group
    finally:
        _remove(folder)


def memory_controller(mounts: Path = MOUNTS) -> tuple[Path, int]:
    """Where groups with a memory limit are made, and the version. Raises SystemExit where the system has none."""
    if not mounts.exists():
        raise SystemExit(f"This needs Linux's control groups; {sys.platform} has none.")
    lines = [line.split() for line in mounts.read_text(encoding="utf-8").splitlines()]
    for _, point, kind, *_ in lines:
        controllers = Path(point) / "cgroup.subtree_control"
        if kind == "cgroup2" and controllers.exists() and "memory" in controllers.read_text().split():
            return Path(point), 2
    for _, point, kind, options, *_ in lines:
        if kind == "cgroup" and "memory" in options.split(","):
            return Path(point), 1
    raise SystemExit("This system offers no control group that limits memory, in neither version.")


def _remove(folder: Path) -> None:
    """The kernel needs a moment after the last process has ended."""
    end = time.monotonic() + LEAVING
    while True:
        try:
            folder.rmdir()
            return
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)
