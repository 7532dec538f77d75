"""What a model's precision dials are and cost: T1 and T2, perplexity and KL, measured window by window and kept."""

from __future__ import annotations

import json
import logging
import math
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from engine import filesystem
from engine.calibration.evaluate import Sums, compared, shipped_texts
from engine.calibration.routing_capture import RoutingCapture
from engine.calibration.teaching import teach_gates
from engine.errors import Kind, UnderhillError
from engine.experts.precision import ScoreRecorder, Thresholds, from_scores
from engine.filesystem import replacing
from engine.library import dials
from engine.library.dials import DIALS, Calibration, Cost, DialCost
from engine.library.listing import TOY
from engine.planning.speed import dial_shares
from engine.session.loaded_model import LoadedModel, keeping
from engine.session.session import Report as OpenReport
from engine.session.session import Session, quiet
from engine.store.arrays import arrays
from engine.store.fields import DAMAGED
from engine.translatable import msg

_log = logging.getLogger(__name__)

TOKENS = 4096  # of calibration text; enough for quantiles to settle to a percent
QUICK = 1024  # tokens, for models so small that their thresholds are found unasked when first opened
SCORED = 1024  # tokens of other text for what a dial costs at the most
SCORED_HERE = 256  # tokens, one at a time, for what it costs with what this computer's cache holds
# Dials and shares with which cache-aware routing is tried then: 0.8 and 0.5 replace a tenth and a quarter of all uses
# of the built-in model with half of its experts in memory.
SUBSTITUTES = {f"{dial} {share}": (dial, share) for dial in ("balanced", "fast") for share in (0.8, 0.5)}
FILE = "calibration.part.npz"  # how far the calibration has come, so that the next start goes on from there
VERSION = 2  # of that file
PARTS = 200  # of the scores' distribution that is kept, for the settings page, where thresholds are set by hand
LOGITS = 48 << 20  # bytes that the logits of a window may take

Report = Callable[[int, int], None]


@dataclass(kw_only=True)
class CalibrationState:
    """stage: see Calibrator; window: of its windows, the first that is not done. scores: of routing decisions so far.

    worst, here: sums by dial; substituted: as `here`, by the names of SUBSTITUTES. low: bits of the coarse experts that
    they are about.
    """

    stage: int = 0
    window: int = 0
    scores: Tensor = field(default_factory=lambda: torch.empty(0))
    worst: dict[str, Sums] = field(default_factory=lambda: dict.fromkeys(DIALS, Sums()))
    here: dict[str, Sums] = field(default_factory=lambda: dict.fromkeys(DIALS, Sums()))
    substituted: dict[str, Sums] = field(default_factory=lambda: dict.fromkeys(SUBSTITUTES, Sums()))
    low: int = 2

    def fits(self, windows: Sequence[Sequence[int]]) -> bool:
        """Whether it is about these windows, as far as can be seen."""
        if not 0 <= self.window < len(windows):
            return False
        if self.stage == 0:
            return bool(self.window) == bool(len(self.scores))
        sums = self.worst if self.stage == 1 else self.here | self.substituted
        tokens = sum(len(w) - 1 for w in windows[: self.window])
        return all(one.tokens == tokens for one in sums.values())

    def save(self, store: Path) -> None:
        """Write it, whole or not at all. Raises OSError."""
        state = {"version": VERSION, "stage": self.stage, "window": self.window, "worst": self.worst, "here": self.here}
        state |= {"substituted": self.substituted, "low": self.low}
        text = np.frombuffer(json.dumps(state).encode(), np.uint8)
        with replacing(store / FILE) as temporary, temporary.open("wb") as file:
            np.savez(file, state=text, scores=self.scores.numpy())

    @classmethod
    def load(cls, store: Path) -> CalibrationState | None:
        """None where there is none, or it is damaged: then it begins again."""
        with suppress(*DAMAGED, EOFError, zipfile.BadZipFile):
            with arrays(store / FILE) as found:
                state = json.loads(found["state"].tobytes())
                scores = torch.from_numpy(found["scores"].astype(np.float32))
            if state["version"] == VERSION and state["stage"] in (0, 1, 2):
                worst, here = ({d: _sums(state[s][d]) for d in DIALS} for s in ("worst", "here"))
                tried = {name: _sums(state["substituted"][name]) for name in SUBSTITUTES}
                return cls(
                    stage=int(state["stage"]), window=int(state["window"]), scores=scores, worst=worst, here=here,
                    substituted=tried, low=int(state["low"]),
                )  # fmt: skip
        return None


