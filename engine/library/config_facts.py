"""A model that is not here yet as the planner wants it: from its config.json alone, no weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.convert.importer import GROUPS
from engine.errors import UnderhillError
from engine.library.facts import CONTEXT, kv_values, latent_products, state_bytes, windowed
from engine.models.families import read_spec
from engine.models.footprint import matrices, nbytes, opening_bytes, token_bytes, working_bytes
from engine.models.layers.weight_format import KINDS, holding
from engine.models.spec import MoeSpec
from engine.planning.facts import ModelFacts
from engine.store.layout import ExpertSpec

BF16 = 2  # bytes


def config_facts(config: Mapping[str, Any], name: str, top: int = 8) -> ModelFacts:
    """As `model_facts` would say of its store, but for norms and other small things, which no spec counts.

    top: tier that would be stored. Raises UnderhillError:
    UNSUPPORTED_MODEL for families without a file, BROKEN_FILE for a config that makes no sense.
    """
    spec = read_spec(config)
    experts = [(moe.experts.count, expert_spec(moe, top)) for moe in spec.moe_layers.values()]
    tiers = experts[0][1].tiers
    found = tuple(matrices(spec, spec.vocab))
    sizes = {kind: [(m.role, nbytes(m, holding(kind))) for m in found] for kind in KINDS}
    dense = sum(BF16 * m.rows * m.cols for m in found)
    return ModelFacts(
        name=name,
        expert_bytes={tier: sum(n * s.layout.bytes_for(tier) for n, s in experts) for tier in tiers},
        record_bytes={tier: max(s.layout.bytes_for(tier) for _, s in experts) for tier in tiers},
        dense_bytes={kind: sum(size for _, size in rows) for kind, rows in sizes.items()},
        kv_bytes=BF16 * kv_values(spec),
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
        vocabulary=spec.vocab,
        windowed=windowed(spec),
        latent_products=latent_products(spec),
        disk_bytes=dense + sum(n * s.layout.nbytes for n, s in experts),
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
    layers = [(moe, expert_spec(moe, 8).parameters) for moe in spec.moe_layers.values()]
    held = beside + sum(moe.experts.count * one for moe, one in layers)
    return held, beside + sum(moe.router.top_k * one for moe, one in layers)


def expert_spec(moe: MoeSpec, top: int) -> ExpertSpec:
    """How one of its experts would be stored."""
    own = moe.experts
    widths = own.hidden, own.intermediate
    group = next((g for g in GROUPS if all(w % g == 0 for w in widths)), GROUPS[-1])
    return ExpertSpec(*widths, top, group, has_gate=own.has_gate, has_bias=own.bias)
