"""From machine, model and settings to a plan: where things go, how much, how fast, and why. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import Machine, size
from engine.planning.budget import BASE, at_least, at_most, cache_within, ceiling, held_by
from engine.planning.facts import ModelFacts
from engine.planning.speed import (
    USUAL,
    Expectation,
    chunk_costs,
    decode_sentence,
    expected,
    prompt_sentence,
    with_speed_sentence,
)
from engine.translatable import Translatable, msg

STEP = 256  # tokens that a length which just leaves all experts in memory is a multiple of
SHORT = 8192  # tokens below which a chat is too short to be worth that
ENOUGH = 32768  # tokens where experts are read from disk in any case: every answer pays for room that lies empty


def tokens_of_context(
    wanted: int, least: int, room: int, beside: int, per_token: int, *, asked: bool, why: list[Translatable]
) -> int:
    """Tokens: `wanted` by the user (asked) or the most that the model takes, or fewer, which is said; at least `least`.

    room: bytes for context and experts beyond the fewest, while a prompt is computed. beside: of them, what all experts
    that are wanted leave between prompts; negative where they do not fit. per_token: bytes of a token.

    What was asked for may take experts' place, up to half of the room. What was not asked for leaves them theirs where
    that gives SHORT tokens; where it does not, it is ENOUGH.
    """
    per_token = max(1, per_token)
    half = room // 2 // per_token
    free = min(beside, room) // per_token
    if wanted <= free:
        return wanted
    if asked:
        found = max(least, min(wanted, max(half, free)))
        if found < wanted:
            why.append(
                msg(
                    "Context: {found} tokens instead of {wanted}, to leave memory for experts.",
                    found=f"{found:,}",
                    wanted=f"{wanted:,}",
                )
            )
        return found
    stays = beside >= SHORT * per_token
    found = max(least, min(wanted, free // STEP * STEP if stays else min(half, ENOUGH)))
    if found < wanted:
        reason = msg("to keep all experts in memory") if stays else msg("to leave memory for experts")
        why.append(
            msg(
                "Context: {found} of {wanted} tokens, {reason}. You can raise it in Settings.",
                found=f"{found:,}",
                wanted=f"{wanted:,}",
                reason=reason,
            )
        )
    return found


SMALLEST_CONTEXT = 512  # tokens: a question and a short answer; where not even these fit, there is no plan
KINDS = ("int4", "int8", "bf16", "f32")  # how the weights beside the experts can be held, coarse first
SMALL_DENSE = 64_000_000  # bytes in float32 up to which there is nothing to save
CHUNKS = (512, 256, 128, 64, 32)  # tokens of a prompt that are computed at once
LONGER = (2048, 1024)  # the same, where every chunk reads what is missing from disk once more
LENT_SHARE = 4  # of what experts could have, such chunks take at most one part in so many
WORTH = 1.05  # by which they must be faster than shorter ones
FEW = 8  # tokens at once that nothing is put aside for
THROUGH_CACHE = 1.25  # by which reading through the file cache must be faster than past it
WORKING_SHARE = 8  # larger chunks than the smallest take at most this part of what the experts could have


@dataclass(frozen=True)
class Opened:
    """A model that is open already, for which only some can still be chosen.

    dense: how the other weights are held. packed: whether keys and values are, in 8 bits. context: tokens that were
    planned for. tokens: of these, those that are in use. kv_bytes: what their rows take.
    """

    dense: str
    context: int
    tokens: int
    kv_bytes: int
    packed: bool = False


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What will be done. Bytes, tokens; speed: expected decode tokens per second, (near-uniform routing, usual reuse).
    first_token: seconds until an answer begins (see Expectation), from worse to better. direct: whether experts are
    read past the system's file cache.

    cache_bytes: of expert records; smallest_cache: below which it must not be. lent: of cache_bytes, what the cache
    gives back while a whole chunk of a prompt is computed. lent_to_image: the same, while an image is read. chunk:
    tokens of a prompt computed at once. workspace: reserved for computing a token. packed: whether keys and values are
    held in 8 bits; row_bytes: those of a token. ceiling: of the whole process. least: the lowest one that would do.
    spare: under the ceiling, and of no use for experts or prompts. card: the number of the graphics card that computes
    too, card_bytes: most bytes of experts on it, card_linear_bytes: of other weights; None and 0 in mode 'cpu'.
    """

    mode: str  # 'cpu', 'cpu-assisted' or 'gpu': see offload.MODES
    tier: int
    dense: str
    packed: bool
    row_bytes: int
    cache_bytes: int
    smallest_cache: int
    lent: int
    lent_to_image: int
    context: int
    chunk: int
    workspace: int
    threads: int
    ceiling: int
    least: int
    spare: int
    speed: tuple[float, float]
    first_token: tuple[float, float]
    limit: str  # 'memory' or 'disk'
    direct: bool
    sentences: tuple[Translatable, ...]
    card: int | None = None
    card_bytes: int = 0
    card_linear_bytes: int = 0

    def as_held(self, model: ModelFacts) -> ModelFacts:
        """The model's facts, its keys and values as this plan holds them."""
        return model.with_packed_kv() if self.packed else model


