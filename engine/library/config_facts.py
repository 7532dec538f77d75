"""Facts for the planner of models that are not here yet: by their config.json, catalogue entry or headers alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.convert.importer import GROUPS
from engine.errors import UnderhillError
from engine.formats.families import text_config
from engine.library.catalogue import CatalogueEntry, CompressedAttention, FourBit, LatentAttention, ModelShape
from engine.library.facts import (
    CONTEXT,
    compat_kv_values,
    compat_token_bytes,
    kv_values,
    latent_products,
    packed_kv_bytes,
    state_bytes,
    windowed,
)
from engine.library.import_compatibility import expert_count
from engine.library.listing import experts_per_token
from engine.limits import check_config
from engine.models.families import is_known, read_spec
from engine.models.footprint import matrices, mtp_matrices, nbytes, opening_bytes, token_bytes, working_bytes
from engine.models.layers.weight_format import KINDS, Kind, weight_kinds
from engine.models.spec import MoeSpec
from engine.models.vision.footprint import vision_footprint
from engine.planning.facts import ModelFacts
from engine.record.layout import ExpertSpec

BF16 = 2  # bytes


def config_facts(config: Mapping[str, Any], name: str, top: int = 8) -> ModelFacts:
    """As `model_facts` would say of its store, but for norms and other small things, which no spec counts.

    top: tier that would be stored. Raises UnderhillError:
    UNSUPPORTED_MODEL for families without a file, BROKEN_FILE for a config that makes no sense.
    """
    spec = read_spec(config)
    experts = [(moe.experts.count, _moe_spec(moe, top)) for moe in spec.moe_layers.values()]
    tiers = experts[0][1].tiers
    found = tuple(matrices(spec, spec.vocab))
    sizes = {kind: [(m.role, nbytes(m, weight_kinds(kind))) for m in found] for kind in KINDS}
    dense = sum(BF16 * m.rows * m.cols for m in found)
    further = 0  # what multi-token prediction takes on the disk
    if spec.mtp is not None:
        own = spec.mtp.moe
        further = own.experts.count * _moe_spec(own, top).layout.nbytes
        further += sum(BF16 * m.rows * m.cols for m in mtp_matrices(spec.mtp, spec.hidden))
    image_bytes, image_tokens = vision_footprint(config, None)
    return ModelFacts(
        name=name,
        expert_bytes={tier: sum(n * s.layout.bytes_for(tier) for n, s in experts) for tier in tiers},
        record_bytes={tier: max(s.layout.bytes_for(tier) for _, s in experts) for tier in tiers},
        dense_bytes={kind: sum(size for _, size in rows) for kind, rows in sizes.items()},
        kv_bytes=BF16 * kv_values(spec),
        packed_kv_bytes=packed_kv_bytes(spec),
        moe_layers=len(experts),
        experts=max(n for n, _ in experts),
        experts_per_token=max(moe.router.top_k for moe in spec.moe_layers.values()),
        context_length=spec.max_positions or CONTEXT,
        state_bytes=state_bytes(spec),
        looked_up_bytes={kind: sum(size for role, size in rows if role == "table") for kind, rows in sizes.items()},
        head_bytes={kind: sum(size for role, size in rows if role == "head") for kind, rows in sizes.items()},
        opening_bytes=dict.fromkeys(KINDS, opening_bytes(spec, BF16, spec.vocab)),
        token_bytes=token_bytes(spec),
        working_bytes=working_bytes(spec),
        image_bytes=image_bytes,
        image_tokens=image_tokens,
        vocabulary=spec.vocab,
        windowed=windowed(spec),
        latent_products=latent_products(spec),
        disk_bytes=dense + further + sum(n * s.layout.nbytes for n, s in experts),
    )


def parameters(config: Mapping[str, Any]) -> tuple[int, int]:
    """(all, those that one token uses), by the config of a family with a file; zeros where that does not say.

    What a hub counts of packed weights is the numbers that they are packed in, which are fewer.
    """
    try:
        spec = read_spec(config)
    except UnderhillError:
        return 0, 0
    beside = sum(m.rows * m.cols for m in matrices(spec, spec.vocab))
    layers = [(moe, _moe_spec(moe, 8).parameters) for moe in spec.moe_layers.values()]
    held = beside + sum(moe.experts.count * one for moe, one in layers)
    return held, beside + sum(moe.router.top_k * one for moe, one in layers)


def _moe_spec(moe: MoeSpec, top: int) -> ExpertSpec:
    own = moe.experts
    return expert_spec(own.hidden, own.intermediate, top, own.has_gate, own.bias)


_WIDTHS = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
_DENSE_LAYERS = ("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")

Group = tuple[int, ExpertSpec]  # a layer: so many experts of this kind


def catalogue_facts(entry: CatalogueEntry, top: int, source: FourBit | None = None) -> ModelFacts:
    """Of a model of the catalogue: its shape is known, its config is not.

    source: the one of its sources that it comes from; None: its own repository. From GGUF it reads no images.
    """
    shape = entry.shape
    if not is_known({"model_type": entry.model_type}):
        layer = shape.experts, expert_spec(shape.hidden, shape.moe_intermediate, top, shape.gate)
        return compat_facts(
            entry.name, shape.dense_parameters, [layer] * shape.moe_layers, shape.experts_per_token,
            layers=shape.layers, vocabulary=shape.vocab, context_length=entry.context_length,
        )  # fmt: skip
    config = {**_stand_in(shape), "max_position_embeddings": entry.context_length}
    facts = config_facts(config, entry.name, top)
    # Shared experts and linear layers, which the stand-in lacks or has as attention, weigh what they weigh.
    found = tuple(matrices(read_spec(config), shape.vocab))
    by_words = [m for m in found if m.role in ("table", "head")]
    counted, words = (sum(m.rows * m.cols for m in some) for some in (found, by_words))
    # By how much the rest is larger than the stand-in's; table and head are exact and stay as they are.
    grown = (shape.dense_parameters - words) / (counted - words)

    def scaled(kind: Kind, size: int) -> int:
        held = weight_kinds(kind)
        known = sum(nbytes(m, held) for m in by_words)
        return round((size - known) * grown) + known

    image_bytes, image_tokens = (0, 0) if source and source.gguf else vision_footprint(_seeing(entry), None)
    attending = (shape.layers - shape.linear.layers) / shape.layers
    return replace(
        facts,
        dense_bytes={kind: scaled(kind, facts.dense_bytes[kind]) for kind in KINDS if kind in facts.dense_bytes},
        kv_bytes=round(facts.kv_bytes * attending),
        packed_kv_bytes=round(facts.packed_kv_bytes * attending),
        context_length=entry.context_length,
        image_bytes=image_bytes,
        image_tokens=image_tokens,
        disk_bytes=facts.disk_bytes + BF16 * (shape.dense_parameters - counted),
    )


def remote_facts(config: Mapping[str, Any], name: str, parameters: int, top: int) -> ModelFacts:
    """Of a model whose config is known, and how many parameters it has. Raises UnderhillError as config_facts does.

    A family without a file of ours is guessed at: experts as its config counts them, everything else the rest.
    """
    check_config(config)
    text = text_config(config)
    if is_known(config):
        return config_facts(config, name, top)
    count, hidden = expert_count(text), _number(text, "hidden_size")
    spec = expert_spec(max(1, hidden), max(1, _number(text, *_WIDTHS)), top)
    layers = _number(text, "num_hidden_layers")
    moe = max(1, layers - _number(text, *_DENSE_LAYERS))
    if count and parameters:
        moe = max(1, min(moe, parameters // (count * spec.parameters)))
    groups = [(max(1, count), spec)] * moe
    dense = max(parameters - moe * count * spec.parameters, _number(text, "vocab_size") * hidden)
    return compat_facts(
        name, dense, groups, experts_per_token(config), layers=layers, vocabulary=_number(text, "vocab_size"),
        context_length=_number(text, "max_position_embeddings") or CONTEXT,
    )  # fmt: skip


def looked_at_facts(
    config: Mapping[str, Any], name: str, dense: int, dense_bytes: int, groups: Iterable[Group], *, vision: int = 0
) -> ModelFacts:
    """Of a model whose headers were read. dense: parameters beside the experts, in `dense_bytes` as they are stored.

    groups: by layer, of the tier that would be stored. vision: bytes of what it reads images with; 0: it reads none.
    Raises UnderhillError as config_facts does.
    """
    groups, text = list(groups), text_config(config)
    disk = dense_bytes + vision + sum(count * spec.layout.nbytes for count, spec in groups)
    if is_known(config):
        facts = replace(config_facts(config, name, groups[0][1].top), disk_bytes=disk)
        return facts if vision else replace(facts, image_bytes=0, image_tokens=0)
    facts = compat_facts(
        name, dense, groups, experts_per_token(config), layers=_number(text, "num_hidden_layers"),
        vocabulary=_number(text, "vocab_size"), context_length=_number(text, "max_position_embeddings") or CONTEXT,
    )  # fmt: skip
    return replace(facts, disk_bytes=disk)


def compat_facts(
    name: str, dense: int, groups: list[Group], top_k: int, *, layers: int, vocabulary: int, context_length: int
) -> ModelFacts:
    """Of a model that the compatibility backend would run. dense: parameters of everything but the experts."""
    tiers = groups[0][1].tiers
    return ModelFacts(
        name=name,
        expert_bytes={tier: sum(n * s.layout.bytes_for(tier) for n, s in groups) for tier in tiers},
        record_bytes={tier: max(s.layout.bytes_for(tier) for _, s in groups) for tier in tiers},
        dense_bytes={"f32": 4 * dense, "bf16": BF16 * dense},
        kv_bytes=BF16 * compat_kv_values(layers or len(groups)),
        moe_layers=len(groups),
        experts=max(n for n, _ in groups),
        experts_per_token=top_k,
        context_length=context_length,
        token_bytes=compat_token_bytes(top_k),
        lean=False,
        vocabulary=vocabulary,
        disk_bytes=BF16 * dense + sum(n * s.layout.nbytes for n, s in groups),
    )


def expert_spec(hidden: int, intermediate: int, top: int, gate: bool = True, bias: bool = False) -> ExpertSpec:
    """How an expert of these widths would be stored."""
    group = next((g for g in GROUPS if not hidden % g and not intermediate % g), GROUPS[-1])
    return ExpertSpec(hidden, intermediate, top, group, has_gate=gate, has_bias=bias)


def _stand_in(shape: ModelShape) -> dict[str, Any]:
    """The config of a model of this shape, in the words of a family that has its kind of attention."""
    a = shape.attention
    common = {
        "hidden_size": shape.hidden, "intermediate_size": shape.dense_intermediate or shape.moe_intermediate,
        "moe_intermediate_size": shape.moe_intermediate, "num_hidden_layers": shape.layers, "hidden_act": "silu",
        "vocab_size": shape.vocab, "num_attention_heads": a.heads, "num_experts_per_tok": shape.experts_per_token,
        "tie_word_embeddings": shape.tied, "rope_theta": 1e4, "rms_norm_eps": 1e-6, "norm_topk_prob": False,
    }  # fmt: skip
    if isinstance(a, CompressedAttention):
        return {
            **common, "model_type": "deepseek_v4", "n_routed_experts": shape.experts, "n_shared_experts": 0,
            "head_dim": a.head_dim, "q_lora_rank": a.q_rank, "o_groups": a.groups, "o_lora_rank": a.out_rank,
            "norm_topk_prob": True,
        }  # fmt: skip
    if isinstance(a, LatentAttention):
        return {
            **common, "model_type": "deepseek_v2", "n_routed_experts": shape.experts, "n_shared_experts": None,
            "first_k_dense_replace": shape.dense_layers, "q_lora_rank": a.q_rank or None, "kv_lora_rank": a.kv_rank,
            "qk_nope_head_dim": a.nope, "qk_rope_head_dim": a.rope, "v_head_dim": a.v_dim, "topk_method": "greedy",
            "num_key_value_heads": a.heads,
        }  # fmt: skip
    return {
        **common, "model_type": "qwen3_moe", "num_experts": shape.experts, "num_key_value_heads": a.kv_heads,
        "head_dim": a.head_dim, "mlp_only_layers": list(range(shape.dense_layers)),
    }  # fmt: skip


def _seeing(entry: CatalogueEntry) -> dict[str, Any]:
    """What vision_footprint looks at of its config."""
    if not entry.vision:
        return {}
    return {
        "model_type": entry.model_type, "hidden_size": entry.shape.hidden, "hidden_size_per_layer_input": 0,
        "image_token_id": 0, "vision_config": dict(entry.vision),
    }  # fmt: skip


def _number(config: Mapping[str, Any], *names: str) -> int:
    """The first of these that the config has as a plain number; 0 where there is none."""
    return next((value for name in names if type(value := config.get(name)) is int and 0 < value < 2**31), 0)
