"""Fewer bits for a model's weights, on the thread of the model: measuring, making the copy, and taking it back."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.translatable import Translatable

if TYPE_CHECKING:
    from engine.calibration.lowering_search import Found, Opener

LOWERING = (protocol.MeasureLowering, protocol.LowerModel, protocol.RestoreOriginal)
Report = Callable[[Translatable, int, int], None]


class Lowerer:
    """lend: opens sessions of a model for a while, whichever is open otherwise. away: closes the model at a path for a
    while, if it is open; from then on it is another.
    """

    def __init__(
        self,
        lend: Callable[[str, dict[str, Any], Report], AbstractContextManager[Opener]],
        away: Callable[[Path, Report], AbstractContextManager[None]],
    ) -> None:
        self._lend, self._away = lend, away

    def do(self, command: protocol.Command, report: Report, cancelled: Callable[[], bool]) -> Any:
        """One of LOWERING."""
        from engine.calibration import lowering_search
        from engine.library import library, lowering
        from engine.store.reader import Store

        match command:
            case protocol.MeasureLowering():
                path, found = self._search(command, report, cancelled)
                with Store.open(path) as store:
                    return lowering_search.offer(store, found)
            case protocol.LowerModel():
                path, found = self._search(command, report, cancelled)
                with Store.open(path) as store:
                    lowering.write_beside(store, found.bits, found.lowering, report)
                with self._away(path, report):
                    lowering.put_in_place(path)
                return library.card(path)
            case protocol.RestoreOriginal():
                path = library.location(command.model)
                with self._away(path, report):
                    lowering.restore(path)
                return library.card(path)
        raise TypeError(f"nothing about fewer bits: {command!r}")

    def _search(
        self, command: protocol.MeasureLowering | protocol.LowerModel, report: Report, cancelled: Callable[[], bool]
    ) -> tuple[Path, Found]:
        from engine.calibration import lowering_search
        from engine.library import library

        path = library.prepare(command.model, report)
        with self._lend(command.model, command.settings, report) as open_with:
            return path, lowering_search.search(path, open_with, command.tolerance, report, cancelled)
