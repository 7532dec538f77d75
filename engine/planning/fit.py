"""Whether a model fits this computer, before anything of it is here: a pill for lists, and the numbers behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, Machine, Memory, size
from engine.planning.facts import ModelFacts
from engine.planning.offload import make_plan_with_card
from engine.planning.plan import Plan, make_plan
from engine.planning.speed import DIALS, USUAL, expected, figure
from engine.translatable import Translatable, msg

Pill = Literal["fits", "slow", "too_big"]
SLOW = 2.0  # tokens a second below which reading along is no pleasure
PROGRAM = 400_000_000  # bytes that this program takes before a model
DISK_MARGIN = 2 * GB  # bytes of the disk left to other things at most: as much as a model takes, where that is less


@dataclass(frozen=True, kw_only=True)
class Fit:
    """pill: 'fits' runs at a usable speed, 'slow' below that, 'too_big' not at all. Speed: tokens a second, from worse
    to better; None where it does not run. needed: bytes of memory at the least; wanted: with every expert at hand.
    disk: bytes that it takes there. tier: bits of its experts. share: of its experts, what stays in memory.
    dials: (quality, worse, better speed) of each quality, of an open model that the processor alone computes.
    """

    pill: Pill
    sentence: Translatable
    speed: tuple[float, float] | None
    needed: int
    wanted: int
    disk: int
    tier: int
    share: float = 0.0
    dials: tuple[tuple[str, float, float], ...] = ()


@dataclass(frozen=True)
class Recommended:
    """Values that Underhill chooses now where nobody did. Bytes: memory limit, and memory of the computer. Tokens of
    context, and share of the experts in memory: of the open model; None where none is open.
    """

    memory: int
    memory_most: int
    context: int | None = None
    cache_fraction: float | None = None


def fit(
    machine: Machine,
    model: ModelFacts,
    chosen: Mapping[str, object] | None = None,
    *,
    here: bool = False,
    in_use: int = 0,
) -> Fit:
    """Pure arithmetic on what a plan would say. chosen: values of settings.ENGINE. here: it lies on the disk already.

    in_use: bytes this process holds already; 0: what a program takes that has just started.
    """
    values = {s.name: s.default for s in settings.ENGINE} if chosen is None else chosen
    disk = _disk(model)
    tier = max(model.tiers)
    disk_margin = min(DISK_MARGIN, disk)
    missing = 0 if here else disk + disk_margin - machine.disk_free
    try:
        plan = make_plan_with_card(machine, model, values, in_use or PROGRAM)
    except UnderhillError as e:
        if e.kind is not Kind.OUT_OF_MEMORY:
            raise
        needed, wanted = _least(machine, model, values)
        return Fit(pill="too_big", sentence=e.sentence, speed=None, needed=needed, wanted=wanted, disk=disk, tier=tier)
    found = fit_of(plan, model)
    if missing > 0:
        text = msg(
            "Not enough disk space: needs {disk}, {disk_free} free",
            disk=size(disk),
            disk_free=size(machine.disk_free),
        )
        return replace(found, pill="too_big", sentence=text, speed=None)
    return found


def fit_of(plan: Plan, model: ModelFacts) -> Fit:
    """What a plan that holds says: the same figures as its own sentences."""
    pill: Pill = "slow" if plan.speed[1] < SLOW else "fits"
    whole = model.expert_bytes[plan.tier]
    wanted = plan.ceiling - plan.spare - plan.cache_bytes + whole
    share = min(1.0, plan.cache_bytes / whole)
    return Fit(
        pill=pill, sentence=_sentence(plan, share), speed=plan.speed, needed=plan.least, wanted=wanted,
        disk=_disk(model), tier=plan.tier, share=share,
    )  # fmt: skip


def dial_speeds(machine: Machine, model: ModelFacts, plan: Plan) -> tuple[tuple[str, float, float], ...]:
    """Expected tokens a second of every quality under a plan, as Fit.dials; () where a card computes, too."""
    if plan.mode != "cpu":
        return ()
    machine, context = machine.reading(plan.direct), min(plan.context, USUAL)
    found = []
    for dial in DIALS:
        pace = expected(machine, plan.as_held(model), plan.tier, plan.dense, plan.cache_bytes, dial, context=context)
        found.append((dial, *pace.decode))
    return tuple(found)


def _sentence(plan: Plan, share: float) -> Translatable:
    low, high = (figure(speed) for speed in plan.speed)
    span = low if low == high else msg("{low}–{high}", low=low, high=high)
    where = msg("all in memory") if share >= 1 else msg("{whole}% in memory", whole=f"{100 * min(share, 0.99):.0f}")
    return msg("≈ {span} tok/s · {tier}-bit · {where}", span=span, tier=plan.tier, where=where)


def _least(machine: Machine, model: ModelFacts, values: Mapping[str, object]) -> tuple[int, int]:
    """Memory that would do, and with which nothing is read from disk, on a computer otherwise like this one."""
    roomy = sum(model.expert_bytes.values()) + sum(model.dense_bytes.values()) + 64 * GB
    larger = replace(machine, memory=Memory(roomy, roomy))
    plan = make_plan(larger, model, {**values, "memory_gb": None, "context_length": 512}, PROGRAM)
    return plan.least, plan.ceiling - plan.spare


def _disk(model: ModelFacts) -> int:
    return model.disk_bytes or max(model.expert_bytes.values()) + model.dense_bytes["bf16"]
