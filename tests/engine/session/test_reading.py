"""Past the file cache or through it: a session reads experts as was measured to be faster, and answers the same."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from engine.calibration.calibrator import open_calibrated
from engine.hardware.machine import DiskPoint, Machine
from engine.session import session
from tests.engine.session.test_session import ask


@pytest.mark.parametrize(("asked", "mode"), [("auto", "buffered"), ("on", "direct")])
def test_experts_are_read_through_the_file_cache_where_that_is_faster_and_nothing_else_was_asked_for(
    home: Path, monkeypatch: pytest.MonkeyPatch, asked: str, mode: str
) -> None:
    chosen = {"dial": "exact", "cache_fraction": 0.2, "threads": 1, "context_length": 512}
    with open_calibrated("builtin", chosen) as opened:
        if opened.store.io_mode != "direct":
            pytest.skip("this disk does no direct I/O")
        expected = ask(opened)
    machine_at = session.machine_at

    def faster_through(place: Path) -> Machine:
        points = DiskPoint(1 << 20, 2, True, 1e8), DiskPoint(1 << 20, 2, False, 1e9)
        return dataclasses.replace(machine_at(place), disk_points=points)

    monkeypatch.setattr(session, "machine_at", faster_through)
    with open_calibrated("builtin", {**chosen, "direct_io": asked}) as opened:
        assert opened.store.io_mode == mode
        assert any("through the file cache" in s for s in opened.sentences) == (mode == "buffered")
        found = ask(opened)
        assert found.token_ids == expected.token_ids
        assert found.misses > 0
