"""What a model's precision dials are and cost: T1 and T2, perplexity and KL, measured window by window and kept."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.experts.precision import EXACT, ScoreRecorder, Thresholds, from_scores
from engine.library import dials
from engine.library.dials import DIALS, Calibration, Cost, DialCost
from engine.library.listing import TOY
from engine.planning.speed import dial_shares
from engine.session import calibration_state as kept_file
from engine.session import predictor_store
from engine.session.calibration_state import CalibrationState
from engine.session.evaluate import Sums, compared, sequences
from engine.session.routing_capture import RoutingCapture
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.session.session import Session

# hobbit: its own for Mixtral
UNCALIBRATED = {
    "hobbit": Thresholds(0.6, 0.9),
    "balanced": Thresholds(0.6, 0.9),
    "fast": Thresholds(0.4, 0.85),
}
_log = logging.getLogger(__name__)

TOKENS = 4096  # of calibration text; enough for quantiles to settle to a percent
QUICK = 1024  # tokens, for models so small that their thresholds are found unasked when first opened
SCORED = 1024  # tokens of other text for what a dial costs at the most
SCORED_HERE = 256  # tokens, one at a time, for what it costs with what this computer's cache holds
PARTS = 200  # of the scores' distribution that is kept, for whoever chooses thresholds by hand
LOGITS = 48 << 20  # bytes that the logits of a window may take

Report = Callable[[int, int], None]


def thresholds_of(store: Path, dial: str) -> Thresholds:
    """T1 and T2 of a dial for this model: calibrated, or until then the paper's for Mixtral."""
    if dial == "exact":
        return EXACT
    found = dials.read(store)
    if found is None:
        return UNCALIBRATED[dial]
    return Thresholds(found.dials[dial].t1, found.dials[dial].t2)


def thresholds_for(store: Path, chosen: Mapping[str, Any]) -> Thresholds:
    """T1 and T2 of the dial, or those chosen by hand. Under Exact there are none to choose."""
    dial = thresholds_of(store, str(chosen["dial"]))
    if dial.exact:
        return dial
    low, high = chosen["t1"], chosen["t2"]
    if low is None:
        low = dial.t1 if high is None else min(dial.t1, float(high))
    if high is None:
        high = max(dial.t2, float(low))
    return Thresholds(float(low), float(high))


def calibrate(
    session: Session, progress: Report = lambda done, total: None, tokens: int = TOKENS, costs: bool = True
) -> Calibration:
    """Measure all of it now, and keep it with the store. costs: False stops at T1 and T2.

    Raises UnderhillError(DISK_ERROR) where the store cannot be written to.
    """
    name, begun = session.card.name, time.monotonic()
    _log.info("Calibration of %s begins", name)
    calibrator = Calibrator(session, tokens, anew=True)
    while not (calibrator.complete if costs else calibrator.stage):
        calibrator.step()
        progress(calibrator.done, calibrator.total)
    assert calibrator.found is not None
    _log.info("Calibration of %s is done after %.1f s", name, time.monotonic() - begun)
    return calibrator.found


def calibrate_if_quick(session: Session, report: Callable[[Translatable, int, int], None]) -> None:
    """A model that was never calibrated gets its thresholds now if that takes a moment, else a sentence says so."""
    known = session.card.calibration
    if known is not None and (known.scores or session.card.parameters >= TOY):
        return
    if session.card.parameters < TOY:
        try:
            calibrate(session, lambda *_: report(msg("Calibrating"), 0, 0), QUICK, costs=False)
        except UnderhillError as e:
            if e.kind is not Kind.DISK_ERROR:  # a store that cannot be written to still runs
                session.close()
                raise
            _log.warning("What was calibrated could not be kept", exc_info=e)
            session.note(e.sentence)
        except BaseException:
            session.close()
            raise
    elif not session.exact:
        session.note(msg("T1 and T2 are those published for Mixtral until this model's own have been found."))


