"""Idle tasks: what an open model reads, measures and learns between commands, in steps that end when one comes."""

from __future__ import annotations

import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Protocol

from engine.calibration.calibrator import QUICK, TOKENS, Calibrator
from engine.calibration.card_check import CardCheck
from engine.calibration.policy_fit import PolicyFitter
from engine.calibration.teaching import GateTeacher, TableTeacher
from engine.errors import Kind, UnderhillError
from engine.library.computer import LARGE, IdleProbe, machine_at
from engine.library.facts import largest_file
from engine.library.listing import TOY
from engine.session.card_session import CardSession
from engine.session.session import Session
from engine.translatable import NO_TEXT, Translatable, msg

_log = logging.getLogger(__name__)

# Bytes that the computer's full probe may take for a moment (compute_speed.MEMORY and the buffers of disk_speed). Where
# a plan leaves less below the memory limit, the probe is not run beside the open model.
PROBE_BYTES = 600_000_000


class Task(Protocol):
    """Something a model learns of itself, in steps that leave nothing behind where they are stopped."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""

    @property
    def share(self) -> int:
        """Percent done."""

    def step(self, cancelled: Callable[[], bool]) -> None:
        """Go on for a while. Raises UnderhillError: CANCELLED, or what ends it."""


class IdleTasks:
    """The idle tasks of one session, in steps; each ends within a layer or a token once a command waits."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._tokens = QUICK if session.card.parameters < TOY else TOKENS
        self._task: Task | None = None
        self._logged = False  # that it began
        self.queue: list[Callable[[], None]] = [
            self._calibrate,
            self._teach_gates,
            self._teach_tables,
            self._fit,
        ]  # each begins a task
        self._generation, self._low = session.tables.generation, session.low
        self._card: CardSession | None = None  # the one that is checked, or was
        self._again = False  # whether the next calibration begins anew
        self._begun = self._calibrate  # what began the task under way
        self._doing: Callable[[int], Translatable] = lambda share: NO_TEXT  # what is being done, so many percent of it
        self._failed: Callable[[Translatable], Translatable] = lambda why: why  # that it could not be done, and why
        file, spare = largest_file(session.store), session.plan.spare >= PROBE_BYTES
        self._probe = IdleProbe((file,) if spare and file.stat().st_size >= LARGE else ())

    @property
    def over(self) -> bool:
        """Whether nothing is left to measure and to learn."""
        return self._probe.over and self._task is None and not self.queue

    def calibrate(self) -> None:
        """Measure what the qualities are and cost once more, from its beginning, and before anything else."""
        if self._task is not None:
            self.queue.insert(0, self._begun)
            self._task = None
        self._again = True
        self.queue[:] = [self._calibrate, *(task for task in self.queue if task != self._calibrate)]

    def use(self, wanted: Callable[[], bool], quiet: bool = True) -> bool:
        """Do one step of what there is to do, unless `wanted` becomes true; whether the card has changed.

        quiet: there was no command for a while. Until then it only reads what the next answer will need.
        """
        session = self._session
        if not session.warm.complete:
            with suppress(UnderhillError):  # what cannot be read now is read again when it is needed
                session.warm.read_until(wanted)
            return False
        if not quiet:
            return False
        before = session.card
        if (
            not self._again and not self._probe.over and self._probe.ready()
        ):  # where other programs are busy, it is tried again later
            return self._measure()
        if session.card_mode.alive and session.card_mode is not self._card and self._task is None:
            self._card = session.card_mode
            self.queue.insert(0, self._check_card)
        if session.tables.generation != self._generation:  # all that was learnt was forgotten
            self._generation = session.tables.generation
            self.queue.append(self._teach_tables)
        if session.low != self._low:  # what the dials cost with it is another thing
            self._low = session.low
            if self._task is not None:
                self.queue.insert(0, self._begun)
            self._task = None
            self.queue.insert(0, self._calibrate)
            if self._fit not in self.queue:
                self.queue.append(self._fit)
        if self.over:
            return False
        try:
            self._learn(wanted)
        except UnderhillError as e:
            if e.kind is not Kind.CANCELLED:  # the disk will not do better next time
                _log.warning("%s of %s failed: %s", type(self._task).__name__, session.card.name, e.kind, exc_info=e)
                self._end()
                session.note(self._failed(e.sentence))
        return session.card != before

    def _learn(self, wanted: Callable[[], bool]) -> None:
        if self._task is None:
            self._begun = self.queue.pop(0)
            self._begun()
            if self._task is not None and not self._task.complete:
                _log.info("%s of %s begins", type(self._task).__name__, self._session.card.name)
                self._logged = True
        task = self._task
        assert task is not None
        if not task.complete:
            self._session.doing(self._doing(task.share))
            task.step(wanted)
        if task.complete:
            if self._logged:
                _log.info("%s of %s is done", type(task).__name__, self._session.card.name)
            self._end()

    def _check_card(self) -> None:
        self._doing = lambda share: msg("Checking the GPU")
        self._failed = lambda sentence: msg("Can't check the GPU: {sentence}", sentence=sentence)
        self._task = CardCheck(self._session)

    def _calibrate(self) -> None:
        session = self._session
        self._doing = lambda share: msg("Measuring quality ({share}%)", share=share)
        self._failed = lambda sentence: msg("Can't measure quality: {sentence}", sentence=sentence)
        tokens = TOKENS if self._again else self._tokens
        self._task = Calibrator(session, session.calibrated, tokens, start_over=self._again)
        self._again = False

    def _teach_gates(self) -> None:
        self._doing = lambda share: msg("Training gates ({share}%)", share=share)
        self._failed = lambda sentence: msg("Can't train gates: {sentence}", sentence=sentence)
        self._task = GateTeacher(self._session, self._tokens, self._session.ahead.begin)

    def _teach_tables(self) -> None:
        self._doing = lambda share: msg("Training predictors ({share}%)", share=share)
        self._failed = lambda sentence: msg("Can't train predictors: {sentence}", sentence=sentence)
        self._task = TableTeacher(self._session, lambda: self._session.ahead.tables)

    def _fit(self) -> None:
        self._doing = lambda share: msg("Fitting eviction weights ({share}%)", share=share)
        self._failed = lambda sentence: msg("Can't fit eviction weights: {sentence}", sentence=sentence)
        self._task = PolicyFitter(self._session)

    def _measure(self) -> bool:
        """One step of the computer's full probe; whether the card has changed."""
        session, before = self._session, self._session.card
        self._probe.use()
        done, total = self._probe.progress
        said = (
            msg("Measuring this computer ({total}%)", total=100 * done // total)
            if total and not self._probe.over
            else NO_TEXT
        )
        session.doing(said)
        if self._probe.improved:
            self._probe.improved = False
            session.machine = machine_at(largest_file(session.store))  # the plan's figures follow
            session.speed_check.begin()
            session.replanned()
        return session.card != before

    def _end(self) -> None:
        self._task, self._logged = None, False
        self._session.warm.refresh()
        self._session.doing(NO_TEXT)
