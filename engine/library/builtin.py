"""The model that comes with Underhill where no store has been made of it yet: what its config says."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from engine import resources
from engine.library import library
from engine.library.config_facts import config_facts, parameters
from engine.library.entries import ModelCard
from engine.library.fit_estimates import FitEstimates
from engine.library.home import BUILTIN
from engine.library.listing import note_of, title_of
from engine.models.families import read_spec
from engine.planning.facts import ModelFacts
from engine.translatable import NO_TEXT, joined, msg

NOT_YET = msg("Built when first used.")


def facts() -> ModelFacts:
    """As a plan wants it."""
    return config_facts(_config(), BUILTIN, library.TOP)


def card(estimates: FitEstimates) -> ModelCard:
    """As a list shows it; it can be used, and its `problem` says that there is nothing of it on the disk."""
    config, found = _config(), facts()
    held, used = parameters(config)
    fit = next(iter(estimates.each(lambda top: facts(), (library.TOP,))), None)
    against = fit.sentence if fit is not None and fit.pill == "too_big" else NO_TEXT
    return ModelCard(
        name=BUILTIN,
        title=title_of(BUILTIN),
        family=config["model_type"],
        path=str(library.location(BUILTIN)),
        parameters=held,
        active_parameters=used,
        disk_bytes=0,
        expert_bytes=found.expert_bytes[library.TOP],
        layers=len(read_spec(config).layers),
        moe_layers=found.moe_layers,
        experts=found.experts,
        experts_per_token=found.experts_per_token,
        context_length=found.context_length,
        tiers=found.tiers,
        backend="lean",
        note=note_of(BUILTIN, held, lean=True),
        problem=joined(" ", (NOT_YET, against)),
        tier_bytes=tuple(sorted(found.expert_bytes.items())),
        fit=fit,
    )


def _config() -> Mapping[str, Any]:
    found: dict[str, Any] = json.loads(resources.path("builtin", "model", "config.json").read_text(encoding="utf-8"))
    return found
