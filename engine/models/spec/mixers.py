"""Token mixers, and the norms and positions that they share with layers."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

NormKind = Literal["rms", "rms_plus_one", "layer"]


@dataclass(frozen=True)
class NormSpec:
    """A norm over the last dimension.

    name: module whose '.weight' (and, for 'layer', '.bias') scales it; None has no learned scale.
    kind: 'rms' (times w), 'rms_plus_one' (times 1 + w), 'layer' (LayerNorm with weight and bias).
    """

    name: str | None
    eps: float
    kind: NormKind = "rms"


@dataclass(frozen=True, kw_only=True)
class RopeScaling:
    """How rotary frequencies are stretched. Fields not of its kind stay at their defaults.

    linear: factor. dynamic: factor, max_position. llama3: factor, low_freq, high_freq, original.
    yarn: factor, original, beta_fast, beta_slow, truncate; attention_factor is final (mscale folded in).
    longrope: short, long (per frequency), original, short_mscale, long_mscale (multiply cos and sin).
    """

    kind: Literal["linear", "dynamic", "yarn", "longrope", "llama3"]
    factor: float = 1.0
    original: int = 0
    max_position: int = 0
    attention_factor: float = 1.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    low_freq: float = 1.0
    high_freq: float = 4.0
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()
    short_mscale: float = 1.0
    long_mscale: float = 1.0


@dataclass(frozen=True)
class RopeSpec:
    """Rotary position embedding on the first `dim` of a head's dimensions; the rest passes through.

    rotated: only this many of `dim` turn, the others have frequency 0 (gemma4's proportional rope); None: all.
    interleaved: pairs are (2i, 2i+1); otherwise (i, i + dim/2).
    axes: how many frequencies turn by time, by rows and by columns where a picture is; (): all by time. apart: one axis
    behind the other; otherwise among each other (layers.rope.rope_table_of).
    """

    dim: int
    theta: float
    interleaved: bool = False
    scaling: RopeScaling | None = None
    rotated: int | None = None
    _: KW_ONLY
    axes: tuple[int, ...] = ()
    apart: bool = False


@dataclass(frozen=True)
class TemperatureSpec:
    """Queries grow with their position p: times 1 + beta * ln(1 + floor((p + offset) / every)) (Llama 4, Mistral 4)."""

    beta: float
    every: int
    offset: int = 0


@dataclass(frozen=True, kw_only=True)
class BlocksSpec:
    """Which blocks of `block` tokens a query attends to (MiniMax-M3); names are relative to `prefix`.

    index_q_proj and index_k_proj read the layer's input; their norms and the rotation are as those of queries and keys.
    heads: as many as key heads, each choosing for its own. The top_k best blocks are seen, the last `local` among them.
    """

    prefix: str
    heads: int
    head_dim: int
    block: int
    top_k: int
    local: int
    rope: RopeSpec
    norm_eps: float
    norm_kind: NormKind


@dataclass(frozen=True, kw_only=True)
class AttentionSpec:
    """Grouped-query softmax attention; names are relative to `prefix`.

    window: a query sees itself and the window - 1 tokens before it; None sees everything.
    whole_pictures: with a window; a token of a picture sees those behind it in the same picture, too.
    chunk: a query sees what lies in its own chunk of so many positions, counted from 0; None sees everything.
    qk_norm: 'head' normalizes each head's head_dim, 'full' the whole width of q and of k; None: no norm.
    v_norm: an RMS norm without scale on each value head (eps of the qk norms).
    v: None takes the values from k's projection, before its norm and rope.
    gated: the output is multiplied by sigmoid(gate). gate: projection of the gates, as wide as the queries'; None: q's
    projection is twice as wide, per head [query | gate]. head_gate: projection of one gate for each head, instead.
    value_dim: width of a value head, where it is less than head_dim. value_scale: multiplies the values.
    qkv: one projection of queries, keys and values, instead of three. q_norm, k_norm: None has no learned scale.
    sinks: bare tensor [heads] of extra logits that take part in the softmax and add nothing; None: none.
    blocks: chooses what a query sees, of a layer without window, chunks and sinks; None sees everything.
    """

    prefix: str
    heads: int
    kv_heads: int
    head_dim: int
    scale: float
    rope: RopeSpec | None
    window: int | None = None
    qkv_bias: bool = False
    o_bias: bool = False
    qk_norm: Literal["head", "full"] | None = None
    qk_norm_kind: NormKind = "rms"
    qk_norm_eps: float = 1e-6
    qk_norm_after_rope: bool = False
    v_norm: bool = False
    clip_qkv: float | None = None
    gated: bool = False
    sinks: str | None = None
    chunk: int | None = None
    whole_pictures: bool = False
    temperature: TemperatureSpec | None = None
    value_dim: int | None = None
    value_scale: float = 1.0
    qkv: str | None = None
    gate: str | None = None
    head_gate: str | None = None
    blocks: BlocksSpec | None = None
    q: str = "q_proj"
    k: str = "k_proj"
    v: str | None = "v_proj"
    o: str = "o_proj"
    q_norm: str | None = "q_norm"
    k_norm: str | None = "k_norm"

    @property
    def value_width(self) -> int:
        """Of one value head."""
        return self.value_dim or self.head_dim

    @property
    def packable(self) -> bool:
        """Whether its keys and values may be held in 8 bits: where native code goes over them as they are kept."""
        return self.blocks is None and self.chunk is None and self.temperature is None and self.value_dim is None

    @property
    def plain_values(self) -> bool:
        """Whether values are used as their projection is stored, neither widened nor scaled."""
        return self.value_dim is None and self.value_scale == 1.0

    @property
    def projections(self) -> tuple[str, ...]:
        """Names of the modules whose outputs are queries, keys and values (unless they are the keys), in this order."""
        parts = (self.q, self.k, self.v) if self.qkv is None else (self.qkv,)
        return tuple(f"{self.prefix}.{name}" for name in parts if name is not None)


@dataclass(frozen=True, kw_only=True)
class IndexerSpec:
    """Which top_k of the tokens before it a query attends to (DeepSeek-V3.2, section 2.1); names relative to `prefix`.

    wq_b reads the normed query latent, wk, k_norm (LayerNorm) and weights_proj the layer's input. The first `rope.dim`
    dimensions turn. shared: no tensors of its own; the choice of the indexer before it holds.
    """

    prefix: str
    heads: int
    head_dim: int
    top_k: int
    rope: RopeSpec
    shared: bool = False
    norm_eps: float = 1e-6


@dataclass(frozen=True, kw_only=True)
class MlaSpec:
    """Multi-head latent attention (DeepSeek), run absorbed over the latent cache; names are relative to `prefix`.

    q_rank: None has one q_proj; otherwise q_a_proj, q_a_layernorm, q_b_proj. scale: final, yarn's mscale folded in.
    a_bias: q_a_proj and kv_a_proj_with_mqa have biases. norm_eps: of the two latent norms.
    rope: None rotates nothing; the key that all heads share is there all the same. latent_scale: multiplies the normed
    latent. indexer: chooses what a query sees (DeepSeek-V3.2); None sees everything.
    """

    prefix: str
    heads: int
    q_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    scale: float
    rope: RopeSpec | None
    norm_eps: float = 1e-6
    a_bias: bool = False
    o_bias: bool = False
    latent_scale: float = 1.0
    temperature: TemperatureSpec | None = None
    indexer: IndexerSpec | None = None


@dataclass(frozen=True, kw_only=True)
class DeltaNetSpec:
    """Gated DeltaNet linear attention (Qwen3-Next, Qwen3.5); names are relative to `prefix`.

    fused: in_proj_qkvz and in_proj_ba, grouped by key head; otherwise in_proj_qkv, in_proj_z, in_proj_b, in_proj_a.
    """

    prefix: str
    k_heads: int
    v_heads: int
    k_dim: int
    v_dim: int
    kernel: int
    norm_eps: float
    fused: bool


@dataclass(frozen=True)
class ShortConvSpec:
    """Gated short convolution (LFM2): in_proj to [B | C | x], depthwise causal conv of B * x, times C, out_proj."""

    prefix: str
    hidden: int
    kernel: int
    bias: bool


@dataclass(frozen=True, kw_only=True)
class Mamba2Spec:
    """Mamba-2; names are relative to `prefix`. heads of head_dim share B and C of `state` values in `groups` groups.

    bias: in_proj and out_proj have one. steps: least and largest time step, for prompts and single tokens alike.
    """

    prefix: str
    heads: int
    head_dim: int
    state: int
    groups: int
    kernel: int
    norm_eps: float
    bias: bool
    conv_bias: bool
    steps: tuple[float, float]

    @property
    def inner(self) -> int:
        """Width of all heads together."""
        return self.heads * self.head_dim

    @property
    def channels(self) -> int:
        """What the convolution goes over: the heads' inputs, B and C."""
        return self.inner + 2 * self.groups * self.state


@dataclass(frozen=True)
class KdaSpec:
    """Kimi Delta Attention; names are relative to `prefix`. Keys and values have heads of the same size."""

    prefix: str
    heads: int
    head_dim: int
    kernel: int
    norm_eps: float


@dataclass(frozen=True)
class EntriesSpec:
    """One entry [dim] for every `ratio` tokens (DeepSeek-V4); names are relative to `prefix`: wkv, wgate, ape, norm.

    overlaps: the tokens of the window before take part in an entry, with rows of their own.
    """

    prefix: str
    ratio: int
    dim: int
    overlaps: bool
    rope: RopeSpec
    norm_eps: float


@dataclass(frozen=True)
class EntryIndexSpec:
    """Which top_k of the entries a query sees, by `heads` heads; indexer.wq_b reads the normed latent of queries."""

    heads: int
    top_k: int


@dataclass(frozen=True, kw_only=True)
class CompressedSpec:
    """Attention to a window and to compressed entries (DeepSeek-V4); names are relative to `prefix`.

    One head of keys, which are the values; the last `rope.dim` dimensions turn, and turn back once they are mixed.
    wq_a, q_norm, wq_b, a norm of each query head; wkv, kv_norm; wo_a in `groups` of heads, each to `rank`; wo_b.
    compressed: what entries are made of: none, those of keys, or those of keys and those that `index` scores.
    """

    prefix: str
    heads: int
    head_dim: int
    q_rank: int
    rope: RopeSpec
    window: int
    groups: int
    rank: int
    norm_eps: float
    kv_norm: str
    compressed: tuple[EntriesSpec, ...] = ()
    index: EntryIndexSpec | None = None


MixerSpec = AttentionSpec | MlaSpec | DeltaNetSpec | ShortConvSpec | Mamba2Spec | KdaSpec | CompressedSpec
