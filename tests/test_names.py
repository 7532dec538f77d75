"""One name, one thing: a public class is declared once in the whole of app and engine."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def declared(folders: list[Path]) -> dict[str, list[str]]:
    """Files that declare a public class of each name, at the top of a module or within a class."""
    found = defaultdict(list)
    for path in (p for folder in folders for p in sorted(folder.rglob("*.py"))):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                found[node.name].append(path.name)
    return found


def test_every_public_class_name_is_declared_once() -> None:
    found = declared([ROOT / "app", ROOT / "engine"])
    assert len(found) > 500
    assert {name: files for name, files in found.items() if len(files) > 1} == {}


def test_a_name_that_is_declared_twice_is_found(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("class Cache:\n    pass\n")
    (tmp_path / "b.py").write_text("class Cache:\n    pass\nclass _Own:\n    pass\n")
    assert declared([tmp_path]) == {"Cache": ["a.py", "b.py"]}
