"""Configs that count what no model has, and values of the wrong kind: read by all that reads a config."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from engine import resources
from engine.convert.skeleton import build_skeleton
from engine.library.config_facts import remote_facts
from engine.library.fit_estimates import FitEstimates
from engine.models.families import read_spec
from tests.attack.case import Case
from tests.attack.given import VALUES, changed

CLAIMS = {
    "num_hidden_layers": (10**8, 10**12, 1e300), "num_labels": (10**9,), "num_experts": (10**9, 10**18),
    "num_experts_per_tok": (10**9,), "vocab_size": (10**12,), "hidden_size": (10**12, 10**300),
    "moe_intermediate_size": (10**12,), "num_attention_heads": (10**9,), "num_key_value_heads": (10**9,),
    "head_dim": (10**12,), "max_position_embeddings": (10**18,), "something": (10**30,), "num_of_what": (10**12,),
}  # fmt: skip
OTHER = {"model_type": "jamba", "num_experts": 4, "num_experts_per_tok": 2, "hidden_size": 64, "intermediate_size": 64,
         "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 4, "vocab_size": 64}  # fmt: skip
ZEROS = (
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "num_experts",
    "hidden_size",
    "moe_intermediate_size",
)


def cases() -> list[Case]:
    claims = [(key, value) for key, values in CLAIMS.items() for value in values]
    found = []
    for key, value in claims:
        found.append(Case(f"spec: {key} = {value}", partial(_spec, {key: value})))
        found.append(Case(f"facts: {key} = {value}", partial(_facts, {key: value})))
        found.append(Case(f"skeleton: {key} = {value}", partial(_skeleton, {key: value})))
        found.append(Case(f"seen: {key} = {value}", partial(_skeleton, {"vision_config": {key: value}})))
        found.append(Case(f"pill: {key} = {value}", partial(_pill, {key: value}), True))
    found += [
        Case(f"spec: {key} = {what}", partial(_spec, {key: v}), True) for key in ZEROS for what, v in VALUES.items()
    ]
    found += [Case(f"spec: {key} = 0", partial(_spec, {key: 0}), True) for key in ZEROS]
    found += [Case(f"changed: {what}", partial(_whole, one), True) for what, one in changed(_good(), 5, 60)]
    found += [Case(f"skeleton changed: {what}", partial(_other, one), True) for what, one in changed(OTHER, 6, 30)]
    return found


@cache
def _good() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(resources.path("builtin", "model", "config.json").read_text(encoding="utf-8"))
    return found


def _spec(change: Mapping[str, Any], folder: Path) -> None:
    read_spec({**_good(), **change})


def _whole(config: Mapping[str, Any], folder: Path) -> None:
    read_spec(config)
    remote_facts(config, "it", 10**9, 4)


def _facts(change: Mapping[str, Any], folder: Path) -> None:
    remote_facts({**OTHER, **change}, "it", 10**9, 4)


def _skeleton(change: Mapping[str, Any], folder: Path) -> None:
    build_skeleton({**OTHER, **change})


def _other(config: dict[str, Any], folder: Path) -> None:
    build_skeleton(config)


def _pill(change: Mapping[str, Any], folder: Path) -> None:
    assert FitEstimates().config({**OTHER, **change}, "it", 10**9) is None
