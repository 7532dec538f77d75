"""The shape that every weight of a spec must have, compared as it is fetched: a config may not fit its weights."""

from __future__ import annotations

from collections.abc import Iterator

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.models.layers.weights import CheckpointWeights, Codes, StoredLookupTable, Tables
from engine.models.spec import (
    AttentionSpec,
    CompressedSpec,
    DecoderSpec,
    DeltaNetSpec,
    DenseMlpSpec,
    KdaSpec,
    LayerSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
    NormSpec,
    ParallelMlpSpec,
    ShortConvSpec,
    StreamsSpec,
)
from engine.quantization.coded import Coded
from engine.translatable import msg

Shape = tuple[int, ...]
Shapes = Iterator[tuple[str, Shape]]  # a tensor's name and its shape, without dimensions of 1


class CheckedWeights:
    """Weights that raise UnderhillError(BROKEN_FILE) for a tensor whose shape is not what the spec makes it."""

    def __init__(self, weights: CheckpointWeights, spec: DecoderSpec) -> None:
        self._weights = weights
        self._shapes = {name: tuple(n for n in shape if n != 1) for name, shape in shapes(spec)}

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""
        return self._weights.has(name)

    def get(self, name: str) -> Tensor:
        """The tensor in its stored dtype. Whole numbers pass: they are a quantization, which `fetch` refuses."""
        tensor = self._weights.get(name)
        if tensor.dtype.is_floating_point:
            self._check(name, tensor.shape)
        return tensor

    def coded(self, name: str) -> Coded | None:
        """See Codes; None too where these weights know no such thing."""
        found = self._weights.coded(name) if isinstance(self._weights, Codes) else None
        if found is not None:
            self._check(name, found.shape)
        return found

    def table(self, name: str) -> StoredLookupTable | None:
        """See Tables; None too where these weights know no such thing."""
        found = self._weights.table(name) if isinstance(self._weights, Tables) else None
        if found is not None:
            self._check(name, found.shape)
        return found

    def _check(self, name: str, shape: Shape) -> None:
        found = tuple(n for n in shape if n != 1)
        if found != self._shapes.get(name, found):
            raise disagreement(
                msg(
                    "{name} is {found} and should be {shapes}",
                    name=name,
                    found=list(found),
                    shapes=list(self._shapes[name]),
                )
            )


def disagreement(what: str) -> UnderhillError:
    """BROKEN_FILE; `what` is a clause without a full stop."""
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg("The model's config.json and its weights disagree: {what}.", what=what),
        msg("Download the model again and import it."),
    )


def shapes(spec: DecoderSpec) -> Shapes:
    """Every weight of a decoder that has a shape of its own; a table of per-layer inputs has its own vocabulary."""
    yield from _linear(spec.embedding, spec.vocab, spec.hidden)
    if spec.head is not None:
        yield from _linear(spec.head, spec.vocab, spec.hidden)
    yield from _norm(spec.norm, spec.hidden)
    if spec.streams is not None:
        yield from _streams(spec.streams, spec.hidden, spec.streams.count, 1)
    if spec.per_layer_inputs is not None:
        own = spec.per_layer_inputs
        yield from _linear(own.projection, len(spec.layers) * own.dim, spec.hidden)
        yield from _norm(own.norm, own.dim)
        for layer in spec.layers:
            if layer.per_layer is not None:
                yield from _linear(layer.per_layer.gate, own.dim, spec.hidden)
                yield from _linear(layer.per_layer.projection, spec.hidden, own.dim)
                yield from _norm(layer.per_layer.norm, spec.hidden)
    for layer in spec.layers:
        yield from _layer(layer, spec.hidden)
    if spec.mtp is not None:
        yield from _linear(spec.mtp.joint, spec.hidden, 2 * spec.hidden)
        for norm in (spec.mtp.embedding_norm, spec.mtp.hidden_norm, spec.mtp.norm):
            yield from _norm(norm, spec.hidden)
        yield from _layer(spec.mtp.layer, spec.hidden)


