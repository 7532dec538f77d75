"""The catalogue: models that people run today, with what decides whether they fit, known without a network."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cache
from typing import Any

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.library.entries import CODE, THINKING, VISION, in_order
from engine.limits import shown
from engine.translatable import msg


@dataclass(frozen=True)
class AttentionShape:
    """Heads that share keys and values in groups. Parameters per layer from H, the hidden size."""

    heads: int
    kv_heads: int
    head_dim: int

    def parameters(self, hidden: int) -> int:
        """Of queries, keys, values and output."""
        # Q and O have `heads` heads each, K and V `kv_heads`.
        return 2 * hidden * self.head_dim * (self.heads + self.kv_heads)


@dataclass(frozen=True)
class LatentAttention:
    """Keys and values through a narrow latent (MLA). q_rank: 0 where queries are not narrowed."""

    heads: int
    q_rank: int
    kv_rank: int
    nope: int
    rope: int
    v_dim: int

    def parameters(self, hidden: int) -> int:
        """Of all projections."""
        queries = self.heads * (self.nope + self.rope)
        narrowed = self.q_rank * (hidden + queries) if self.q_rank else hidden * queries
        latent = hidden * (self.kv_rank + self.rope) + self.kv_rank * self.heads * (self.nope + self.v_dim)
        return narrowed + latent + self.heads * self.v_dim * hidden


@dataclass(frozen=True)
class CompressedAttention:
    """A window, and entries that stand for several tokens each (DeepSeek-V4); one head of keys, which are the values.

    out_rank: of each of the `groups` of heads. What makes the entries is left out, being small.
    """

    heads: int
    head_dim: int
    q_rank: int
    groups: int
    out_rank: int

    def parameters(self, hidden: int) -> int:
        """Of all projections."""
        queries = self.heads * self.head_dim
        return (
            self.q_rank * (hidden + queries) + hidden * self.head_dim + self.out_rank * (queries + self.groups * hidden)
        )


@dataclass(frozen=True)
class LinearAttentionShape:
    """Layers that carry a state instead of attention (Mamba, delta rule, convolution): in and gate, and out."""

    layers: int
    inner: int


@dataclass(frozen=True, kw_only=True)
class ModelShape:
    """What decides the sizes of a model.

    shared_intermediate: of all shared experts of a layer together, or of the dense network beside the experts.
    dense_layers: those without experts, `dense_intermediate` wide. gate: whether an expert multiplies with a gate.
    Where attention and experts are layers of their own, a layer is one of attention or state; as many as there are
    without experts behind them are dense, and 0 wide.
    """

    layers: int
    hidden: int
    vocab: int
    tied: bool
    experts: int
    experts_per_token: int
    moe_intermediate: int
    shared_intermediate: int
    dense_layers: int
    dense_intermediate: int
    attention: AttentionShape | LatentAttention | CompressedAttention
    linear: LinearAttentionShape = LinearAttentionShape(0, 0)
    gate: bool = True

    @property
    def matrices(self) -> int:
        """Of one expert: up and down, and where there is one a gate."""
        return 3 if self.gate else 2

    @property
    def moe_layers(self) -> int:
        """Layers with experts."""
        return self.layers - self.dense_layers

    @property
    def expert_parameters(self) -> int:
        """Of one expert."""
        return self.matrices * self.hidden * self.moe_intermediate

    @property
    def routed_parameters(self) -> int:
        """Of all experts that a router chooses from."""
        return self.moe_layers * self.experts * self.expert_parameters

    @property
    def dense_parameters(self) -> int:
        """Of everything that every token uses. Norms and biases are left out."""
        h = self.hidden
        mixing = self.attention.parameters(h) * (self.layers - self.linear.layers)
        mixing += 3 * h * self.linear.inner * self.linear.layers
        beside = self.moe_layers * (self.matrices * h * self.shared_intermediate + h * self.experts)
        dense = self.dense_layers * 3 * h * self.dense_intermediate
        return mixing + beside + dense + self.vocab * h * (1 if self.tied else 2)

    @property
    def parameters(self) -> int:
        """All of them."""
        return self.dense_parameters + self.routed_parameters

    @property
    def active_parameters(self) -> int:
        """What one token uses, the embedding tables included (makers often leave those out)."""
        return self.dense_parameters + self.moe_layers * self.experts_per_token * self.expert_parameters


# How many bits a weight takes in a form of about four: of an expert, and of all others (16 where only experts are
# quantized, as their quantizers do). Q4_K_M: llama.cpp's own table; GPTQ in groups of 128 with a scale and a zero each;
# NVFP4 in groups of 16 with an 8-bit scale.
FORMS = {"GGUF Q4_K_M": (4.87, 4.87), "GPTQ-Int4": (4 + 20 / 128, 16.0), "NVFP4": (4.5, 16.0)}
NATIVE = 6.0  # bits; a model that its makers publish with fewer was made in four, and loses nothing


@dataclass(frozen=True)
class FourBit:
    """Where a model can be had in about four bits. form: one of FORMS. gguf: which of the repository's GGUF models."""

    repo: str
    form: str
    gguf: str


