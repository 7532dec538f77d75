"""Only window tests that are listed may be tried a second time, from a clean start; each retry is told and logged."""

from __future__ import annotations

import ast
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.quarantine import LISTED, is_listed, read_quarantine

pytestmark = pytest.mark.long

pytest_plugins = ["pytester"]

PLUGINS = ("pytest_rerunfailures", "pytest_timeout", "tests.quarantine")
STEADY = "def test_steady(): pass\n"
FAILS = "def test_fails(): assert False\n"
FILE = "tests/app/test_made.py"
Run = Callable[..., pytest.RunResult]
ONCE = """
import pytest
tried = set()

def once(name):
    first = name not in tried
    tried.add(name)
    assert not first, "a matter of luck"
"""


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, root: Path) -> Run:
    """run(text of a test module, *options): pytest in a process of its own, with all of the module's tests listed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(root))

    def started(text: str, *options: str, listed: str = "test_luck") -> pytest.RunResult:
        made = pytester.path / FILE
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text)
        names = [f"{FILE}::{name}  # made for this test\n" for name in listed.split()]
        (pytester.path / "quarantine.txt").write_text("".join(names))
        plugins = [word for name in PLUGINS for word in ("-p", name)]
        given = ("--rootdir", str(pytester.path), "--quarantine", "quarantine.txt", FILE)
        return pytester.runpytest_subprocess(*plugins, *given, *options, timeout=120)

    return started


def many(count: int) -> str:
    return ONCE + f"@pytest.mark.parametrize('n', range({count}))\ndef test_luck(n): once(n)\n"


def test_a_listed_test_has_a_second_try_which_is_told(run: Run) -> None:
    done = run(many(3) + STEADY)
    assert done.parseoutcomes() == {"passed": 4, "rerun": 3}
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*first try of *test_luck?0? (call)*", "*a matter of luck*"])
    done.stdout.fnmatch_lines(["*tried a second time: mend*", "*::test_luck?0?: retried in 0 of the 0 runs before"])


def test_no_other_test_has_one(run: Run) -> None:
    done = run(ONCE + "def test_other(): once(1)\n" + STEADY)
    assert done.parseoutcomes() == {"passed": 1, "failed": 1}
    assert done.ret == pytest.ExitCode.TESTS_FAILED


def test_failing_twice_is_failing(run: Run) -> None:
    done = run(FAILS + STEADY, listed="test_fails")
    assert done.parseoutcomes() == {"passed": 1, "failed": 1, "rerun": 1}
    assert done.ret == pytest.ExitCode.TESTS_FAILED


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "2", "--dist", "loadfile")])
def test_the_log_remembers_earlier_runs(run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]) -> None:
    for _ in range(2):
        done = run(many(1), "--retry-log", "log/retries.jsonl", *workers)
    done.stdout.fnmatch_lines(["*::test_luck?0?: retried in 1 of the 1 runs before"])
    run(STEADY, "--retry-log", "log/retries.jsonl", *workers)
    runs = [json.loads(line) for line in (pytester.path / "log" / "retries.jsonl").read_text().splitlines()]
    assert [list(one["retried"]) for one in runs] == [[f"{FILE}::test_luck[0]"]] * 2 + [[]]
    assert "a matter of luck" in str(runs[0]["retried"])


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ("tests/engine/test_x.py::test_y  # waits", "no window test"),
        ("tests/app/test_x.py::test_y", "needs a reason"),
        ("tests/app/test_x.py::test_y  # ", "needs a reason"),
    ],
)
def test_what_may_not_be_listed(line: str, what: str) -> None:
    with pytest.raises(pytest.UsageError, match=what):
        read_quarantine(f"# a comment\n\n{line}\n")


def test_what_is_listed_is_a_test(root: Path) -> None:
    for test in read_quarantine(LISTED.read_text("utf-8")):
        file, *names = test.partition("[")[0].split("::")
        found = ast.walk(ast.parse((root / file).read_text("utf-8")))
        assert names[-1] in {node.name for node in found if isinstance(node, ast.FunctionDef)}, test


def test_parameters_may_be_named_or_not() -> None:
    listed = {"tests/app/a.py::test_a": "why", "tests/app/a.py::test_b[1]": "why"}
    assert is_listed("tests/app/a.py::test_a[x]", listed)
    assert is_listed("tests/app/a.py::test_b[1]", listed)
    assert not is_listed("tests/app/a.py::test_b[2]", listed)


def test_the_suite_asks_for_no_other_retries(root: Path) -> None:
    assert "--reruns" not in (root / "installers/test.sh").read_text()
    assert "reruns" not in (root / "pyproject.toml").read_text().replace("pytest-rerunfailures", "")


def test_nothing_is_told_where_all_is_steady(run: Run) -> None:
    done = run(STEADY)
    assert done.ret == 0
    done.stdout.no_fnmatch_line("*second time*")


def test_fixtures_of_a_test_are_made_anew_and_those_of_a_module_once(run: Run) -> None:
    done = run(
        ONCE
        + """
