"""Whether a model runs as fast as its plan expected, and what is kept of that beside its store for the next plan."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any

from engine.filesystem import replace_file
from engine.hardware.machine import Machine
from engine.hardware.rates import changed
from engine.library import card_record
from engine.planning.facts import NEAR, ModelFacts, Seen
from engine.planning.offload import make_plan_with_card
from engine.planning.plan import Plan, make_plan, seen_again
from engine.planning.speed import USUAL, dial_of, expected, figure, reading_rate, token_costs
from engine.regular_file import read_json
from engine.store.fields import DAMAGED
from engine.translatable import NO_TEXT, Translatable, msg

FILE = "speed.json"
TOKENS = 64  # decoded, before a verdict
OFF = 1.3  # by which the speed may leave what was expected
MOST_SPEED = 1e6  # tokens a second that can be true
READING = 50.0  # tokens a second beyond which nobody reads along: whoever waits for nothing need not be told
# Fewer misses are noise in TOKENS tokens; a greater correction is of a moment, not of a computer.
LEAST_MISSES, MOST_CORRECTION = 0.02, 20.0


@dataclass(frozen=True, kw_only=True)
class Conditions:
    """Under which it was seen: what was seen holds for the same alone. share: of the experts' bytes in memory. rate:
    bytes a second of the disk, or of memory where all are there, that it was expected to have.
    """

    tier: int
    dense: str
    dial: str
    isa: str
    threads: int
    share: float
    rate: float

    def like(self, other: Conditions) -> bool:
        """Whether what was seen under one holds under the other."""
        same = (self.tier, self.dense, self.dial, self.isa, self.threads)
        full = self.share >= 1, other.share >= 1
        if same != (other.tier, other.dense, other.dial, other.isa, other.threads) or full[0] != full[1]:
            return False
        return abs(self.share - other.share) <= NEAR


@dataclass(frozen=True)
class Decoded:
    """What decoding took, of one answer or several. before: tokens that were before each of them, summed up."""

    tokens: int = 0
    seconds: float = 0.0
    bytes_read: int = 0
    before: int = 0

    def __add__(self, other: Decoded) -> Decoded:
        return Decoded(*(mine + theirs for mine, theirs in zip(astuple(self), astuple(other))))

    @property
    def speed(self) -> float:
        """Tokens a second."""
        return self.tokens / self.seconds

    @property
    def enough(self) -> bool:
        """For a verdict."""
        return self.tokens >= TOKENS and self.seconds > 0


def conditions(machine: Machine, model: ModelFacts, plan: Plan, dial: str) -> Conditions:
    """Those of a plan."""
    share = min(1.0, plan.cache_bytes / model.expert_bytes[plan.tier])
    disk = machine.reading(plan.direct).disk_rate_at(model.record_bytes[plan.tier])
    rate = machine.memory_rate if share >= 1 else disk
    return Conditions(
        tier=plan.tier, dense=plan.dense, dial=dial, isa=machine.isa, threads=plan.threads, share=share, rate=rate
    )


def judge(machine: Machine, model: ModelFacts, plan: Plan, dial: str, took: Decoded) -> tuple[Seen, Translatable]:
    """What was seen, and a sentence where the speed was more than OFF beside what was expected and matters, else ''."""
    machine = machine.reading(plan.direct)
    uniform = token_costs(machine, model, plan.tier, dense=plan.dense, cache=plan.cache_bytes, dial=dial)
    bytes_missed = uniform.reading * reading_rate(machine, model, plan.tier)  # were the routing uniform
    misses = max(LEAST_MISSES, min(1.0, took.bytes_read / took.tokens / bytes_missed)) if bytes_missed else 1.0
    measured = took.speed
    known, how = replace(plan.as_held(model), seen=Seen(misses)), (plan.tier, plan.dense, plan.cache_bytes, dial)
    now = expected(machine, known, *how, chunk=plan.chunk, context=took.before // took.tokens)
    usual = expected(machine, known, *how, chunk=plan.chunk, context=min(plan.context, USUAL))
    correction = 1.0
    if not now.decode[0] / OFF <= measured <= now.decode[1] * OFF:
        # Of rates the geometric mean: as far from the worse as from the better, as a factor.
        middle = math.sqrt(now.decode[0] * now.decode[1])
        correction = max(1 / MOST_CORRECTION, min(MOST_CORRECTION, measured / middle))
    low, high = (said * here / there for said, here, there in zip(plan.speed, now.decode, usual.decode, strict=True))
    if low / OFF <= measured <= high * OFF or min(low, measured) > READING:
        return Seen(misses, correction), NO_TEXT
    span = figure(low) if figure(low) == figure(high) else msg("{low}–{high}", low=figure(low), high=figure(high))
    word = msg("slower") if measured < low else msg("faster")
    return Seen(misses, correction), (
        msg(
            "Measured {measured} tok/s, {word} than the expected {span}.",
            measured=figure(measured),
            word=word,
            span=span,
        )
    )


def planned(
    store: Path, machine: Machine, model: ModelFacts, settings: Mapping[str, object], in_use: int
) -> tuple[ModelFacts, Plan]:
    """Facts and plan of the model in this store, with what was seen of it here by the processor alone and with a card:
    Auto takes what was faster. in_use and errors: as of make_plan."""
    known = replace(model, card_seen=card_record.read(store))
    known, _ = recalled(store, machine, known, make_plan(machine, known, settings, in_use), settings)
    return known, make_plan_with_card(machine, known, settings, in_use)


def recalled(
    store: Path, machine: Machine, model: ModelFacts, plan: Plan, settings: Mapping[str, object]
) -> tuple[ModelFacts, Plan]:
    """Both with what was seen of this model under such a plan before; as if it never had run where nothing was."""
    seen = read(store, conditions(machine, model, plan, dial_of(settings)))
    known = replace(model, seen=seen)
    return known, seen_again(plan, machine, known, settings)


def read(store: Path, now: Conditions) -> Seen | None:
    """What was seen of the model in this store under such conditions; None: nothing, or the file is damaged.

    Of an expectation that was made with quite another rate, nothing is corrected: the rate may have been what was off.
    """
    return _seen_in(_kept(store), now)


def _kept(store: Path) -> Any:
    """What the file holds, not yet believed; None where it cannot be read."""
    try:
        return read_json(store / FILE)
    except DAMAGED:
        return None


def _seen_in(kept: Any, now: Conditions) -> Seen | None:
    """As `read`, of what `_kept` returned."""
    try:
        then = Conditions(**kept["conditions"])
        alike = not changed(float(then.rate), now.rate)
        seen = Seen(float(kept["misses"]), float(kept["correction"]) if alike else 1.0)
        holds = then.like(now)
    except DAMAGED:
        return None
    sane = LEAST_MISSES <= seen.misses <= 1 and 1 / MOST_CORRECTION <= seen.correction <= MOST_CORRECTION
    return seen if holds and sane else None


def measured(store: Path, machine: Machine, model: ModelFacts, plan: Plan, settings: Mapping[str, object]) -> float:
    """Tokens a second that the model in this store was seen to decode, last under such a plan and at about such a rate.

    0: it was not, or a graphics card computes, of which this record says nothing.
    """
    if plan.mode != "cpu":
        return 0.0
    now, kept = conditions(machine, model, plan, dial_of(settings)), _kept(store)
    if _seen_in(kept, now) is None:
        return 0.0
    try:
        speed, then = float(kept["speed"]), float(kept["conditions"]["rate"])
    except DAMAGED:
        return 0.0
    return speed if 0 < speed <= MOST_SPEED and not changed(then, now.rate) else 0.0


def keep(store: Path, now: Conditions, seen: Seen, speed: float) -> None:
    """For `read` and `measured`; a store that cannot be written to keeps nothing, and the next start expects what it
    did before. speed: tokens a second."""
    kept = {"conditions": asdict(now), **asdict(seen), "speed": speed}
    with suppress(OSError):
        replace_file(store / FILE, json.dumps(kept).encode())
