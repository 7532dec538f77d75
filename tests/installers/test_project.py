"""What the project says of itself: one version, true notices, hooks that fetch nothing."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml


@pytest.fixture(scope="module")
def project() -> dict[str, Any]:
    """The table [project] of pyproject.toml."""
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    found: dict[str, Any] = tomllib.loads(text)["project"]
    return found


def strings(path: Path) -> set[str]:
    """Every string that a file of Python has."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}


def test_the_changelog_begins_with_the_version(root: Path, project: dict[str, Any]) -> None:
    headings = re.findall(r"(?m)^## \[(.+?)\](?: - (.+))?$", (root / "CHANGELOG.md").read_text())
    assert headings[0][0] == "Unreleased"
    assert headings[1][0] == project["version"]
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\d", date) for _, date in headings[1:])


def test_no_code_states_the_version_a_second_time(root: Path, project: dict[str, Any]) -> None:
    files = [*root.glob("engine/**/*.py"), *root.glob("app/**/*.py")]
    assert len(files) > 300
    assert [path for path in files if project["version"] in strings(path)] == []


def test_the_licence_is_one_and_its_files_are_there(root: Path, project: dict[str, Any]) -> None:
    assert project["license"] == "Apache-2.0"
    text = (root / "LICENSE").read_text()
    assert "Apache License" in text
    assert "the Underhill authors" in text
    for pattern in project["license-files"]:
        assert list(root.glob(pattern)), pattern


def test_no_classifier_names_a_system_that_it_does_not_run_on(project: dict[str, Any]) -> None:
    systems = [text for text in project["classifiers"] if text.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]


def test_the_notices_name_all_that_is_shipped(root: Path) -> None:
    notices = (root / "THIRD_PARTY_NOTICES.md").read_text()
    shipped = [path for path in (root / "resources").iterdir() if path.name not in ("__pycache__", "__init__.py")]
    for path in shipped:
        assert f"`resources/{path.name}{'/' if path.is_dir() else ''}`" in notices, path
    typefaces = [path for path in (root / "resources" / "fonts").iterdir() if path.suffix in (".otf", ".ttf")]
    assert typefaces
    for path in typefaces:
        assert f"`{path.name}`" in notices
        licence = path.with_name(f"{path.stem.split('-')[0]}-LICENSE.txt")
        assert licence.exists()
        assert f"`{licence.name}`" in notices


def test_the_notices_name_every_text_that_the_built_in_model_learned(root: Path) -> None:
    notices = (root / "THIRD_PARTY_NOTICES.md").read_text()
    card = (root / "resources" / "builtin" / "README.md").read_text()
    table = card[card.index("| source | share") :].split("\n\n")[0].splitlines()[3:]  # below the own text
    for row in table:
        source, _, licence = (cell.strip() for cell in row.strip("|").split("|"))
        (found,) = (line for line in notices.splitlines() if line.startswith(f"| {re.split(r' ?[(,]', source)[0]}"))
        assert f"| {licence} |" in found


def test_a_typeface_is_under_the_licence_that_it_names(root: Path) -> None:
    for path in (root / "resources" / "fonts").glob("*.?tf"):
        said = path.read_bytes().replace(b"\0", b"")
        text = path.with_name(f"{path.stem.split('-')[0]}-LICENSE.txt").read_text().lower()
        named = "open font license" if b"SIL Open Font License" in said else "apache license"
        assert named in text, path


def test_the_hooks_before_a_commit_fetch_nothing(root: Path) -> None:
    repos = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())["repos"]
    assert [repo["repo"] for repo in repos] == ["local"]
    hooks = repos[0]["hooks"]
    assert {hook["entry"].split()[0] for hook in hooks} == {"ruff", "mypy", "lint-imports"}
    assert {hook["language"] for hook in hooks} == {"system"}
