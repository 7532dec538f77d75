"""Tests look at things through their public face: uses of another object's private attributes only become fewer."""

from __future__ import annotations

import ast
import subprocess
from pathlib import Path

MOST = 50  # of all tests; lower it when you have made one go
LIBRARIES = {
    "_exit",
    "_replace",
    "_obj",
    "_from_config",
    "_fields",
    "_asdict",
    "_getframe",
}  # public for all their names


def private_uses(text: str) -> list[str]:
    """Return expressions such as `dialog._list`: private, of an object that is neither self nor cls."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Attribute) or not node.attr.startswith("_") or node.attr.startswith("__"):
            continue
        own = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
        if not own and node.attr not in LIBRARIES:
            found.append(ast.unparse(node))
    return found


def test_what_counts_as_private() -> None:
    assert private_uses("a._b\nself._c\na.__class__\na.d._e.f\nrow._replace(x=1)") == ["a._b", "a.d._e"]


def test_private_attributes_are_used_no_more_than_before(root: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "tests/*.py"], cwd=root, capture_output=True, text=True, check=False)
    files = [root / line for line in listed.stdout.splitlines()] or sorted((root / "tests").rglob("*.py"))
    uses = {path: private_uses(path.read_text("utf-8")) for path in files if path.exists()}
    count = sum(map(len, uses.values()))
    most = sorted(uses, key=lambda path: -len(uses[path]))[:10]
    assert count <= MOST, f"{count} uses; most in {[str(path.relative_to(root)) for path in most]}"
