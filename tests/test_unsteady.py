"""A failed test is tried once more, from a clean start; what passes only then is named, and may not be frequent."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

PLUGINS = ("pytest_rerunfailures", "pytest_timeout", "tests.unsteady")
AGAIN = ("--reruns", "1", "--max-suite-reruns", "4")
STEADY = "def test_steady(): pass\n"
FAILS = "def test_fails(): assert False\n"
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
    """run(text of a test module, *options): pytest as installers/test.sh starts it, in a process of its own."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    monkeypatch.setenv("PYTHONPATH", str(root))

    def started(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(text)
        plugins = [word for name in PLUGINS for word in ("-p", name)]
        return pytester.runpytest_subprocess(*plugins, *AGAIN, *options, timeout=120)

    return started


def many(count: int) -> str:
    return ONCE + f"@pytest.mark.parametrize('n', range({count}))\ndef test_luck(n): once(n)\n"


def test_the_second_try_counts_and_is_told(run: Run) -> None:
    done = run(many(3) + STEADY)
    assert done.parseoutcomes() == {"passed": 4, "rerun": 3}
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*first try of *test_luck?0? (call)*", "*a matter of luck*", "*unsteady: mend*"])
    done.stdout.fnmatch_lines(["These tests failed, and passed when they were tried a second time:", "*::test_luck?0?"])
    done.stdout.no_fnmatch_line("*the run fails*")


def test_too_many_fail_the_run(run: Run) -> None:
    done = run(many(4) + STEADY)
    assert done.parseoutcomes() == {"passed": 5, "rerun": 4}
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    done.stdout.fnmatch_lines(["They are 4; with more than 3 of them the run fails."])


def test_failing_twice_is_failing(run: Run) -> None:
    done = run(ONCE + FAILS + "def test_luck(): once(1)\n" + STEADY)
    assert done.parseoutcomes() == {"passed": 2, "failed": 1, "rerun": 2}
    assert done.ret == pytest.ExitCode.TESTS_FAILED
    listed = done.stdout.str().split("unsteady: mend")[1].split("short test summary")[0]
    assert "::test_luck" in listed
    assert "::test_fails" not in listed


def test_a_change_that_breaks_much_is_not_tried_twice_throughout(run: Run) -> None:
    done = run("import pytest\n@pytest.mark.parametrize('n', range(9))\ndef test_broken(n): assert False\n")
    assert done.parseoutcomes() == {"failed": 9, "rerun": 4}
    done.stdout.no_fnmatch_line("*unsteady*")


def test_the_whole_run_is_started_so(root: Path) -> None:
    script = (root / "installers/test.sh").read_text()
    assert f"again=({' '.join(AGAIN)})" in script
    assert script.count('halves "${again[@]}"') == 2  # also with --quick
    assert script.count('-m pytest "$@"') == 3  # both halves, and the tests that are named


def test_nothing_is_told_where_all_is_steady(run: Run) -> None:
    done = run(STEADY)
    assert done.ret == 0
    done.stdout.no_fnmatch_line("*unsteady*")


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
"""
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
    )
    assert done.parseoutcomes() == {"passed": 2, "rerun": 1}
    assert done.stdout.str().count("ended properly") == 1


def test_a_failure_while_a_test_is_taken_apart(run: Run) -> None:
    done = run(ONCE + "@pytest.fixture\ndef f():\n    yield\n    once('end')\ndef test_one(f): pass\n")
    assert done.ret == 0
    done.stdout.fnmatch_lines(["*first try of *::test_one (teardown)*", "*unsteady: mend*", "*::test_one"])


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
    done = run(ONCE + hang + body + "    short.wait()\n", "--timeout", "2")
    assert done.parseoutcomes() == {"failed": 1, "rerun": 1}
    done.stdout.fnmatch_lines(["*Timeout*2.0s*"])
