"""Tests that pass only at their second try: named at the end of the run, which fails where they are more than a few.

With --reruns 1 (installers/test.sh) pytest-rerunfailures tries a failed test once more. The second try begins clean:
nothing of the first is held, and it has its time limit anew.
"""

from __future__ import annotations

import gc
import sys
from typing import Any

import pytest

MOST = 3  # in one run; more are no luck
_TRIES = pytest.StashKey[int]()
_LIMIT = pytest.StashKey[Any]()


def tries(item: pytest.Item) -> int:
    """Which try of a test this is, from 1; known from its setup on."""
    return item.stash.get(_TRIES, 0)


class Unsteady:
    """Watches a run."""

    def __init__(self) -> None:
        self._again: dict[str, pytest.TestReport] = {}  # by test: how its first try failed
        self._failed: set[str] = set()

    @property
    def found(self) -> list[pytest.TestReport]:
        """The first try of every test that failed in it, and not in the second."""
        return [report for name, report in self._again.items() if name not in self._failed]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
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
        if not settings.func_only:
            item.stash[_LIMIT] = settings

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.outcome == "rerun":
            self._again.setdefault(report.nodeid, report)
        elif report.failed:
            self._failed.add(report.nodeid)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if len(self.found) > MOST and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        found = self.found
        if not found:
            return
        write = terminalreporter
        for report in found:
            write.write_sep("_", f"first try of {report.nodeid} ({report.when})", yellow=True)
            write.write_line(report.longreprtext)
        write.write_sep("=", "unsteady: mend", yellow=True, bold=True)
        write.write_line("These tests failed, and passed when they were tried a second time:")
        for report in found:
            write.write_line(f"  {report.nodeid}", yellow=True)
        if len(found) > MOST:
            write.write_line(f"They are {len(found)}; with more than {MOST} of them the run fails.", red=True)


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(Unsteady(), "underhill-unsteady")
