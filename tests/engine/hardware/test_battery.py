"""When long work waits for the mains."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from engine.hardware.computer import on_battery, running_low


@pytest.mark.parametrize(
    ("battery", "mark", "waits"),
    [
        (None, 30, False),  # a desktop
        (SimpleNamespace(percent=29.6, power_plugged=False), 30, True),
        (SimpleNamespace(percent=30.0, power_plugged=False), 30, False),
        (SimpleNamespace(percent=5.0, power_plugged=True), 30, False),
        (SimpleNamespace(percent=5.0, power_plugged=None), 30, False),  # nobody knows
        (SimpleNamespace(percent=5.0, power_plugged=False), 0, False),
    ],
)
def test_only_on_battery_and_below_the_mark(
    battery: Any, mark: int, waits: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.sensors_battery", lambda: battery)
    assert bool(running_low(mark)) is waits
    if waits:
        assert "30%" in running_low(mark)  # 29.6, for people


def test_a_system_that_tells_nothing_of_batteries_has_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise FileNotFoundError("/sys/class/power_supply")

    monkeypatch.setattr("psutil.sensors_battery", missing)
    assert on_battery() is None
    assert running_low(30) == ""
