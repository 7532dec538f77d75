"""What memory there is for models, and what one would take, as their plans reckon it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from engine.errors import UnderhillError
from engine.hardware import probe
from engine.library import library
from engine.library.fit_estimates import FitEstimates, Known
from engine.planning.budget import ceiling
from engine.planning.fit import PROGRAM


class ModelMemory:
    """Of this process and this computer, now. Used from one thread."""

    def __init__(self) -> None:
        self._known = Known()

    def free(self, chosen: Mapping[str, Any]) -> int:
        """Bytes below the ceiling of these settings that nothing has now; negative beyond it."""
        taken = probe.rss()
        return ceiling(probe.memory(), chosen["memory_gb"], taken, []) - taken

    def demand(self, model: str, chosen: Mapping[str, Any]) -> int | None:
        """Bytes that a model would take with every expert in memory, were it opened.

        None where that is not known: of a checkpoint that would have to be imported first, and of what is no model.
        """
        with suppress(UnderhillError, OSError, ValueError):
            found = FitEstimates(chosen, self._known).estimated(library.card(library.location(model))).fit
            return None if found is None else max(0, found.wanted - PROGRAM)
        return None
