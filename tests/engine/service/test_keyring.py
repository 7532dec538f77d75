"""A real Secret Service, GNOME's, in a D-Bus session of the test's own: unlocked, and locked with nobody there."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.hubserver import HubServer
from tests.waiting import PROCESS

pytestmark = pytest.mark.skipif(
    not (shutil.which("gnome-keyring-daemon") and shutil.which("dbus-run-session")),
    reason="GNOME Keyring or D-Bus is not installed",
)
UNLOCKED = """
printf '\\n' | gnome-keyring-daemon --unlock --components=secrets >/dev/null
exec "$@"
"""


def said(tmp_path: Path, root: Path, *before: str) -> tuple[dict[str, Any], list[Path]]:
    """What the program said in a session begun so, and the files that it and the keyring left."""
    kept_out = ("PYTHON_KEYRING_BACKEND", "DISPLAY", "WAYLAND_DISPLAY", "HF_TOKEN", "DBUS_SESSION_BUS_ADDRESS")
    home = tmp_path / "home"
    (home / "run").mkdir(parents=True, mode=0o700)
    environment = {name: value for name, value in os.environ.items() if name not in kept_out} | {
        "HOME": str(home), "XDG_DATA_HOME": str(home / "data"), "XDG_RUNTIME_DIR": str(home / "run"),
        "XDG_CONFIG_HOME": str(home / "config"), "UNDERHILL_HOME": str(home / "underhill"), "PYTHONPATH": str(root),
    }  # fmt: skip
    with HubServer() as server:
        server.tokens = {"hf_right"}
        program = [sys.executable, "-m", "tests.engine.service.keyring_session", server.url, "hf_right"]
        done = subprocess.run(
            ["dbus-run-session", "--", *before, *program],
            env=environment, cwd=root, capture_output=True, text=True, timeout=PROCESS,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return dict(map(json.loads, done.stdout.splitlines())), [p for p in home.rglob("*") if p.is_file()]


@pytest.mark.slow
def test_a_token_is_kept_there_for_the_next_process_and_lies_in_no_file(tmp_path: Path, root: Path) -> None:
    found, files = said(tmp_path, root, "sh", "-c", UNLOCKED, "sh")
    assert found == {
        "kept for": "somebody",
        "asked": ["keyring", ""],
        "another process": ["keyring", ""],
        "forgotten": True,
        "asked again": ["", ""],
    }
    ours = [file for file in files if "underhill" in file.parts]
    assert ours
    assert not [file for file in ours if b"hf_right" in file.read_bytes()]


def test_one_that_nobody_unlocks_keeps_nothing_and_is_not_asked_for_what_it_does_not_hold(
    tmp_path: Path, root: Path
) -> None:
    found, _ = said(tmp_path, root)
    kind, action = found["kept for"]
    assert (kind, "HF_TOKEN" in action) == ("disk_error", True)
    assert found["asked"] == ["", ""]
