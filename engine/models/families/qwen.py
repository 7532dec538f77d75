"""Qwen: softmax routers, and from Qwen3-Next on Gated DeltaNet between layers of attention."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from engine.models.config import Config
from engine.models.families.parts import FULL, LINEAR, SLIDING, attention, dense_mlp, llama, plain_moe, sparse_steps
from engine.models.spec import (
    AttentionSpec,
    DecoderSpec,
    DeltaNetSpec,
    MixerSpec,
    MlpSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
)


def qwen2_moe(c: Config) -> DecoderSpec:
    """Qwen2-MoE and Qwen1.5-MoE: biases on queries, keys and values, a gated shared expert.

    Where windows are used at all: by layer_types, or every other one of the first max_window_layers.
    """
    count, sparse = c.integer("num_hidden_layers"), sparse_steps(c)
    windows: list[int | None] = [None] * count
    if c.flag("use_sliding_window", False):
        upto, window = c.integer("max_window_layers", 28), c.integer("sliding_window", 4096)
        usual = [SLIDING if (i + 1) % 2 and i < upto else FULL for i in range(count)]
        windows = [window if kind == SLIDING else None for kind in c.layer_types(count, (SLIDING, FULL), usual)]

    def mixer(prefix: str, i: int) -> AttentionSpec:
        own = attention(c, f"{prefix}.self_attn", bias=None)
        return replace(own, window=windows[i], qkv_bias=c.flag("qkv_bias", True))

    def mlp(prefix: str, i: int) -> MlpSpec:
        return _gated_moe(c, prefix, c.flag("norm_topk_prob", False)) if sparse[i] else dense_mlp(c, f"{prefix}.mlp")

    return llama(c, c.number("rms_norm_eps", 1e-6), mixer, mlp)


def qwen3_moe(c: Config) -> DecoderSpec:
    """Qwen3-MoE: per-head norms, no shared expert."""
    return _qwen3(c, "model", theta=1e4, normalize=c.flag("norm_topk_prob", False))


def qwen3_vl_moe(c: Config) -> DecoderSpec:
    """Qwen3-VL-MoE: the layers of Qwen3-MoE, one name deeper; weights of experts always sum to 1.

    For text its rope has one axis only (see vision/positions.py). Whether the head is tied stands outside text_config,
    inside which transformers writes its default.
    """
    spec = _qwen3(c, "model.language_model", theta=5e5, normalize=True)
    tied = Config({**c.whole, "text_config": None}).flag("tie_word_embeddings", False)
    return replace(spec, head=None if tied else "lm_head")


def _qwen3(c: Config, root: str, *, theta: float, normalize: bool) -> DecoderSpec:
    """root, theta: as of llama and attention. normalize: whether the weights of a token's experts sum to 1."""
    eps, sparse = c.number("rms_norm_eps", 1e-6), sparse_steps(c)
    window = c.integer("sliding_window") if c.flag("use_sliding_window", False) and c.has("sliding_window") else None

    def mixer(prefix: str, i: int) -> AttentionSpec:
        return replace(attention(c, f"{prefix}.self_attn", theta=theta), window=window, qk_norm="head", qk_norm_eps=eps)

    def mlp(prefix: str, i: int) -> MlpSpec:
        if not sparse[i]:
            return dense_mlp(c, f"{prefix}.mlp")
        router = RouterSpec(f"{prefix}.mlp.gate", *c.experts(), "softmax", normalize=normalize)
        return plain_moe(c, router, c.integer("moe_intermediate_size"))

    return llama(c, eps, mixer, mlp, root=root)


def qwen3_next(c: Config) -> DecoderSpec:
    """Qwen3-Next: three layers of Gated DeltaNet to one of gated attention, gated shared expert, (1 + w) norms."""
    sparse = [*sparse_steps(c), True]

    def mlp(prefix: str, i: int) -> MlpSpec:
        return _gated_moe(c, prefix, c.flag("norm_topk_prob", True)) if sparse[i] else dense_mlp(c, f"{prefix}.mlp")

    return _hybrid(c, "model", mlp, fused=True)


def qwen3_5_moe(c: Config) -> DecoderSpec:
    """Qwen3.5-MoE: the layers of Qwen3-Next with DeltaNet's projections apart, and experts in every layer.

    With images the text model lies one name deeper; for text its rope has one axis only (see vision/positions.py).
    """
    c.expect("attn_output_gate", True)
    root = "model.language_model" if "text_config" in c.raw else "model"
    return _hybrid(c, root, lambda prefix, i: _gated_moe(c, prefix, normalize=True), fused=False)


def _hybrid(c: Config, root: str, mlp: Callable[[str, int], MlpSpec], fused: bool) -> DecoderSpec:
    """layer_types says which layers are linear; by default every full_attention_interval-th has attention, and that of
    multi-token prediction has it always.

    fused: DeltaNet's projections are stored in two matrices, not four.
    """
    eps = c.number("rms_norm_eps", 1e-6)
    count, interval = c.integer("num_hidden_layers"), c.integer("full_attention_interval", 4, low=1)
    usual = [LINEAR if (i + 1) % interval else FULL for i in range(count)]
    kinds = [*c.layer_types(count, (LINEAR, FULL), usual), FULL]

    def mixer(prefix: str, i: int) -> MixerSpec:
        if kinds[i] == LINEAR:
            return _delta_net(c, f"{prefix}.linear_attn", eps, fused)
        own = attention(c, f"{prefix}.self_attn", head_dim=256, partial=0.25)
        return replace(own, qk_norm="head", qk_norm_kind="rms_plus_one", qk_norm_eps=eps, gated=True)

    return llama(c, eps, mixer, mlp, kind="rms_plus_one", root=root)


def _delta_net(c: Config, prefix: str, eps: float, fused: bool) -> DeltaNetSpec:
    c.expect("hidden_act", "silu")  # the convolution's activation too
    return DeltaNetSpec(
        prefix=prefix,
        k_heads=c.integer("linear_num_key_heads"),
        v_heads=c.integer("linear_num_value_heads"),
        k_dim=c.integer("linear_key_head_dim"),
        v_dim=c.integer("linear_value_head_dim"),
        kernel=c.integer("linear_conv_kernel_dim", 4),
        norm_eps=eps,
        fused=fused,
    )


def _gated_moe(c: Config, layer: str, normalize: bool) -> MoeSpec:
    """Softmax router, and a shared expert scaled by a sigmoid of its own. layer: prefix of the layer's tensors."""
    router = RouterSpec(f"{layer}.mlp.gate", *c.experts(), "softmax", normalize=normalize)
    shared = dense_mlp(c, f"{layer}.mlp.shared_expert", c.integer("shared_expert_intermediate_size"))
    gate = f"{layer}.mlp.shared_expert_gate"
    return plain_moe(c, router, c.integer("moe_intermediate_size"), SharedExpertSpec(shared, gate))