def _sums(found: Sequence[float]) -> Sums:
    tokens, *rest = found
    return Sums(int(tokens), *map(float, rest))


def calibrate(
    session: Session, progress: Report = lambda done, total: None, tokens: int = TOKENS, costs: bool = True
) -> Calibration:
    """Measure all of it now, and keep it with the store. costs: False stops at T1 and T2.

    Raises UnderhillError(DISK_ERROR) where the store cannot be written to.
    """
    name, begun = session.card.name, time.monotonic()
    _log.info("Calibration of %s begins", name)
    calibrator = Calibrator(session, session.calibrated, tokens, start_over=True)
    while not (calibrator.complete if costs else calibrator.stage):
        calibrator.step()
        progress(calibrator.done, calibrator.total)
    assert calibrator.found is not None
    _log.info("Calibration of %s is done after %.1f s", name, time.monotonic() - begun)
    return calibrator.found


def open_calibrated(model: str, chosen: Mapping[str, Any] | None = None, report: OpenReport = quiet) -> Session:
    """Open a model as Session.open does; where it never was calibrated, T1 and T2 are found now if that takes a moment,
    else a note says that they are not its own.
    """
    return Session.open(model, chosen, report, _calibrate_if_quick)


def _calibrate_if_quick(session: Session, report: OpenReport) -> None:
    known, small = session.card.calibration, session.card.parameters < TOY
    if known is not None and (known.scores or not small):
        return
    if not small:
        if not session.exact:
            session.note(msg("T1 and T2 are defaults until this model is calibrated."))
        return
    try:
        calibrate(session, lambda *_: report(msg("Calibrating"), 0, 0), QUICK, costs=False)
    except UnderhillError as e:
        if e.kind is not Kind.DISK_ERROR:  # a store that cannot be written to still runs
            raise
        _log.warning("What was calibrated could not be kept", exc_info=e)
        session.note(e.sentence)


