"""A session with what goes along with it, as the pool keeps it open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from engine.translatable import Translatable


class OpenModel:
    """A session with its idle tasks, as the pool keeps it: the tasks keep their place while another model is in use."""

    def __init__(self, model: str, chosen: Mapping[str, Any], report: Callable[[Translatable, int, int], None]) -> None:
        """Open it. Raises what opening raises."""
        from engine.calibration.calibrator import open_calibrated
        from engine.calibration.idle_tasks import IdleTasks

        self.session = open_calibrated(model, chosen, report)
        self.idle_tasks = IdleTasks(self.session)

    @property
    def all_in_memory(self) -> bool:
        """Whether its plan found room for every expert."""
        return self.session.all_in_memory

    def close(self) -> None:
        """Release its memory."""
        self.session.close()
