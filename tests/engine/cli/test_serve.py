"""`underhill-cli serve` as a program of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx2 as httpx
import pytest

from tests.waiting import LONGEST

pytestmark = pytest.mark.long
PROGRAM = [sys.executable, "-m", "engine.cli", "serve"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no signals to other programs")
def test_it_says_where_it_is_and_ends_at_an_interrupt(home: Path) -> None:
    command = [*PROGRAM, "--port", "0", "--key", "-", "--threads", "1"]
    running = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ)
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write("a-key-from-the-input\n")
    running.stdin.close()
    try:
        address = running.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        assert httpx.get(f"{address}/models").status_code == 401
        known = {"Authorization": "Bearer a-key-from-the-input"}
        listed = httpx.get(f"{address}/models", headers=known, timeout=LONGEST).json()
        assert "builtin" in [model["id"] for model in listed["data"]]
        running.send_signal(signal.SIGINT)
        assert running.wait(LONGEST) == 0
    finally:
        running.kill()
        running.wait()


@pytest.mark.parametrize(
    ("options", "told", "code"),
    [
        (["--host", "0.0.0.0"], "a key is needed", 2),
        (["--host", "0.0.0.0", "--key", "short"], "at least", 2),
        (["--port", "70000"], "invalid", 2),
        (["--keep-key", "--key", "a-long-enough-key"], "No keyring works", 1),
        (["no-such-model"], "no-such-model", 1),
    ],
)
def test_what_it_cannot_do_it_says(home: Path, options: list[str], told: str, code: int) -> None:
    found = subprocess.run([*PROGRAM, "--port", "0", *options], capture_output=True, text=True, timeout=LONGEST)
    assert (found.returncode, told in found.stderr) == (code, True), found.stderr
