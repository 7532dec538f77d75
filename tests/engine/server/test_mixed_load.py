"""A short day of many programs and a person; mixed_load.py tells more, and has a longer one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.engine.server.mixed_load import a_day

REQUESTS = 500


@pytest.mark.slow
def test_everything_is_answered_or_refused_and_nothing_is_left_behind(home: Path) -> None:
    report = a_day(home / "models" / "builtin", REQUESTS, seed=1)
    assert report.wrong == []
    assert report.chats > REQUESTS / 20
    assert report.left > REQUESTS / 50
    assert sum(report.statuses.values()) > REQUESTS / 2
    # What embeds texts is given back while nobody asks for it: of these the one with most in memory has it, if any.
    early, late = max(report.levels[2:6], key=lambda level: level.rss), report.levels[-1]
    assert late.threads <= early.threads + 2
    assert late.files <= early.files + 8
    # In a third of the day not every kind of request has come, so some of this is code and tables of theirs.
    assert late.rss <= early.rss + 150e6