def make_plan(
    machine: Machine, model: ModelFacts, settings: Mapping[str, object], in_use: int = 0, opened: Opened | None = None
) -> Plan:
    """The plan for this model on the processor alone; offload.make_plan_with_card adds the card.

    in_use: bytes this process holds already and that count against a ceiling.
    opened: it is loaded already and keeps what cannot change; its bytes are not in in_use, and count as free.
    Raises UnderhillError(OUT_OF_MEMORY) with the figures where it cannot hold, BAD_REQUEST for a tier not stored.
    """
    why: list[Translatable] = []
    tier = _tier(model, str(settings["tier"]))
    most = ceiling(machine.memory, settings["memory_gb"], in_use, why)
    smallest = _smallest_cache(model, tier)
    entries = min(model.record_bytes.values()), model.experts * model.moe_layers
    for_experts = held_by(smallest, *entries)
    fixed = in_use + model.state_bytes
    workspace = _workspace(model, max(CHUNKS[-1] * model.token_bytes, model.reading_image))
    wanted = opened.context if opened is not None else _wanted_context(model, settings["context_length"])
    tokens = max(min(wanted, SMALLEST_CONTEXT), 0 if opened is None else opened.tokens)
    if opened is None:
        room = most - fixed - workspace - for_experts - tokens * model.kv_bytes
        opening = most - in_use - model.opening_bytes.get("int8", 0)  # experts and context come after the weights
        dense = _dense(model, str(settings["dense"]), min(room, opening), why)
    else:
        dense = opened.dense
    fixed += model.dense_bytes[dense]
    wanted_cache = _wanted_cache(model, tier, smallest, settings["cache_fraction"])
    all_wanted = held_by(wanted_cache, *entries)
    beside = most - fixed - _workspace(model, FEW * model.token_bytes) - all_wanted - 1  # cache_within rounds down
    model = _with_kv(model, settings, dense, beside=beside, wanted=wanted, opened=opened, why=why)
    per_token = model.per_token(dense)
    # Of an open model the context keeps what it has allocated, however few of its tokens are planned for now.
    rows = max(tokens * per_token, 0 if opened is None else opened.kv_bytes)
    least = fixed + workspace + rows + for_experts
    if opened is None:
        # Opening has a peak of its own: a matrix as it is stored lies beside its packed form, before there are experts
        # or context.
        least = max(least, in_use + model.dense_bytes[dense] + model.opening_bytes.get(dense, 0))
    if least > most:
        raise _too_little(model, least, most, asked=settings["memory_gb"] is not None)
    chunk = _chunk(model, most - fixed - rows - for_experts)
    in_prompts = most - fixed - _workspace(model, max(chunk * model.token_bytes, model.reading_image))
    workspace = _workspace(model, FEW * model.token_bytes)
    asked = bool(settings["context_length"])
    context = tokens_of_context(wanted, tokens, in_prompts - for_experts, beside, per_token, asked=asked, why=why)
    room = most - fixed - workspace - max(context * per_token, rows)
    cache = _cache(model, tier, cache_within(room, *entries), smallest, settings["cache_fraction"], why)
    missing = cache < model.expert_bytes[tier]
    direct = _direct(machine, model.record_bytes[tier], str(settings["direct_io"]), missing, why)
    if missing and model.lean:  # what attention takes besides grows with a chunk elsewhere
        chunk = _longer(
            machine.reading(direct),
            model,
            tier,
            dense=dense,
            cache=cache,
            chunk=chunk,
            most=min(room // LENT_SHARE, cache - smallest),
            context=context,
        )
    # What prompts and images leave of the room.
    left = [room + FEW * model.token_bytes - taken for taken in (chunk * model.token_bytes, model.reading_image)]
    lent, lent_to_image = (cache - min(cache, max(smallest, cache_within(some, *entries))) for some in left)
    spare = max(0, min(left) - held_by(cache, *entries))
    if model.image_bytes:
        why.append(msg("An image takes up to {most} of memory while it is read.", most=size(model.reading_image)))
    threads = int(str(settings["threads"])) if settings["threads"] else machine.cores
    expectation, pace = _paced(
        machine.reading(direct),
        model,
        tier,
        dense=dense,
        cache=cache,
        dial=dial_of(settings),
        chunk=chunk,
        context=context,
    )
    why += [pace, prompt_sentence(expectation)]
    return Plan(
        mode="cpu",
        tier=tier,
        dense=dense,
        packed=model.packed,
        row_bytes=per_token,
        cache_bytes=cache,
        smallest_cache=smallest,
        lent=lent,
        lent_to_image=lent_to_image,
        context=context,
        chunk=chunk,
        workspace=workspace,
        threads=threads,
        ceiling=most,
        least=least,
        spare=spare,
        speed=expectation.decode,
        first_token=expectation.first_token,
        limit=expectation.limit,
        direct=direct,
        sentences=tuple(why),
    )


def seen_again(plan: Plan, machine: Machine, model: ModelFacts, settings: Mapping[str, object]) -> Plan:
    """The same plan with the speed that is to be expected after the model was seen to run (model.seen).

    What was seen is of the processor alone: where a card computes too, the plan stays as it is.
    """
    if plan.mode != "cpu":
        return plan
    model = plan.as_held(model)
    expectation, pace = _paced(
        machine.reading(plan.direct), model, plan.tier, dense=plan.dense, cache=plan.cache_bytes,
        dial=dial_of(settings), chunk=plan.chunk, context=plan.context,
    )  # fmt: skip
    sentences = with_speed_sentence(plan.sentences, pace)
    return replace(plan, speed=expectation.decode, limit=expectation.limit, sentences=sentences)


def dial_of(settings: Mapping[str, object]) -> str:
    """The dial to expect the speed of; thresholds by hand may be anything, and are taken for Exact."""
    by_hand = settings["t1"] is not None or settings["t2"] is not None
    return "exact" if by_hand else str(settings["dial"])


def _paced(
    machine: Machine, model: ModelFacts, tier: int, *, dense: str, cache: int, dial: str, chunk: int, context: int
) -> tuple[Expectation, Translatable]:
    """What to expect behind as many tokens as a chat usually has, where there is room for them; and its sentence."""
    now, late = (
        expected(machine, model, tier, dense, cache, dial, chunk=chunk, context=n)
        for n in (min(context, USUAL), context)
    )
    corrected = model.seen is not None and model.seen.correction != 1.0
    whole = cache >= model.expert_bytes[tier]
    return now, decode_sentence(now, all_in_memory=whole, corrected=corrected, late=late)


def _tier(model: ModelFacts, wanted: str) -> int:
    tier = max(model.tiers) if wanted == "top" else int(wanted)
    if tier not in model.tiers:
        stored = ", ".join(str(t) for t in model.tiers)
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{name} has no {tier}-bit experts.", name=model.name, tier=tier),
            msg("Stored: {stored}.", stored=stored),
        )
    return tier


