"""Code is coloured and formulas are set in another process, and what a model writes holds neither that nor this one."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from app.markdown import typeset
from app.markdown.formula import extract_formulas


@pytest.fixture(autouse=True)
def ended() -> Iterator[None]:
    yield
    typeset.PROCESS.close()


CODE = 'def f(x):\n    return "😀", x  # why\n'


def test_code_is_coloured_in_another_process() -> None:
    found = typeset.sandboxed_spans(CODE, "python")
    assert found == typeset.spans(CODE, "python")
    assert (0, 3, "keyword") in found
    assert typeset.PROCESS.pid not in (None, os.getpid())
    assert typeset.sandboxed_spans(CODE, "no such language") == []


def test_so_are_formulas_set() -> None:
    assert typeset.sandboxed_svg("x^2", False, 16.0, "#000000").startswith("<svg")
    assert typeset.sandboxed_svg("{" * 1500, False, 16.0, "#000000") == ""
    assert typeset.sandboxed_svg(r"\frac{" * 900 + "1", True, 16.0, "#000000") == ""
    assert typeset.sandboxed_svg("x", False, 16.0, "#000000")


def test_what_takes_too_long_stays_as_it_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    assert typeset.sandboxed_spans(CODE, "python")
    with monkeypatch.context() as short:
        short.setattr(typeset, "SECONDS", 0.2)
        assert typeset.sandboxed_spans(CODE * 100_000, "python") == []
    assert typeset.sandboxed_spans(CODE, "python")


@pytest.mark.parametrize(
    "text",
    [
        "\\(" * 200_000,
        "\\[ " * 200_000,
        "$$ a" * 200_000,
        "$a " * 200_000,
        "$ \n" * 200_000,
        "".join("`" * (n % 700 + 1) + " " for n in range(3000)),
        "`a" * 200_000 + "``",
        "\\(x\\)" * 100_000,
    ],
    ids=["round", "square", "double", "single", "lines", "ticks", "code", "many"],
)  # fmt: skip
def test_formulas_are_found_in_any_text(text: str) -> None:
    """Looking for the end of each from its beginning to the end of the text would take minutes."""
    left, found = extract_formulas(text)
    assert len(found) <= 6000
    assert len(left) + sum(len(f.source) - 1 for f in found) == len(text)
