"""How fast a plan should be: bytes over rates, reading and computing side by side, and what each layer costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.hardware.machine import Machine
from engine.planning.facts import ModelFacts
from engine.translatable import Translatable, msg

# Of the experts of a token beyond its first, which is always full: the full and the coarse share; the rest is skipped.
# What 1.4 and 2 times the pace of Exact ask for where the disk is the bottleneck (docs/offloading.md).
BEYOND_FIRST = {"exact": (1.0, 0.0), "balanced": (0.15, 0.62), "fast": (0.0, 0.5)}
DIALS = (*BEYOND_FIRST, "hobbit")  # all qualities
HOBBIT = (0.67, 0.30)  # of all experts: what T1 = 0.6 and T2 = 0.9 give on Mixtral (hobbit, section 3.2)


def dial_of(settings: Mapping[str, object]) -> str:
    """The dial to expect the speed of; thresholds by hand may be anything, and are taken for Exact."""
    by_hand = settings["t1"] is not None or settings["t2"] is not None
    return "exact" if by_hand else str(settings["dial"])


def dial_shares(dial: str, k: int) -> tuple[float, float]:
    """Of all uses of experts, should each be missing: the full and the coarse share. k: experts per token."""
    first = 1 / k
    if dial == "hobbit":
        full, coarse = max(HOBBIT[0], first), HOBBIT[1]
        return full, min(coarse, 1 - full)
    full, coarse = BEYOND_FIRST[dial]
    return first + (1 - first) * full, (1 - first) * coarse


USUAL = 1000  # tokens of a chat that a speed is told for: an answer or two have been given
# Of the memory's rate, what rows in bf16 are attended to at, those in float32, which are copied on their way, and those
# of 8 bits, which become bf16 on theirs; all measured (docs/benchmarks.md, docs/planning.md), and torch's functions,
# where native kernels do not attend.
ROWS, WIDE_ROWS, PACKED_ROWS, TORCH_ROWS = 0.7, 0.4, 0.35, 0.12
# Products a second and core of float32 numbers, where all heads meet the same rows (docs/benchmarks.md).
PRODUCTS, PRODUCTS_512 = 5e10, 9e10


def rows_bytes(model: ModelFacts, dense: str, context: int) -> int:
    """Bytes of keys and values that a token behind so many others sees: of some layers, those of a window alone."""
    windowed = sum(model.windowed.values())
    seen = context * (model.kv_bytes - windowed)
    seen += sum(min(window, context) * nbytes for window, nbytes in model.windowed.items())
    return seen * model.per_token(dense) // max(1, model.kv_bytes)


def attending(machine: Machine, model: ModelFacts, dense: str, context: int) -> float:
    """Seconds of a token behind so many others."""
    if model.lean:
        share = PACKED_ROWS if model.packed else WIDE_ROWS if dense == "f32" else ROWS
    else:
        share = TORCH_ROWS
    fastest = PRODUCTS_512 if machine.isa.startswith("avx512") else PRODUCTS
    products = model.latent_products * context / (machine.cores * fastest)
    return max(rows_bytes(model, dense, context) / (machine.memory_rate * share), products)


PARAMETER_BITS = 0.5  # of a quantized weight beside those of its tier: scales and offsets of groups of 64
# Of the memory's rate, what the kernels reach on experts of those bits, where it was not measured (docs/benchmarks.md).
SHARES = {2: 0.79, 4: 0.88, 8: 0.89}
IN_CACHE, CACHED = 32 << 20, 2.0  # bytes of a model that the processor's cache holds, and how much faster that is read
PLAIN_PRODUCTS = 4e10  # weights times tokens a second and core, held as they are, which torch multiplies
SMALL_DENSE = 64_000_000  # bytes of weights beside the experts below which torch gets one thread (torch_threads)
# Of a prompt, in seconds, so that the runs of docs/planning.md come out: a byte of what a layer makes of a token beside
# products, of which one thread norms and copies; an expert that is called for; and a token's choice of one.
BESIDE, CALLED, CHOSEN = 7e-11, 3e-5, 1e-6
# More for an expert that is called for where some are missing, and all are leased, put in order and given room one by
# one: 0.5 s for the 3,072 experts of a prompt.
SWEPT = 1.5e-4
# Bytes of the expert cache that a prompt reads through (what a disk brings while a layer attends, 60 ms), and of the
# whole cache at most one part in so many.
WINDOW, WINDOW_SHARE = 128 << 20, 4
LEAST = 3  # experts that it holds all the same, where there is room for them: one computed, one read, one in between
DISK_USE = 0.97  # of the disk's own pace, what is left of it beside computing and between two layers' reads
HIDDEN = 0.8  # of the shorter one of reading and computing, what the longer one hides where a layer reads many experts
REUSE = 0.5  # of the misses of uniform routing, those of usual chats
MUCH = 0.8  # of the speed, that a full context must cost it to be told
PROMPT = 500  # tokens of the prompt that `first_token` is told for
SHORTEST = 0.1  # seconds: less is not told apart
UNHIDDEN = 0.3  # at worst, of the shorter one of reading and computing a prompt, what the longer one does not hide
UNEVEN = 1.05  # by which a prompt may take longer than all that


@dataclass(frozen=True)
class Expectation:
    """decode: tokens per second, and first_token: seconds until an answer to PROMPT tokens begins, each from worse to
    better. limit: what sets the pace of decoding, 'disk' or 'memory'.
    """

    decode: tuple[float, float]
    first_token: tuple[float, float]
    limit: str


@dataclass(frozen=True)
class Token:
    """Seconds that a token's parts take, each for itself. computing: experts and everything else. layers: what layers
    cost beside bytes. reading: of missing experts, were none of uniform routing's hits made by luck. attending: to the
    tokens before it. missed: of a layer's experts, that many are missing then.
    """

    computing: float
    layers: float
    reading: float
    attending: float = 0.0
    missed: float = 0.0

    @property
    def beside(self) -> float:
        """All that is not reading."""
        return self.computing + self.layers + self.attending

    def taken(self, misses: float) -> float:
        """Seconds in all, where so large a part of uniform routing's misses occurs."""
        reading, computing = misses * self.reading, self.beside
        return max(reading, computing) + (1 - self.hidden(misses)) * min(reading, computing)

    def hidden(self, misses: float) -> float:
        """Of the shorter one of reading and computing, what the longer one hides: while the last of a layer's missing
        experts is read, there is nothing to compute; where it is the only one, one waits for the other all the time."""
        return HIDDEN * (1 - 1 / max(1.0, misses * self.missed))