@dataclass(frozen=True, kw_only=True)
class CatalogueEntry:
    """A model of the catalogue. parameters: as its makers state it. bits: per weight, as `repo` has it.

    sources: where it can be had in four bits, the first choice first; none where `repo` has it so, or nobody does.
    vision: what its config.json says of the tower that it reads images with, as far as that tells what looking takes of
    memory; {}: it reads none. good_at: THINKING and CODE, where its makers say so; VISION follows from `vision`.
    """

    repo: str
    name: str
    model_type: str
    about: str
    parameters: int
    licence: str
    context_length: int
    bits: float
    sources: tuple[FourBit, ...]
    shape: ModelShape
    vision: Mapping[str, int | list[int]] = field(default_factory=dict)
    good_at: tuple[str, ...] = ()

    def uses(self, source: FourBit | None) -> tuple[str, ...]:
        """What it is good at, of USES, as it comes from there; None: from its own repository.

        From GGUF it reads no images, whose tower is in a file of its own.
        """
        sees = bool(self.vision) and not (source and source.gguf)
        return in_order((*self.good_at, VISION) if sees else self.good_at)

    @property
    def download_bytes(self) -> int:
        """About what a download of `repo` takes."""
        return round(self.parameters * self.bits / 8)

    @property
    def native(self) -> bool:
        """Whether its makers publish it in four bits, and nothing finer."""
        return self.bits < NATIVE

    def four_bit_bytes(self, source: FourBit) -> int:
        """About what a download of one of `sources` takes."""
        expert, other = FORMS[source.form]
        share = self.shape.routed_parameters / self.shape.parameters
        return round(self.parameters * (share * expert + (1 - share) * other) / 8)


_KINDS: dict[str, Any] = {"int": int, "str": str, "bool": bool, "float": (int, float)}


@cache
def load() -> tuple[CatalogueEntry, ...]:
    """The catalogue that is shipped. Raises UnderhillError(BROKEN_FILE) where it was damaged."""
    file = resources.path("catalogue.json")
    try:
        return parse(json.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, RecursionError) as cause:
        raise UnderhillError(
            Kind.BROKEN_FILE, msg("The model catalog {file} is damaged.", file=file), msg("Reinstall Underhill.")
        ) from cause


def find(repo: str) -> CatalogueEntry | None:
    """The entry of a model, by its own repository or by one where it can be had in four bits."""
    return next((e for e in load() if repo == e.repo or any(repo == source.repo for source in e.sources)), None)


def parse(value: Any) -> tuple[CatalogueEntry, ...]:
    """The entries of a catalogue file. Raises ValueError saying what is wrong with it."""
    if not isinstance(value, Mapping) or not isinstance(value.get("models"), list):
        raise ValueError("it has no list of models")
    entries = tuple(_entry(one) for one in value["models"])
    if len({entry.repo for entry in entries}) < len(entries):
        raise ValueError("a model is in it twice")
    return entries


def _entry(value: Any) -> CatalogueEntry:
    try:
        shape = dict(value["shape"])
        kinds: dict[str, Any] = {"kv_rank": LatentAttention, "out_rank": CompressedAttention}
        attention = next((kind for key, kind in kinds.items() if key in shape["attention"]), AttentionShape)
        shape["attention"] = _made(attention, shape["attention"])
        if "linear" in shape:
            shape["linear"] = _made(LinearAttentionShape, shape["linear"])
        sources = tuple(_made(FourBit, source) for source in value["sources"])
        if not all(source.form in FORMS for source in sources):
            raise TypeError("a source has an unknown form")
        for one in _numbers(value.get("vision", {})):
            if type(one) is not int or one < 0:
                raise TypeError(f"vision says {shown(one)}")
        whole = {**value, "sources": sources, "shape": _made(ModelShape, shape), "good_at": _good_at(value)}
        entry: CatalogueEntry = _made(CatalogueEntry, whole)
    except (TypeError, KeyError, AttributeError, ValueError) as cause:
        raise ValueError(f"an entry is not complete: {cause}") from cause
    return entry


def _good_at(value: Mapping[str, Any]) -> tuple[str, ...]:
    """What an entry says of it."""
    said = value.get("good_at", [])
    if not isinstance(said, list) or any(use not in (THINKING, CODE) for use in said):
        raise TypeError(f"good_at says {shown(said)}")
    return in_order(said)


def _numbers(vision: Any) -> list[Any]:
    """What it says, lists unfolded."""
    if not isinstance(vision, Mapping):
        raise TypeError("vision is no group of settings")
    return [one for said in vision.values() for one in (said if isinstance(said, list) else [said])]


def _made(cls: Any, values: Mapping[str, Any]) -> Any:
    """A dataclass of plain values, each of the type that it declares, and no number negative."""
    if not isinstance(values, Mapping):
        raise TypeError(f"{shown(values)} is no {cls.__name__}")
    for known in fields(cls):
        kind = _KINDS.get(str(known.type))
        value = values.get(known.name, known.default)
        if kind is not None and (not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool)):
            raise TypeError(f"{known.name} is {shown(value)}")
        if isinstance(value, int | float) and value < 0:
            raise TypeError(f"{known.name} is negative")
    return cls(**values)
