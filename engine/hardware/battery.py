"""Whether this computer runs on a battery that should not be drained."""

from __future__ import annotations

import psutil


def running_low(mark: int) -> str:
    """Why long work should wait, as a sentence: on battery, with less than `mark` percent left. '': it need not."""
    battery = psutil.sensors_battery() if mark else None
    if battery is None or battery.power_plugged is not False or battery.percent >= mark:
        return ""
    return f"Paused at {battery.percent:.0f} % of battery; it goes on once this computer is plugged in"