class Calibrator:
    """Calibration in steps of a window of text, each of which can be stopped and all of which are kept at once.

    The session's counters, which are about what people asked for, know nothing of it.

    Stage 0 takes the quantiles of unimportance scores on the calibration text. Stage 1 compares the dials with Exact on
    other text, as if every expert had to be fetched. Stage 2 does so token by token with the cache that there is, where
    it does not hold everything. found: what is known by now.
    """

    def __init__(self, session: Session, tokens: int = TOKENS, *, anew: bool = False) -> None:
        """anew: do not go on from what was kept."""
        self._session, self._store = session, session.store.path
        self._tokens = tokens
        self._low = session.low
        self._kept = CalibrationState(low=self._low)
        self.found: Calibration | None = None
        self._windows = self._texts()
        self._seen = RoutingCapture(session)
        if not anew:
            self._find_place()

    def _find_place(self) -> None:
        """Where it was left, as far as what was kept holds together."""
        found = dials.read(self._store)
        self.found = None if found is None else found.at(self._low)
        known = self.found is not None
        done = known and all(dial.worst is not None for dial in self.found.dials.values())  # type: ignore[union-attr]
        kept = CalibrationState.load(self._store)
        if (
            kept is not None
            and kept.low == self._low
            and (kept.stage == 0 or known)
            and kept.fits(self._windows[kept.stage])
        ):
            self._kept = kept
        else:
            self._kept = CalibrationState(stage=3 if done else int(known), low=self._low)

    @property
    def complete(self) -> bool:
        """Whether nothing is left to do."""
        return self._kept.stage == 3

    @property
    def stage(self) -> int:
        """0: T1 and T2 are being looked for; from 1 on they are there."""
        return self._kept.stage

    @property
    def total(self) -> int:
        """Windows in all."""
        return sum(map(len, self._windows))

    @property
    def done(self) -> int:
        """Windows done."""
        return sum(map(len, self._windows[: self.stage])) + (0 if self.complete else self._kept.window)

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 * self.done // self.total

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Do one window. Raises UnderhillError: CANCELLED, and then it is as if nothing had been done; DISK_ERROR."""
        kept, session = self._kept, self._session
        with interruptible(session, cancelled), session.runtime.telemetry.aside():
            if kept.window < len(self._windows[kept.stage]):
                (self._find_scores, self._find_worst, self._find_here)[kept.stage](
                    self._windows[kept.stage][kept.window], cancelled
                )
                kept.window += 1
            if kept.window == len(self._windows[kept.stage]):
                self._end_stage(cancelled)
        with writing(self._store):
            if self.complete:
                (self._store / kept_file.FILE).unlink(missing_ok=True)
            else:
                kept.save(self._store)

    def _texts(self) -> tuple[list[list[int]], ...]:
        session = self._session
        vocabulary = session.vocabulary
        window = min(session.context.limit, max(32, LOGITS // (4 * vocabulary)))
        choosing, judging = (resources.path("calibration", name) for name in ("calibration.jsonl", "eval.jsonl"))

        def pieces(tokens: int) -> list[list[int]]:
            chats = sequences(session.chat, judging, session.context.limit, tokens)
            found = (ids[at : at + window] for ids in chats for at in range(0, len(ids), window))
            return [ids for ids in found if len(ids) > 1]

        return (
            sequences(session.chat, choosing, session.context.limit, self._tokens),
            pieces(SCORED),
            [] if session.all_in_memory else pieces(SCORED_HERE),
            [],
        )

    def _find_scores(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        recorder = ScoreRecorder()
        with self._seen.watching(ids, recorder), self._session.exactly():  # what was cached has no part in it
            self._session.context.run_through(ids, cancelled)
        self._kept.scores = torch.cat((self._kept.scores, recorder.scores.float()))

    def _find_worst(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        reference = self._exact(ids, cancelled)
        runtime = self._session.runtime
        runtime.as_if_missing = True
        try:
            found = {dial: compared(ids, reference, self._under(dial, ids, cancelled, False)) for dial in DIALS}
        finally:
            runtime.as_if_missing = False
        self._kept.worst = {dial: self._kept.worst[dial].plus(found[dial]) for dial in DIALS}

    def _find_here(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        reference = self._exact(ids, cancelled)
        found = {dial: compared(ids, reference, self._under(dial, ids, cancelled, True)) for dial in DIALS}
        self._kept.here = {dial: self._kept.here[dial].plus(found[dial]) for dial in DIALS}

    def _exact(self, ids: list[int], cancelled: Callable[[], bool]) -> Tensor:
        with self._session.exactly():
            return self._session.context.score(ids, one_by_one=False, cancelled=cancelled)

    def _under(self, dial: str, ids: list[int], cancelled: Callable[[], bool], one_by_one: bool) -> Tensor:
        assert self.found is not None
        cuts = self.found.dials[dial]
        with self._session.under(Thresholds(cuts.t1, cuts.t2)):
            return self._session.context.score(ids, one_by_one=one_by_one, cancelled=cancelled)

    def _end_stage(self, cancelled: Callable[[], bool]) -> None:
        """Make what is known of what was added up; the next stage that has anything to do begins."""
        kept, session = self._kept, self._session
        if kept.stage == 0:
            run = self._seen.observed()
            if run is not None:
                with writing(self._store):
                    taught = predictor_store.learn(session, run, cancelled)
                if len(run.tokens) == sum(map(len, self._windows[0])):
                    for kind, table in taught.items():
                        session.tables.adopt(kind, table, len(self._windows[0]))
            self._seen = RoutingCapture(session)
            k = session.card.experts_per_token
            cuts = {dial: from_scores(kept.scores, *dial_shares(dial, k)) for dial in DIALS}
            costs = {dial: DialCost(cut.t1, cut.t2) for dial, cut in cuts.items()}
            tokens = sum(map(len, self._windows[0]))
            counts = torch.histc(kept.scores.float(), PARTS, 0.0, 1.0).to(torch.int64).tolist()
            self.found = Calibration(tokens, 0, 0, 0.0, 0.0, costs, tuple(counts), self._low)
        assert self.found is not None
        if kept.stage == 1:
            sums = kept.worst[DIALS[0]]
            self.found = replace(
                self.found,
                scored=sums.tokens,
                exact_perplexity=math.exp(sums.exact_nll / sums.tokens),
                dials={d: replace(self.found.dials[d], worst=_cost(kept.worst[d])) for d in DIALS},
            )
        elif kept.stage == 2 and self._windows[2]:
            self.found = replace(
                self.found,
                scored_here=kept.here[DIALS[0]].tokens,
                share=session.cached_share,
                dials={d: replace(self.found.dials[d], here=_cost(kept.here[d])) for d in DIALS},
            )
        with writing(self._store):
            dials.write(self._store, self.found)
        kept.stage, kept.window, kept.scores = kept.stage + 1, 0, torch.empty(0)
        session.calibrated(self.found)


def _cost(sums: Sums) -> Cost:
    return Cost(math.expm1((sums.nll - sums.exact_nll) / sums.tokens), sums.divergence / sums.tokens)


@contextmanager
def interruptible(session: Session, cancelled: Callable[[], bool]) -> Iterator[None]:
    """While this lasts, a prompt asks before each of its layers whether to stop."""
    session.runtime.interrupted = cancelled
    try:
        yield
    finally:
        session.runtime.interrupted = None


@contextmanager
def writing(store: Path) -> Iterator[None]:
    """What the disk refuses meanwhile is an UnderhillError(DISK_ERROR)."""
    try:
        yield
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR,
            msg("What was measured cannot be kept in {store}.", store=store),
            msg("Check that the folder can be written."),
        ) from e
