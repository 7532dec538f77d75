"""Holds the speed of an open model's answers against what its plan expected."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from engine.experts.telemetry import ExpertSnapshot as Counters
from engine.generation.messages import Stats
from engine.hardware.load import LoadWatch
from engine.planning import plan as planning
from engine.session import speed_record
from engine.session.bottleneck import HELD
from engine.session.speed_record import Decoded

if TYPE_CHECKING:
    from engine.session.session import Session

FULL = 0.95  # of what the cache will hold, from which on the speed of an answer says something


def is_full(held: int, cache: int, record: int) -> bool:
    """Whether nearly all of a cache is taken, or no other expert fits: of large ones it may hold ten and a half."""
    return held >= FULL * cache or held + record > cache


class SpeedCheck:
    """One verdict a plan, after tokens enough. Used on the session's thread, once its plan is made."""

    def __init__(self, session: Session) -> None:
        self._session, self._load = session, LoadWatch()
        self.begin()

    def begin(self) -> None:
        """There is a new plan. What was seen of the model under such a one is what is to be expected again."""
        session = self._session
        self._took, self._over, self._counts = Decoded(), False, False
        self._read = 0
        session.facts, session.plan = speed_record.recalled(
            session.store.path, session.machine, session.facts, session.plan, session.settings
        )

    def answering(self) -> None:
        """An answer begins. It counts where the cache is full: until then much is read that will not be read again."""
        session = self._session
        whole = min(session.plan.cache_bytes, session.facts.expert_bytes[session.plan.tier])
        record = session.facts.record_bytes[session.plan.tier]
        self._counts = not self._over and is_full(session.runtime.cache.nbytes, whole, record)
        self._load.again()

    def prompt_read(self, counters: Counters) -> None:
        """Decoding begins."""
        self._read = counters.bytes_read

    def answered(self, stats: Stats) -> None:
        """An answer has come to its end. What is expected from now on is what was seen, in the library as here; whom it
        matters to, where that was far off, is told why."""
        session = self._session
        if not self._counts or self._load.load.others >= HELD:  # what others slowed down says nothing of the next time
            return
        read = session.counters().bytes_read - self._read
        tokens = max(0, len(stats.token_ids) - 1)
        before = tokens * (len(session.context.tokens) - tokens // 2)
        self._took += Decoded(tokens, stats.decode_seconds, read, before)
        if not self._took.enough:
            return
        self._over = True
        dial = planning.dial_of(session.settings)
        seen, sentence = speed_record.judge(session.machine, session.facts, session.plan, dial, self._took)
        now = speed_record.conditions(session.machine, session.facts, session.plan, dial)
        speed_record.keep(session.store.path, now, seen)
        session.facts = dataclasses.replace(session.facts, seen=seen)
        session.plan = planning.seen_again(session.plan, session.machine, session.facts, session.settings)
        session.replanned()
        session.told(sentence)  # '' where nobody has to be told
