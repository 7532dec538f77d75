"""Chooses the release that starts, and starts it: the window, or with --cli first the terminal's program.

The installers copy this file beside the release that they lay down, so it imports nothing but the standard library.
What it decides is in state.json, which is only ever replaced whole: a start or an update may be killed at any moment.
"""

from __future__ import annotations

import compileall
import importlib
import json
import os
import re
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MOST_TRIES = 2  # starts of a new release that did not end well, before the one before it is taken again


@dataclass
class LaunchState:
    """current: version of the update that starts, '' for what the installer laid down. proven: it has started well.

    tries: its starts so far, while it has not. previous: what was current before. following: what is to be at the next
    start. refused: versions that were taken back.
    """

    current: str = ""
    previous: str = ""
    following: str = ""
    proven: bool = True
    tries: int = 0
    refused: list[str] = field(default_factory=list)


def load(program: Path) -> LaunchState:
    """What is kept in a folder; the defaults where it cannot be read."""
    try:
        kept = json.loads((program / "state.json").read_text(encoding="utf-8"))
        usual = asdict(LaunchState())
        known = {name: kept[name] for name in usual if type(kept.get(name)) is type(usual[name])}
    except (OSError, ValueError, AttributeError):
        return LaunchState()
    return LaunchState(**known)


def save(state: LaunchState, program: Path) -> None:
    """Keep it. Raises OSError."""
    write_known(program / "state.json", asdict(state))


def write_known(path: Path, value: dict[str, Any]) -> None:
    """Write what this version knows into a file of JSON; what a newer one has put there stays. Raises OSError."""
    try:
        there = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        there = {}
    write_whole(path, {**there, **value} if isinstance(there, dict) else value)


def write_whole(path: Path, value: dict[str, Any]) -> None:
    """Write a file of JSON so that there is always the old or the new one. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.{os.getpid()}.new")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(value, file, indent=1)
        file.flush()
        os.fsync(file.fileno())  # otherwise a power cut may leave the name with nothing behind it
    os.replace(fresh, path)


def number(version: str) -> tuple[int, ...]:
    """For comparison: 0.10.0 is newer than 0.9.3."""
    return tuple(int(part) for part in re.findall(r"\d+", version))


def version_of(release: Path) -> str:
    """The version of the release in a folder; '' where there is none that is whole."""
    try:
        said = json.loads((release / "release.json").read_text(encoding="utf-8"))
        return str(said["version"])
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def choose(bundle: Path, program: Path) -> Path:
    """The folder of the release to start now. bundle: of what the installer laid down."""
    state, own = load(program), version_of(bundle)
    before = asdict(state)

    def usable(version: str) -> bool:
        whole = bool(version) and version_of(program / "releases" / version) == version
        return whole and version not in state.refused and number(version) > number(own)

    if usable(state.following):
        state.previous, state.current = state.current, state.following
        state.proven, state.tries = False, 0
    state.following = ""
    if not state.proven and state.current:
        if state.tries >= MOST_TRIES:
            state.refused.append(state.current)
            state.current, state.proven, state.tries = state.previous, True, 0
        else:
            state.tries += 1
    if not usable(state.current):  # the installer's own is newer now, or somebody has deleted it
        state.current, state.proven = "", True
    if asdict(state) != before:
        try:
            save(state, program)
        except OSError:  # a disk that is full or not writable: what could not be counted is not started
            return program / "releases" / state.current if state.current and state.proven else bundle
    return program / "releases" / state.current if state.current else bundle


def started_well(program: Path) -> None:
    """The release that runs works: it is no longer taken back. Raises OSError."""
    state = load(program)
    if not state.proven:
        state.proven, state.tries = True, 0
        save(state, program)


def start_withdrawn(program: Path) -> None:
    """This start only asked the window that is open to come forward, and says nothing about the release."""
    state = load(program)
    if not state.proven and state.tries:
        state.tries -= 1
        save(state, program)


def compile_all(release: Path) -> None:
    """Write the byte code of a release for the Python that runs; the first start then need not make it."""
    for part in ("app", "qt"):
        compileall.compile_dir(release / part, quiet=2, workers=0)


def data_folder() -> Path:
    """The user's folder of Underhill, as platformdirs names it, which cannot be imported yet."""
    if chosen := os.environ.get("UNDERHILL_HOME"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "underhill"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "underhill"
    return Path(os.environ.get("XDG_DATA_HOME", "").strip() or Path.home() / ".local" / "share") / "underhill"


def main() -> int:
    """Start it in this process. Returns the exit code. With --compile alone: only compile what starts; 0 then."""
    bundle = Path(__file__).resolve().parent
    if sys.argv[1:] == ["--compile"]:  # for installers: where a user may not write, each start would compile it anew
        compile_all(bundle)
        return 0
    release = choose(bundle, data_folder() / "program")
    sys.path[:0] = [str(release / "app"), str(release / "qt")]
    # By name, since these are modules of the release that was chosen, which may be another than this file's.
    if sys.argv[1:2] == ["--cli"]:
        code: int = importlib.import_module("app.install.terminal").main(sys.argv[2:])
    else:
        code = importlib.import_module("app.main").main()
    return code


if __name__ == "__main__":
    sys.exit(main())
