"""Models that are not here, as the planner wants them: by what is known of them, which may be little."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.convert.importer import GROUPS
from engine.formats.families import text_config
from engine.library.catalogue import CatalogueEntry, CompressedAttention, LatentAttention, ModelShape
from engine.library.config_facts import config_facts
from engine.library.facts import CONTEXT, compat_kv_values, compat_token_bytes
from engine.library.import_compatibility import expert_count
from engine.library.listing import experts_per_token
from engine.limits import check_config
from engine.models.families import is_known, read_spec
from engine.models.footprint import matrices, nbytes
from engine.models.layers.weight_format import KINDS, Kind, holding
from engine.planning.facts import ModelFacts
from engine.store.layout import ExpertSpec

BF16 = 2  # bytes
_WIDTHS = ("moe_intermediate_size", "expert_ffn_hidden_size", "intermediate_size")
_DENSE_LAYERS = ("first_k_dense_replace", "moe_layer_start_index", "num_dense_layers")

Group = tuple[int, ExpertSpec]  # a layer: so many experts of this kind


def catalogue_facts(entry: CatalogueEntry, top: int) -> ModelFacts:
    """Of a model of the catalogue: its shape is known, its config is not."""
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
    grown = (shape.dense_parameters - words) / (counted - words)

    def scaled(kind: Kind, size: int) -> int:
        held = holding(kind)
        known = sum(nbytes(m, held) for m in by_words)
        return round((size - known) * grown) + known

    attending = (shape.layers - shape.linear.layers) / shape.layers
    return replace(
        facts,
        dense_bytes={kind: scaled(kind, facts.dense_bytes[kind]) for kind in KINDS if kind in facts.dense_bytes},
        kv_bytes=round(facts.kv_bytes * attending),
        context_length=entry.context_length,
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
    config: Mapping[str, Any], name: str, dense: int, dense_bytes: int, groups: Iterable[Group]
) -> ModelFacts:
    """Of a model whose headers were read. dense: parameters beside the experts, in `dense_bytes` as they are stored.

    groups: by layer, of the tier that would be stored. Raises UnderhillError as config_facts does.
    """
    groups, text = list(groups), text_config(config)
    disk = dense_bytes + sum(count * spec.layout.nbytes for count, spec in groups)
    if is_known(config):
        return replace(config_facts(config, name, groups[0][1].top), disk_bytes=disk)
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


def expert_spec(hidden: int, intermediate: int, top: int, gate: bool = True) -> ExpertSpec:
    """How an expert of these widths would be stored."""
    group = next((g for g in GROUPS if not hidden % g and not intermediate % g), GROUPS[-1])
    return ExpertSpec(hidden, intermediate, top, group, gate)


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


def _number(config: Mapping[str, Any], *names: str) -> int:
    """The first of these that the config has as a plain number; 0 where there is none."""
    return next((value for name in names if type(value := config.get(name)) is int and 0 < value < 2**31), 0)
