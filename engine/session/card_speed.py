"""How fast an open model is with a graphics card: once seen, that replaces what arithmetic expected of the two."""

from __future__ import annotations

from engine.experts.card_mode import CardMode
from engine.generation.messages import Stats
from engine.hardware.load import LoadWatch
from engine.library import card_record
from engine.library.speed_record import Decoded
from engine.planning import offload
from engine.planning.speed import dial_of
from engine.session.bottleneck import HELD
from engine.session.loaded_model import LoadedModel
from engine.session.speed_check import is_full


class CardSpeed:
    """Measures answers while a card computes. Used on the session's thread, once its plan is made.

    An answer counts where the processor was this program's, and the card was full: until it is, much time goes into
    filling it. It is where less than an expert a token came; GPU-centric, where nearly all of its room is taken.
    """

    def __init__(self, model: LoadedModel, mode: CardMode | None) -> None:
        """mode: None where the processor computes alone: nothing is measured then."""
        self._model, self._mode, self._load = model, mode, LoadWatch()
        self._took, self._sent = Decoded(), 0

    def answering(self) -> None:
        """An answer begins."""
        if self._mode is not None:
            self._sent = self._mode.held.sent
            self._load.again()

    def answered(self, stats: Stats) -> bool:
        """Count an answer; True: after tokens enough the plan has another speed now, which is kept for later."""
        mode, model, tokens = self._mode, self._model, max(0, len(stats.token_ids) - 1)
        if mode is None or not mode.alive or self._load.load.others >= HELD:
            return False
        if not self._is_full(mode, tokens):
            return False
        self._took += Decoded(tokens, stats.decode_seconds)
        if not self._took.enough:
            return False
        speed, self._took = self._took.tokens / self._took.seconds, Decoded()
        dial = dial_of(model.settings)
        card_record.keep(
            model.store.path, offload.conditions_with_card(model.machine, model.facts, model.plan, dial, speed)
        )
        model.plan = offload.with_speed(model.plan, speed)
        return True

    def _is_full(self, mode: CardMode, tokens: int) -> bool:
        if mode.assistant.crossing:
            return is_full(mode.held.nbytes, mode.held.capacity, max(self._model.facts.record_bytes.values()))
        return mode.held.sent - self._sent < tokens * self._model.facts.record_bytes[self._model.plan.tier]
