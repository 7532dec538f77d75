"""Memory control groups of Linux (v1 and v2): the limits on this process, and what is used of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

PROC = Path("/proc/self")
NO_LIMIT = 1 << 60  # bytes; v1 writes the largest number of pages where there is none
V1 = ("memory.limit_in_bytes",)
V2 = ("memory.max", "memory.high")  # above `high` the kernel throttles and reclaims: as good as a limit


@dataclass(frozen=True)
class Group:
    """A control group with a limit. Bytes; reclaimable: of `used`, file cache that the kernel drops when it must."""

    limit: int
    used: int
    reclaimable: int

    @property
    def free(self) -> int:
        """What its processes can still take."""
        return max(0, self.limit - self.used + self.reclaimable)


def groups(proc: Path = PROC) -> list[Group]:
    """Those that limit this process: its own and every one around it that can be seen, of both versions.

    proc: /proc/self. Within a container the outer groups may be out of sight; v1 tells their smallest limit all the
    same (hierarchical_memory_limit). Empty on other systems.
    """
    found = []
    for folder, limits, usage in _folders(proc):
        stat = _stat(folder)
        stated = [_number(folder / name) for name in limits]
        # v1 alone has it: the smallest limit on the way up, those that a container cannot see included.
        stated.append(stat.get("hierarchical_memory_limit"))
        limit = min((n for n in stated if n is not None), default=NO_LIMIT)
        used = _number(folder / usage)
        if limit < NO_LIMIT and used is not None:
            found.append(Group(limit, used, min(used, _reclaimable(stat))))
    return found


def pressure_files(proc: Path = PROC) -> list[Path]:
    """memory.pressure of this process's v2 groups, innermost first, then the machine's: those there are."""
    files = [folder / "memory.pressure" for folder, limits, _ in _folders(proc) if limits == V2]
    return [file for file in (*files, proc.parent / "pressure" / "memory") if file.is_file()]


def _reclaimable(stat: dict[str, int]) -> int:
    """Inactive file pages, and half of the active ones: the kernel keeps some of those as long as it can."""
    inactive = stat.get("total_inactive_file", stat.get("inactive_file", 0))
    active = stat.get("total_active_file", stat.get("active_file", 0))
    return inactive + active // 2


def _folders(proc: Path) -> Iterator[tuple[Path, tuple[str, ...], str]]:
    """(folder, files with limits, file with the usage) of this process's memory groups, innermost first."""
    mounts = _mounts(proc)
    for line in _lines(proc / "cgroup"):
        # hierarchy:controllers:path (cgroups(7)); of v2 always 0::path, so without controllers.
        _, controllers, path = line.split(":", 2)
        version = 2 if not controllers else 1 if "memory" in controllers.split(",") else 0
        if version not in mounts:
            continue
        root, point = mounts[version]
        # Within a container the path may be that of the host, of which only the mounted part is to be seen.
        inside = path.removeprefix(root) if f"{path}/".startswith(f"{root}/") else path
        at = point / inside.lstrip("/")
        for folder in (at, *at.parents):
            if folder == point or point in folder.parents:
                yield (folder, V1, "memory.usage_in_bytes") if version == 1 else (folder, V2, "memory.current")


def _mounts(proc: Path) -> dict[int, tuple[str, Path]]:
    """By version: which part of the hierarchy is mounted, and where (proc(5), mountinfo)."""
    found: dict[int, tuple[str, Path]] = {}
    for line in _lines(proc / "mountinfo"):
        place, _, kind = line.partition(" - ")
        fields, types = place.split(), kind.split()
        if len(fields) < 5 or not types:
            continue
        if types[0] == "cgroup2":
            version = 2
        elif types[0] == "cgroup" and "memory" in types[-1].split(","):
            version = 1
        else:
            continue
        root = fields[3].rstrip("/")
        found.setdefault(version, (root, Path(_unescaped(fields[4]))))
    return found


def _unescaped(path: str) -> str:
    for code, character in ((r"\040", " "), (r"\011", "\t"), (r"\012", "\n"), (r"\134", "\\")):
        path = path.replace(code, character)
    return path


def _stat(folder: Path) -> dict[str, int]:
    pairs = (line.split() for line in _lines(folder / "memory.stat"))
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2 and pair[1].isdigit()}


def _lines(file: Path) -> list[str]:
    try:
        return file.read_text(encoding="utf-8").splitlines()
    except OSError:
        return []


def _number(file: Path) -> int | None:
    try:
        return int(file.read_text(encoding="utf-8"))
    except (OSError, ValueError):  # no such file, or the word "max": no limit here
        return None


# Bytes of the engine and of the process for a model's files, once their libraries are loaded and the built-in model is
# looked at, before a plan is made. In a control group of 350 MB the system killed it before; one of 380 MB was enough.
LEAST = 370_000_000


def require_least_memory() -> None:
    """Raise UnderhillError(OUT_OF_MEMORY) where a limit is too low even for the libraries.

    To be asked before torch is imported: the system would kill this process otherwise, perhaps in the middle of
    something. So nothing here imports it.
    """
    held = int(psutil.Process().memory_info().rss)
    limits = [min(group.limit, group.free + held) for group in groups()]
    allowed = min([int(psutil.virtual_memory().total), *limits])
    if allowed < LEAST:
        needed, given = round(LEAST / 1e6), round(allowed / 1e6)
        raise UnderhillError(
            Kind.OUT_OF_MEMORY,
            msg(
                "The app needs {needed} MB of memory and may use {given} MB.",
                needed=needed,
                given=given,
            ),
            msg("Raise the memory limit the app runs under, or close other apps under the same limit."),
        )
