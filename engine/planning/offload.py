"""What a graphics card would make of a model: three modes by arithmetic, of which this version runs one.

GPU-centric: all is computed on the card, and what its memory lacks crosses over to it. CPU-assisted: what it lacks is
computed where it lies, if that is faster than to bring it over (Fiddler; hobbit, section 4). CPU-only: as planned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, Gpu, Machine, size
from engine.planning.budget import cache_within, held_by
from engine.planning.facts import ModelFacts
from engine.planning.plan import CHUNKS, SHORT, Plan
from engine.planning.speed import (
    HIDDEN,
    REUSE,
    USUAL,
    attending,
    expert_rate,
    figure,
    reading_rate,
    rows_bytes,
    token_costs,
)
from engine.translatable import NO_TEXT, Translatable, joined, msg

AUTO, CPU, ASSISTED, GPU = "auto", "cpu", "cpu-assisted", "gpu"  # of the setting `mode`
MODES = (CPU, GPU, ASSISTED)  # of equally fast ones, the first
RUNS = (CPU,)  # what an open model does; the others are figures to judge by
NAMES = {CPU: msg("CPU-only"), ASSISTED: msg("CPU-assisted"), GPU: msg("GPU-centric")}
MARGIN = GB  # bytes of a card's free memory that are left alone: its driver's own, the screen, other programs
PINNED = 6e9  # bytes a second to a card, and
OWN = 150e9  # those of its own memory, where they were not measured: of slow laptops
SHARE = 0.6  # of its own memory's rate, what kernels over packed weights would reach
HANDOVER = 5e-5  # seconds a layer in which activations go from one to the other and back
LAUNCHES = 4e-5  # seconds a layer until the card has been told what to compute: ten kernels or so


@dataclass(frozen=True)
class Outlook:
    """One mode. speed: tokens a second, as Plan.speed. device_bytes: of the card, device_experts being experts;
    host_experts: those in ordinary memory; experts lie in one of the two. dense: where the other weights and the
    context (on the card, SHORT tokens) lie, 'host' or 'device'. limit: what takes longest: 'disk', 'link', 'host' or
    'device'.
    """

    mode: str
    dense: str
    device_bytes: int
    device_experts: int
    host_experts: int
    speed: tuple[float, float]
    limit: str


def outlooks(machine: Machine, model: ModelFacts, plan: Plan, dial: str) -> tuple[Outlook, ...]:
    """Every mode that is possible here, the fastest first; CPU-only always is. plan: of this machine and model."""
    whole = model.expert_bytes[plan.tier]
    limit = "disk" if plan.limit == "disk" else "host"
    found = [Outlook(CPU, "host", 0, 0, min(whole, plan.cache_bytes), plan.speed, limit)]
    for card in machine.gpus:
        if not card.unified:
            found += [o for way in _WAYS if (o := _outlook(machine, card, model, plan, dial, *way)) is not None]
    best = {mode: max((o for o in found if o.mode == mode), key=attrgetter("speed"), default=None) for mode in MODES}
    return tuple(sorted((o for o in best.values() if o is not None), key=attrgetter("speed"), reverse=True))


def chosen(found: tuple[Outlook, ...]) -> Outlook:
    """The fastest of those that run."""
    return max((o for o in found if o.mode in RUNS), key=attrgetter("speed"))


def why_not(mode: str, cards: tuple[Gpu, ...]) -> Translatable:
    """Why this version cannot run a mode on a computer with these cards, in a sentence; '' where it can."""
    if mode in (AUTO, *RUNS):
        return NO_TEXT
    if any(not card.unified for card in cards):
        return msg("This version of Underhill computes experts on the processor only, whatever card there is.")
    return msg(
        "No graphics card with memory of its own was found here, and this version of Underhill computes experts on "
        "the processor only."
    )


def impossible(cards: tuple[Gpu, ...]) -> dict[str, str]:
    """The modes that cannot run on a computer with these cards, each with why."""
    return {mode: why for mode in MODES if (why := why_not(mode, cards))}


def demand(mode: str, cards: Callable[[], tuple[Gpu, ...]]) -> None:
    """Raise UnderhillError(BAD_REQUEST) for a mode that cannot run here. cards: asked only if that is so."""
    if mode not in (AUTO, *RUNS):
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{names} cannot run here. {why_not}", names=NAMES[mode], why_not=why_not(mode, cards())),
            msg("Set the mode to {auto} or {cpu}.", auto=AUTO, cpu=CPU),
        )


def sentences(machine: Machine, found: tuple[Outlook, ...]) -> tuple[Translatable, ...]:
    """What each mode gives or would give, CPU-only first, and what stands against it."""
    shared = [
        msg("{name} has no memory of its own: nothing would be gained.", name=card.name)
        for card in machine.gpus
        if card.unified
    ]
    of = {outlook.mode: outlook for outlook in found}
    told = []
    for mode in (CPU, ASSISTED, GPU):
        outlook, against = of.get(mode), why_not(mode, machine.gpus)
        if outlook is None:
            lacking = "" if all(card.unified for card in machine.gpus) else msg("The card's memory does not hold it.")
            told.append(joined(" ", (msg("{names}: not possible.", names=NAMES[mode]), lacking, against)))
        elif not against:
            told.append(
                msg("{names}: about {span} tokens a second; this is what runs.", names=NAMES[mode], span=_span(outlook))
            )
        else:
            told.append(
                msg(
                    "{names}: would be about {span} tokens a second, by arithmetic that no card was held "
                    "against, with {device_experts} of experts in graphics memory. {against}",
                    names=NAMES[mode],
                    span=_span(outlook),
                    device_experts=size(outlook.device_experts),
                    against=against,
                )
            )
    return (*shared, *told)


def _span(outlook: Outlook) -> str:
    low, high = map(figure, outlook.speed)
    return low if low == high else msg("{low} to {high}", low=low, high=high)


_WAYS = ((GPU, "device"), (ASSISTED, "device"), (ASSISTED, "host"))


def _outlook(
    machine: Machine, card: Gpu, model: ModelFacts, plan: Plan, dial: str, mode: str, dense: str
) -> Outlook | None:
    """None where the card's memory does not hold it."""
    room = card.free - MARGIN - model.working_bytes - CHUNKS[-1] * model.token_bytes
    whole, entries = model.expert_bytes[plan.tier], (min(model.record_bytes.values()), model.experts * model.moe_layers)
    on_device, given_back = 0, 0
    if dense == "device":
        weights, per_token = model.dense_bytes[plan.dense], model.per_token(plan.dense)
        on_device = weights + min(model.context_length, SHORT) * per_token
        given_back = weights + plan.context * per_token
    device = min(whole, room - on_device)
    if device < plan.smallest_cache:
        return None
    host_room = held_by(plan.cache_bytes, *entries) + plan.spare + given_back
    host = max(0, min(whole - device, cache_within(host_room, *entries)))
    token = token_costs(machine, model, plan.tier, dense=plan.dense, cache=plan.cache_bytes, dial=dial)
    parts = _Parts(machine, card, model, plan, device / whole, min(1.0, (device + host) / whole))
    ends = [parts.seconds(mode, dense, misses, token.layers) for misses in (1.0, REUSE)]
    used = card.free - MARGIN - room + on_device + device
    return Outlook(mode, dense, used, device, host, (1 / ends[0][0], 1 / ends[1][0]), ends[0][1])


