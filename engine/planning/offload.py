"""What a graphics card makes of a model: three modes by arithmetic.

GPU-centric: tokens are computed on the card, and experts that its memory lacks cross over to it. CPU-assisted: what it
lacks is computed where it lies, if that is faster than to bring it over (Fiddler; hobbit, section 4). CPU-only: as
planned.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, Gpu, Machine, size
from engine.planning.budget import cache_within, held_by
from engine.planning.context_length import SHORT
from engine.planning.facts import CardSeen, ModelFacts
from engine.planning.memory_shares import CHUNKS, Opened
from engine.planning.plan import Plan, make_plan
from engine.planning.speed import (
    HIDDEN,
    REUSE,
    USUAL,
    attending,
    dial_of,
    expert_rate,
    figure,
    is_speed_sentence,
    prompt_sentence,
    reading_rate,
    rows_bytes,
    token_costs,
    with_prompt_sentence,
    with_speed_sentence,
)
from engine.translatable import NO_TEXT, Translatable, joined, msg

AUTO, CPU, ASSISTED, GPU = "auto", "cpu", "cpu-assisted", "gpu"  # of the setting `mode`
MODES = (CPU, ASSISTED, GPU)  # of equally fast ones, the first
NAMES = {CPU: msg("CPU"), ASSISTED: msg("CPU + GPU"), GPU: msg("GPU")}
LEAST_CAPABILITY = (7, 5)  # of a card: Turing, the first that the kernels are made for (engine/cuda/ptx_files.py)
# Of ordinary memory: the driver's own, and what is pinned to cross from, for experts at most 256 MiB, for prompts 40.
HOST_BYTES = 490_000_000
# At most, of the card's memory, for the rows of prompts on both sides of a product, and of attention.
PREFILL, ATTENDED = 40 << 20, 8 << 20
MARGIN = GB  # bytes of a card's free memory that are left alone: its driver's own, the screen, other programs
PINNED = 6e9  # bytes a second to a card, and
STAGED = 8e9  # bytes a second that one thread copies to where a card fetches from
OWN = 150e9  # those of its own memory, where they were not measured: of slow laptops
SHARE = 0.6  # of its own memory's rate, what kernels over packed weights would reach
HANDOVER = 7e-5  # seconds a layer in which activations go from one to the other and back (seen on an H100)
LAUNCHES = 1e-4  # seconds a layer until it is decided who computes what, and the card has been told (seen there)
ROUND_TRIP = 6e-5  # seconds of a product on the card, beside reading its matrix: copies, launches, a wait (there)
LAYER = 1.5e-4  # seconds of a layer that the card computes by itself, beside reading its weights (seen on an H200)
LINEARS = 2  # such products a layer: before attention, and behind it
FASTER = 1.1  # by which a card has to be faster by arithmetic, to be taken by itself: the arithmetic is not exact


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """One mode. speed: tokens a second, as Plan.speed. device_bytes: of the card, device_experts being experts;
    host_experts: those in ordinary memory; experts lie in one of the two. dense: where the other weights lie: 'host';
    'linears': on both sides, since small batches meet them here, with the context of SHORT tokens and room for prompts'
    rows. linears: bytes of all that on the card. limit: what takes longest: 'disk', 'link', 'host' or 'device'.
    """

    mode: str
    dense: str
    device_bytes: int
    device_experts: int
    host_experts: int
    speed: tuple[float, float]
    limit: str
    linears: int = 0


def outlooks(machine: Machine, model: ModelFacts, plan: Plan, dial: str) -> tuple[Outlook, ...]:
    """Every mode that is possible here, the fastest first; CPU-only always is. plan: of this machine and model."""
    whole = model.expert_bytes[plan.tier]
    limit = "disk" if plan.limit == "disk" else "host"
    found = [
        Outlook(
            mode=CPU,
            dense="host",
            device_bytes=0,
            device_experts=0,
            host_experts=min(whole, plan.cache_bytes),
            speed=plan.speed,
            limit=limit,
        )
    ]
    for card in machine.gpus:
        if usable(card):
            found += [
                o
                for mode, dense in _WAYS
                if (o := _outlook(machine, card, model, plan, dial, mode, dense=dense)) is not None
            ]
    best = {mode: max((o for o in found if o.mode == mode), key=attrgetter("speed"), default=None) for mode in MODES}
    return tuple(sorted((o for o in best.values() if o is not None), key=attrgetter("speed"), reverse=True))


def usable(card: Gpu) -> bool:
    """Whether there are kernels for it, and it has memory of its own."""
    return not card.unified and card.capability >= LEAST_CAPABILITY


def choose_card(cards: tuple[Gpu, ...], wanted: object = None) -> int | None:
    """The number of the card to compute on: the one that is wanted, else of those that are usable the one with most of
    its memory free; None where there is none."""
    found = [index for index, card in enumerate(cards) if usable(card) and wanted in (None, index)]
    return max(found, key=lambda index: cards[index].free, default=None)


def make_plan_with_card(
    machine: Machine, model: ModelFacts, settings: Mapping[str, object], in_use: int = 0, opened: Opened | None = None
) -> Plan:
    """The plan for this model here, on the processor alone or with a card: what was chosen, or what is faster.

    Arguments and errors as of make_plan.
    """
    plan, mode = make_plan(machine, model, settings, in_use, opened), str(settings["mode"])
    index = choose_card(machine.gpus, settings["card"])
    told = [_left_alone(card, mode) for at, card in enumerate(machine.gpus) if at != index or mode == CPU]
    if index is None or mode == CPU:
        return replace(plan, sentences=(*plan.sentences, *told))
    card = machine.gpus[index]
    if plan.tier > 8:
        told.append(msg("{name} isn't used: this model's experts are not quantized.", name=card.name))
        return replace(plan, sentences=(*plan.sentences, *told))
    try:
        # A card attends to rows as they are computed, and nothing is drafted beside it (LoadedModel.drafts).
        plain = {**settings, "speculation": "off"}
        if settings["kv_cache"] == "auto":
            plain["kv_cache"] = "bf16"
        beside = make_plan(machine, model, plain, in_use + HOST_BYTES, opened)
    except UnderhillError:
        told.append(msg("{name} isn't used: its driver needs memory that the model needs.", name=card.name))
        return replace(plan, sentences=(*plan.sentences, *told))
    ways = (
        _outlook(machine, card, beside.as_held(model), beside, dial_of(settings), way, dense=dense)
        for way, dense in _WAYS
        if mode in (AUTO, way)
    )
    outlook = _best_way([way for way in ways if way is not None])
    if outlook is None:
        told.append(msg("{name} isn't used: too little of its memory is free.", name=card.name))
    elif mode == AUTO and outlook.speed[0] < FASTER * plan.speed[0]:
        told.append(msg("{name} isn't used: the CPU is as fast (estimated).", name=card.name))
    else:
        found = _with_card(beside, index, card, outlook, told)
        seen = seen_with_card(machine, model, found, dial_of(settings))
        if seen is None:
            return found
        if mode != AUTO or seen >= plan.speed[0]:
            return with_speed(found, seen)
        told.append(
            msg(
                "{name} isn't used: {speed} tok/s were measured with it, the CPU alone is faster.",
                name=card.name,
                speed=figure(seen),
            )
        )
    return replace(plan, sentences=(*plan.sentences, *told))


def conditions_with_card(machine: Machine, model: ModelFacts, plan: Plan, dial: str, speed: float = 0.0) -> CardSeen:
    """That so many tokens a second were seen under this plan, which has a card."""
    assert plan.card is not None
    whole = model.expert_bytes[plan.tier]
    return CardSeen(
        card=machine.gpus[plan.card].name,
        mode=plan.mode,
        tier=plan.tier,
        dense=plan.dense,
        dial=dial,
        isa=machine.isa,
        threads=plan.threads,
        near=min(1.0, plan.card_bytes / whole),
        here=min(1.0, plan.cache_bytes / whole),
        speed=speed,
    )


def seen_with_card(machine: Machine, model: ModelFacts, plan: Plan, dial: str) -> float | None:
    """Tokens a second that were seen under such a plan; None: it was not seen yet."""
    now, seen = conditions_with_card(machine, model, plan, dial), model.card_seen
    return seen.speed if seen is not None and seen.like(now) else None


def _best_way(ways: Sequence[Outlook]) -> Outlook | None:
    """The fastest; with the other weights on the card as well where that costs no room for experts, for when the model
    is opened it is measured whether that gains."""
    best = max(ways, key=attrgetter("speed"), default=None)
    if best is None or best.linears:
        return best
    both = [way for way in ways if way.mode == best.mode and way.linears and way.device_experts >= best.device_experts]
    return both[0] if both else best


def _with_card(plan: Plan, index: int, card: Gpu, outlook: Outlook, told: list[Translatable]) -> Plan:
    held = size(outlook.device_experts)
    if outlook.mode == GPU:
        share = msg(
            "{name}: {device_experts} of experts in GPU memory; others are copied there when they are needed.",
            name=card.name,
            device_experts=held,
        )
    else:
        share = msg(
            "{name}: {device_experts} of experts in GPU memory; the CPU computes the others at the same time.",
            name=card.name,
            device_experts=held,
        )
    pace = msg("Speed: about {span} tok/s (estimated).", span=_span(outlook))
    kept = with_prompt_sentence(
        with_speed_sentence(plan.sentences, pace), prompt_sentence(plan.first_token, with_card=True)
    )
    return replace(
        plan, mode=outlook.mode, card=index, card_bytes=outlook.device_experts, card_linear_bytes=outlook.linears,
        speed=outlook.speed, limit="disk" if outlook.limit == "disk" else "memory", sentences=(*kept, share, *told),
    )  # fmt: skip


def with_speed(plan: Plan, speed: float) -> Plan:
    """A plan with a card, once it was seen what both make together. speed: tokens a second."""
    pace = msg("Speed: about {speed} tok/s (measured with the GPU).", speed=figure(speed))
    return replace(plan, speed=(speed, speed), sentences=with_speed_sentence(plan.sentences, pace))


def without_card(plan: Plan) -> Plan:
    """The same plan on the processor alone: the card has failed. Its speed is left to seen_again."""
    kept = with_prompt_sentence(
        (s for s in plan.sentences if not _is_about_cards(s)), prompt_sentence(plan.first_token)
    )
    return replace(plan, mode=CPU, card=None, card_bytes=0, card_linear_bytes=0, sentences=kept)


def carried_over(plan: Plan, before: Plan) -> Plan:
    """A new plan of an open model, with what `before` says of cards: neither is one opened for it, nor given back."""
    told = tuple(s for s in before.sentences if _is_about_cards(s))
    if before.mode == CPU:
        return replace(plan, sentences=(*plan.sentences, *told))
    pace = next(s for s in before.sentences if is_speed_sentence(s))
    kept = with_prompt_sentence(
        with_speed_sentence(plan.sentences, pace), prompt_sentence(plan.first_token, with_card=True)
    )
    return replace(
        plan, mode=before.mode, card=before.card, card_bytes=before.card_bytes,
        card_linear_bytes=before.card_linear_bytes, speed=before.speed, limit=before.limit, sentences=(*kept, *told),
    )  # fmt: skip


def _is_about_cards(sentence: Translatable) -> bool:
    return sentence.key.startswith(("{name} isn't used:", "{name}: {device_experts}"))


def _left_alone(card: Gpu, mode: str) -> Translatable:
    if mode == CPU:
        return msg("{name} isn't used: CPU is selected.", name=card.name)
    if card.unified:
        return msg("{name} isn't used: it has no memory of its own.", name=card.name)
    if not usable(card):
        return msg("{name} isn't used: it is too old.", name=card.name)
    return msg("{name} isn't used: another GPU is.", name=card.name)


def why_not(mode: str, cards: tuple[Gpu, ...]) -> Translatable:
    """Why a mode cannot run on a computer with these cards, in a sentence; '' where it can."""
    if mode in (AUTO, CPU):
        return NO_TEXT
    if any(map(usable, cards)):
        return NO_TEXT
    if any(not card.unified for card in cards):
        return msg("This GPU is too old.")
    return msg("No NVIDIA GPU with its own memory found.")


def impossible(cards: tuple[Gpu, ...]) -> dict[str, str]:
    """The modes that cannot run on a computer with these cards, each with why."""
    return {mode: why for mode in MODES if (why := why_not(mode, cards))}


def demand(mode: str, cards: Callable[[], tuple[Gpu, ...]]) -> None:
    """Raise UnderhillError(BAD_REQUEST) for a mode that cannot run here. cards: asked only if that may be so."""
    against = why_not(mode, cards()) if mode not in (AUTO, CPU) else NO_TEXT
    if against:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{names} can't run here. {why_not}", names=NAMES[mode], why_not=against),
            msg("Choose {auto} or {cpu}.", auto=AUTO, cpu=CPU),
        )


def sentences(machine: Machine, found: tuple[Outlook, ...], runs: str) -> tuple[Translatable, ...]:
    """What each mode gives or would give, CPU-only first, and what stands against it. runs: the mode of the plan."""
    shared = [msg("{name} has no memory of its own: no gain.", name=card.name) for card in machine.gpus if card.unified]
    of = {outlook.mode: outlook for outlook in found}
    told = []
    for mode in (CPU, ASSISTED, GPU):
        outlook, against = of.get(mode), why_not(mode, machine.gpus)
        if outlook is None:
            lacking = "" if all(card.unified for card in machine.gpus) else msg("It doesn't fit in GPU memory.")
            told.append(joined(" ", (msg("{names}: not possible.", names=NAMES[mode]), lacking, against)))
        elif mode == runs:
            told.append(msg("{names}: about {span} tok/s (in use).", names=NAMES[mode], span=_span(outlook)))
        elif mode == CPU:
            told.append(msg("{names}: about {span} tok/s.", names=NAMES[mode], span=_span(outlook)))
        else:
            told.append(
                msg(
                    "{names}: about {span} tok/s estimated, {device_experts} of experts in GPU memory. {against}",
                    names=NAMES[mode],
                    span=_span(outlook),
                    device_experts=size(outlook.device_experts),
                    against=against,
                )
            )
    return (*shared, *told)


def _span(outlook: Outlook) -> str:
    low, high = map(figure, outlook.speed)
    return low if low == high else msg("{low}–{high}", low=low, high=high)


_WAYS = ((ASSISTED, "host"), (ASSISTED, "linears"), (GPU, "linears"))


def _outlook(
    machine: Machine, card: Gpu, model: ModelFacts, plan: Plan, dial: str, mode: str, *, dense: str
) -> Outlook | None:
    """None where the card's memory does not hold it."""
    room = card.free - MARGIN - model.working_bytes - CHUNKS[-1] * model.token_bytes
    whole, entries = model.expert_bytes[plan.tier], (min(model.record_bytes.values()), model.experts * model.moe_layers)
    on_device = 0
    if dense == "linears":
        if plan.dense not in ("int4", "int8"):
            return None
        # Beside the weights, the rows of the tokens that attention meets there, and those of prompts.
        on_device = _multiplied(model, plan) + min(plan.context, SHORT) * plan.row_bytes + PREFILL + ATTENDED
    device = min(whole, room - on_device)
    if device < plan.smallest_cache:
        return None
    host_room = held_by(plan.cache_bytes, *entries) + plan.spare
    host = max(0, min(whole - device, cache_within(host_room, *entries)))
    token = token_costs(machine, model, plan.tier, dense=plan.dense, cache=plan.cache_bytes, dial=dial)
    parts = _Parts(machine, card, model, plan, device / whole, min(1.0, (device + host) / whole))
    ends = [parts.seconds(mode, dense, misses, token.layers) for misses in (1.0, REUSE)]
    used = card.free - MARGIN - room + on_device + device
    linears = on_device if dense == "linears" else 0
    return Outlook(
        mode=mode,
        dense=dense,
        device_bytes=used,
        device_experts=device,
        host_experts=host,
        speed=(1 / ends[0][0], 1 / ends[1][0]),
        limit=ends[0][1],
        linears=linears,
    )


