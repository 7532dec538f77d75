"""Trying again after a while: longer each time, as long as the other side asks, and not for ever."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass

from engine.hub.remote.control import Control
from engine.hub.remote.errors import HubError


@dataclass(frozen=True)
class Patience:
    """first: seconds before the second try; doubled each time up to `most`. tries: in a row without a new byte."""

    first: float = 1.0
    most: float = 30.0
    tries: int = 7
    longest: float = 600.0  # seconds; who asks for more than that is told to the user instead


class Retry:
    """The tries of one thing. tell: hears what is waited for, and how long."""

    def __init__(self, patience: Patience, control: Control, tell: Callable[[str], object]) -> None:
        self._patience, self._control, self._tell = patience, control, tell
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
        self._tell(f"{error.sentence} Trying again in {pause:.0f} s.")
        self._control.sleep(pause)
