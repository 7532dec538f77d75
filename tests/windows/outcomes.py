"""A plugin of pytest: every test's outcome as a line of JSON in W:\\out, at once, so that a crash loses none."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

FILE = "outcomes.jsonl"
_THERE = Path("W:/out") / FILE


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Passed is written after the call; failed and skipped whenever they happen."""
    if report.when == "call" or not report.passed:
        _write(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A file that cannot be imported, or is left out whole."""
    if not report.passed:
        _write(report)


def _write(report: pytest.TestReport | pytest.CollectReport) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:  # which reports to the process that started it; that one writes all
        return
    outcome, why = report.outcome, str(report.longrepr or "")
    if outcome == "skipped":
        why = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(getattr(report, "wasxfail", why))
        why = why.removeprefix("Skipped: ")
    with _THERE.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": report.nodeid, "outcome": outcome, "why": why[-2000:]}) + "\n")