def expected(
    machine: Machine,
    model: ModelFacts,
    tier: int,
    dense: str,
    cache: int,
    dial: str = "exact",
    *,
    chunk: int = 512,
    context: int = USUAL,
) -> Expectation:
    """cache: bytes of experts in memory. chunk: tokens of a prompt that are computed at once. context: tokens that a
    token is decoded behind.

    The slow end takes uniform routing, where a cache of a share s misses 1 - s; the fast end REUSE of that, or both
    what this model was seen to miss. An expectation that was seen to be wrong here is corrected (ModelFacts.seen).
    """
    token = token_costs(machine, model, tier, dense=dense, cache=cache, dial=dial, context=context)
    misses = (1.0, REUSE) if model.seen is None else (min(1.0, 1.1 * model.seen.misses), 0.9 * model.seen.misses)
    correction = 1.0 if model.seen is None else model.seen.correction
    worse, better = (correction / token.taken(part) for part in misses)
    limit = "disk" if token.reading > token.beside else "memory"
    whole, rest = divmod(PROMPT, chunk)
    parts = [chunk_costs(machine, model, tier, dense, cache, tokens) for tokens in (*[chunk] * whole, rest) if tokens]
    slow, fast = (sum(part.taken(hidden) for part in parts) for hidden in (1 - UNHIDDEN, 1.0))
    # Where layers are recurrent, the last token goes through by itself.
    last = token.taken(1.0) if model.state_bytes else 0.0
    return Expectation((worse, better), (UNEVEN * slow + last, fast + last), limit)


