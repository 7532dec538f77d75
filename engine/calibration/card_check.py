"""A short answer by a graphics card and by the processor.

Kernels were compared one by one when the card was opened; this compares what becomes of all of them together.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from contextlib import nullcontext

from engine.calibration.evaluate import Sums, compared, shipped_texts
from engine.cuda.errors import CardError
from engine.cuda.ptx_files import ptx_for
from engine.experts.card_mode import CardMode
from engine.generation.context import ScoringTurn
from engine.library import card_record
from engine.session.session import Session
from engine.translatable import msg

PROMPT, ANSWER = 48, 12  # tokens: enough for the kernels of prompts, and for what one token hands to the next
# Mean KL divergence in nats. Sums in another order, after which codes of 8 bits fall on the other side, give far less;
# experts of 4 bits for 8 cost the built-in model 0.008, and a wrong index costs several nats.
TOLERANCE = 0.02


class CardCheck:
    """Compares them once for each card, driver and precision of a model; where they differ, the card is left alone."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._mode: CardMode | None = session.card_mode.mode
        self.complete = self._mode is None or not self._mode.alive
        if self._mode is not None and not self.complete:
            self._conditions = _conditions(session, self._mode)
            self.complete = card_record.is_checked(session.store.path, self._conditions)

    @property
    def share(self) -> int:
        """Percent done."""
        return 100 if self.complete else 0

    def step(self, cancelled: Callable[[], bool] = lambda: False) -> None:
        """Compare them. Raises UnderhillError: CANCELLED, and what reading an expert raises."""
        session, mode = self._session, self._mode
        assert mode is not None
        (ids, *_) = shipped_texts(session, PROMPT + ANSWER, window=PROMPT + ANSWER)
        turns = ScoringTurn(mode.resting, True), ScoringTurn(nullcontext, True)
        prompt, answer, found = ids[:-ANSWER], ids[-ANSWER:], Sums()
        with session.measuring(cancelled), session.exactly():
            blocks = session.context.score_in_turn(prompt, answer, len(answer), turns, cancelled)
            for fed, (here, there) in blocks:
                found = found.plus(compared((0, *fed), here, there))
        self.complete = True
        if not mode.alive:  # it failed meanwhile, and said so
            return
        kl = found.divergence / found.tokens
        if kl <= TOLERANCE:
            card_record.keep_checked(session.store.path, self._conditions)
            session.note(
                msg(
                    "Checked an answer on {name} against the CPU: KL divergence {kl} over {tokens} tokens.",
                    tokens=found.tokens,
                    name=mode.device.facts.name,
                    kl=f"{max(0.0, kl):.1g}",
                )
            )
            return
        mode.assistant.fail(
            CardError(
                msg(
                    "{name} and the CPU give different results: answers differ by {worst}.",
                    name=mode.device.facts.name,
                    worst=f"{kl:.2g}",
                ),
                msg("Please report this with the name of the GPU. The CPU is used instead."),
            )
        )


def _conditions(session: Session, mode: CardMode) -> str:
    facts, plan, kernels = mode.device.facts, session.plan, zlib.crc32(ptx_for(mode.device.facts.capability))
    driver = mode.device.driver.version()
    return f"{facts.name}, driver {driver}, kernels {kernels:08x}, {plan.mode}, {plan.tier} bits, {plan.dense}"
