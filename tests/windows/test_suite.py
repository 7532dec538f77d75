"""How the suite on Windows' own Python is held against what is expected there."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path

import pytest

from tests.windows.outcomes import FILE
from tests.windows.suite import (
    ALONE,
    DONE,
    EXPECTED,
    Outcome,
    compare,
    fingerprint,
    in_order,
    is_done,
    pieces,
    read_expected,
    total,
)

TABLE = "# words\n\nfailed  tests/a.py::*  # Wine has no fonts\nskipped  the ACL sees to it*  # POSIX' own\n"


def outcomes(*pairs: tuple[str, str, str]) -> list[Outcome]:
    passed = [Outcome(f"tests/p.py::test_{i}", "passed", "") for i in range(100)]
    return passed + [Outcome(*pair) for pair in pairs]


AS_EXPECTED = [
    ("tests/a.py::test_x", "failed", "a\nE  boxes"),
    ("tests/b.py::test_y", "skipped", "the ACL sees to it there"),
]


def test_what_is_listed_may_fail_and_be_skipped() -> None:
    assert compare(outcomes(*AS_EXPECTED), read_expected(TABLE), True) == []


def test_what_is_not_listed_is_told_with_its_reason() -> None:
    new = [("tests/c.py::test_z", "failed", "a\nE  0 == 1"), ("tests/c.py::test_w", "skipped", "no compiler")]
    told = compare(outcomes(*AS_EXPECTED, *new), read_expected(TABLE), True)
    assert [line.splitlines()[0] for line in told] == [
        "failed, and not expected: tests/c.py::test_z",
        "skipped, and not expected: tests/c.py::test_w",
    ]
    assert "E  0 == 1" in told[0]
    assert "no compiler" in told[1]


def test_a_line_that_nothing_needs_any_more_is_told() -> None:
    now = [("tests/a.py::test_x", "passed", ""), AS_EXPECTED[1]]
    for whole in (True, False):
        assert compare(outcomes(*now), read_expected(TABLE), whole) == [
            "expected as failed, which is no longer so: tests/a.py::*"
        ]
    assert compare(outcomes(AS_EXPECTED[0]), read_expected(TABLE), False) == []  # that piece was not run
    assert len(compare(outcomes(AS_EXPECTED[0]), read_expected(TABLE), True)) == 1


def test_too_little_of_the_suite_is_told() -> None:
    skipped = [(f"tests/b.py::test_{i}", "skipped", "the ACL sees to it there") for i in range(9)]
    told = compare(outcomes(AS_EXPECTED[0], *skipped), read_expected(TABLE), True)
    assert told == ["100 of 110 tests passed, less than 95%"]


def test_those_come_first_that_were_not_as_expected_and_then_the_oldest(tmp_path: Path) -> None:
    found = {"new": AS_EXPECTED, "old": AS_EXPECTED, "wrong": [("tests/c.py::test_z", "failed", "0 == 1")]}
    for hours, (name, these) in enumerate(found.items()):
        (tmp_path / name).mkdir()
        lines = [json.dumps(asdict(one)) + "\n" for one in outcomes(*these)]
        (tmp_path / name / FILE).write_text("".join(lines), encoding="utf-8")
        os.utime(tmp_path / name / FILE, (1e9 - 3600 * hours,) * 2)
    names = ["new", "old", "wrong", "never"]
    assert in_order(names, tmp_path, read_expected(TABLE)) == ["wrong", "never", "old", "new"]


def test_a_piece_counts_as_done_only_on_the_sources_it_ran_on(tmp_path: Path) -> None:
    tree, out = tmp_path / "tree", tmp_path / "out"
    for folder in (tree / "engine", tree / "tests" / "__pycache__", out):
        folder.mkdir(parents=True)
    (tree / "engine" / "a.py").write_text("1", encoding="utf-8")
    sources = fingerprint(tree)
    (out / DONE).write_text(sources, encoding="ascii")
    assert not is_done(out, sources)  # its outcomes are gone
    (out / FILE).write_text("", encoding="utf-8")
    for made in (tree / "engine" / "a.so", tree / "tests" / "__pycache__" / "a.pyc"):
        made.write_bytes(b"")
    assert is_done(out, fingerprint(tree))
    (tree / "engine" / "a.py").rename(tree / "engine" / "b.py")
    assert not is_done(out, fingerprint(tree))


def test_the_total_says_how_many_are_not_listed() -> None:
    these = outcomes(*AS_EXPECTED, ("tests/c.py::test_z", "failed", "0 == 1"))
    told = "100 of 103 passed (97.09%), 2 failed, 1 skipped, 1 of these not listed"
    assert total(these, read_expected(TABLE)) == told
    assert total([], []).startswith("0 of 0 passed")


@pytest.mark.parametrize(
    "line", ["failed  tests/a.py::test_x", "passed  tests/a.py  # why", "failed tests/a.py  # why"]
)
def test_a_line_says_what_and_why(line: str) -> None:
    with pytest.raises(ValueError, match="OUTCOME"):
        read_expected(line)


def test_the_table_is_in_order_and_the_pieces_are_the_whole_suite(root: Path) -> None:
    read_expected(EXPECTED.read_text(encoding="utf-8"))
    paths = [root / path for name, piece in pieces(root).items() for path in piece if name != ALONE]
    held = {file for path in paths for file in ([path] if path.is_file() else path.rglob("test_*.py"))}
    tests = {file for file in root.glob("tests/**/test_*.py") if "\ndef test_" in file.read_text(encoding="utf-8")}
    assert tests
    assert tests <= held
    assert "tests/app/test_kill_window.py" in pieces(root)[ALONE]
