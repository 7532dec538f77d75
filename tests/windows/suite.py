"""The suite on Windows' own Python, held against what is expected there: ``python -m tests.windows suite [PIECE ...]``.

It runs in pieces, folders with some hundred tests each, so that what hangs or crashes loses one piece. With --resume,
pieces that ran to their end on the same sources count as they are and are not run again. It fails when a test fails or
is skipped that expected.txt does not list, when one passes that is listed as failing, when a line there fits nothing,
or when less than LEAST of the suite ran and passed.

To add a line to expected.txt: run the piece (`suite app`: every piece with that word in its name), read the failure in
the log that it names, mend the product or the test if they are at fault, and otherwise write

    failed  TEST ID  # why Wine, or the machine here, cannot have it pass
    skipped  TEST ID OR REASON OF THE SKIP  # why that is as well

TEST ID is pytest's, as `tests/engine/store/test_lock.py::test_name[parameter]`; a `*` at the end stands for any rest.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.windows.machine import TREE, Machine
from tests.windows.outcomes import FILE

LEAST = 0.95  # of all tests but the slow ones
PIECE = 150  # test functions; starting Python and importing torch takes half a minute there
LIMIT = 2400  # seconds a piece
EXPECTED = Path(__file__).parent / "expected.txt"
PYTEST = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "tests.windows.outcomes", "--timeout", "600"]
DONE = "done.txt"  # beside a piece's outcomes: the sources with which it ran to its end
SOURCES = ("pyproject.toml", "app", "engine", "installers", "requirements", "resources", "tests")
ALONE = "alone"  # the piece of those tests that need the machine to themselves


@dataclass(frozen=True)
class Outcome:
    """What became of a test: passed, failed or skipped, and the message."""

    id: str
    outcome: str
    why: str


@dataclass(frozen=True)
class Expectation:
    """A line of expected.txt."""

    outcome: str
    pattern: str

    def names(self, test: str) -> bool:
        """Whether it is about this test id, or reason of a skip."""
        return test.startswith(self.pattern[:-1]) if self.pattern.endswith("*") else test == self.pattern

    def fits(self, outcome: Outcome) -> bool:
        """Whether this is what was expected."""
        return outcome.outcome == self.outcome and (
            self.names(outcome.id) or (self.outcome == "skipped" and self.names(outcome.why))
        )


def read_expected(text: str) -> list[Expectation]:
    """Raises ValueError for a line that lacks the outcome or the reason."""
    found = []
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        entry = re.fullmatch(r"(failed|skipped)  (\S.*?)  # \S.*", line)
        if entry is None:
            raise ValueError(f"expected.txt: {line!r} is not OUTCOME  PATTERN  # why")
        found.append(Expectation(entry[1], entry[2]))
    return found


def compare(outcomes: Iterable[Outcome], expected: Sequence[Expectation], whole: bool) -> list[str]:
    """What is not as expected, a line each. whole: every piece ran, so every line of the table has to fit something."""
    outcomes = list(outcomes)
    found = [
        f"{one.outcome}, and not expected: {one.id}\n    {one.why.strip().splitlines()[-1] if one.why.strip() else ''}"
        for one in _unlisted(outcomes, expected)
    ]
    for entry in expected:
        if any(entry.fits(one) for one in outcomes):
            continue
        if whole or any(entry.names(one.id) for one in outcomes):
            found.append(f"expected as {entry.outcome}, which is no longer so: {entry.pattern}")
    passed = sum(one.outcome == "passed" for one in outcomes)
    if whole and passed < LEAST * len(outcomes):
        found.append(f"{passed} of {len(outcomes)} tests passed, less than {LEAST:.0%}")
    return found


def pieces(tree: Path) -> dict[str, list[str]]:
    """The suite's folders and files by the piece that runs them; the name of a piece is that of its first and last.

    The last piece is ALONE, files that are in other pieces, too.
    """
    found: dict[str, list[str]] = {}
    for top in ("engine", "app", ""):
        parts: list[tuple[str, int]] = []
        for path in sorted((tree / "tests" / top).iterdir()):
            if count := 0 if top == "" and path.name in ("engine", "app") else _count(path):
                parts.append((path.relative_to(tree).as_posix(), count))
        while parts:
            n, chosen = 0, []
            while parts and (not chosen or n + parts[0][1] <= PIECE):
                path, count = parts.pop(0)
                chosen.append(path)
                n += count
            ends = dict.fromkeys(part.removeprefix("tests/").removesuffix(".py") for part in (chosen[0], chosen[-1]))
            found["-".join(ends).replace("/", ".")] = chosen
    files = sorted(tree.glob("tests/**/test_*.py"))
    alone = [file for file in files if "pytest.mark.alone(" in file.read_text(encoding="utf-8")]
    return {**found, ALONE: [file.relative_to(tree).as_posix() for file in alone]}


def suite(machine: Machine, words: Sequence[str], logs: Path, workers: int, resume: bool = False) -> int:
    """0 when all is as expected, else 1.

    words: of the pieces' names, none for all. logs: a folder for what they print. workers: processes that run tests.
    resume: count pieces that ran to their end on these sources, in a run before, as they are.
    """
    sources = fingerprint(TREE)
    expected = read_expected(EXPECTED.read_text(encoding="utf-8"))
    chosen = {name: paths for name, paths in pieces(TREE).items() if not words or any(word in name for word in words)}
    outcomes: list[Outcome] = []
    unfinished = []
    for name in in_order(chosen, logs, expected):
        out = logs / name
        out.mkdir(parents=True, exist_ok=True)
        begun = time.monotonic()
        kept = resume and is_done(out, sources)
        finished, there = (True, list(_read(out / FILE))) if kept else _run(machine, name, chosen[name], workers, out)
        if not finished:
            unfinished.append(f"{name} was not run to its end: {out / 'log.txt'}")
        elif not kept:
            (out / DONE).write_text(sources, encoding="ascii")
        outcomes += there
        ended = "before" if kept else f"in {time.monotonic() - begun:.0f} s" + ("" if finished else ", and cut off")
        print(f"{name}: {total(there, expected)} {ended}", flush=True)
    wrong = unfinished + compare(outcomes, expected, not words)
    print(*wrong, f"all: {total(outcomes, expected)}; {len(wrong)} not as expected", sep="\n")
    return min(len(wrong), 1)


def fingerprint(tree: Path) -> str:
    """Of all sources that tests read or run, but what Python and compilers make beside them."""
    made = {"__pycache__", ".so", ".dll", ".pyc"}
    sha = hashlib.sha256()
    for file in sorted(file for top in SOURCES for file in [tree / top, *(tree / top).rglob("*")]):
        if file.is_file() and not made & {*file.parts, file.suffix}:
            sha.update(f"{file.relative_to(tree).as_posix()}\n".encode())
            sha.update(hashlib.sha256(file.read_bytes()).digest())
    return sha.hexdigest()


def is_done(out: Path, sources: str) -> bool:
    """Whether the piece whose outcomes lie in `out` ran to its end on these sources."""
    done = out / DONE
    return done.exists() and (out / FILE).exists() and done.read_text(encoding="ascii") == sources


def in_order(names: Iterable[str], logs: Path, expected: Sequence[Expectation]) -> list[str]:
    """Pieces in the order that tells most at first: those that were not as expected the last time, then the oldest.

    logs: the folder in which each piece's last outcomes lie; a piece that has none there comes as an old one does.
    """

    def rank(name: str) -> tuple[bool, float]:
        file = logs / name / FILE
        there = list(_read(file)) if file.exists() else []
        return not _unlisted(there, expected), file.stat().st_mtime if there else 0.0

    return sorted(names, key=rank)


def total(outcomes: Sequence[Outcome], expected: Sequence[Expectation]) -> str:
    """How many passed, failed and were skipped, and how many of those the table does not list."""
    counts = Counter(one.outcome for one in outcomes)
    share = counts["passed"] / max(len(outcomes), 1)
    rest = ", ".join(f"{counts[name]} {name}" for name in ("failed", "skipped"))
    unlisted = len(_unlisted(outcomes, expected))
    return f"{counts['passed']} of {len(outcomes)} passed ({share:.2%}), {rest}, {unlisted} of these not listed"


def _unlisted(outcomes: Iterable[Outcome], expected: Sequence[Expectation]) -> list[Outcome]:
    return [one for one in outcomes if one.outcome != "passed" and not any(entry.fits(one) for entry in expected)]


def _which(piece: str, workers: int) -> list[str]:
    """Arguments of pytest: which tests it runs of a piece, and in how many processes."""
    if piece == ALONE:
        return ["-m", "alone and not slow", "-n", "0"]
    return ["-m", "not alone and not slow", "-n", str(workers), "--max-worker-restart", "20"]


def _run(machine: Machine, piece: str, paths: Sequence[str], workers: int, out: Path) -> tuple[bool, list[Outcome]]:
    """Whether pytest came to its end, and the outcomes."""
    outcomes = out / FILE
    for old in (outcomes, out / DONE):
        old.unlink(missing_ok=True)
    try:
        done = machine.run([*PYTEST, *_which(piece, workers), *paths], out, LIMIT)
        said, finished = done.stdout, done.returncode in (0, 1, 5)  # pytest: all passed, some failed, none there
    except subprocess.TimeoutExpired as late:
        said, finished = (late.stdout or b"").decode(errors="replace"), False
    (out / "log.txt").write_text(said, encoding="utf-8")
    return finished, list(_read(outcomes)) if outcomes.exists() else []


def _read(file: Path) -> Iterator[Outcome]:
    """One for each test: it failed if its teardown did, though its call passed."""
    found: dict[str, Outcome] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        one = Outcome(**json.loads(line))
        if one.id not in found or one.outcome == "failed":
            found[one.id] = one
    yield from found.values()


def _count(path: Path) -> int:
    files = [path] if path.match("test_*.py") else path.rglob("test_*.py") if path.is_dir() else []
    return sum(
        len(re.findall(r"^(?:async )?def test_", file.read_text(encoding="utf-8"), re.MULTILINE)) for file in files
    )
