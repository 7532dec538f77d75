"""House rules: one public class of a name, few values given by their place, and functions that fit on a page."""

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


MOST_LINES = 60  # of a function with its signature and docstring: one page


def long_functions(path: Path) -> dict[str, int]:
    """Lines of the functions of a file that have more than MOST_LINES."""
    found = {}
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            assert node.end_lineno is not None
            lines = node.end_lineno - node.lineno + 1
            if lines > MOST_LINES:
                found[node.name] = lines
    return found


def test_functions_fit_on_a_page() -> None:
    files = [p for folder in (ROOT / "app", ROOT / "engine") for p in sorted(folder.rglob("*.py"))]
    assert len(files) > 500
    found = {path.relative_to(ROOT).as_posix(): long_functions(path) for path in files}
    assert {path: functions for path, functions in found.items() if functions} == {}


def test_what_a_person_types_is_typed_in_place() -> None:
    """A box that asks for one word hides what it is about, and has no place to say what is wrong with it."""
    files = sorted((ROOT / "app").rglob("*.py"))
    assert len(files) > 100
    assert [path.relative_to(ROOT).as_posix() for path in files if "QInputDialog" in path.read_text("utf-8")] == []


def test_a_function_longer_than_a_page_is_found(tmp_path: Path) -> None:
    body = "    pass\n"
    (tmp_path / "a.py").write_text(
        "def short():\n"
        + body * (MOST_LINES - 1)
        + "class A:\n    async def long(self):\n"
        + ("    " + body) * MOST_LINES
    )
    assert long_functions(tmp_path / "a.py") == {"long": MOST_LINES + 1}
