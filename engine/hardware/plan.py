"""From machine, model and settings to a plan: where things go, how much, how fast, and why. Pure arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, Machine

MARGIN = 2 * GB  # left to the rest of the computer
WORKSPACE = 300_000_000  # activations, prompt chunks, reader buffers
SMALLEST_CONTEXT = 512
KINDS = ("int4", "int8", "bf16", "f32")  # how the weights beside the experts can be held, coarse first
SMALL_DENSE = 64_000_000  # bytes in float32 up to which there is nothing to save
# Of a token, per layer, beside reading weights: norms, router, small operations, calls (measured: docs/benchmarks.md).
NATIVE_LAYER, TORCH_LAYER, COMPAT_LAYER = 2e-5, 1.6e-4, 2.5e-4
# Of an expert's weight, decoded and multiplied by torch, whatever its bits: 2.3 to 6 ns (measured, two cores).
TORCH_WEIGHT = 5e-9
PARAMETER_BITS = 0.5  # of a quantized weight beside those of its tier: scales and offsets of groups of 64


@dataclass(frozen=True)
class ModelFacts:
    """What a plan needs to know of a model. Bytes; expert_bytes: all experts, by tier; record_bytes: the largest one.

    dense_bytes: everything else, by those kinds of KINDS that can be had, as held. looked_up_bytes: of these, tables of
    which a token reads one row. kv_bytes: per token of context in bf16, twice that where the rest is held as f32.
    state_bytes: of recurrent layers, snapshots included, however long the context is. native: native kernels compute.
    lean: the layers are the lean decoder's, not the compatibility backend's.
    """

    name: str
    expert_bytes: Mapping[int, int]
    record_bytes: Mapping[int, int]
    dense_bytes: Mapping[str, int]
    kv_bytes: int
    moe_layers: int
    experts: int
    experts_per_token: int
    context_length: int
    state_bytes: int = 0
    looked_up_bytes: Mapping[str, int] = field(default_factory=dict)
    native: bool = True
    lean: bool = True

    @property
    def layer_seconds(self) -> float:
        """What a token costs per layer beside its bytes."""
        if not self.lean:
            return COMPAT_LAYER
        return NATIVE_LAYER if self.native else TORCH_LAYER

    def per_token(self, dense: str) -> int:
        """Bytes that a token of context leaves behind."""
        return self.kv_bytes * (2 if dense == "f32" else 1)

    @property
    def tiers(self) -> tuple[int, ...]:
        """Tiers stored, coarse first."""
        return tuple(sorted(self.expert_bytes))


@dataclass(frozen=True)
class Plan:
    """What will be done. speed: expected decode tokens per second, (with near-uniform routing, with usual reuse)."""

    mode: str  # 'cpu' until a device pool is planned for
    tier: int
    dense: str
    cache_bytes: int
    context: int
    threads: int
    ceiling: int
    speed: tuple[float, float]
    limit: str  # 'memory' or 'disk'
    sentences: tuple[str, ...]


def make_plan(machine: Machine, model: ModelFacts, settings: Mapping[str, object], in_use: int = 0) -> Plan:
    """The plan for this model here. in_use: bytes this process holds already and that count against a ceiling.

    Raises UnderhillError(OUT_OF_MEMORY) with the figures where it cannot hold, BAD_REQUEST for a tier not stored.
    """
    why: list[str] = []
    tier = _tier(model, str(settings["tier"]))
    ceiling = _ceiling(machine, settings["memory_gb"], in_use, why)
    # A token's experts of one layer and one more.
    smallest = min(model.expert_bytes[tier], model.record_bytes[tier] * (model.experts_per_token + 1))
    fixed = in_use + WORKSPACE + model.state_bytes
    room = ceiling - fixed - smallest - SMALLEST_CONTEXT * model.kv_bytes
    dense = _dense(model, str(settings["dense"]), room, why)
    fixed += model.dense_bytes[dense]
    for_model = ceiling - fixed
    per_token = model.per_token(dense)
    context = _context(model, settings["context_length"], for_model - smallest, per_token, why)
    room = for_model - context * per_token
    if room < smallest:
        need = fixed + SMALLEST_CONTEXT * per_token + smallest
        raise UnderhillError(
            Kind.OUT_OF_MEMORY,
            f"{model.name} needs {_size(need)} of memory at the least, and {_size(ceiling)} may be used.",
            "Close other programs, raise the memory ceiling, or choose a smaller model.",
        )
    cache = _cache(model, tier, room, smallest, settings["cache_fraction"], why)
    threads = int(str(settings["threads"])) if settings["threads"] else machine.cores
    speed, limit = _speed(machine, model, tier, dense, cache)
    why.append(_speed_sentence(speed, limit, all_in_memory=cache >= model.expert_bytes[tier]))
    return Plan("cpu", tier, dense, cache, context, threads, ceiling, speed, limit, tuple(why))


def _tier(model: ModelFacts, wanted: str) -> int:
    tier = max(model.tiers) if wanted == "top" else int(wanted)
    if tier not in model.tiers:
        stored = ", ".join(str(t) for t in model.tiers)
        raise UnderhillError(
            Kind.BAD_REQUEST, f"{model.name} holds no {tier}-bit experts.", f"It holds these bits: {stored}."
        )
    return tier


def _dense(model: ModelFacts, wanted: str, room: int, why: list[str]) -> str:
    """The kind that is asked for, or the next finer one that this model can have here; a sentence says so.

    By itself: 8 bits where native kernels make that lose no more than bf16, and 4 where 8 do not fit into `room`.
    """
    if wanted == "auto":
        if model.dense_bytes["f32"] <= SMALL_DENSE:
            return "f32"
        if "int4" not in model.dense_bytes:
            return "bf16"
        if model.dense_bytes["int8"] <= room or model.dense_bytes["int4"] > room:
            return "int8"
        why.append("The other weights are held at 4 bits, which costs some precision, so that the model fits.")
        return "int4"
    possible = next(kind for kind in KINDS[KINDS.index(wanted) :] if kind in model.dense_bytes)
    if possible != wanted:
        why.append(
            f"The other weights are held as {possible}: {wanted} is not possible with this family, or without native "
            "kernels."
        )
    return possible


def _ceiling(machine: Machine, asked_gb: object, in_use: int, why: list[str]) -> int:
    """Most bytes for the whole process: what was asked, but never beyond what is free less the margin."""
    free = machine.ram_free + in_use
    safe = free - min(MARGIN, free // 4)
    if asked_gb is None:
        why.append(
            f"{_size(machine.ram_free)} of memory are free; Underhill may use {_size(safe)} in all "
            "and leaves the rest to other programs."
        )
        return safe
    asked = int(float(str(asked_gb)) * GB)
    if asked > safe:
        why.append(f"The ceiling of {_size(asked)} is lowered to {_size(safe)}: no more is safely free.")
        return safe
    why.append(f"The memory ceiling is {_size(asked)}.")
    return asked


def _context(model: ModelFacts, asked: object, room: int, per_token: int, why: list[str]) -> int:
    """Tokens of context: what is asked or the model's own, at most half of the room, at least SMALLEST_CONTEXT."""
    wanted = min(model.context_length, int(str(asked)) if asked else model.context_length)
    possible = max(SMALLEST_CONTEXT, room // 2 // max(1, per_token))
    if wanted > possible:
        why.append(f"The context is {possible:,} tokens instead of {wanted:,}, so that experts have room too.")
        return possible
    return wanted


def _cache(model: ModelFacts, tier: int, room: int, smallest: int, fraction: object, why: list[str]) -> int:
    whole = model.expert_bytes[tier]
    wanted = whole if fraction is None else max(smallest, int(whole * float(str(fraction))))
    cache = min(wanted, room)
    if cache >= whole:
        why.append(
            f"All {_size(whole)} of experts fit in memory, so every one runs at {tier} bits whatever the dial says."
        )
    else:
        why.append(
            f"{_size(cache)} of {_size(whole)} of experts ({100 * cache / whole:.0f} %) are kept in memory at "
            f"{tier} bits; the rest is read from disk when needed."
        )
    return cache


def _speed(machine: Machine, model: ModelFacts, tier: int, dense: str, cache: int) -> tuple[tuple[float, float], str]:
    """Tokens per second if a token costs its bytes (all active ones from memory, the missed ones from disk too), what
    whoever computes takes for a layer, and the decoding of experts where torch does that.

    The slow end takes uniform routing, where a cache of a share s misses 1 - s. The fast end takes half those misses.
    """
    active = model.experts_per_token * model.moe_layers * model.record_bytes[tier]
    others = model.dense_bytes[dense] - model.looked_up_bytes.get(dense, 0)
    from_memory = (active + others) / machine.memory_rate + model.layer_seconds * model.moe_layers
    if not model.native and tier < 16:
        from_memory += TORCH_WEIGHT * active * 8 / (tier + PARAMETER_BITS)
    share = min(1.0, cache / model.expert_bytes[tier])
    missed = active * (1 - share) / machine.disk_rate
    slow, fast = 1 / (from_memory + missed), 1 / (from_memory + missed / 2)
    return (slow, fast), "disk" if missed > from_memory else "memory"


def _speed_sentence(speed: tuple[float, float], limit: str, *, all_in_memory: bool) -> str:
    what = "reading experts from disk" if limit == "disk" else "computing from memory"
    low, high = (f"{s:.0f}" if s >= 10 else f"{s:.1f}" for s in speed)
    figure = f"up to {high}" if all_in_memory else f"about {low} to {high}"
    return f"Expect {figure} tokens a second; {what} sets the pace."


def _size(n: int) -> str:
    return f"{n / GB:.1f} GB" if n >= GB else f"{n / 1e6:.0f} MB"
