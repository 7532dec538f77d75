"""From machine, model and settings to a plan: where things go, how much, how fast, and why. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from engine.hardware.machine import Machine, size
from engine.planning.facts import ModelFacts
from engine.planning.memory_shares import CHUNKS, MemoryShares, Opened, share_memory, token_workspace
from engine.planning.speed import (
    USUAL,
    Expectation,
    chunk_costs,
    decode_sentence,
    dial_of,
    expected,
    prompt_sentence,
    with_speed_sentence,
)
from engine.translatable import Translatable, msg

LONGER = (2048, 1024)  # tokens of a prompt computed at once, where every chunk reads what is missing once more
LENT_SHARE = 4  # of what experts could have, such chunks take at most one part in so many
WORTH = 1.05  # by which they must be faster than shorter ones
THROUGH_CACHE = 1.25  # by which reading through the file cache must be faster than past it


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
    mtp: what drafting with multi-token prediction takes; 0: it does not.
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
    mtp: int = 0

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
    shares = share_memory(machine.memory, model, settings, in_use=in_use, opened=opened, why=why)
    model, cache = shares.model, shares.cache
    direct = _direct(machine, model.record_bytes[shares.tier], str(settings["direct_io"]), shares.missing, why)
    chunk = shares.chunk
    if shares.missing and model.lean:  # what attention takes besides grows with a chunk elsewhere
        chunk = _longer(machine.reading(direct), shares)
    if model.image_bytes:
        why.append(msg("An image takes up to {most} of memory while it is read.", most=size(model.reading_image)))
    expectation, pace = _paced(
        machine.reading(direct), model, shares.tier, dense=shares.dense, cache=cache, dial=dial_of(settings),
        chunk=chunk, context=shares.context,
    )  # fmt: skip
    why += [pace, prompt_sentence(expectation.first_token)]
    return Plan(
        mode="cpu",
        tier=shares.tier,
        dense=shares.dense,
        packed=model.packed,
        row_bytes=shares.row_bytes,
        cache_bytes=cache,
        smallest_cache=shares.sizes.smallest,
        lent=cache - shares.cache_beside(chunk * model.token_bytes),
        lent_to_image=cache - shares.cache_beside(model.reading_image),
        context=shares.context,
        chunk=chunk,
        workspace=token_workspace(model),
        threads=int(str(settings["threads"])) if settings["threads"] else machine.cores,
        ceiling=shares.ceiling,
        least=shares.least,
        spare=shares.spare(chunk),
        speed=expectation.decode,
        first_token=expectation.first_token,
        limit=expectation.limit,
        direct=direct,
        mtp=shares.mtp,
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


def _longer(machine: Machine, shares: MemoryShares) -> int:
    """The shortest chunk from that of `shares` on with which a long prompt takes hardly longer than with any other.

    Each chunk reads what is missing anew, and what it takes of the cache is missing as well. No more tokens than fit
    into the context are ever computed at once.
    """
    model, cache = shares.model, shares.cache
    most = min(shares.room // LENT_SHARE, cache - shares.sizes.smallest)  # bytes that it may take
    longer = (n for n in (*LONGER, *CHUNKS) if shares.chunk < n <= shares.context)
    fit = [n for n in longer if n * model.token_bytes <= most]
    taken = {
        n: chunk_costs(machine, model, shares.tier, shares.dense, cache, n).taken(1.0) / n for n in (shares.chunk, *fit)
    }
    return min(n for n in taken if taken[n] <= WORTH * min(taken.values()))
