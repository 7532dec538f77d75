"""The scripts and the lock as files: sound shell, nothing that depends on one place, pins that satisfy pyproject."""

from __future__ import annotations

import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name


@pytest.fixture
def scripts(root: Path) -> list[str]:
    found = [
        *root.glob("installers/*.sh"),
        *root.glob("installers/lib/*.sh"),
        root / ".ci/run",
        *root.glob("req*/*.sh"),
    ]
    assert len(found) >= 8
    return [str(path) for path in found]


@pytest.fixture(scope="module")
def pins() -> dict[str, set[str]]:
    """Name -> pinned versions, over all lock files."""
    found: dict[str, set[str]] = {}
    for name in ("runtime", "dev"):
        text = (Path(__file__).parents[2] / "requirements" / f"{name}.txt").read_text()
        for package, version in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", text, re.M):
            found.setdefault(canonicalize_name(package), set()).add(version)
    return found


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_can_read_every_script(scripts: list[str]) -> None:
    for script in scripts:
        done = subprocess.run(["bash", "-n", script], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("shellcheck") is None, reason="there is no shellcheck")
def test_shellcheck_finds_nothing(scripts: list[str], root: Path) -> None:
    done = subprocess.run(["shellcheck", "-x", *scripts], capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stdout


def test_the_readme_opens_with_the_two_commands(root: Path) -> None:
    commands = re.findall(r"^bash .*", (root / "README.md").read_text(), re.M)
    assert commands[:2] == ["bash installers/run.sh", "bash installers/test.sh"]


def test_what_the_window_needs_of_the_system_is_asked_for_by_every_door(root: Path) -> None:
    imported = {
        module
        for file in (root / "app").rglob("*.py")
        for module in re.findall(r"^ *from PySide6\.Qt(\w+) import", file.read_text(encoding="utf-8"), re.M)
    }
    system = (root / "installers/lib/system.sh").read_text()
    looked_at = re.search(r"Qt\{([\w,]+)\}\.abi3\.so", system)
    assert looked_at
    assert set(looked_at[1].split(",")) == imported  # the linker is asked about these
    packages = re.search(r"QT_PACKAGES=\(([^)]*)\)", system)
    assert packages
    needs = "".join(re.findall(r'^needs\+?="(.*)"$', (root / "installers/linux/build.sh").read_text(), re.M))
    assert not [name for name in packages[1].split() if name not in re.split(r"[, |]+", needs)]


def test_no_file_names_where_packages_come_from(scripts: list[str], root: Path) -> None:
    for path in [*map(Path, scripts), root / "pyproject.toml", *root.glob("requirements/*")]:
        found = re.search(r"://|index-url|find-links", path.read_text())
        assert found is None, f"{path}: {found.group() if found else ''}"


def test_the_lock_satisfies_pyproject(root: Path, pins: dict[str, set[str]]) -> None:
    project = tomllib.loads((root / "pyproject.toml").read_text())
    groups = project["dependency-groups"]
    wanted = [*project["project"]["dependencies"], *groups["test"], *(d for d in groups["dev"] if isinstance(d, str))]
    for requirement in map(Requirement, wanted):
        if requirement.name == "torch":
            continue
        versions = pins.get(canonicalize_name(requirement.name))
        assert versions, f"{requirement} is not locked; run requirements/lock.sh"
        for version in versions:
            assert requirement.specifier.contains(version), f"{requirement}, but {version} is locked"


def test_torch_and_cuda_stay_out_of_the_lock(pins: dict[str, set[str]]) -> None:
    found = [name for name in pins if re.match("torch|nvidia|triton|cuda", name)]
    # They compile and assemble the kernels for cards, and come with the tests alone.
    assert found == ["nvidia-cuda-nvcc-cu12", "nvidia-cuda-nvrtc-cu12"]


def test_both_torches_are_the_one_of_pyproject(root: Path) -> None:
    dependencies = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    (wanted,) = (d for d in dependencies if d.startswith("torch=="))
    assert re.findall(r"(?m)^torch==\S+", (root / "requirements/torch.txt").read_text()) == [f"{wanted}+cpu"]
    assert re.findall(r"(?m)^torch==\S+", (root / "requirements/torch-general.txt").read_text()) == [wanted]


def test_the_general_torch_takes_no_other_version_of_what_the_lock_has(root: Path, pins: dict[str, set[str]]) -> None:
    for line in (root / "requirements/torch-general.txt").read_text().splitlines():
        if found := re.match(r"([\w.-]+)==(\S+)", line):
            versions = pins.get(canonicalize_name(found[1]))
            assert versions is None or found[2] in versions, line


def test_every_pin_has_a_hash(root: Path) -> None:
    for path in root.glob("requirements/*.txt"):
        for block in re.split(r"\n(?=\S)", re.sub("(?m)^#.*\n", "", path.read_text()).strip()):
            assert "--hash=sha256:" in block, f"{path.name}: {block.splitlines()[0]}"
