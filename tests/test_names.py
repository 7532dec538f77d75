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


MOST_IN_ORDER = 6  # parameters that a reader can tell apart by their place


def fields_in_order(path: Path) -> dict[str, int]:
    """Of each data class in a file: how many of its own fields a caller may give by their place."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            made = [ast.unparse(d) for d in node.decorator_list if ast.unparse(d).startswith("dataclass")]
            if not made or "kw_only=True" in made[0]:
                continue
            count = 0
            for field in node.body:
                if isinstance(field, ast.AnnAssign) and "ClassVar" not in ast.unparse(field.annotation):
                    if ast.unparse(field.annotation) == "KW_ONLY":
                        break
                    count += "init=False" not in ast.unparse(field)
            found[node.name] = count
    return found


def test_more_than_six_fields_are_given_by_name() -> None:
    """Of functions, ruff says the same (PLR0917)."""
    files = [p for folder in (ROOT / "app", ROOT / "engine") for p in sorted(folder.rglob("*.py"))]
    counts = {f"{path.name}: {name}": n for path in files for name, n in fields_in_order(path).items()}
    assert len(counts) > 200
    assert {name: n for name, n in counts.items() if n > MOST_IN_ORDER} == {}


def test_fields_given_by_their_place_are_counted(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(
        "@dataclass(frozen=True)\nclass A:\n    a: int\n    b: int = field(init=False)\n    _: KW_ONLY\n    c: int\n"
        "@dataclass(kw_only=True)\nclass B:\n    a: int\n@dataclass\nclass C:\n    a: int\n    b: int = 1\n"
    )
    assert fields_in_order(tmp_path / "a.py") == {"A": 1, "C": 2}