def _multiplied(model: ModelFacts, plan: Plan) -> int:
    """Bytes of the other weights that every token is multiplied with."""
    return model.dense_bytes[plan.dense] - model.looked_up_bytes.get(plan.dense, 0)


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
        others = _multiplied(model, self.plan)
        own = SHARE * (self.card.rate or OWN)
        context = min(self.plan.context, USUAL)
        far = misses * (1 - self.near) * active  # bytes of experts that the card lacks
        crossing = far / min(self.card.pinned or PINNED, STAGED)
        device, host, link = active / own, 0.0, crossing
        if mode == ASSISTED:
            # HOBBIT, section 4, and Fiddler: an expert that the card lacks is computed where it lies. Both sides work
            # at the same time, so that a layer ends with the later one.
            link, handed = 0.0, (HANDOVER + LAUNCHES) * model.moe_layers
            rate = expert_rate(machine, model, tier)
            # What lies on both sides goes to the one that is through sooner (experts/card/split.py).
            far = min(active, max(far, (active / own + handed) / (1 / own + 1 / rate)))
            sides = {"device": (active - far) / own + handed, "host": far / rate}
            later = max(sides, key=lambda side: sides[side])
            device, host = (sides[side] if side == later else 0.0 for side in ("device", "host"))
        if mode == GPU or (dense == "linears" and self.near >= 1.0):
            # One layer after the other, without the processor in between, but where experts are to cross.
            rows = rows_bytes(model, self.plan.dense, context)
            device, host, layers = (active + others + rows) / own + LAYER * model.moe_layers, 0.0, 0.0
            device += (HANDOVER + LAUNCHES) * model.moe_layers if self.near < 1.0 else 0.0
        elif dense == "linears":
            device += others / own + ROUND_TRIP * (LINEARS * model.moe_layers + 1)
            host += attending(machine, model, self.plan.dense, context)
        else:
            host += others / expert_rate(machine, model, 8)
            host += attending(machine, model, self.plan.dense, context)
        disk = misses * (1 - self.here) * active / reading_rate(machine, model, tier)
        taken = {
            "disk": disk,
            "link": link,
            "host": host,
            "device": device + layers,
        }
        # One after the other: a layer waits for the one before it, and the card for what crosses.
        computing = taken["host"] + taken["device"] + link
        stages = (disk, computing)
        longest = max(stages)
        return longest + (1 - HIDDEN) * (sum(stages) - longest), max(taken, key=lambda part: taken[part])
