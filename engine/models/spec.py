"""What one decoder is made of: frozen dataclasses that a family's file fills in from its config.

Tensor names are the original ones of the hub, in full ('model.layers.3.self_attn.q_proj'), without '.weight' where the
thing named is a linear layer or a norm, and exactly as stored where it is a bare tensor (sinks, correction biases).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NormKind = Literal["rms", "rms_plus_one", "layer"]
ActivationKind = Literal["silu", "gelu", "gelu_tanh", "relu", "clamped_swiglu"]


@dataclass(frozen=True)
class NormSpec:
    """A norm over the last dimension.

    name: module whose '.weight' (and, for 'layer', '.bias') scales it; None has no learned scale.
    kind: 'rms' (times w), 'rms_plus_one' (times 1 + w), 'layer' (LayerNorm with weight and bias).
    """

    name: str | None
    eps: float
    kind: NormKind = "rms"


@dataclass(frozen=True)
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
    """

    dim: int
    theta: float
    interleaved: bool = False
    scaling: RopeScaling | None = None
    rotated: int | None = None


# ---- token mixers ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class AttentionSpec:
    """Grouped-query softmax attention; names are relative to `prefix`.

    window: a query sees itself and the window - 1 tokens before it; None sees everything.
    qk_norm: 'head' normalizes each head's head_dim, 'full' the whole width of q and of k; None: no norm.
    v_norm: an RMS norm without scale on each value head (eps of the qk norms).
    v: None takes the values from k's projection, before its norm and rope.
    gated: q's projection is twice as wide, per head [query | gate]; the output is multiplied by sigmoid(gate).
    sinks: bare tensor [heads] of extra logits that take part in the softmax and add nothing; None: none.
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
    q: str = "q_proj"
    k: str = "k_proj"
    v: str | None = "v_proj"
    o: str = "o_proj"
    q_norm: str = "q_norm"
    k_norm: str = "k_norm"


@dataclass(frozen=True)
class MlaSpec:
    """Multi-head latent attention (DeepSeek), run absorbed over the latent cache; names are relative to `prefix`.

    q_rank: None has one q_proj; otherwise q_a_proj, q_a_layernorm, q_b_proj. scale: final, yarn's mscale folded in.
    a_bias: q_a_proj and kv_a_proj_with_mqa have biases. norm_eps: of the two latent norms.
    """

    prefix: str
    heads: int
    q_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    v_dim: int
    scale: float
    rope: RopeSpec
    norm_eps: float = 1e-6
    a_bias: bool = False
    o_bias: bool = False


@dataclass(frozen=True)
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


MixerSpec = AttentionSpec | MlaSpec | DeltaNetSpec | ShortConvSpec


# ---- feed-forward ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ActivationSpec:
    """down(act(gate) * up); clamped_swiglu (gpt-oss): (up + 1) * gate * sigmoid(alpha * gate), clamped to limit."""

    kind: ActivationKind = "silu"
    alpha: float = 1.702
    limit: float = 7.0


@dataclass(frozen=True)
class DenseMlpSpec:
    """A gated MLP; names are relative to `prefix`. fused: one projection [2I, H] named `up` holds gate, then up."""

    prefix: str
    intermediate: int
    activation: ActivationSpec = ActivationSpec()
    bias: bool = False
    fused: bool = False
    gate: str = "gate_proj"
    up: str = "up_proj"
    down: str = "down_proj"


@dataclass(frozen=True)
class RouterSpec:
    """Who computes a token. Logits, scores and weights are float32.

    score: 'softmax' over all experts then top k; 'topk_softmax' top k of the logits then softmax of those;
    'sigmoid' then top k; 'sparsemixer' (phimoe: top 1 twice, each with its own masked softmax; k = 2).
    choice_bias: bare tensor [E] added to the scores for choosing only (flattened when stored [1, E]).
    groups, top_groups: only experts of the best groups can be chosen; a group is rated by group_score: 'max', or
    'top2', the sum of its two best choice scores. masked_score: what the choice scores of other groups become.
    normalize: weights divided by their sum (+ normalize_eps, at least normalize_min). scale: multiplies them last.
    input_norm_eps, input_scale (gemma4): the router reads RMS(un-normed residual) * input_scale * hidden**-0.5.
    expert_scale (gemma4): bare tensor [E] multiplying the weights of the chosen.
    """

    weight: str
    experts: int
    top_k: int
    score: Literal["softmax", "topk_softmax", "sigmoid", "sparsemixer"]
    bias: bool = False
    choice_bias: str | None = None
    groups: int = 1
    top_groups: int = 1
    group_score: Literal["max", "top2"] = "top2"
    masked_score: float = 0.0
    normalize: bool = False
    normalize_eps: float = 0.0
    normalize_min: float = 0.0
    scale: float = 1.0
    jitter: float = 0.0
    input_norm_eps: float | None = None
    input_scale: str | None = None
    expert_scale: str | None = None


@dataclass(frozen=True)
class SharedExpertSpec:
    """The expert that every token visits. gate: linear [1, H] whose sigmoid scales it; None: not scaled."""

    mlp: DenseMlpSpec
    gate: str | None = None


@dataclass(frozen=True)
class ExpertsSpec:
    """What the expert backend must compute: down(act(gate x) * up x), biases where `bias`."""

    count: int
    hidden: int
    intermediate: int
    activation: ActivationSpec = ActivationSpec()
    bias: bool = False


@dataclass(frozen=True)
class MoeSpec:
    """Router, routed experts (run by the backend) and the shared expert, if any."""

    router: RouterSpec
    experts: ExpertsSpec
    shared: SharedExpertSpec | None = None


@dataclass(frozen=True)
class ParallelMlpSpec:
    """A dense MLP and a MoE block side by side (gemma4): after_dense(mlp(h)) + after_moe(moe(before_moe(residual))).

    The MoE half reads the residual, not the MLP's normed input.
    """

    dense: DenseMlpSpec
    moe: MoeSpec
    before_moe: NormSpec
    after_dense: NormSpec
    after_moe: NormSpec


MlpSpec = DenseMlpSpec | MoeSpec | ParallelMlpSpec


# ---- layers and decoder ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PerLayerInputsSpec:
    """Inputs [T, dim] of every layer (gemma4): (norm(projection(x) / hidden**0.5) + embedding[id] * dim**0.5) / 2**0.5.

    embedding: table [V, layers * dim]. projection: linear [layers * dim, hidden] of the embedded tokens x.
    """

    embedding: str
    projection: str
    norm: NormSpec
    dim: int


@dataclass(frozen=True)
class PerLayerGateSpec:
    """How a layer takes its inputs in: x += norm(projection(act(gate(x)) * inputs))."""

    gate: str
    projection: str
    norm: NormSpec
    activation: ActivationSpec


@dataclass(frozen=True)
class LayerSpec:
    """x += m * after_mixer(mixer(before_mixer(x))); x += m * after_mlp(mlp(before_mlp(x))); x *= scalar.

    A norm that is None leaves things as they are. index: the model's own layer index, which the expert backend is
    called with. m: residual_multiplier. per_layer: what is added before the scalar, with DecoderSpec.per_layer_inputs
    only. scalar: bare tensor [1] multiplying the layer's output (gemma4).
    """

    index: int
    mixer: MixerSpec
    mlp: MlpSpec
    before_mixer: NormSpec | None = None
    before_mlp: NormSpec | None = None
    after_mixer: NormSpec | None = None
    after_mlp: NormSpec | None = None
    residual_multiplier: float = 1.0
    per_layer: PerLayerGateSpec | None = None
    scalar: str | None = None


@dataclass(frozen=True)
class DecoderSpec:
    """A whole causal language model.

    logits = softcap(head(norm(x)) * logit_multiplier), x starting as embedding[id] * embedding_multiplier.
    head: None ties the head to the embedding. max_positions: the context the model was made for.
    """

    family: str
    hidden: int
    vocab: int
    max_positions: int
    layers: tuple[LayerSpec, ...]
    norm: NormSpec
    embedding: str = "model.embed_tokens"
    head: str | None = "lm_head"
    head_bias: bool = False
    embedding_multiplier: float = 1.0
    logit_multiplier: float = 1.0
    logit_softcap: float | None = None
    per_layer_inputs: PerLayerInputsSpec | None = None

    @property
    def moe_layers(self) -> dict[int, MoeSpec]:
        """Model layer index to MoE block, for the layers that have one."""
        found = ((layer.index, moe_of(layer.mlp)) for layer in self.layers)
        return {index: moe for index, moe in found if moe is not None}


def moe_of(mlp: MlpSpec) -> MoeSpec | None:
    """The MoE block of a feed-forward, if it has one."""
    if isinstance(mlp, ParallelMlpSpec):
        return mlp.moe
    return mlp if isinstance(mlp, MoeSpec) else None
