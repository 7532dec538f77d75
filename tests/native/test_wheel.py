"""The wheel that the project builds: one for every Python, with the kernels in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

from engine.native.build import find_compiler

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
SAY = """
import sys
# an editable installation of the project, if this Python has one, would answer before the path is looked at
sys.meta_path = [finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable_")]
import engine, json
from engine.native.library import kernels_in_use
print(json.dumps([engine.__file__, str(kernels_in_use(1))]))
"""


def build_wheel(folder: Path) -> Path:
    """The wheel of a checkout without the model that ships; nothing is fetched for it."""
    pytest.importorskip("scikit_build_core")
    checkout = folder / "checkout"
    checkout.mkdir(parents=True)
    for name in ("pyproject.toml", "README.md", "LICENSE", "THIRD_PARTY_NOTICES.md"):
        shutil.copy(ROOT / name, checkout)
    for name in ("app", "engine", "resources"):
        left_out = shutil.ignore_patterns("__pycache__", "*.so", "*.dll", "*.safetensors")
        shutil.copytree(ROOT / name, checkout / name, ignore=left_out)
    command = [sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--no-index"]
    warnings = {**os.environ, "CFLAGS": "-Werror"}
    done = subprocess.run(
        [*command, "-w", str(folder), str(checkout)], capture_output=True, text=True, encoding="utf-8", env=warnings
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if find_compiler() is None or os.name == "nt":
        pytest.skip("no C compiler")
    if shutil.which("cmake") is None:
        pytest.skip("no CMake, which makes a wheel; an installation from source builds the kernels without")
    return build_wheel(tmp_path_factory.mktemp("wheel") / "made")


def installed(wheel: Path, folder: Path) -> str:
    """What `kernels_in_use` says in a Python that has only this wheel of Underhill, and no compiler."""
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    environment = {"PATH": "/nonexistent", "PYTHONPATH": str(folder), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", SAY], env=environment, cwd=folder, capture_output=True, text=True, encoding="utf-8"
    )
    assert done.returncode == 0, done.stderr
    assert str(folder) in done.stdout
    return done.stdout


def test_one_wheel_for_every_python_brings_the_kernels(wheel: Path, tmp_path: Path) -> None:
    assert "-py3-none-linux_" in wheel.name
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    assert [name for name in names if name.endswith(".so")] == ["engine/native/src/underhill_kernels.so"]
    assert {f"resources/cuda/{name}" for name in ("sm_75.ptx.gz", "sm_80.ptx.gz", "manifest.json")} <= set(names)
    said = installed(wheel, tmp_path / "site")
    assert "Native kernels" in said


def test_types_licences_and_the_version_come_along(wheel: Path) -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        about = archive.read(f"underhill-{version}.dist-info/METADATA").decode()
    assert {"engine/py.typed", "app/py.typed"} <= names
    kept = f"underhill-{version}.dist-info/licenses"
    assert {f"{kept}/LICENSE", f"{kept}/THIRD_PARTY_NOTICES.md"} <= names
    for licence in (ROOT / "resources" / "fonts").glob("*-LICENSE.txt"):
        assert f"{kept}/resources/fonts/{licence.name}" in names
    assert f"\nVersion: {version}\n" in about
    assert "\nLicense-Expression: Apache-2.0\n" in about
    assert "Windows" not in about.split("\n\n")[0]


@pytest.mark.skipif(shutil.which("objdump") is None, reason="there is no objdump")
def test_the_library_in_it_needs_only_the_c_library(wheel: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        library = archive.extract("engine/native/src/underhill_kernels.so", tmp_path)
    said = subprocess.run(
        ["objdump", "-p", library], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    needed = {line.split()[1].split(".")[0] for line in said.splitlines() if "NEEDED" in line}
    assert needed <= {"libc", "libm", "libpthread"}
    assert "libc" in needed
    symbols = subprocess.run(
        ["objdump", "-T", library], capture_output=True, text=True, check=True, encoding="utf-8"
    ).stdout
    shown = {line.split()[-1] for line in symbols.splitlines() if " g " in line}
    assert shown
    assert all(name.startswith("uh_") for name in shown)
