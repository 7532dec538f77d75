"""Models that could be had, each with its pill: the catalogue, what a hub finds, and all that is known of one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from engine.formats.families import text_config, vision_prefixes
from engine.hub.client import Hub
from engine.hub.outline import Outline
from engine.hub.pull import look
from engine.hub.revision import quantizations, read_revision
from engine.hub.search import GGUF, LOOKED_AT, keep_config, read_configs, search
from engine.library import catalogue, listing
from engine.library.catalogue import CatalogueEntry, FourBit
from engine.library.config_facts import catalogue_facts, looked_at_facts, parameters
from engine.library.entries import VISION, HubModel, ModelDetails, in_order
from engine.library.fit_estimates import TOPS, FitEstimates
from engine.library.home import home
from engine.library.listing import experts_per_token
from engine.planning.facts import ModelFacts
from engine.translatable import msg, translated

KEPT = "configs"  # the folder in Underhill's data that configs are kept in


def of_catalogue(estimates: FitEstimates) -> tuple[HubModel, ...]:
    """The catalogue, the smallest first. Nothing is sent."""
    owned = _owned()
    entries = sorted(catalogue.load(), key=lambda entry: entry.parameters)
    offered = ((e, next(iter(e.sources), None)) for e in entries)
    return tuple(replace(_bundled(e, s), fit=estimates.catalogue(e), here=_here(e, owned)) for e, s in offered)


def listed(hub: Hub, words: str, limit: int = LOOKED_AT) -> tuple[HubModel, ...]:
    """What a hub has under these words and Underhill opens, most downloaded first, without estimates."""
    owned, known = _owned(), {entry.repo: entry for entry in catalogue.load()}
    found = (replace(model, here=owned.get(model.repo, "")) for model in search(hub, words, limit))
    return tuple(_told(model, known.get(model.repo)) for model in found)


def judged(hub: Hub, models: Iterable[HubModel], estimates: FitEstimates) -> tuple[HubModel, ...]:
    """The same with estimates. The config of each that is not kept is fetched, or the first 64 KB of a GGUF file."""
    models = tuple(models)
    found = read_configs(hub, models, home() / KEPT)
    known = {entry.repo: entry for entry in catalogue.load()}
    return tuple(_judged(model, found.get(model.repo), known.get(model.repo), estimates) for model in models)


def details(hub: Hub, repo: str, revision: str, estimates: FitEstimates, gguf: str = "") -> ModelDetails:
    """All that is known of a model before it is here: from its config and the headers of its files, and no weights.

    gguf: which of its GGUF models, where it has some; see read_outline. Raises UnderhillError: what looking at it
    raises, and what importing would raise of such a model.
    """
    outline = look(hub, repo, revision, gguf)
    revised = read_revision(hub, repo, outline.commit)
    ggufs = quantizations(revised)
    keep_config(home() / KEPT, hub.endpoint, repo, outline.commit, outline.config)
    entry = catalogue.find(repo)
    text = text_config(outline.config)
    fits = estimates.each(lambda top: outline_facts(outline, top), outline.tops)
    best = estimates.best(lambda top: outline_facts(outline, top), outline.tops)
    quantization = outline.config.get("quantization_config")
    model = HubModel(
        repo=repo,
        title=repo.rpartition("/")[2],
        model_type=outline.model_type,
        parameters=outline.parameters,
        download_bytes=outline.download_bytes,
        licence=outline.licence,
        active_parameters=outline.active_parameters,
        context_length=_context(text),
        gated=outline.gated,
        quantized=str(quantization.get("quant_method", "")) if isinstance(quantization, dict) else "",
        commit=outline.commit,
        fit=best,
        here=_owned().get(repo, ""),
        gguf_name=gguf,
        good_at=in_order((*revised.good_at, VISION) if outline.vision else revised.good_at),
    )
    return ModelDetails(
        model=_told(model, entry),
        page=hub.page(repo),
        files=tuple((file.name, file.size) for file in outline.files),
        layers=_count(text, "num_hidden_layers") or len(outline.experts),
        moe_layers=len(outline.experts),
        experts=max(count for count, _ in outline.experts.values()),
        experts_per_token=experts_per_token(outline.config),
        stores=tuple((top, outline.store_bytes(top)) for top in outline.tops),
        fits=tuple((fit.tier, fit) for fit in fits),
        ggufs=tuple((one.name, one.nbytes) for one in ggufs),
    )


def bundled_details(hub: Hub, entry: CatalogueEntry, repo: str, estimates: FitEstimates) -> ModelDetails:
    """What the catalogue alone knows of a model, in one of its repositories; without its files. Nothing is sent."""
    source = next((source for source in entry.sources if source.repo == repo), None)
    tops = TOPS[1:] if source is not None or entry.native else TOPS
    fits = estimates.each(lambda top: catalogue_facts(entry, top, source), tops)
    best = estimates.best(lambda top: catalogue_facts(entry, top, source), tops)
    shape = entry.shape
    return ModelDetails(
        model=replace(_bundled(entry, source), fit=best, here=_owned().get(repo, "")), page=hub.page(repo), files=(),
        layers=shape.layers, moe_layers=shape.moe_layers, experts=shape.experts,
        experts_per_token=shape.experts_per_token, stores=tuple((fit.tier, fit.disk) for fit in fits),
        fits=tuple((fit.tier, fit) for fit in fits),
    )  # fmt: skip


def outline_facts(outline: Outline, top: int) -> ModelFacts:
    """Of a model that was looked at, stored with `top` bits. Raises UnderhillError as config_facts does."""
    groups = outline.specs(top)
    dense = outline.parameters - sum(count * spec.parameters for count, spec in groups)
    nbytes = sum(entry.nbytes for entry in outline.dense.values()) + outline.mtp_bytes(top)
    return looked_at_facts(outline.config, outline.repo, dense, nbytes, groups, vision=outline.vision)


def _judged(
    model: HubModel, config: dict[str, Any] | None, entry: CatalogueEntry | None, estimates: FitEstimates
) -> HubModel:
    if config is not None:
        kind = str(config.get("model_type") or model.model_type)
        held, used = parameters(config)
        sees = model.quantized != GGUF and vision_prefixes(config)
        told = replace(
            model, model_type=kind, context_length=_context(text_config(config)),
            parameters=max(held, model.parameters), active_parameters=model.active_parameters or used,
            good_at=in_order((*model.good_at, VISION)) if sees else model.good_at,
        )  # fmt: skip
        return replace(told, fit=estimates.config(config, model.title, model.parameters))
    return replace(model, fit=estimates.catalogue(entry)) if entry is not None else model


def _told(model: HubModel, entry: CatalogueEntry | None) -> HubModel:
    """With what the catalogue says of it, if it is there."""
    if entry is None:
        return model
    active = model.active_parameters or entry.shape.active_parameters
    source = next((source for source in entry.sources if source.repo == model.repo), None)
    told = replace(
        model, title=entry.name, about=translated(entry.about), active_parameters=active, good_at=entry.uses(source)
    )
    return told if source is None and not entry.native else replace(told, **_in_four(entry, source))


def _bundled(entry: CatalogueEntry, source: FourBit | None) -> HubModel:
    """As the catalogue has it, in four bits from `source`, or as its makers publish it."""
    repo, nbytes = (source.repo, entry.four_bit_bytes(source)) if source else (entry.repo, entry.download_bytes)
    model = HubModel(
        repo=repo,
        title=entry.name,
        model_type=entry.model_type,
        parameters=entry.parameters,
        download_bytes=nbytes,
        licence=entry.licence,
        about=translated(entry.about),
        active_parameters=entry.shape.active_parameters,
        context_length=entry.context_length,
        gguf_name=source.gguf if source else "",
        good_at=entry.uses(source),
    )
    return replace(model, **_in_four(entry, source)) if source or entry.native else model


def _in_four(entry: CatalogueEntry, source: FourBit | None) -> dict[str, Any]:
    """What is told of a model in four bits. source: where; None where its makers have it so alone."""
    if source is None:
        return {"lost": msg("Published in about 4 bits and kept as is: no loss.")}
    own = source.repo.partition("/")[0] == entry.repo.partition("/")[0]
    by = source.repo.partition("/")[0]
    return {
        "form": source.form, "original": entry.repo, "original_bytes": entry.download_bytes,
        "lost": msg("Quantized to 4 bits by its makers: nearly as good as the original.")
        if own
        else msg("Quantized to 4 bits by {by}: nearly as good as the original.", by=by),
    }  # fmt: skip


def _here(entry: CatalogueEntry, owned: Mapping[str, str]) -> str:
    """The name of a model of the library that was made from any of its repositories."""
    return next((owned[r] for r in (*(s.repo for s in entry.sources), entry.repo) if r in owned), "")


def _owned() -> dict[str, str]:
    """Names of the library's models by the repository that they were made from."""
    return {card.source: card.name for card in listing.listing() if card.source and card.usable}


def _context(config: Mapping[str, Any]) -> int:
    return _count(config, "max_position_embeddings")


def _count(config: Mapping[str, Any], name: str) -> int:
    value = config.get(name)
    return value if type(value) is int and 0 < value < 2**31 else 0
