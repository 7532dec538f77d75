"""A real Secret Service, GNOME's, in a D-Bus session of the test's own: unlocked, and locked with nobody there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine.hub import tokens
from tests.hubserver import HubServer
from tests.waiting import PROCESS

pytestmark = [
    pytest.mark.skipif(
        not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-run-session")),
        reason="GNOME Keyring or D-Bus is not installed",
    ),
    pytest.mark.long,
]
UNLOCKED = """
printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null
exec "$@"
"""


@pytest.fixture
def server() -> Iterator[HubServer]:
    with HubServer() as running:
        running.tokens = {"hf_right"}
        yield running


class Computer:
    """Somebody's: what lies in its home outlives a session."""

    def __init__(self, home: Path, root: Path, hub: str) -> None:
        self._home, self._root, self._hub = home, root, hub
        (home / "run").mkdir(parents=True, mode=0o700)

    def session(self, *before: str, only: str = "") -> dict[str, Any]:
        """What the program said in a session begun so. only: see keyring_session."""
        kept_out = ("PYTHON_KEYRING_BACKEND", "DISPLAY", "WAYLAND_DISPLAY", "HF_TOKEN", "DBUS_SESSION_BUS_ADDRESS")
        home = self._home
        environment = {name: value for name, value in os.environ.items() if name not in kept_out} | {
            "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_RUNTIME_DIR": str(home / "run"),
            "XDG_CONFIG_HOME": str(home / "config"), "UNDERHILL_HOME": str(home / "underhill"),
            "PYTHONPATH": str(self._root),
        }  # fmt: skip
        program = [sys.executable, "-m", "tests.engine.service.keyring_session", self._hub, "hf_right", *only.split()]
        done = subprocess.run(
            ["dbus-run-session", "--", *before, *program],
            env=environment, cwd=self._root, capture_output=True, text=True, timeout=PROCESS,
            encoding="utf-8",
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return dict(map(json.loads, done.stdout.splitlines()))

    @property
    def files(self) -> list[Path]:
        """That the program and the keyring left."""
        return [file for file in self._home.rglob("*") if file.is_file()]


@pytest.fixture
def computer(tmp_path: Path, root: Path, server: HubServer) -> Computer:
    return Computer(tmp_path / "home", root, server.url)


@pytest.mark.slow
def test_a_token_is_kept_there_for_the_next_process_and_lies_in_no_file(computer: Computer) -> None:
    assert computer.session("sh", "-c", UNLOCKED, "sh") == {
        "kept for": "somebody",
        "asked": ["keyring", ""],
        "another process": ["keyring", ""],
        "forgotten": True,
        "asked again": ["", ""],
    }
    ours = [file for file in computer.files if "underhill" in file.parts]
    assert ours
    assert not [file for file in ours if b"hf_right" in file.read_bytes()]


def test_one_that_nobody_unlocks_keeps_nothing_and_is_not_asked_for_what_it_does_not_hold(computer: Computer) -> None:
    """Nor made: its password is asked for, and the question is dismissed, as there is no desk to ask on."""
    found = computer.session()
    kind, sentence, action = found["kept for"]
    assert (kind, "is locked" in sentence, "HF_TOKEN" in action) == ("disk_error", True, True)
    assert found["asked"] == ["", ""]


@pytest.mark.slow
def test_a_token_in_a_keyring_that_stays_locked_is_not_lost(computer: Computer) -> None:
    assert computer.session("sh", "-c", UNLOCKED, "sh", only="keep")["asked"] == ["keyring", ""]
    assert computer.session(only="ask")["another process"] == ["", tokens.LOCKED]
    kind, sentence, _ = computer.session(only="keep")["kept for"]
    assert (kind, "is locked" in sentence) == ("disk_error", True)
    assert computer.session("sh", "-c", UNLOCKED, "sh", only="ask")["another process"] == ["keyring", ""]
