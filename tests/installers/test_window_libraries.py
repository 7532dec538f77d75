"""The window starts with the libraries that an installer brings along; those of the engine come after it."""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path

from packaging.utils import canonicalize_name

from tests.waiting import LONGEST

# Imports every module of the window; what the installers do not ship is not to be found, as on a new computer.
_IMPORT_ALL = """
import importlib, importlib.abc, json, pkgutil, sys

absent = set(json.loads(sys.argv[1]))

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {name!r}")

sys.meta_path.insert(0, Absent())
import app
for module in pkgutil.walk_packages(app.__path__, "app."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
"""


def test_the_window_imports_nothing_that_installers_do_not_ship(root: Path) -> None:
    sys.path.insert(0, str(root / "installers"))
    try:
        from bundle import QT, WINDOW
    finally:
        sys.path.pop(0)
    shipped = {canonicalize_name(name) for name in (*WINDOW, *QT)}
    absent = [
        module
        for module, owners in packages_distributions().items()
        if module not in ("app", "engine") and not shipped & {canonicalize_name(owner) for owner in owners}
    ]
    assert {"numpy", "torch", "transformers"} <= set(absent)
    done = subprocess.run(
        [sys.executable, "-c", _IMPORT_ALL, json.dumps(absent)],
        capture_output=True, text=True, cwd=root, timeout=LONGEST, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