def token_costs(
    machine: Machine, model: ModelFacts, tier: int, *, dense: str, cache: int, dial: str = "exact", context: int = 0
) -> Token:
    """What a token behind so many others is made of."""
    active = model.experts_per_token * model.moe_layers * model.record_bytes[tier]
    others = _others(model, dense) / (machine.memory_rate * _share(machine, 8))
    computing = active / expert_rate(machine, model, tier) + others
    if model.expert_bytes[tier] + model.dense_bytes[dense] <= IN_CACHE:
        computing /= CACHED
    lacking = missing(model, tier, cache)
    missed = active * lacking
    full, coarse = dial_shares(dial, model.experts_per_token)
    if model.low in model.record_bytes and tier > model.low:
        missed *= full + coarse * model.record_bytes[model.low] / model.record_bytes[tier]
    reading = missed / reading_rate(machine, model, tier)
    layers = model.layer_seconds * model.moe_layers + model.token_seconds
    attended = attending(machine, model, dense, context)
    return Token(computing, layers, reading, attended, lacking * model.experts_per_token)


def missing(model: ModelFacts, tier: int, cache: int) -> float:
    """Of the experts that a token needs, the share that a cache of so many bytes misses under uniform routing."""
    return 1 - min(1.0, cache / model.expert_bytes[tier])


def reading_rate(machine: Machine, model: ModelFacts, tier: int) -> float:
    """Bytes of missing experts that come from disk in a second, beside computing."""
    return DISK_USE * machine.disk_rate_at(model.record_bytes[tier])


def expert_rate(machine: Machine, model: ModelFacts, tier: int) -> float:
    """Bytes of experts that a token's are computed at a second."""
    rate = machine.memory_rate
    if tier >= 16:
        return rate
    return rate * _share(machine, tier)


def _share(machine: Machine, tier: int) -> float:
    return min(1.0, machine.kernel_shares.get(tier, SHARES[tier]))  # nobody computes with what has not come


def _others(model: ModelFacts, dense: str) -> int:
    return model.dense_bytes[dense] - model.looked_up_bytes.get(dense, 0)


@dataclass(frozen=True)
class Chunk:
    """Seconds that tokens of a prompt, computed at once, take to read what is missing for them, and to compute."""

    reading: float
    computing: float

    def taken(self, hidden: float) -> float:
        """Seconds in all, where so much of the shorter one hides behind the longer one."""
        return max(self.reading, self.computing) + (1 - hidden) * min(self.reading, self.computing)


def chunk_costs(machine: Machine, model: ModelFacts, tier: int, dense: str, cache: int, tokens: int) -> Chunk:
    """Of so many tokens at once: each expert that one of them chooses is read, if it is missing, and comes from memory
    once, as it does for a single token, and then meets all that chose it. The head meets nobody.

    cache: bytes of experts in memory, of which the tokens' own memory and a window to read through are taken.
    """
    # Uniform routing: each token passes an expert over with a chance of 1 - k / E, all of them with that to the power
    # of their number.
    visited = 1 - (1 - model.experts_per_token / model.experts) ** tokens
    weights = 8 / (tier + PARAMETER_BITS) if tier < 16 else 8 / tier  # a byte of experts
    active = model.experts_per_token * model.moe_layers * model.record_bytes[tier] * weights
    # Weights in a byte.
    per_byte = {"f32": 0.25, "bf16": 0.5, "int8": 1.0, "int4": 2.0}[dense]
    layers = _others(model, dense) - model.head_bytes.get(dense, 0)
    met = tokens * model.experts_per_token / (model.experts * visited)  # tokens of an expert that is called for
    plain = PLAIN_PRODUCTS * (1 if model.dense_bytes[dense] < SMALL_DENSE else machine.cores)
    computing = tokens * active / machine.products_at(met)
    packed = dense in ("int8", "int4")
    computing += tokens * layers * per_byte / (machine.products_at(tokens) if packed else plain)
    computing += visited * model.expert_bytes[tier] / expert_rate(machine, model, tier)
    computing += layers / (machine.memory_rate * _share(machine, 8))
    whole = not missing(model, tier, cache)
    called = (CALLED if whole else CALLED + SWEPT) * model.experts * visited + CHOSEN * model.experts_per_token * tokens
    computing += model.moe_layers * (model.layer_seconds + called + BESIDE * model.token_bytes * tokens)
    if whole:
        return Chunk(0.0, computing)
    held = max(0, cache - tokens * model.token_bytes - window(cache, model.record_bytes[tier]))
    missed = visited * model.expert_bytes[tier] * missing(model, tier, held)
    return Chunk(missed / reading_rate(machine, model, tier), computing)