made, ended = [], []

@pytest.fixture(scope="session", autouse=True)
def whole():
    made.append("session"); yield; ended.append("session")
    assert made == ["session", "module", "test", "test", "test", "test", "test"], made
    assert ended == ["test"] * 5 + ["module", "session"], ended

@pytest.fixture(scope="module", autouse=True)
def module():
    made.append("module"); yield; ended.append("module")

@pytest.fixture
def own(tmp_path):
    (tmp_path / "left").mkdir()  # fails where it is the first try's folder
    made.append("test"); yield; ended.append("test")

def test_fails_in_the_call(own): once("call")
@pytest.fixture
def late(own): once("setup")
def test_fails_in_setup(late): pass
def test_steady(own): pass
""",
        listed="test_fails_in_the_call test_fails_in_setup",
    )
    assert done.parseoutcomes() == {"passed": 3, "rerun": 2}
    assert done.ret == 0


@pytest.mark.parametrize("scope", ["module", "session"])
def test_a_shared_fixture_that_fails_at_first_is_ended_too(run: Run, scope: str) -> None:
    done = run(
        ONCE
        + f"""
@pytest.fixture(scope="{scope}")
def shared():
    once("shared")
    yield 1
    print("ended", "properly")
def test_one(shared): pass
def test_other(shared): pass
""",
        "-s",
        listed="test_one",
    )
    assert done.parseoutcomes() == {"passed": 2, "rerun": 1}
    assert done.stdout.str().count("ended properly") == 1


def test_a_failure_while_a_test_is_taken_apart(run: Run) -> None:
    done = run(
        ONCE + "@pytest.fixture\ndef f():\n    yield\n    once('end')\ndef test_one(f): pass\n", listed="test_one"
    )
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*first try of *::test_one (teardown)*", "*second time: mend*", "*::test_one: retried*"])


def test_what_the_first_try_held_is_gone(run: Run) -> None:
    done = run(
        """
import weakref
class Window: pass
left = []
def test_luck():
    before, window = list(left), Window()
    left.append(weakref.ref(window))
    assert before and before[0]() is None
"""
    )
    assert done.parseoutcomes() == {"passed": 1, "rerun": 1}


@pytest.mark.parametrize("where", ["call", "setup"])
def test_the_second_try_has_its_own_limit_of_time(run: Run, where: str) -> None:
    """It has one at all, although a failure stops the clock."""
    hang = "import threading\nshort = threading.Event()\n"
    body = {
        "call": "def test_hangs():\n    once('a')\n",
        "setup": "@pytest.fixture\ndef f():\n    once('a')\ndef test_hangs(f):\n",
    }[where]
    done = run(ONCE + hang + body + "    short.wait()\n", "--timeout", "2", listed="test_hangs")
    assert done.parseoutcomes() == {"failed": 1, "rerun": 1}
    done.stdout.fnmatch_lines(["*Timeout*2.0s*"])