def _layer(layer: LayerSpec, hidden: int) -> Shapes:
    for norm in (layer.before_mixer, layer.before_mlp, layer.after_mixer, layer.after_mlp):
        yield from _norm(norm, hidden)
    if layer.mixer is not None:
        yield from _mixer(layer.mixer, hidden)
    for mlp in (layer.mlp, layer.shortcut):
        if mlp is not None:
            yield from _mlp(mlp, hidden)
    for streams in layer.streams or ():
        n = streams.count
        yield from _streams(streams, hidden, (2 + n) * n, 3)


def _streams(spec: StreamsSpec, hidden: int, rows: int, scales: int) -> Shapes:
    yield f"{spec.prefix}_fn", (rows, spec.count * hidden)
    yield f"{spec.prefix}_base", (rows,)
    yield f"{spec.prefix}_scale", (scales,)


def _linear(name: str, rows: int, cols: int) -> Shapes:
    yield f"{name}.weight", (rows, cols)
    yield f"{name}.bias", (rows,)


def _norm(norm: NormSpec | None, dim: int) -> Shapes:
    if norm is not None and norm.name is not None:
        yield f"{norm.name}.weight", (dim,)
        yield f"{norm.name}.bias", (dim,)


# ---- token mixers ----------------------------------------------------------------------------------------------


def _mixer(spec: MixerSpec, hidden: int) -> Shapes:
    match spec:
        case AttentionSpec():
            yield from _attention(spec, hidden)
        case MlaSpec():
            yield from _mla(spec, hidden)
        case DeltaNetSpec():
            yield from _deltanet(spec, hidden)
        case Mamba2Spec():
            yield from _mamba2(spec, hidden)
        case KdaSpec():
            yield from _kda(spec, hidden)
        case CompressedSpec():
            yield from _compressed(spec, hidden)
        case ShortConvSpec():
            yield from _linear(f"{spec.prefix}.in_proj", 3 * spec.hidden, hidden)
            yield f"{spec.prefix}.conv.weight", (spec.hidden, spec.kernel)
            yield f"{spec.prefix}.conv.bias", (spec.hidden,)
            yield from _linear(f"{spec.prefix}.out_proj", hidden, spec.hidden)


def _attention(spec: AttentionSpec, hidden: int) -> Shapes:
    queries, keys = spec.heads * spec.head_dim, spec.kv_heads * spec.head_dim
    values = spec.kv_heads * spec.value_width
    if spec.qkv is not None:
        yield from _linear(f"{spec.prefix}.{spec.qkv}", queries + keys + values, hidden)
    else:
        together = spec.gated and spec.gate is None
        yield from _linear(f"{spec.prefix}.{spec.q}", 2 * queries if together else queries, hidden)
        yield from _linear(f"{spec.prefix}.{spec.k}", keys, hidden)
        if spec.v is not None:
            yield from _linear(f"{spec.prefix}.{spec.v}", values, hidden)
    for name, rows in ((spec.gate, queries), (spec.head_gate, spec.heads)):
        if name is not None:
            yield from _linear(f"{spec.prefix}.{name}", rows, hidden)
    yield from _linear(f"{spec.prefix}.{spec.o}", hidden, spec.heads * spec.value_width)
    for norm, rows in ((spec.q_norm, queries), (spec.k_norm, keys)):
        if spec.qk_norm is not None and norm is not None:
            yield f"{spec.prefix}.{norm}.weight", (rows if spec.qk_norm == "full" else spec.head_dim,)
    if spec.sinks is not None:
        yield spec.sinks, (spec.heads,)
    if spec.blocks is not None:
        for x, rows in (("q", spec.blocks.heads * spec.blocks.head_dim), ("k", spec.blocks.head_dim)):
            yield from _linear(f"{spec.blocks.prefix}.index_{x}_proj", rows, hidden)
            yield f"{spec.blocks.prefix}.index_{x}_norm.weight", (spec.blocks.head_dim,)


