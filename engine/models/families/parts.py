"""What most families' specs have in common."""

from __future__ import annotations

from collections.abc import Sequence

from engine.models.config import Config
from engine.models.spec import (
    DecoderSpec,
    DenseMlpSpec,
    ExpertsSpec,
    LayerSpec,
    MixerSpec,
    MlpSpec,
    MoeSpec,
    NormKind,
    NormSpec,
    RouterSpec,
    SharedExpertSpec,
)


def norm(name: str, eps: float, kind: NormKind = "rms") -> NormSpec:
    """A norm with a learned scale."""
    return NormSpec(name, eps, kind)


def llama_layer(
    index: int, mixer: MixerSpec, mlp: MlpSpec, *, eps: float, kind: NormKind = "rms", residual_multiplier: float = 1.0,
    root: str = "model",
) -> LayerSpec:  # fmt: skip
    """A pre-norm layer with the names that Llama gave its norms. root: what the decoder's tensors are under."""
    prefix = f"{root}.layers.{index}"
    return LayerSpec(
        index, mixer, mlp,
        before_mixer=norm(f"{prefix}.input_layernorm", eps, kind),
        before_mlp=norm(f"{prefix}.post_attention_layernorm", eps, kind),
        residual_multiplier=residual_multiplier,
    )  # fmt: skip


def inside(c: Config, alone: str = "model") -> tuple[str, str]:
    """What a decoder's tensors are under, and its head's name: of a language model alone, or beside what sees."""
    return ("language_model.model", "language_model.lm_head") if c.has("text_config") else (alone, "lm_head")


def dense_mlp(c: Config, prefix: str, intermediate: int | None = None, bias: bool = False) -> DenseMlpSpec:
    """A gated MLP of gate_proj, up_proj and down_proj."""
    size = c.integer("intermediate_size") if intermediate is None else intermediate
    return DenseMlpSpec(prefix, size, c.activation(), bias)


def plain_moe(c: Config, router: RouterSpec, intermediate: int, shared: SharedExpertSpec | None = None) -> MoeSpec:
    """Routed experts without biases, of the config's activation."""
    return MoeSpec(router, ExpertsSpec(router.experts, c.integer("hidden_size"), intermediate, c.activation()), shared)


def causal_lm(
    c: Config,
    layers: Sequence[LayerSpec],
    eps: float,
    kind: NormKind = "rms",
    *,
    prefix: str = "model",
    final_norm: str = "norm",
    embedding: str = "embed_tokens",
    head: str = "lm_head",
    tied: bool = False,
    head_bias: bool = False,
    embedding_multiplier: float = 1.0,
    logit_multiplier: float = 1.0,
    logit_softcap: float | None = None,
) -> DecoderSpec:
    """A decoder under `prefix` with its head beside it. tied: what the family takes where the config does not say."""
    return DecoderSpec(
        family=c.family,
        hidden=c.integer("hidden_size", low=1),
        vocab=c.integer("vocab_size", low=1),
        max_positions=c.integer("max_position_embeddings", low=1),
        layers=tuple(layers),
        norm=norm(f"{prefix}.{final_norm}", eps, kind),
        embedding=f"{prefix}.{embedding}",
        head=None if c.flag("tie_word_embeddings", tied) else head,
        head_bias=head_bias,
        embedding_multiplier=embedding_multiplier,
        logit_multiplier=logit_multiplier,
        logit_softcap=logit_softcap,
    )  # fmt: skip
