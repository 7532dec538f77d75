"""The models of the library as lists show them, from their manifests alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.formats.families import FAMILIES, text_config
from engine.library import dials
from engine.library.home import BUILTIN
from engine.library.model_card import ModelCard
from engine.limits import POSITIONS
from engine.store.layout import ExpertSpec
from engine.store.manifest import Manifest
from engine.translatable import Translatable, joined, msg, translated

TOY = 100_000_000  # parameters; below this a model is no use but to try things, and its card says so
_TOP_K = ("num_experts_per_tok", "moe_topk", "num_experts_per_token", "top_k_experts", "moe_top_k", "moe_k", "top_k")


def describe(path: Path, manifest: Manifest) -> ModelCard:
    """The card of the store at `path`."""
    config = text_config(manifest.config)
    top_k = experts_per_token(config)
    specs = {x.index: max((manifest.specs[r.spec] for r in x.records), key=lambda s: s.top) for x in manifest.layers}
    dense = sum(math.prod(t.shape) for t in manifest.dense)
    parameters = dense + sum(len(x.records) * specs[x.index].parameters for x in manifest.layers)
    used = Counter(manifest.specs[r.spec] for x in manifest.layers for r in x.records)
    tiers = next(iter(specs.values())).tiers
    lean = manifest.architecture in FAMILIES
    return ModelCard(
        name=path.name,
        title=title_of(path.name),
        family=manifest.architecture,
        path=str(path),
        parameters=parameters,
        active_parameters=dense + sum(top_k * spec.parameters for spec in specs.values()),
        disk_bytes=sum(f.stat().st_size for f in path.iterdir() if f.is_file()),
        expert_bytes=sum(n * spec.layout.nbytes for spec, n in used.items()),
        layers=_number(config, "num_hidden_layers") or len(manifest.layers),
        moe_layers=len(manifest.layers),
        experts=max(len(x.records) for x in manifest.layers),
        experts_per_token=top_k,
        context_length=_number(config, "max_position_embeddings"),
        tiers=tiers,
        backend="lean" if lean else "compatibility",
        note=note_of(path.name, parameters, lean),
        calibration=dials.read(path),
        source=manifest.source.repo or manifest.source.path,
        expert_bits=() if manifest.lowering is None else _counted(used),
        lowered_dense="" if manifest.lowering is None else manifest.lowering.dense,
        lowered_kl=None if manifest.lowering is None else manifest.lowering.kl,
        tier_bytes=tuple((tier, _bytes_at(tier, used)) for tier in tiers),
    )


def experts_per_token(config: Mapping[str, Any]) -> int:
    """How many experts of a layer a token uses, by a config; 1 where it does not say."""
    return _number(text_config(config), *_TOP_K) or 1


def _counted(used: Counter[ExpertSpec]) -> tuple[tuple[int, int], ...]:
    """(bits, experts that have them)."""
    counts = Counter[int]()
    for spec, n in used.items():
        counts[spec.top] += n
    return tuple(sorted(counts.items()))


def _bytes_at(tier: int, used: Counter[ExpertSpec]) -> int:
    """Of all experts when read at a tier; those that have no such tier at their best."""
    return sum(n * s.layout.bytes_for(tier if tier in s.tiers else s.top) for s, n in used.items())


def _number(config: Mapping[str, Any], *names: str) -> int:
    """The first of these that the config has; the largest where it is a list per layer; 0 where none makes sense."""
    found = next((config[name] for name in names if config.get(name)), 0)
    values = found if isinstance(found, list) else [found]
    return max((v for v in values if type(v) is int and 0 < v <= POSITIONS), default=0)


def title_of(name: str) -> Translatable:
    """What people are shown of the name of a model."""
    return msg("Underhill demo model") if name == BUILTIN else translated(name)


def note_of(name: str, parameters: int, lean: bool) -> Translatable:
    """What whoever chooses a model of this name should know."""
    notes = []
    if name == BUILTIN:
        notes.append(
            msg(
                "A very small model ({parameters} million parameters) that comes with Underhill, to try the app "
                "and see experts at work. It makes small talk and is often wrong; import a bigger model for real use.",
                parameters=f"{parameters / 1e6:.0f}",
            )
        )
    elif parameters < TOY:
        notes.append(msg("A very small model; expect simple and often wrong answers."))
    if not lean:
        notes.append(msg("This family runs through the compatibility backend, which is slower."))
    return joined(" ", notes)
