"""How fast an open model is with a graphics card: once seen, that replaces what arithmetic expected of the two."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, replace

from engine.experts.card_mode import CardMode
from engine.filesystem import replace_file
from engine.generation.messages import Stats
from engine.hardware.load import LoadWatch
from engine.library.speed_record import NEAR, Decoded
from engine.planning import offload
from engine.planning.plan import dial_of
from engine.regular_file import read_json
from engine.session.bottleneck import HELD
from engine.session.loaded_model import LoadedModel
from engine.store.fields import DAMAGED

FILE = "card-speed.json"  # beside the store
LEAST, MOST = 0.01, 1e4  # tokens a second that can be true


@dataclass(frozen=True, kw_only=True)
class CardConditions:
    """Under which it was seen. near, here: shares of the experts' bytes on the card, and in memory."""

    card: str
    mode: str
    tier: int
    dense: str
    dial: str
    isa: str
    threads: int
    linears: bool
    near: float
    here: float

    def like(self, other: CardConditions) -> bool:
        """Whether what was seen under one holds under the other."""
        close = abs(self.near - other.near) <= NEAR and abs(self.here - other.here) <= NEAR
        return close and replace(self, near=0, here=0) == replace(other, near=0, here=0)


class CardSpeed:
    """Measures answers while a card computes. Used on the session's thread, once its plan is made.

    An answer counts where the processor was this program's, and less than an expert a token came to the card: until it
    is filled, much time goes into filling it.
    """

    def __init__(self, model: LoadedModel, mode: CardMode | None) -> None:
        """mode: None where the processor computes alone: nothing is measured then."""
        self._model, self._mode, self._load = model, mode, LoadWatch()
        self._took, self._sent = Decoded(), 0
        if mode is not None and (known := self._read()) is not None:
            model.plan = offload.with_speed(model.plan, known)

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
        if mode.held.sent - self._sent >= tokens * model.facts.record_bytes[model.plan.tier]:
            return False
        self._took += Decoded(tokens, stats.decode_seconds)
        if not self._took.enough:
            return False
        speed, self._took = self._took.tokens / self._took.seconds, Decoded()
        model.plan = offload.with_speed(model.plan, speed)
        kept = json.dumps({"conditions": asdict(self._conditions(mode)), "speed": speed})
        with suppress(OSError):  # a store that cannot be written to keeps nothing
            replace_file(model.store.path / FILE, kept.encode())
        return True

    def _conditions(self, mode: CardMode) -> CardConditions:
        plan, model = self._model.plan, self._model
        whole = model.facts.expert_bytes[plan.tier]
        near, here = (min(1.0, nbytes / whole) for nbytes in (mode.held.capacity, plan.cache_bytes))
        dial, linears = dial_of(model.settings), mode.linears.count > 0
        name, isa = mode.device.facts.name, model.machine.isa
        return CardConditions(
            card=name,
            mode=plan.mode,
            tier=plan.tier,
            dense=plan.dense,
            dial=dial,
            isa=isa,
            threads=plan.threads,
            linears=linears,
            near=near,
            here=here,
        )

    def _read(self) -> float | None:
        assert self._mode is not None
        try:
            found = read_json(self._model.store.path / FILE)
            then, speed = CardConditions(**found["conditions"]), float(found["speed"])
            holds = then.like(self._conditions(self._mode))
        except DAMAGED:
            return None
        return speed if holds and LEAST <= speed <= MOST else None