def window(cache: int, largest: int) -> int:
    """Bytes of the expert cache that a prompt reads through. largest: of an expert."""
    return max(min(WINDOW, cache // WINDOW_SHARE), min(LEAST * largest, cache))


def decode_sentence(
    expectation: Expectation, *, all_in_memory: bool, corrected: bool = False, late: Expectation | None = None
) -> Translatable:
    """The expected speed in words. corrected: by what was measured before. late: what is left of it when the context is
    full, told where that is much less."""
    what = msg("disk reads") if expectation.limit == "disk" else msg("memory speed")
    span, high = _span(expectation), figure(expectation.decode[1])
    if all_in_memory and not corrected:
        span = msg("up to {high}", high=high)
    learned = msg(", measured here") if corrected else ""
    later = ""
    if late is not None and late.decode[1] < MUCH * expectation.decode[1]:
        later = msg(", {span} with a full context", span=_span(late))
    return msg(
        "Speed: {span} tok/s{learned}{later}. Limited by {what}.",
        span=span,
        learned=learned,
        later=later,
        what=what,
    )


def is_speed_sentence(sentence: Translatable) -> bool:
    """Whether it is the one of a plan that tells the expected speed, whatever computes."""
    return sentence.key.startswith("Speed: ")


def with_speed_sentence(sentences: Iterable[Translatable], pace: Translatable) -> tuple[Translatable, ...]:
    """The sentences of a plan with another one that tells the expected speed."""
    return tuple(pace if is_speed_sentence(sentence) else sentence for sentence in sentences)


def with_prompt_sentence(sentences: Iterable[Translatable], prompt: Translatable) -> tuple[Translatable, ...]:
    """The sentences of a plan with another one that tells how long a prompt takes."""
    return tuple(prompt if own.key.startswith("{prompt}-token prompt:") else own for own in sentences)


def _span(expectation: Expectation) -> Translatable:
    low, high = (figure(speed) for speed in expectation.decode)
    return msg("about {low}–{high}", low=low, high=high) if low != high else msg("about {low}", low=low)


def prompt_sentence(first_token: tuple[float, float], *, with_card: bool = False) -> Translatable:
    """How long a prompt takes, in words. first_token: see Expectation, of the processor alone. with_card: a card has
    its share, which makes it shorter; by how much, nobody knows before."""
    slow, fast = first_token
    if slow < SHORTEST or with_card:
        return msg(
            "{prompt}-token prompt: under {shortest} s to first token.",
            prompt=PROMPT,
            shortest=seconds(max(slow, SHORTEST)),
        )
    span = (
        msg("{fast}–{slow}", fast=seconds(fast), slow=seconds(slow))
        if seconds(fast) != seconds(slow)
        else seconds(slow)
    )
    if span == "1.0":
        return msg("{prompt}-token prompt: about 1.0 s to first token.", prompt=PROMPT)
    return msg("{prompt}-token prompt: about {span} s to first token.", prompt=PROMPT, span=span)


def figure(speed: float) -> str:
    """Tokens per second with as many digits as matter."""
    return f"{speed:.0f}" if speed >= 10 else f"{speed:.1f}" if speed >= 0.1 else f"{speed:.2f}"


def seconds(taken: float) -> str:
    """Seconds with as many digits as matter."""
    return f"{taken:.0f}" if taken >= 10 else f"{max(taken, SHORTEST):.1f}"
