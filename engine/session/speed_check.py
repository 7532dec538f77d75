"""Compares the speed of answers with what the plan expected."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.generation.messages import Stats
from engine.hardware.load import LoadWatch
from engine.library import speed_record
from engine.library.speed_record import Decoded
from engine.planning import plan as planning
from engine.planning.speed import dial_of
from engine.session.bottleneck import HELD
from engine.session.loaded_model import LoadedModel
from engine.translatable import Translatable

FULL = 0.95  # share of what the cache will hold from which on an answer counts: before, experts are read that stay


def is_full(held: int, cache: int, record: int) -> bool:
    """Whether nearly all of a cache is taken, or no other expert fits: of large ones it may hold ten and a half."""
    return held >= FULL * cache or held + record > cache


class SpeedCheck:
    """One verdict a plan, after tokens enough. Used on the session's thread, once its plan is made."""

    def __init__(self, model: LoadedModel, judged: Callable[[Translatable], None]) -> None:
        """judged: called with a sentence, or '', once there is a verdict."""
        self._model, self._judged, self._load = model, judged, LoadWatch()
        self.begin()

    def begin(self) -> None:
        """Begin again for a new plan, with the speed that was measured under such a one before."""
        model = self._model
        self._took, self._over, self._counts = Decoded(), False, False
        self._read = 0
        model.facts, model.plan = speed_record.recalled(
            model.store.path, model.machine, model.facts, model.plan, model.settings
        )

    def answering(self) -> None:
        """An answer begins. It counts where the cache is full: until then much is read that will not be read again."""
        model = self._model
        whole = min(model.plan.cache_bytes, model.facts.expert_bytes[model.plan.tier])
        record = model.facts.record_bytes[model.plan.tier]
        # What a card does beside the processor says nothing of the processor's own speed.
        self._counts = (
            not self._over and model.plan.mode == "cpu" and is_full(model.runtime.cache.nbytes, whole, record)
        )
        self._load.again()

    def prompt_read(self, counters: Counters) -> None:
        """Decoding begins."""
        self._read = counters.bytes_read

    def answered(self, stats: Stats) -> None:
        """Count an answer. After enough tokens, what was measured replaces what the plan expected, here and in the
        library; `judged` is called, with a sentence where they differed much."""
        model = self._model
        if stats.accepted:  # text that repeats itself says nothing of the next one
            return
        if not self._counts or self._load.load.others >= HELD:  # what others slowed down says nothing of the next time
            return
        read = model.runtime.snapshot().bytes_read - self._read
        tokens = max(0, len(stats.token_ids) - 1)
        # Rows attended to by all of them: each sees those before it, on average half of the answer less than there are
        # in the end.
        before = tokens * (len(model.context.tokens) - tokens // 2)
        self._took += Decoded(tokens, stats.decode_seconds, read, before)
        if not self._took.enough:
            return
        self._over = True
        dial = dial_of(model.settings)
        seen, sentence = speed_record.judge(model.machine, model.facts, model.plan, dial, self._took)
        now = speed_record.conditions(model.machine, model.facts, model.plan, dial)
        speed_record.keep(model.store.path, now, seen, self._took.speed)
        model.facts = dataclasses.replace(model.facts, seen=seen)
        model.plan = planning.seen_again(model.plan, model.machine, model.facts, model.settings)
        self._judged(sentence)
