"""What must hold on Windows' own Python at the least, in a few minutes: ``python -m tests.windows smoke``."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.windows.launchers import launchers
from tests.windows.machine import TREE, Machine

LIMIT = 900.0  # seconds for each of them; each takes about two minutes where nothing else runs
CHAT = ["-m", "engine.cli", "chat", "builtin", "--greedy", "--prompt", "Hello", "--json"]
# Locks, atomic writes, the store, settings, job objects, Credential Manager, and the engine in a process of its own.
TESTS = [
    "tests/engine/store/test_lock.py",
    "tests/engine/test_filesystem.py",
    "tests/engine/store/test_writer.py",
    "tests/engine/test_settings.py",
    "tests/engine/test_windows.py",
    "tests/engine/process",
]
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not alone and not slow", "--timeout", "600"]


def smoke(machine: Machine) -> int:
    """0 when all hold, else 1; prints how long each took."""
    checks = {
        "the library's self-test": _self_test,
        "the answer's tokens are Linux' own": _same_tokens,
        "underhill.exe and underhill-cli.exe": _launchers,
        "tests": _tests,
    }
    failed = 0
    for name, check in checks.items():
        begun = time.monotonic()
        said = check(machine)
        failed += bool(said)
        print(f"{'FAILED' if said else 'ok'}: {name}, {time.monotonic() - begun:.0f} s\n{said}", flush=True)
    return min(failed, 1)


def _same_tokens(machine: Machine) -> str:
    there = machine.run(CHAT, machine.nothing, LIMIT).stdout
    here = subprocess.run(
        [sys.executable, *CHAT], cwd=TREE, stdout=subprocess.PIPE, text=True, check=True, encoding="utf-8"
    ).stdout
    return "" if _ids(there) == _ids(here) != [] else f"there: {there}\nhere: {here}"


def _self_test(machine: Machine) -> str:
    done = machine.run_program("/w/library/selftest.exe", machine.nothing, LIMIT)
    print(*done.stdout.splitlines()[-1:])
    return done.stdout if done.returncode else ""


def _launchers(machine: Machine) -> str:
    with tempfile.TemporaryDirectory() as out:
        return launchers(machine, Path(out))


def _ids(said: str) -> list[int]:
    for line in said.splitlines():
        if line.startswith('{"text"'):
            return list(json.loads(line)["token_ids"])
    return []


def _tests(machine: Machine) -> str:
    done = machine.run([*PYTEST, *TESTS], machine.nothing, LIMIT)
    print(*done.stdout.splitlines()[-1:])
    return done.stdout if done.returncode else ""
