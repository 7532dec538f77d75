"""The battery: whether this computer runs on it, and whether that should not be drained."""

from __future__ import annotations

from typing import Any

import psutil

from engine.translatable import NO_TEXT, Translatable, msg


def running_low(mark: int) -> Translatable:
    """Why long work should wait, as a sentence: on battery, with less than `mark` percent left. '': it need not."""
    battery = _battery() if mark else None
    if battery is None or battery.power_plugged is not False or battery.percent >= mark:
        return NO_TEXT
    return msg(
        "Paused at {percent} % of battery; it goes on once this computer is plugged in",
        percent=f"{battery.percent:.0f}",
    )


def on_battery() -> bool | None:
    """Whether the computer runs on its battery now; None where there is none, or nobody can tell."""
    battery = _battery()
    return None if battery is None or battery.power_plugged is None else not battery.power_plugged


def _battery() -> Any:
    """As psutil tells it. A system that has no word of batteries, as in a container, is one without."""
    try:
        return psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except OSError:
        return None
