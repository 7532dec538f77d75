"""What a layer does with each token by itself: MLPs, routers and experts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.models.spec.parts import NormSpec

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


@dataclass(frozen=True)
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
    """Who computes a token. Logits, scores and weights are float32.

    score: 'softmax' over all experts then top k; 'topk_softmax' top k of the logits then softmax of those;
    'sigmoid' or 'sqrtsoftplus' then top k; 'sparsemixer' (phimoe: top 1 twice, each with a masked softmax; k = 2).
    choice_bias: bare tensor [E] added to the scores for choosing only (flattened when stored [1, E]).
    groups, top_groups: only experts of the best groups can be chosen; a group is rated by group_score: 'max', or
    'top2', the sum of its two best choice scores. masked_score: what the choice scores of other groups become.
    normalize: weights divided by their sum (+ normalize_eps, at least normalize_min). scale: multiplies them last.
    input_norm_eps, input_scale (gemma4): the router reads RMS(un-normed residual) * input_scale * hidden**-0.5.
    expert_scale (gemma4): bare tensor [E] multiplying the weights of the chosen.
    by_token (DeepSeek-V4): bare tensor [tokens, K] of whole numbers that names a token's experts, which are weighed
    by their scores.
    """

    weight: str
    experts: int
    top_k: int
    score: Literal["softmax", "topk_softmax", "sigmoid", "sqrtsoftplus", "sparsemixer"]
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

    A router may know more experts than there are: those beyond give back their input as it is (LongCat).
    latent: experts work in a narrower space; router and shared expert do not.
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