def _direct(machine: Machine, record: int, asked: str, missing: bool, why: list[Translatable]) -> bool:
    """How experts are read: as asked, or as was measured to be faster at their size.

    Copies in the file cache take memory that experts could have, so it has to be much faster through it.
    """
    if asked != "auto":
        return asked == "on"
    if not machine.measured(True) or not machine.measured(False):
        return True
    past, through = (machine.reading(direct).disk_rate_at(record) for direct in (True, False))
    direct = through < THROUGH_CACHE * past
    if missing:
        ways = [
            msg("directly ({int}/s)", int=size(int(past))),
            msg("through the file cache ({int}/s)", int=size(int(through))),
        ]
        why.append(
            msg("Experts are read {ways}, faster than {ways2}.", ways=ways[0], ways2=ways[1])
            if direct
            else msg(
                "Experts are read through the file cache ({int}/s), faster than directly ({int2}/s).",
                int=size(int(through)),
                int2=size(int(past)),
            )
        )
    return direct


def _smallest_cache(model: ModelFacts, tier: int) -> int:
    """A token's experts of one layer and one more."""
    return min(model.expert_bytes[tier], model.record_bytes[tier] * (model.experts_per_token + 1))


def _workspace(model: ModelFacts, tokens_bytes: int) -> int:
    return BASE + model.working_bytes + tokens_bytes