def _mla(spec: MlaSpec, hidden: int) -> Shapes:
    queries = spec.heads * (spec.nope_dim + spec.rope_dim)
    if spec.q_rank is None:
        yield from _linear(f"{spec.prefix}.q_proj", queries, hidden)
    else:
        yield from _linear(f"{spec.prefix}.q_a_proj", spec.q_rank, hidden)
        yield f"{spec.prefix}.q_a_layernorm.weight", (spec.q_rank,)
        yield from _linear(f"{spec.prefix}.q_b_proj", queries, spec.q_rank)
    yield from _linear(f"{spec.prefix}.kv_a_proj_with_mqa", spec.kv_rank + spec.rope_dim, hidden)
    yield f"{spec.prefix}.kv_a_layernorm.weight", (spec.kv_rank,)
    yield from _linear(f"{spec.prefix}.kv_b_proj", spec.heads * (spec.nope_dim + spec.v_dim), spec.kv_rank)
    yield from _linear(f"{spec.prefix}.o_proj", hidden, spec.heads * spec.v_dim)
    if spec.indexer is not None and not spec.indexer.shared:
        own = spec.indexer
        yield from _linear(f"{own.prefix}.wq_b", own.heads * own.head_dim, spec.q_rank or hidden)
        yield from _linear(f"{own.prefix}.wk", own.head_dim, hidden)
        yield from _linear(f"{own.prefix}.weights_proj", own.heads, hidden)
        yield from _norm(NormSpec(f"{own.prefix}.k_norm", own.norm_eps, "layer"), own.head_dim)


def _deltanet(spec: DeltaNetSpec, hidden: int) -> Shapes:
    keys, values = spec.k_heads * spec.k_dim, spec.v_heads * spec.v_dim
    rows = {"in_proj_qkvz": 2 * keys + 2 * values, "in_proj_ba": 2 * spec.v_heads}
    if not spec.fused:
        rows = {"in_proj_qkv": 2 * keys + values, "in_proj_z": values}
        rows |= {"in_proj_b": spec.v_heads, "in_proj_a": spec.v_heads}
    for name, count in rows.items():
        yield from _linear(f"{spec.prefix}.{name}", count, hidden)
    yield f"{spec.prefix}.conv1d.weight", (2 * keys + values, spec.kernel)
    yield f"{spec.prefix}.A_log", (spec.v_heads,)
    yield f"{spec.prefix}.dt_bias", (spec.v_heads,)
    yield f"{spec.prefix}.norm.weight", (spec.v_dim,)
    yield from _linear(f"{spec.prefix}.out_proj", hidden, values)


def _mamba2(spec: Mamba2Spec, hidden: int) -> Shapes:
    yield from _linear(f"{spec.prefix}.in_proj", spec.inner + spec.channels + spec.heads, hidden)
    yield f"{spec.prefix}.conv1d.weight", (spec.channels, spec.kernel)
    yield f"{spec.prefix}.conv1d.bias", (spec.channels,)
    for name in ("A_log", "dt_bias", "D"):
        yield f"{spec.prefix}.{name}", (spec.heads,)
    yield f"{spec.prefix}.norm.weight", (spec.inner,)
    yield from _linear(f"{spec.prefix}.out_proj", hidden, spec.inner)


def _kda(spec: KdaSpec, hidden: int) -> Shapes:
    width = spec.heads * spec.head_dim
    for part in "qkv":
        yield from _linear(f"{spec.prefix}.{part}_proj", width, hidden)
        yield f"{spec.prefix}.{part}_conv1d.weight", (width, spec.kernel)
    for part in "fg":
        yield from _linear(f"{spec.prefix}.{part}_a_proj", spec.head_dim, hidden)
        yield from _linear(f"{spec.prefix}.{part}_b_proj", width, spec.head_dim)
    yield from _linear(f"{spec.prefix}.b_proj", spec.heads, hidden)
    yield f"{spec.prefix}.A_log", (spec.heads,)
    yield f"{spec.prefix}.dt_bias", (width,)
    yield f"{spec.prefix}.o_norm.weight", (spec.head_dim,)
    yield from _linear(f"{spec.prefix}.o_proj", hidden, width)


