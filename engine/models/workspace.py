"""What a decoder needs to compute in, beside what it holds: known from its spec, before anything is read."""

from __future__ import annotations

from engine.models.footprint import Matrix, matrices
from engine.models.layers.delta_rule import CHANNEL_CHUNK
from engine.models.layers.latent_cache import SCORES_LIMIT
from engine.models.layers.mamba2 import CHUNK
from engine.models.spec import (
    AttentionSpec,
    CompressedSpec,
    DecoderSpec,
    DeltaNetSpec,
    DenseMlpSpec,
    ExpertsSpec,
    KdaSpec,
    Mamba2Spec,
    MixerSpec,
    MlaSpec,
    MlpSpec,
    MoeSpec,
)

FLOAT = 4  # bytes
SAMPLING = 48  # bytes per word of the vocabulary: logits, their order and what is summed up of them
PIECE = 32 << 20  # bytes of a tensor that is converted on its way, piece by piece


def token_bytes(spec: DecoderSpec) -> int:
    """Bytes for every token of those that are computed at once: the layer that takes most of them."""
    streams = 1 if spec.streams is None else spec.streams.count
    stream = 6 * spec.hidden * streams  # what goes through, its norm, and both sums with what a layer adds
    mlps = [mlp for layer in spec.layers for mlp in (layer.mlp, layer.shortcut) if mlp is not None]
    room = max((_rooms(mlp, spec.hidden) for mlp in mlps), default=0)  # stays from layer to layer
    mixers = [_mixer(layer.mixer) for layer in spec.layers if layer.mixer is not None]
    layer = max(*mixers, *map(_mlp, mlps))
    return FLOAT * (stream + room + layer)


def working_bytes(spec: DecoderSpec) -> int:
    """Bytes that computing takes however few tokens there are."""
    found = SAMPLING * spec.vocab
    if any(isinstance(layer.mixer, MlaSpec) or _chooses(layer.mixer) for layer in spec.layers):
        found += 3 * FLOAT * SCORES_LIMIT
    return found


def opening_bytes(spec: DecoderSpec, item: int, own_vocab: int = 0) -> int:
    """Most bytes held beside the finished matrices while one is made. item: bytes of a number in the checkpoint.

    What is stacked or put in another order lies there twice for a moment.
    """

    def taken(matrix: Matrix) -> int:
        source = item * matrix.rows * matrix.cols
        return source if matrix.role in ("head", "table") else 2 * source

    return PIECE + max(taken(matrix) for matrix in matrices(spec, own_vocab) if not matrix.stays)


def _chooses(mixer: MixerSpec | None) -> bool:
    """Whether what its queries see is worked out before they attend."""
    return isinstance(mixer, CompressedSpec) or (isinstance(mixer, AttentionSpec) and mixer.blocks is not None)


def _mixer(spec: MixerSpec) -> int:
    """Numbers per token: projections as they come, normed and turned, and what attention makes of them."""
    match spec:
        case AttentionSpec():
            queries = spec.heads * spec.head_dim
            rows = queries * (2 if spec.gated else 1) + 2 * spec.kv_heads * spec.head_dim
            return 3 * rows + 4 * queries
        case MlaSpec():
            width = spec.nope_dim + spec.rope_dim
            return spec.heads * (3 * width + 3 * spec.kv_rank + 2 * spec.v_dim) + 4 * (spec.kv_rank + spec.rope_dim)
        case DeltaNetSpec():
            return 6 * (2 * spec.k_heads * spec.k_dim + 2 * spec.v_heads * spec.v_dim)
        case Mamba2Spec():
            return 4 * (spec.inner + spec.channels) + 3 * CHUNK * spec.heads
        case KdaSpec():
            return spec.heads * spec.head_dim * (16 + CHANNEL_CHUNK)
        case CompressedSpec():
            rows = sum(4 * own.dim * (4 if own.overlaps else 2) for own in spec.compressed)
            return 6 * spec.heads * spec.head_dim + 2 * (spec.q_rank + spec.groups * spec.rank) + rows
        case _:
            return 8 * spec.hidden


def _mlp(spec: MlpSpec) -> int:
    match spec:
        case DenseMlpSpec():
            return 4 * spec.intermediate
        case MoeSpec():
            shared = 0 if spec.shared is None else _mlp(spec.shared.mlp)
            own = spec.experts
            # Every expert's share of the tokens, gate and up and in 8 bits; and the lists of who goes where.
            return shared + 4 * own.intermediate + 3 * own.hidden + 20 * spec.router.top_k + spec.router.experts
        case _:
            return _mlp(spec.dense) + _mlp(spec.moe)


def _rooms(spec: MlpSpec, hidden: int) -> int:
    """Numbers per token of what its experts give, each for itself (see ExpertRuntime)."""
    match spec:
        case MoeSpec():
            return spec.router.top_k * hidden
        case DenseMlpSpec():
            return 0
        case _:
            return _rooms(spec.moe, hidden)


def _experts(spec: MoeSpec) -> ExpertsSpec:
    return spec.experts
