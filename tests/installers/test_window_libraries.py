"""The window starts with the libraries that an installer brings along; those of the engine come after it."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Any

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


def bundle_of(root: Path) -> Any:
    """The script that lays down a release."""
    sys.path.insert(0, str(root / "installers"))
    try:
        return importlib.import_module("bundle")
    finally:
        sys.path.pop(0)


def test_of_the_spelling_for_windows_what_it_needs_is_laid_down(root: Path) -> None:
    bundle = bundle_of(root)
    assert bundle.WINDOW_ALONE["windows"] == ("pyenchant",)
    assert "sys_platform == 'win32'" in bundle.locks()["pyenchant"]
    inside = "enchant/data/mingw64/"
    kept = ("bin/libenchant-2.dll", "bin/libstdc++-6.dll", "lib/enchant-2/enchant_hunspell.dll",
            "share/enchant/hunspell/en_US.dic", "share/enchant/enchant.ordering")  # fmt: skip
    assert not [name for name in kept if bundle.LEFT_OUT.match(inside + name)]
    rest = ("bin/libpython3.10.dll", "bin/libicudt72.dll", "lib/enchant-2/enchant_nuspell.dll",
            "lib/enchant-2/enchant_hunspell.dll.a", "share/enchant/hunspell/en_ZW.dic")  # fmt: skip
    assert all(bundle.LEFT_OUT.match(name) for name in ("enchant/__init__.py", *(inside + name for name in rest)))
    assert not bundle.LEFT_OUT.match("pyenchant-3.3.0.dist-info/licenses/LICENSE.txt")


def test_the_window_imports_nothing_that_installers_do_not_ship(root: Path) -> None:
    bundle = bundle_of(root)
    shipped = {canonicalize_name(name) for name in (*bundle.WINDOW, *bundle.QT)}
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
