"""Every test runs offline, with the same draws each time, and away from anybody's desk, chats and models."""

from __future__ import annotations

import ast
import functools
import gc
import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

from tests.waiting import LONGEST

# Before anything imports Qt, torch or a Hugging Face library: they read these once.
os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
if sys.platform == "win32":  # offscreen, Qt looks for fonts in a folder of its own that is not there, and warns
    os.environ.setdefault("QT_QPA_FONTDIR", str(Path(__file__).parents[1] / "resources" / "fonts"))
# The window speaks the system's language; tests read English. tests/environments.py asks for other locales.
os.environ["LC_ALL"] = os.environ.get("UNDERHILL_TESTS_LOCALE", "C.UTF-8")
if "UNDERHILL_TESTS_LOCALE" not in os.environ:
    os.environ.pop("LANGUAGE", None)
os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests are many and small; threads would only wait for each other
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

pytest_plugins = ["tests.quarantine"]

CASES_TRACED = 2
SLOW = 30  # tests marked `long` that take as long as one marked `slow`

# Older Pythons count the depth of a syntax tree in one place for all threads and fail with a SystemError when a
# collection lets another thread parse in between (python/cpython#106905): numpy does, for each array that it reads.
_PARSE, _PARSING = ast.parse, threading.RLock()


@functools.wraps(_PARSE)
def _parse_alone(*args: Any, **options: Any) -> ast.AST:
    with _PARSING:
        return _PARSE(*args, **options)


if sys.version_info < (3, 12, 2):
    ast.parse = _parse_alone

_HOME = tempfile.TemporaryDirectory(prefix="underhill-tests-", ignore_cleanup_errors=True)
for _kind in ("DATA", "CONFIG", "CACHE", "STATE"):
    os.environ[f"XDG_{_kind}_HOME"] = os.path.join(_HOME.name, _kind.lower())

# The same examples each time: what fails is to fail for whoever broke it. --hypothesis-profile=default draws others.
settings.register_profile("same", derandomize=True, deadline=None)
settings.load_profile("same")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """What a test and its fixtures draw does not depend on the tests before it."""
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out what this computer cannot run, and say why; a test that is run alone says why, too.

    Workers, which take file after file, begin with those of slow tests and of most long ones: what is left at the end
    is short, and no worker waits minutes for the others.
    """
    if "PYTEST_XDIST_WORKER" in os.environ:
        weights: Counter[Path] = Counter()
        for item in items:
            weights[item.path] += SLOW if item.get_closest_marker("slow") else bool(item.get_closest_marker("long"))
        items.sort(key=lambda item: -weights[item.path])  # stable: a file's tests stay together, in their order
    _trace_few(items)
    for item in items:
        alone = item.get_closest_marker("alone")
        if alone is not None and not alone.args:
            raise pytest.UsageError(f"{item.nodeid}: say why it runs alone, as in @pytest.mark.alone('locks a file')")
    gpu = [item for item in items if item.get_closest_marker("gpu")]
    if gpu:
        import torch

        if not torch.cuda.is_available():
            for item in gpu:
                item.add_marker(pytest.mark.skip(reason="there is no NVIDIA GPU"))
    if shutil.which("Xvfb") is None:
        for item in items:
            if item.get_closest_marker("display"):
                item.add_marker(pytest.mark.skip(reason="there is no Xvfb"))


def _trace_few(items: list[pytest.Item]) -> None:
    """Coverage follows the first cases of each short test of the engine, and the first long ones of each file, no
    others: followed, code takes half as long again, and what the window runs of the engine tells nothing of its tests.
    """
    cases: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("::" if item.get_closest_marker("long") else "[")[0]
        cases[test] += 1
        if cases[test] > CASES_TRACED or not test.startswith("tests/engine/"):
            item.add_marker(pytest.mark.no_cover)


def pytest_collection_finish() -> None:
    """What was imported and collected stays: a full collection of garbage need not look at a million objects."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def xvfb() -> Iterator[str]:
    """A display of the tests' own, as a value for DISPLAY (for programs that a test starts; mark it `display`)."""
    readable, writable = os.pipe()
    command = ["Xvfb", "-displayfd", str(writable), "-screen", "0", "1280x800x24", "-nolisten", "tcp", "-noreset"]
    server = subprocess.Popen(command, pass_fds=[writable], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    os.close(writable)
    try:
        with open(readable, encoding="utf-8") as pipe:
            number = pipe.readline().strip()  # Xvfb takes the first free one, and names it once it is ready
        assert number, "Xvfb did not start"
        yield f":{number}"
    finally:
        server.terminate()
        server.wait(LONGEST)


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return Path(__file__).resolve().parent.parent
