"""Retries: only window tests that quarantine.txt names, and each retry is told at the end and kept in a log.

A test that passes on its second try hides a race, so there are no retries for anything else. pytest-rerunfailures makes
the second try, which begins clean: nothing of the first is held, and it has its time limit anew. The log has a line of
JSON for each run of installers/test.sh, in .test-log.
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tests" / "quarantine.txt"
MAY_RETRY = "tests/app/"  # what draws and waits for events; everything else has to be steady
RUNS_KEPT = 500  # lines of the log
_TRIES = pytest.StashKey[int]()
_LIMIT = pytest.StashKey[Any]()


def tries(item: pytest.Item) -> int:
    """Return which try of a test this is, from 1; known from its setup on."""
    return item.stash.get(_TRIES, 0)


def read_quarantine(text: str) -> dict[str, str]:
    """Return reasons by test id. Raises pytest.UsageError for a line without a reason, or that names another test."""
    found = {}
    for line in text.splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        test, _, why = (part.strip() for part in line.partition("  # "))
        if not why:
            raise pytest.UsageError(f"quarantine.txt: {test} needs a reason, as in: TEST ID  # why")
        if not test.startswith(MAY_RETRY):
            raise pytest.UsageError(f"quarantine.txt: {test} is no window test ({MAY_RETRY}...), so it is not retried")
        found[test] = why
    return found


def is_listed(node: str, listed: Mapping[str, str]) -> bool:
    """Return whether a test, or the function that its parameters belong to, is listed."""
    return node in listed or node.partition("[")[0] in listed


class Retries:
    """Pytest plugin: marks listed tests, lets second tries begin clean, and reports and logs them."""

    def __init__(self, listed: Mapping[str, str], log: Path | None) -> None:
        self._listed, self._log = listed, log
        self._retried: dict[str, pytest.TestReport] = {}  # by test: how its first try failed

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Allow one retry to what is listed."""
        for item in items:
            if is_listed(item.nodeid, self._listed):
                item.add_marker(pytest.mark.flaky(reruns=1))

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        """Count the try; let go of what a first one left."""
        item.stash[_TRIES] = tries(item) + 1
        if tries(item) == 1:
            return
        # What failed is held by its traceback: windows, engines, open files.
        sys.last_exc = sys.last_value = sys.last_traceback = None  # type: ignore[attr-defined]
        gc.collect()
        limit = item.stash.get(_LIMIT, None)
        if limit is not None:  # pytest-timeout set its clock for all tries together, and stopped it at the failure
            item.config.hook.pytest_timeout_cancel_timer(item=item)
            item.config.hook.pytest_timeout_set_timer(item=item, settings=limit)

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_timeout_set_timer(self, item: pytest.Item, settings: Any) -> None:
        """Keep the limit for a second try."""
        if not settings.func_only:
            item.stash[_LIMIT] = settings

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a retry. With workers, this is called in the process that started them, too."""
        if report.outcome == "rerun":
            self._retried.setdefault(report.nodeid, report)

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Tell of every retry, with what earlier runs say of the test, and log this run."""
        write, before = terminalreporter, [] if self._log is None else _read_log(self._log)
        for report in self._retried.values():
            write.write_sep("_", f"first try of {report.nodeid} ({report.when})", yellow=True)
            write.write_line(report.longreprtext)
        if self._retried:
            write.write_sep("=", "tried a second time: mend", yellow=True, bold=True)
        for test in self._retried:
            times = sum(test in run["retried"] for run in before)
            write.write_line(f"  {test}: retried in {times} of the {len(before)} runs before", yellow=True)
        if self._log is not None:
            retried = {test: _failure(report) for test, report in self._retried.items()}
            _append(self._log, before, {"time": _now(), "commit": _commit(), "retried": retried})


def _read_log(log: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []


def _append(log: Path, before: list[dict[str, Any]], run: dict[str, Any]) -> None:
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("".join(json.dumps(one) + "\n" for one in [*before, run][-RUNS_KEPT:]), "utf-8")


def _failure(report: pytest.TestReport) -> str:
    """What pytest marks as the error, else the last line."""
    lines = report.longreprtext.splitlines()
    return "\n".join([line for line in lines if line.startswith("E ")] or lines[-1:])


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _commit() -> str:
    asked = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:  # no git here
        return ""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Say where the list and the log are; the log is only kept by whole runs (installers/test.sh)."""
    parser.addoption("--quarantine", type=Path, default=LISTED, help="tests that may be tried a second time")
    parser.addoption("--retry-log", type=Path, help="file that a line is added to: which tests were tried again")


def pytest_configure(config: pytest.Config) -> None:
    """Join the run; workers of pytest-xdist keep no log, and report to the process that does."""
    log = None if hasattr(config, "workerinput") else config.getoption("--retry-log")
    listed = read_quarantine(config.getoption("--quarantine").read_text("utf-8"))
    config.pluginmanager.register(Retries(listed, log), "underhill-retries")
