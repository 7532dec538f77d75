"""The order of the C files: none needs, by #include or by what the linker has to find, one that needs it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from engine.native.build import SOURCES, find_compiler, options

COMPILER = find_compiler() or ""
FILES = [path for path in SOURCES.iterdir() if path.suffix in (".c", ".h")]


def module(name: str) -> str:
    """A .c file, its header, and the header of what several files share inside of it are one."""
    return name.rsplit(".", 1)[0].removesuffix("_internal")


def refuse_circles(needs: Mapping[str, set[str]]) -> None:
    """Raise AssertionError with a circle, if there is one."""
    others = {name: needed - {name} for name, needed in needs.items()}
    try:
        TopologicalSorter(others).prepare()
    except CycleError as found:
        raise AssertionError(" -> ".join(reversed(found.args[1]))) from None


def test_a_circle_is_found() -> None:
    refuse_circles({"a": {"a", "b"}, "b": {"c"}})
    with pytest.raises(AssertionError, match=r"a -> b -> a|b -> a -> b"):
        refuse_circles({"a": {"b"}, "b": {"a"}})


def test_no_module_includes_one_that_includes_it() -> None:
    needs: dict[str, set[str]] = {}
    for path in FILES:
        found = re.findall(r'#include "([^"]+)"', path.read_text(encoding="utf-8"))
        needs.setdefault(module(path.name), set()).update(map(module, found))
    assert "rows" in needs["context"]
    refuse_circles(needs)


@pytest.mark.skipif(not COMPILER, reason="no C compiler of the system, whose nm reads what it makes")
@pytest.mark.slow
def test_no_file_calls_one_that_calls_it(tmp_path: Path) -> None:
    defined: dict[str, str] = {}
    wanted: dict[str, set[str]] = {}
    for source in SOURCES.glob("*.c"):
        made = tmp_path / f"{source.stem}.o"
        subprocess.run([COMPILER, *options(windows=False), "-O0", "-c", str(source), "-o", str(made)], check=True)
        said = subprocess.run(["nm", str(made)], check=True, capture_output=True, text=True, encoding="utf-8").stdout
        for *_, kind, symbol in map(str.split, said.splitlines()):
            if kind == "U":
                wanted.setdefault(source.stem, set()).add(symbol)
            elif kind.isupper():
                defined[symbol] = source.stem
    needs = {name: {defined[s] for s in symbols if s in defined} for name, symbols in wanted.items()}
    assert "context" in needs["moe"]
    refuse_circles(needs)
