"""Trying again after a while: longer each time, as long as the other side asks, and not for ever."""

from __future__ import annotations

import random
from dataclasses import dataclass

from engine.hub.remote.control import Control
from engine.hub.remote.errors import HubError
from engine.hub.remote.meter import Meter


@dataclass(frozen=True)
class Patience:
    """first: seconds before the second try; doubled each time up to `most`. tries: in a row without a new byte."""

    first: float = 1.0
    most: float = 30.0
    tries: int = 7
    longest: float = 600.0  # seconds; who asks for more than that is told to the user instead


class Retry:
    """The tries of one file."""

    def __init__(self, name: str, patience: Patience, control: Control, meter: Meter) -> None:
        self._name = name
        self._patience, self._control, self._meter = patience, control, meter
        self._failed = 0

    def moved(self) -> None:
        """There was a new byte: patience begins anew."""
        self._failed = 0

    def after(self, error: HubError) -> None:
        """Wait before the next try, or raise: the error where there is none, CANCELLED."""
        self._failed += 1
        patience = self._patience
        asked = error.after or 0.0
        if not error.retry or self._failed >= patience.tries or asked > patience.longest:
            raise error
        pause = min(patience.most, patience.first * 2 ** (self._failed - 1))
        # apart from each other, so that several files do not come back all at once
        pause = max(asked, pause * random.uniform(0.8, 1.2))
        self._meter.wait(self._name, f"{error.sentence} Trying again in {pause:.0f} s.")
        self._control.sleep(pause)