@dataclass(frozen=True)
class _Parts:
    """There: of the experts' bytes, what the card holds (near), and what it or ordinary memory holds (here)."""

    machine: Machine
    card: Gpu
    model: ModelFacts
    plan: Plan
    near: float
    here: float

    def seconds(self, mode: str, dense: str, misses: float, layers: float) -> tuple[float, str]:
        """A token, and what takes longest of it. misses: of those of uniform routing, the part that occurs."""
        machine, model, tier = self.machine, self.model, self.plan.tier
        active = model.experts_per_token * model.moe_layers * model.record_bytes[tier]
        others = model.dense_bytes[self.plan.dense] - model.looked_up_bytes.get(self.plan.dense, 0)
        own = SHARE * (self.card.rate or OWN)
        context = min(self.plan.context, USUAL)
        far = misses * (1 - self.near) * active  # bytes of experts that the card lacks
        crossing = far / (self.card.pinned or PINNED)
        # HOBBIT, section 4, and Fiddler: an expert that the card lacks is computed where it lies where that is
        # predicted to be faster than to move it.
        there = far / expert_rate(machine, model, tier) + HANDOVER * model.moe_layers
        device, host, link = active / own, 0.0, crossing
        if mode == ASSISTED and there < crossing:
            device, host, link = (active - far) / own, there, 0.0
        if dense == "device":
            device += (others + rows_bytes(model, self.plan.dense, context)) / own
        else:
            host += others / expert_rate(machine, model, 8) + HANDOVER * model.moe_layers
            host += attending(machine, model, self.plan.dense, context)
        disk = misses * (1 - self.here) * active / reading_rate(machine, model, tier)
        taken = {"disk": disk, "link": link, "host": host, "device": device + layers + LAUNCHES * model.moe_layers}
        computing = taken["host"] + taken["device"]  # one after the other: a layer waits for the one before it
        stages = (disk, link, computing)
        longest = max(stages)
        return longest + (1 - HIDDEN) * (sum(stages) - longest), max(taken, key=lambda part: taken[part])
