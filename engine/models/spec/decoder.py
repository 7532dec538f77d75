"""What a layer does with each token by itself (MLPs, routers, experts), layers, and the decoder that they make."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from engine.models.spec.mixers import MixerSpec, NormSpec

ActivationKind = Literal[
    "silu", "gelu", "gelu_tanh", "relu", "relu2", "clamped_swiglu", "limited_swiglu", "late_limited_swiglu"
]


@dataclass(frozen=True)
class ActivationSpec:
    """down(act(gate) * up); clamped_swiglu (gpt-oss): (up + 1) * gate * sigmoid(alpha * gate), clamped to limit.

    limited_swiglu (DeepSeek-V4): gate <= limit, |up| <= limit; silu(gate) * up.
    late_limited_swiglu (Step 3.5): silu(gate) <= limit, |up| <= limit; their product.
    """

    kind: ActivationKind = "silu"
    alpha: float = 1.702
    limit: float = 7.0


@dataclass(frozen=True, kw_only=True)
class DenseMlpSpec:
    """A gated MLP; names are relative to `prefix`. fused: one projection [2I, H] named `up` holds gate, then up.

    gate: None has none: down(act(up x)).
    """

    prefix: str
    intermediate: int
    activation: ActivationSpec = ActivationSpec()
    bias: bool = False
    fused: bool = False
    gate: str | None = "gate_proj"
    up: str = "up_proj"
    down: str = "down_proj"


@dataclass(frozen=True)
class RouterSpec:
    """How a router scores, groups and chooses experts. Logits, scores and weights are float32.

    score: 'softmax' over all experts then top k; 'topk_softmax' top k of the logits then softmax of those;
    'sigmoid' or 'sqrtsoftplus' then top k; 'sparsemixer' (phimoe: top 1 twice, each with a masked softmax; k = 2).
    choice_bias: bare tensor [E] added to the scores for choosing only (flattened when stored [1, E]).
    groups, top_groups: only experts of the best groups can be chosen; a group is rated by group_score: 'max', or
    'top2', the sum of its two best choice scores. masked_score: what the choice scores of other groups become.
    normalize: weights divided by their sum (+ normalize_eps, at least normalize_min). scale: multiplies them last.
    input_norm_eps, input_scale (gemma4): the router reads RMS(un-normed residual) * input_scale * hidden**-0.5.
    expert_scale (gemma4): bare tensor [E] multiplying the weights of the chosen.
    by_token (DeepSeek-V4): hash routing. A bare integer tensor [vocabulary, K] names each token's experts, which are
    weighed by their scores.
    """

    weight: str
    experts: int
    top_k: int
    score: Literal["softmax", "topk_softmax", "sigmoid", "sqrtsoftplus", "sparsemixer"]
    _: KW_ONLY
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
    by_token: str | None = None
    tokens: int = 0


@dataclass(frozen=True)
class SharedExpertSpec:
    """The expert that every token visits. gate: linear [1, H] whose sigmoid scales it; None: not scaled."""

    mlp: DenseMlpSpec
    gate: str | None = None


@dataclass(frozen=True)
class ExpertsSpec:
    """What the expert backend must compute: down(act(gate x) * up x), or down(act(up x)); biases where `bias`."""

    count: int
    hidden: int
    intermediate: int
    activation: ActivationSpec = ActivationSpec()
    bias: bool = False
    has_gate: bool = True


@dataclass(frozen=True)
class LatentSpec:
    """What takes a layer's input into the space of its experts, and their answer out of it (Nemotron 3 Super)."""

    down: str
    up: str
    bias: bool = False


