"""How the memory under the ceiling is shared among weights, context and experts. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import Memory, size
from engine.planning.budget import BASE, at_least, at_most, cache_within, ceiling, held_by
from engine.planning.context_length import ENOUGH, tokens_of_context
from engine.planning.facts import ModelFacts
from engine.planning.speed import dial_of
from engine.translatable import Translatable, msg

SMALLEST_CONTEXT = 512  # tokens: a question and a short answer; where not even these fit, there is no plan
KINDS = ("int4", "int8", "bf16", "f32")  # how the weights beside the experts can be held, coarse first
SMALL_DENSE = 64_000_000  # bytes in float32 up to which there is nothing to save
CHUNKS = (512, 256, 128, 64, 32)  # tokens of a prompt that are computed at once
FEW = 8  # tokens at once that nothing is put aside for
WORKING_SHARE = 8  # larger chunks than the smallest take at most this part of what the experts could have


@dataclass(frozen=True)
class Opened:
    """A model that is open already, for which only some can still be chosen.

    dense: how the other weights are held. packed: whether keys and values are, in 8 bits. context: tokens that were
    planned for. tokens: of these, those that are in use. kv_bytes: what their rows take. mtp: bytes that drafting with
    multi-token prediction takes; 0: it has none.
    """

    dense: str
    context: int
    tokens: int
    kv_bytes: int
    packed: bool = False
    mtp: int = 0


@dataclass(frozen=True)
class CacheSizes:
    """Bytes of the cache of experts: the smallest, and the one that is wanted. entry_bytes: of the least that is kept
    of one of `experts`.
    """

    smallest: int
    wanted: int
    entry_bytes: int
    experts: int

    def held_by(self, cache: int) -> int:
        """Memory that a cache of so many bytes takes."""
        return held_by(cache, self.entry_bytes, self.experts)

    def within(self, room: int) -> int:
        """The largest cache that `room` bytes hold."""
        return cache_within(room, self.entry_bytes, self.experts)


@dataclass(frozen=True, kw_only=True)
class MemoryShares:
    """What each use gets of the memory under the ceiling, in bytes; context and chunk in tokens.

    model: its keys and values as they will be held; row_bytes: those of a token. least: the lowest ceiling that would
    do. room: what weights, context and the computing of a few tokens leave, of which `cache` is the experts' part.
    mtp: what drafting with multi-token prediction takes; 0: it does not.
    """

    model: ModelFacts
    tier: int
    dense: str
    row_bytes: int
    ceiling: int
    least: int
    context: int
    chunk: int
    room: int
    sizes: CacheSizes
    cache: int
    mtp: int = 0

    @property
    def missing(self) -> bool:
        """Whether some experts have to be read from disk."""
        return self.cache < self.model.expert_bytes[self.tier]

    def cache_beside(self, working: int) -> int:
        """The cache while `working` bytes are computed in."""
        return min(self.cache, max(self.sizes.smallest, self.sizes.within(self._left_by(working))))

    def spare(self, chunk: int) -> int:
        """Of no use for experts, nor for prompts in such chunks, nor for images."""
        left = self._left_by(max(chunk * self.model.token_bytes, self.model.reading_image))
        return max(0, left - self.sizes.held_by(self.cache))

    def _left_by(self, working: int) -> int:
        return self.room + FEW * self.model.token_bytes - working


def share_memory(
    memory: Memory, model: ModelFacts, settings: Mapping[str, object], *, in_use: int, opened: Opened | None,
    why: list[Translatable],
) -> MemoryShares:  # fmt: skip
    """Weights first, then the fewest experts and tokens, then the context, and to the cache of experts what is left.

    in_use, opened, errors: as in make_plan. why: gets sentences that say what was decided.
    """
    tier = _tier(model, str(settings["tier"]))
    most = ceiling(memory, settings["memory_gb"], in_use, why)
    sizes = _cache_sizes(model, tier, settings["cache_fraction"])
    wanted = opened.context if opened is not None else _wanted_context(model, settings["context_length"])
    tokens = max(min(wanted, SMALLEST_CONTEXT), 0 if opened is None else opened.tokens)
    if opened is None:
        room = _room_for_dense(model, sizes, most - in_use, tokens)
        dense = _dense(model, str(settings["dense"]), room, why)
    else:
        dense = opened.dense
    fixed = in_use + model.state_bytes + model.dense_bytes[dense]
    workspace = token_workspace(model)
    beside = most - fixed - workspace - sizes.held_by(sizes.wanted) - 1  # cache_within rounds down
    model = _with_kv(model, settings, dense, beside=beside, wanted=wanted, opened=opened, why=why)
    row_bytes = model.per_token(dense)
    usual = min(wanted, ENOUGH) * row_bytes
    mtp = opened.mtp if opened is not None else _mtp(model, settings, sizes, tier, dense, beside - usual)
    if mtp and settings["speculation"] == "auto":
        why.append(msg("Drafts with the model's own multi-token prediction ({size}).", size=size(mtp)))
    fixed, beside = fixed + mtp, beside - mtp
    # Of an open model the context keeps what it has allocated, however few of its tokens are planned for now.
    rows = max(tokens * row_bytes, 0 if opened is None else opened.kv_bytes)
    for_experts = sizes.held_by(sizes.smallest)
    least = fixed - (mtp if opened is None else 0) + _prompt_workspace(model) + rows + for_experts
    if opened is None:
        # Opening has a peak of its own: a matrix as it is stored lies beside its packed form, before there are experts
        # or context.
        least = max(least, in_use + model.dense_bytes[dense] + model.opening_bytes.get(dense, 0))
    if least > most:
        raise _too_little(model, least, most, asked=settings["memory_gb"] is not None)
    chunk = _chunk(model, most - fixed - rows - for_experts)
    in_prompts = most - fixed - _workspace(model, max(chunk * model.token_bytes, model.reading_image)) - for_experts
    asked = bool(settings["context_length"])
    context = tokens_of_context(wanted, tokens, in_prompts, beside, row_bytes, asked=asked, why=why)
    room = most - fixed - workspace - max(context * row_bytes, rows)
    return MemoryShares(
        model=model, tier=tier, dense=dense, row_bytes=row_bytes, ceiling=most, least=least, context=context,
        chunk=chunk, room=room, sizes=sizes, cache=_cache(model, tier, sizes, room, why), mtp=mtp,
    )  # fmt: skip


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


def _cache_sizes(model: ModelFacts, tier: int, fraction: object) -> CacheSizes:
    """fraction: the share of all experts that was asked for; None for all."""
    whole = model.expert_bytes[tier]
    at_once = model.experts_per_token + 1  # a token's of one layer, and one more
    smallest = min(whole, model.record_bytes[tier] * at_once)
    wanted = whole if fraction is None else max(smallest, int(whole * float(str(fraction))))
    return CacheSizes(smallest, wanted, min(model.record_bytes.values()), model.experts * model.moe_layers)


def _room_for_dense(model: ModelFacts, sizes: CacheSizes, free: int, tokens: int) -> int:
    """Bytes for the weights beside the experts, of `free`, where the fewest experts and `tokens` have to fit too."""
    beside = model.state_bytes + _prompt_workspace(model) + sizes.held_by(sizes.smallest) + tokens * model.kv_bytes
    # experts and context come after the weights
    return free - max(beside, model.opening_bytes.get("int8", 0))


def token_workspace(model: ModelFacts) -> int:
    """Bytes to compute FEW tokens in, which is always kept."""
    return _workspace(model, FEW * model.token_bytes)


def _prompt_workspace(model: ModelFacts) -> int:
    """Bytes to compute the shortest chunks of a prompt in, and to read images."""
    return _workspace(model, max(CHUNKS[-1] * model.token_bytes, model.reading_image))


def _workspace(model: ModelFacts, tokens_bytes: int) -> int:
    return BASE + model.working_bytes + tokens_bytes


def _chunk(model: ModelFacts, room: int) -> int:
    """The largest chunk whose workspace leaves experts and context most of `room` bytes; else the smallest."""
    fit = (chunk for chunk in CHUNKS[:-1] if chunk * model.token_bytes <= (room - BASE) // WORKING_SHARE)
    return next(fit, CHUNKS[-1])


def _too_little(model: ModelFacts, least: int, most: int, *, asked: bool) -> UnderhillError:
    raised = (
        msg("Raise the memory limit to {at_least} or choose a smaller model.", at_least=at_least(least))
        if asked
        else msg("Close other apps or choose a smaller model.")
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


def _mtp(model: ModelFacts, settings: Mapping[str, object], sizes: CacheSizes, tier: int, dense: str, room: int) -> int:
    """Bytes that drafting with multi-token prediction takes; 0 where it is off, or where they do not fit into `room`.

    room: what all experts and a usual context leave: where some have to be read, nothing is drafted
    (LoadedModel.drafts).
    """
    experts = model.mtp_expert_bytes.get(tier, 0)
    if settings["speculation"] != "auto" or not experts or sizes.wanted < model.expert_bytes[tier]:
        return 0
    found = model.mtp_bytes[dense] + held_by(experts, sizes.entry_bytes, model.experts)
    return found if found <= room else 0


def _wanted_context(model: ModelFacts, asked: object) -> int:
    return min(model.context_length, int(str(asked)) if asked else model.context_length)


def _cache(model: ModelFacts, tier: int, sizes: CacheSizes, room: int, why: list[Translatable]) -> int:
    whole = model.expert_bytes[tier]
    cache = max(sizes.smallest, min(sizes.wanted, sizes.within(room)))
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
