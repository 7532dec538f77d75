"""What a failed test of the window left behind does not spoil its second try, nor the test after it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.app import fails_first

TESTS = [name for name in vars(fails_first) if name.startswith("test_")]


@pytest.mark.slow
def test_the_second_try_of_a_window(root: Path) -> None:
    plugins = [sys.executable, "-m", "pytest", "--reruns", "1", "-p", "no:cacheprovider", fails_first.__file__]
    done = subprocess.run(plugins, cwd=root, capture_output=True, text=True, timeout=280)
    assert f"{len(TESTS) - 1} rerun in" in done.stdout.splitlines()[-1], done.stdout
    assert "failed" not in done.stdout.splitlines()[-1], done.stdout
    for name in TESTS[:-1]:
        assert f"  tests/app/fails_first.py::{name}: retried in 0 of the 0 runs before" in done.stdout, done.stdout