@dataclass(frozen=True)
class MoeSpec:
    """Router, routed experts (run by the backend) and the shared expert, if any.

    A router may know more experts than there are: those beyond are identity experts, which return their input
    (LongCat). latent: experts work in a narrower space; router and shared expert do not.
    weigh_input: the expert is given its weight times the input, and its output counts as it is (Llama 4; k = 1).
    """

    router: RouterSpec
    experts: ExpertsSpec
    shared: SharedExpertSpec | None = None
    weigh_input: bool = False
    latent: LatentSpec | None = None


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
class StreamsSpec:
    """`count` residual streams, out of which one input is taken (DeepSeek-V4, section 2.2): see streams.py.

    Bare tensors: {prefix}_fn, {prefix}_base, {prefix}_scale. rounds: of balancing. norm_eps: of all streams together.
    """

    prefix: str
    count: int
    rounds: int
    eps: float
    norm_eps: float


@dataclass(frozen=True, kw_only=True)
class LayerSpec:
    """x += m * after_mixer(mixer(before_mixer(x))); x += m * after_mlp(mlp(before_mlp(x))); x *= scalar.

    A mixer or mlp that is None adds nothing. shortcut: a shortcut-connected MoE (ScMoE, LongCat): experts that
    read what the mlp reads, and whose output is added after the next layer that `lands`. A norm that is None leaves
    things as they are. index: the model's own
    layer index, which the expert backend is called with. m: residual_multiplier. per_layer: what is added before the
    scalar, with DecoderSpec.per_layer_inputs only. scalar: bare tensor [1] multiplying the layer's output (gemma4).
    streams: around mixer and mlp, in place of the sums.
    """

    index: int
    mixer: MixerSpec | None
    mlp: MlpSpec | None
    before_mixer: NormSpec | None = None
    before_mlp: NormSpec | None = None
    after_mixer: NormSpec | None = None
    after_mlp: NormSpec | None = None
    residual_multiplier: float = 1.0
    per_layer: PerLayerGateSpec | None = None
    scalar: str | None = None
    shortcut: MoeSpec | None = None
    lands: bool = False
    streams: tuple[StreamsSpec, StreamsSpec] | None = None


@dataclass(frozen=True, kw_only=True)
class MtpSpec:
    """What proposes the token after the next (multi-token prediction: DeepSeek-V3, arXiv 2412.19437, section 2.2).

    x = joint(embedding_norm(embedding[t_i+1]) | hidden_norm(h_i)); logits of t_i+2 = head(norm(layer(x))).
    Embedding and head are the model's own. h_i: what its head reads at position i, behind its last norm.
    """

    joint: str
    embedding_norm: NormSpec
    hidden_norm: NormSpec
    layer: LayerSpec
    norm: NormSpec

    @property
    def moe(self) -> MoeSpec:
        """Of its layer, which has one."""
        found = moe_of(self.layer.mlp)
        assert found is not None
        return found


@dataclass(frozen=True, kw_only=True)
class DecoderSpec:
    """A whole causal language model.

    logits = softcap(head(norm(x)) * logit_multiplier), x starting as embedding[id] * embedding_multiplier.
    head: None ties the head to the embedding. head_normed: its columns have length 1 (Ling, the first generation).
    max_positions: the context the model was made for.
    streams: what the norm reads of several residual streams; every layer has its own then. mtp: None: it has none.
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
    head_normed: bool = False
    embedding_multiplier: float = 1.0
    logit_multiplier: float = 1.0
    logit_softcap: float | None = None
    per_layer_inputs: PerLayerInputsSpec | None = None
    streams: StreamsSpec | None = None
    mtp: MtpSpec | None = None

    @property
    def moe_layers(self) -> dict[int, MoeSpec]:
        """Model layer index to MoE block, for the layers that have one."""
        found = ((layer.index, layer.shortcut or moe_of(layer.mlp)) for layer in self.layers)
        return {index: moe for index, moe in found if moe is not None}


def moe_of(mlp: MlpSpec | None) -> MoeSpec | None:
    """The MoE block of a feed-forward, if it has one."""
    if isinstance(mlp, ParallelMlpSpec):
        return mlp.moe
    return mlp if isinstance(mlp, MoeSpec) else None
