"""What a model does while nobody asks: it warms up and measures its precision dials, and steps aside at once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from engine.errors import Kind, UnderhillError
from engine.hub.cards import TOY
from engine.session.calibration import QUICK, TOKENS, Calibrator
from engine.session.facts import largest_file
from engine.session.measured import LARGE, SpareProbe

if TYPE_CHECKING:
    from engine.session.session import Session

PROBE_ROOM = 600_000_000  # bytes spare under the ceiling that the computer's full probe may take for a moment


class SpareTime:
    """Small steps, each of which ends within a layer or a token of somebody asking."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._calibrator: Calibrator | None = None
        self._over = False
        file, room = largest_file(session.store), session.plan.spare >= PROBE_ROOM
        self._probe = SpareProbe((file,) if room and file.stat().st_size >= LARGE else ())

    def use(self, wanted: Callable[[], bool], quiet: bool = True) -> bool:
        """Do one step of what there is to do, unless `wanted` becomes true; whether the card has changed.

        quiet: nobody has asked for a while. Until then it only reads what will be needed when somebody does.
        """
        session = self._session
        if not session.warm.complete:
            with suppress(UnderhillError):  # what cannot be read now is asked for again by whoever needs it
                session.warm.go_on(wanted)
            return False
        if not quiet:
            return False
        before = session.card
        if not self._probe.over:
            return self._measure()
        if self._over:
            return False
        try:
            if self._calibrator is None:
                self._calibrator = Calibrator(session, QUICK if session.card.parameters < TOY else TOKENS)
            calibrator = self._calibrator
            if not calibrator.complete:
                session.doing(f"Measuring its precision dials ({100 * calibrator.done // calibrator.total} %).")
                calibrator.step(wanted)
            if calibrator.complete:
                self._end()
        except UnderhillError as e:
            if e.kind is not Kind.CANCELLED:  # the disk will not do better next time
                self._end()
                session.note(f"Its precision dials could not be measured: {e.sentence}")
        return session.card != before

    def _measure(self) -> bool:
        """One step of the computer's full probe; whether the card has changed. The next plan will know."""
        session, before = self._session, self._session.card
        self._probe.use()
        done, total = self._probe.progress
        said = f"Measuring this computer ({100 * done // total} %)." if total and not self._probe.over else ""
        session.doing(said)
        return session.card != before

    def _end(self) -> None:
        self._over = True
        self._calibrator = None
        self._session.warm.refresh()
        self._session.doing("")
