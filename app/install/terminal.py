"""underhill-cli as the installers lay it down: has the engine's packages installed first, then becomes the program."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from app.install import launch
from app.install.download import InstallProblem
from app.install.environment import EngineEnvironment, InstallProgress, Options, load_options
from app.install.release import program_folder, running
from app.platform import logs
from engine import private_files


def main(arguments: Sequence[str]) -> int:
    """Returns the exit code; 1 where the engine cannot be installed. Ends in the program on POSIX.

    `--install-engine` installs and ends; another argument behind it is a folder of wheels to use.
    """
    release = running()
    assert release is not None
    program = program_folder(logs.default_paths().folder)
    engine = EngineEnvironment(release, program)
    only = arguments[:1] == ["--install-engine"]
    if not engine.is_ready:
        private_files.write_privately()
        chosen = load_options(program / "options.json")
        if only and len(arguments) > 1:
            chosen = Options(wheels=str(Path(arguments[1]).absolute()))
        print("Installing Underhill's engine; only the first time takes long.", file=sys.stderr)
        try:
            engine.install(chosen, threading.Event(), _Lines())
        except InstallProblem as problem:
            print(f"The engine was not installed: {problem}", file=sys.stderr)
            return 1
        except KeyboardInterrupt:
            return 130
    if only:
        return 0
    environment = {**os.environ, "PYTHONPATH": str(release.folder / "app")}
    engine_cli = [str(engine.python), "-P", "-m", "engine.cli"]
    if release.folder.parent == program / "releases" and not launch.load(program).proven:
        _uncount(program, engine_cli, environment)
    command = [*engine_cli, *arguments]
    if sys.platform == "win32":  # where exec would let the terminal go on at once
        return subprocess.run(command, env=environment, check=False).returncode
    os.execve(command[0], command, environment)


def _uncount(program: Path, command: list[str], environment: dict[str, str]) -> None:
    """A new release whose engine answers does not count this start, which says nothing about its window; that one
    proves the release. Otherwise two commands in a terminal would have a good release taken back."""
    asked = subprocess.run([*command, "info", "--json"], env=environment, capture_output=True, check=False)
    if asked.returncode == 0:
        with suppress(OSError):
            launch.start_withdrawn(program)


class _Lines:
    """A line for each step, and for each tenth of the bytes."""

    def __init__(self) -> None:
        self._said = ""
        # Several downloads tell their progress: without it lines would be printed twice, or into each other.
        self._lock = threading.Lock()

    def __call__(self, progress: InstallProgress) -> None:
        line = progress.step
        if progress.total:
            line += f" {progress.done * 10 // progress.total * 10} % of {progress.total / 1e6:.0f} MB"
        with self._lock:
            if line != self._said:
                self._said = line
                print(f"  {line}", file=sys.stderr)