def _chunk(model: ModelFacts, room: int) -> int:
    """The largest chunk whose workspace leaves experts and context most of `room` bytes; else the smallest."""
    fit = (chunk for chunk in CHUNKS[:-1] if chunk * model.token_bytes <= (room - BASE) // WORKING_SHARE)
    return next(fit, CHUNKS[-1])


def _longer(
    machine: Machine, model: ModelFacts, tier: int, *, dense: str, cache: int, chunk: int, most: int, context: int
) -> int:
    """The shortest chunk from this one on with which a long prompt takes hardly longer than with any other.

    Each chunk reads what is missing anew, and what it takes of the cache is missing as well. most: bytes that it may
    take. context: tokens, of which no more are ever computed at once.
    """
    fit = [n for n in (*LONGER, *CHUNKS) if n > chunk and n * model.token_bytes <= most and n <= context]
    taken = {n: chunk_costs(machine, model, tier, dense, cache, n).taken(1.0) / n for n in (chunk, *fit)}
    return min(n for n in taken if taken[n] <= WORTH * min(taken.values()))


def _too_little(model: ModelFacts, least: int, most: int, *, asked: bool) -> UnderhillError:
    raised = (
        msg("Raise the memory limit to {at_least} or choose a smaller model.", at_least=at_least(least))
        if asked
        else msg("Close other programs or choose a smaller model.")
    )
    return UnderhillError(
        Kind.OUT_OF_MEMORY,
        msg(
            "{name} needs {at_least} of memory; {at_most} may be used.",
            name=model.name,
            at_least=at_least(least),
            at_most=at_most(most),
        ),
        raised,
    )


def _dense(model: ModelFacts, wanted: str, room: int, why: list[Translatable]) -> str:
    """The kind that is asked for, or the next finer one that this model can have here; a sentence says so.

    By itself: what was found with the bits of its experts, where they were lowered; else 8 bits where the lean decoder
    holds them, which loses no more than bf16, and 4 where 8 do not fit into `room`.
    """
    if wanted == "auto":
        if model.dense_found in model.dense_bytes and model.dense_bytes[model.dense_found] <= room:
            return model.dense_found
        if model.dense_bytes["f32"] <= SMALL_DENSE:
            return "f32"
        if "int4" not in model.dense_bytes:
            return "bf16"
        if model.dense_bytes["int8"] <= room:
            return "int8"
        why.append(msg("Shared weights are 4-bit so that the model fits; this costs some precision."))
        return "int4"
    possible = next(kind for kind in KINDS[KINDS.index(wanted) :] if kind in model.dense_bytes)
    if possible != wanted:
        why.append(
            msg(
                "Shared weights are {possible}: {wanted} isn't possible with this model.",
                possible=possible,
                wanted=wanted,
            )
        )
    return possible


def _with_kv(
    model: ModelFacts, settings: Mapping[str, object], dense: str, *, beside: int, wanted: int, opened: Opened | None,
    why: list[Translatable],
) -> ModelFacts:  # fmt: skip
    """The model with its keys and values held as asked.

    By itself: in 8 bits, which are almost as good (docs/quantization.md), where they leave room to experts that would
    have to be read, and never under Exact. An open model's stay as they are, unless it is to be exact.
    beside: bytes that all experts leave to the context. wanted: its tokens.
    """
    asked = str(settings["kv_cache"])
    if asked == "auto":
        tokens = wanted if settings["context_length"] else min(wanted, ENOUGH)
        needed = model.lean and tokens * model.per_token(dense) > beside
        packs = dial_of(settings) != "exact" and (needed if opened is None else opened.packed)
    else:
        packs = asked == "int8"
    held = model.with_packed_kv() if packs else model
    if held.packed and asked == "auto":
        why.append(msg("KV cache: 8-bit, to leave memory for experts."))
    elif packs and not held.packed and asked == "int8":
        why.append(msg("KV cache: bf16; this model's can't be 8-bit."))
    return held


def _wanted_context(model: ModelFacts, asked: object) -> int:
    return min(model.context_length, int(str(asked)) if asked else model.context_length)


def _wanted_cache(model: ModelFacts, tier: int, smallest: int, fraction: object) -> int:
    """All experts, or the share of them that was asked for."""
    whole = model.expert_bytes[tier]
    return whole if fraction is None else max(smallest, int(whole * float(str(fraction))))


def _cache(model: ModelFacts, tier: int, room: int, smallest: int, fraction: object, why: list[Translatable]) -> int:
    whole = model.expert_bytes[tier]
    cache = max(smallest, min(_wanted_cache(model, tier, smallest, fraction), room))
    if cache >= whole:
        why.append(
            msg(
                "All experts ({whole}) fit in memory and run at {tier}-bit, whatever the quality setting.",
                whole=size(whole),
                tier=tier,
            )
        )
    else:
        why.append(
            msg(
                "Experts in memory: {cache} of {whole} ({whole2}%) at {tier}-bit; the rest is read from disk.",
                cache=size(cache),
                whole=size(whole),
                whole2=f"{100 * cache / whole:.0f}",
                tier=tier,
            )
        )
    return cache