class Calibrator:
    """Calibration in steps of a window of text, each of which can be stopped and all of which are kept at once.

    The session's counters, which are about what people asked for, know nothing of it.

    Stage 0 takes the quantiles of unimportance scores on the calibration text. Stage 1 compares the dials with Exact on
    other text, as if every expert had to be fetched. Stage 2 does so token by token with the cache that there is, where
    it does not hold everything. found: what is known by now.
    """

    def __init__(
        self,
        model: LoadedModel,
        calibrated: Callable[[Calibration], None],
        tokens: int = TOKENS,
        *,
        start_over: bool = False,
    ) -> None:
        """calibrated: called with what is known after each stage. start_over: do not go on from what was kept."""
        self._model, self._calibrated, self._store = model, calibrated, model.store.path
        self._tokens = tokens
        self._low = model.low
        self._kept = CalibrationState(low=self._low)
        self.found: Calibration | None = None
        self._windows = self._texts()
        self._seen = RoutingCapture(model)
        if not start_over:
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
        kept = self._kept
        with self._model.measuring(cancelled):
            if kept.window < len(self._windows[kept.stage]):
                (self._find_scores, self._find_worst, self._find_here)[kept.stage](
                    self._windows[kept.stage][kept.window], cancelled
                )
                kept.window += 1
            if kept.window == len(self._windows[kept.stage]):
                self._end_stage(cancelled)
        with keeping(self._store):
            if self.complete:
                filesystem.remove(self._store / FILE, missing_ok=True)
            else:
                kept.save(self._store)

    def _texts(self) -> tuple[list[list[int]], ...]:
        model = self._model
        window = min(model.context.limit, max(32, LOGITS // (4 * model.vocabulary)))

        def pieces(tokens: int) -> list[list[int]]:
            chats = shipped_texts(model, tokens, "eval.jsonl")
            found = (ids[at : at + window] for ids in chats for at in range(0, len(ids), window))
            return [ids for ids in found if len(ids) > 1]

        return (
            shipped_texts(model, self._tokens),
            pieces(SCORED),
            [] if model.all_in_memory else pieces(SCORED_HERE),
            [],
        )

    def _find_scores(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        recorder = ScoreRecorder()
        with self._seen.watching(ids, recorder), self._model.exactly():  # what was cached has no part in it
            self._model.context.run_through(ids, cancelled)
        self._kept.scores = torch.cat((self._kept.scores, recorder.scores.float()))

    def _find_worst(self, ids: list[int], cancelled: Callable[[], bool]) -> None:
        reference = self._exact(ids, cancelled)
        runtime = self._model.runtime
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
        for name, (dial, share) in SUBSTITUTES.items():
            tried = compared(ids, reference, self._under(dial, ids, cancelled, True, share))
            self._kept.substituted[name] = self._kept.substituted[name].plus(tried)

    def _exact(self, ids: list[int], cancelled: Callable[[], bool]) -> Tensor:
        with self._model.exactly():
            return self._model.context.score(ids, one_by_one=False, cancelled=cancelled)

    def _under(
        self, dial: str, ids: list[int], cancelled: Callable[[], bool], one_by_one: bool, substitute: float = 0.0
    ) -> Tensor:
        assert self.found is not None
        cuts = self.found.dials[dial]
        with self._model.under(Thresholds(cuts.t1, cuts.t2), substitute):
            return self._model.context.score(ids, one_by_one=one_by_one, cancelled=cancelled)

    def _here(self, dial: str, known: DialCost) -> DialCost:
        """What a dial costs with this cache, and with as much cache-aware routing as costs no more than it may: than
        the dial itself were every expert missing."""
        best = replace(known, here=_cost(self._kept.here[dial]))
        for name, (own, share) in SUBSTITUTES.items():
            cost = _cost(self._kept.substituted[name])
            if own == dial and known.worst is not None and cost.kl <= known.worst.kl:
                best = replace(best, here=cost, substitute=share)
        return best

    def _end_stage(self, cancelled: Callable[[], bool]) -> None:
        """Make what is known of what was added up; the next stage that has anything to do begins."""
        kept, model = self._kept, self._model
        if kept.stage == 0:
            run = self._seen.view()
            if run is not None:
                with keeping(self._store):
                    taught = teach_gates(model, run, cancelled)
                if len(run.tokens) == sum(map(len, self._windows[0])):
                    for kind, table in taught.items():
                        model.tables.adopt(kind, table, len(self._windows[0]))
            self._seen = RoutingCapture(model)
            k = model.card.experts_per_token
            cuts = {dial: from_scores(kept.scores, *dial_shares(dial, k)) for dial in DIALS}
            costs = {dial: DialCost(cut.t1, cut.t2) for dial, cut in cuts.items()}
            tokens = sum(map(len, self._windows[0]))
            counts = torch.histc(kept.scores.float(), PARTS, 0.0, 1.0).to(torch.int64).tolist()
            self.found = Calibration(
                tokens=tokens,
                scored=0,
                scored_here=0,
                share=0.0,
                exact_perplexity=0.0,
                dials=costs,
                scores=tuple(counts),
                low=self._low,
            )
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
                share=model.cached_share,
                dials={d: self._here(d, self.found.dials[d]) for d in DIALS},
            )
        with keeping(self._store):
            dials.write(self._store, self.found)
        kept.stage, kept.window, kept.scores = kept.stage + 1, 0, torch.empty(0)
        self._calibrated(self.found)


def _cost(sums: Sums) -> Cost:
    return Cost(math.expm1((sums.nll - sums.exact_nll) / sums.tokens), sums.divergence / sums.tokens)
