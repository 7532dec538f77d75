"""A store and its family's spec, as the planner and the lists want them."""

from __future__ import annotations

from typing import Any

from engine.hardware.plan import ModelFacts
from engine.hub.card import ModelCard
from engine.models import families
from engine.models.spec import AttentionSpec, DecoderSpec, MlaSpec
from engine.store.reader import Store

_TOP_K = ("num_experts_per_tok", "moe_topk", "num_experts_per_token", "top_k_experts", "moe_top_k", "moe_k", "top_k")
_SMALL = 100_000_000  # parameters; below this a model is a toy and the card says so


def family_spec(config: dict[str, Any]) -> DecoderSpec | None:
    """The lean decoder's spec; None where the family has no file and the compatibility backend serves."""
    return families.read_spec(config) if families.is_known(config) else None


def model_facts(name: str, store: Store, spec: DecoderSpec | None) -> ModelFacts:
    """What the planner needs."""
    first = store.spec(store.layers[0])
    dense = sum(entry_numel(store, tensor) for tensor in store.dense)
    return ModelFacts(
        name=name,
        expert_bytes={t: store.expert_bytes(t) for t in first.tiers},
        record_bytes={t: max(store.spec(layer).layout.prefix_bytes(t) for layer in store.layers) for t in first.tiers},
        dense_bytes={"f32": 4 * dense, "bf16": 2 * dense, "int8": dense + dense // 50},
        kv_bytes=_kv_bytes(spec, store.config),
        moe_layers=len(store.layers),
        experts=max(store.experts(layer) for layer in store.layers),
        experts_per_token=top_k(store.config),
        context_length=context_length(store.config),
    )


def entry_numel(store: Store, name: str) -> int:
    """Elements of a dense tensor, from the manifest."""
    count = 1
    for n in store.dense.entry(name).shape:
        count *= n
    return count


def text_config(config: dict[str, Any]) -> dict[str, Any]:
    """The language model's part of a config that may hold others beside it."""
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else config


def top_k(config: dict[str, Any]) -> int:
    """Experts per token, whatever the family calls it."""
    inner = text_config(config)
    found = next((inner[key] for key in _TOP_K if inner.get(key)), 1)
    return int(max(found)) if isinstance(found, list) else int(found)


def context_length(config: dict[str, Any]) -> int:
    """Tokens the model was made for."""
    return int(text_config(config).get("max_position_embeddings") or 4096)


def _kv_bytes(spec: DecoderSpec | None, config: dict[str, Any]) -> int:
    """Bytes a token of context leaves behind, in bf16; recurrent layers leave none."""
    if spec is None:
        c = text_config(config)
        heads = int(c.get("num_key_value_heads") or c.get("num_attention_heads") or 1)
        dim = int(c.get("head_dim") or c.get("hidden_size", 0) // int(c.get("num_attention_heads") or 1))
        return 4 * heads * dim * int(c.get("num_hidden_layers") or 1)
    total = 0
    for layer in spec.layers:
        match layer.mixer:
            case AttentionSpec() as a:
                total += 2 * a.kv_heads * a.head_dim
            case MlaSpec() as m:
                total += m.kv_rank + m.rope_dim
    return 2 * total


def model_card(name: str, store: Store, spec: DecoderSpec | None, plan: tuple[str, ...] = ()) -> ModelCard:
    """The model as lists show it."""
    first = store.spec(store.layers[0])
    experts = sum(store.spec(layer).parameters * store.experts(layer) for layer in store.layers)
    dense = sum(entry_numel(store, tensor) for tensor in store.dense)
    active = dense + sum(store.spec(layer).parameters * top_k(store.config) for layer in store.layers)
    return ModelCard(
        name=name,
        title="Underhill demo model" if name == "builtin" else name,
        family=str(text_config(store.config).get("model_type") or store.config.get("model_type", "")),
        path=str(store.path),
        parameters=experts + dense,
        active_parameters=active,
        disk_bytes=sum(f.stat().st_size for f in store.path.iterdir() if f.is_file()),
        expert_bytes=store.expert_bytes(),
        layers=int(text_config(store.config).get("num_hidden_layers") or len(store.layers)),
        moe_layers=len(store.layers),
        experts=max(store.experts(layer) for layer in store.layers),
        experts_per_token=top_k(store.config),
        context_length=context_length(store.config),
        tiers=first.tiers,
        backend="compatibility" if spec is None else "lean",
        note=_note(name, experts + dense, spec),
        plan=plan,
    )


def _note(name: str, parameters: int, spec: DecoderSpec | None) -> str:
    notes = []
    if name == "builtin":
        notes.append(
            f"A very small model ({parameters / 1e6:.0f} million parameters) that comes with Underhill to try the app "
            "and see experts at work. It makes small talk and simple answers, and is often wrong; "
            "import a bigger model for real use."
        )
    elif parameters < _SMALL:
        notes.append("A very small model; expect simple and often wrong answers.")
    if spec is None:
        notes.append("This family runs through the compatibility backend, which is slower.")
    return " ".join(notes)
