"""One imported copy of the built-in model for all tests here, its home folder, and a home for those who change it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.calibration import calibrator
from engine.calibration.calibrator import open_calibrated
from engine.session import Session

# The home of all files of tests, once one has asked for it; what the import made, and what the calibration found.
_SHARED: dict[Path, tuple[set[str], dict[str, bytes]]] = {}


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """UNDERHILL_HOME with the built-in model imported, and calibrated as its first opening does."""
    from engine.library import library

    folder = tmp_path_factory.mktemp("home")
    before = os.environ.get("UNDERHILL_HOME")
    os.environ["UNDERHILL_HOME"] = str(folder)
    library.prepare("builtin")
    model = folder / "models" / "builtin"
    imported = {file.name for file in model.iterdir()}
    with open_calibrated("builtin"):  # closing it keeps what it learnt of the calibration's texts
        found = {file.name: file.read_bytes() for file in model.iterdir() if file.name not in imported}
    _SHARED[folder] = imported, found
    _restore(model, imported, found)
    yield folder
    del _SHARED[folder]
    if before is None:
        del os.environ["UNDERHILL_HOME"]
    else:
        os.environ["UNDERHILL_HOME"] = before


@pytest.fixture(autouse=True)
def _little_calibration(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models that a test makes itself are calibrated when first opened, as people's are, on an eighth of the text: half
    of such a test's time went into figures that it does not look at. The built-in model's come from `home`, whole.
    """
    monkeypatch.setattr(calibrator, "QUICK", calibrator.QUICK // 8)


@pytest.fixture(scope="module", autouse=True)
def _models_of_others() -> Iterator[None]:
    """What a file of tests leaves in the library goes, and what it measured and learnt of the built-in model:
    which file comes next depends on how two workers share them.
    """
    yield
    for folder, (imported, found) in _SHARED.items():
        for left in (folder / "models").iterdir():
            if left.is_dir() and left.name != "builtin":
                shutil.rmtree(left, ignore_errors=True)
        _restore(folder / "models" / "builtin", imported, found)


def _restore(model: Path, imported: set[str], found: dict[str, bytes]) -> None:
    for file in model.iterdir():
        if file.name not in imported:
            file.unlink(missing_ok=True)
    for name, content in found.items():
        (model / name).write_bytes(content)


@pytest.fixture
def session(home: Path) -> Iterator[Session]:
    """The built-in model under the Exact dial."""
    with open_calibrated("builtin", {"dial": "exact", "threads": 1}) as opened:
        yield opened


@pytest.fixture
def mine(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder for models in a home of this test's own, with the built-in model and `m` in it."""
    from engine.library import folders

    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    for name in ("builtin", "m"):
        shutil.copytree(home / "models" / "builtin", folders.own() / name)
    return folders.own()