def _compressed(spec: CompressedSpec, hidden: int) -> Shapes:
    queries = spec.heads * spec.head_dim
    yield from _linear(f"{spec.prefix}.wq_a", spec.q_rank, hidden)
    yield f"{spec.prefix}.q_norm.weight", (spec.q_rank,)
    yield from _linear(f"{spec.prefix}.wq_b", queries, spec.q_rank)
    yield from _linear(f"{spec.prefix}.wkv", spec.head_dim, hidden)
    yield f"{spec.prefix}.{spec.kv_norm}.weight", (spec.head_dim,)
    yield f"{spec.prefix}.attn_sink", (spec.heads,)
    yield from _linear(f"{spec.prefix}.wo_a", spec.groups * spec.rank, queries // spec.groups)
    yield from _linear(f"{spec.prefix}.wo_b", hidden, spec.groups * spec.rank)
    for own in spec.compressed:
        rows = own.dim * (2 if own.overlaps else 1)
        yield from _linear(f"{own.prefix}.wkv", rows, hidden)
        yield from _linear(f"{own.prefix}.wgate", rows, hidden)
        yield f"{own.prefix}.ape", (own.ratio, rows)
        yield f"{own.prefix}.norm.weight", (own.dim,)
    if spec.index is not None:
        dim = spec.compressed[1].dim
        yield from _linear(f"{spec.prefix}.indexer.wq_b", spec.index.heads * dim, spec.q_rank)
        yield from _linear(f"{spec.prefix}.indexer.weights_proj", spec.index.heads, hidden)


# ---- feed-forward ----------------------------------------------------------------------------------------------


def _mlp(spec: MlpSpec, hidden: int) -> Shapes:
    match spec:
        case DenseMlpSpec():
            yield from _dense(spec, hidden)
        case MoeSpec():
            yield from _moe(spec, hidden)
        case ParallelMlpSpec():
            yield from _dense(spec.dense, hidden)
            yield from _moe(spec.moe, hidden)
            for norm in (spec.before_moe, spec.after_dense, spec.after_moe):
                yield from _norm(norm, hidden)


def _dense(spec: DenseMlpSpec, hidden: int) -> Shapes:
    if spec.fused:
        yield from _linear(f"{spec.prefix}.{spec.up}", 2 * spec.intermediate, hidden)
    else:
        if spec.gate is not None:
            yield from _linear(f"{spec.prefix}.{spec.gate}", spec.intermediate, hidden)
        yield from _linear(f"{spec.prefix}.{spec.up}", spec.intermediate, hidden)
    yield from _linear(f"{spec.prefix}.{spec.down}", hidden, spec.intermediate)


def _moe(spec: MoeSpec, hidden: int) -> Shapes:
    router = spec.router
    yield from _linear(router.weight, router.experts, hidden)
    for name in (router.choice_bias, router.expert_scale):
        if name is not None:
            yield name, (router.experts,)
    if router.by_token is not None:
        yield router.by_token, (router.tokens, router.top_k)
    if router.input_scale is not None:
        yield router.input_scale, (hidden,)
    if spec.latent is not None:
        yield from _linear(spec.latent.down, spec.experts.hidden, hidden)
        yield from _linear(spec.latent.up, hidden, spec.experts.hidden)
    if spec.shared is not None:
        yield from _dense(spec.shared.mlp, hidden)
        if spec.shared.gate is not None:
            yield from _linear(spec.shared.gate, 1, hidden)
