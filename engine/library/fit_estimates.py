"""Fit estimates: whether a model runs on this computer as it is now, how fast, and what its memory is used for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine import settings
from engine.errors import UnderhillError
from engine.generation.messages import MemoryUse
from engine.hardware import probe
from engine.hardware.machine import Machine
from engine.kept_by_mark import KeptByMark
from engine.library import folders
from engine.library.catalogue import CatalogueEntry
from engine.library.computer import machine_at
from engine.library.config_facts import catalogue_facts, remote_facts
from engine.library.entries import ModelCard
from engine.library.facts import largest_file, model_facts, spec_of
from engine.library.speed_record import measured, planned
from engine.planning.facts import ModelFacts
from engine.planning.fit import PROGRAM, Fit, fit
from engine.planning.plan import Plan
from engine.store import manifest as manifests
from engine.store.reader import Store

TOPS = (8, 4)  # bits that a model could be stored with, in the order in which they are preferred

Known = KeptByMark[tuple[ModelFacts, Path]]  # facts of stores, and the largest file of each


class FitEstimates:
    """chosen: values of settings.ENGINE. Memory is what is free when this is made; a model that is loaded counts as
    free, because it would make way. known: facts of stores, kept from one list to the next; filled here.
    """

    def __init__(self, chosen: Mapping[str, Any] | None = None, known: Known | None = None) -> None:
        self._chosen = settings.validated(chosen or {}, settings.ENGINE)
        self._known = Known() if known is None else known
        self._held = max(0, probe.rss() - PROGRAM)
        self._machines: dict[Path, Machine] = {}

    def library(self, cards: Iterable[ModelCard]) -> tuple[ModelCard, ...]:
        """The cards, with fit estimates of those models that can be opened, and how fast they were seen to be."""
        return tuple(self.estimated(card) if card.usable else card for card in cards)

    def estimated(self, card: ModelCard) -> ModelCard:
        """The same of one; without an estimate where it turns out that it cannot be opened."""
        with suppress(UnderhillError, OSError):
            path, seen = Path(card.path), 0.0
            facts, file = self._facts(path, card)
            machine = self._machine(file)
            with suppress(UnderhillError):  # does not hold: so says the pill
                facts, plan = planned(path, machine, facts, self._chosen, PROGRAM)
                seen = measured(path, machine, facts, plan, self._chosen)
            return replace(card, fit=fit(machine, facts, self._chosen, here=True, in_use=PROGRAM), measured=seen)
        return replace(card, fit=None, measured=0.0)

    def memory(self, card: ModelCard) -> MemoryUse | None:
        """What a model of the library will take of memory, as it is planned; None where it does not run here."""
        with suppress(UnderhillError, OSError):
            path = Path(card.path)
            facts, file = self._facts(path, card)
            machine = self._machine(file)
            facts, plan = planned(path, machine, facts, self._chosen, PROGRAM)
            return memory_planned(plan, facts, PROGRAM)
        return None

    def catalogue(self, entry: CatalogueEntry) -> Fit | None:
        """How a model of the catalogue would run here, as it is offered: of four bits no more are made."""
        tops, source = TOPS[1:] if entry.sources or entry.native else TOPS, next(iter(entry.sources), None)
        return self.best(lambda top: catalogue_facts(entry, top, source), tops)

    def config(self, config: Mapping[str, Any], name: str, parameters: int) -> Fit | None:
        """The same of any model whose config is known; None where the config alone does not say."""
        return self.best(lambda top: remote_facts(config, name, parameters, top))

    def best(self, facts: Callable[[int], ModelFacts], tops: Iterable[int] = TOPS) -> Fit | None:
        """With as many bits as suit this computer: 8, or 4 where 8 are slow or too much. Too big with any number: the
        fewest, so that what is said to be missing would be enough."""
        fits = self.each(facts, tops)
        fast = (found for found in fits if found.pill == "fits")
        return next(fast, max(fits, key=lambda found: ((found.speed or (0.0, 0.0))[1], -found.disk), default=None))

    def each(self, facts: Callable[[int], ModelFacts], tops: Iterable[int] = TOPS) -> tuple[Fit, ...]:
        """One for each number of bits that could be stored; none where the facts cannot be had."""
        with suppress(UnderhillError, ValueError):
            place = self._machine(folders.paths()[0])
            return tuple(fit(place, facts(top), self._chosen, in_use=PROGRAM) for top in tops)
        return ()

    def _facts(self, path: Path, card: ModelCard) -> tuple[ModelFacts, Path]:
        return self._known.of(path / manifests.NAME, lambda: _facts_of(path, card))

    def _machine(self, place: Path) -> Machine:
        if place not in self._machines:
            found = machine_at(place)
            self._machines[place] = replace(found, memory=found.memory.plus(self._held))
        return self._machines[place]


def _facts_of(path: Path, card: ModelCard) -> tuple[ModelFacts, Path]:
    with Store.open(path) as store:
        return model_facts(store, card, spec_of(store)), largest_file(store)


def memory_planned(plan: Plan, facts: ModelFacts, in_use: int) -> MemoryUse:
    """As a plan has it: every part as large as it may get. in_use: bytes of the program before it opens a model."""
    dense, context = facts.dense_bytes[plan.dense] + plan.mtp, plan.context * plan.row_bytes + facts.state_bytes
    return divided(
        plan.ceiling - plan.spare,
        plan.ceiling,
        base=in_use,
        dense=dense,
        context=context,
        cached=plan.cache_bytes,
        capacity=plan.cache_bytes,
        due=0,
    )


def divided(
    taken: int,
    ceiling: int,
    *,
    base: int,
    dense: int,
    context: int,
    cached: int,
    capacity: int,
    due: int,
    device: tuple[int, int] = (0, 0),
) -> MemoryUse:
    """`taken` in its parts, and what is left below the ceiling in its own. due: bytes that context and computing may
    take together. Where parts that are known are more than is taken, some of the last are not written to yet."""
    left, known = taken, []
    # In this order: what is planned surely first, so that an error of the estimate ends in the program's own share.
    for part in (dense, context, cached, base):
        known.append(min(part, left))
        left -= known[-1]
    free = max(0, ceiling - taken)
    room = min(max(0, capacity - known[2]), free)
    aside = min(max(0, due - known[1] - left), free - room)
    return MemoryUse(
        ceiling=ceiling,
        taken=taken,
        program=known[3],
        dense=known[0],
        context=known[1],
        buffers=left,
        cached=known[2],
        room=room,
        aside=aside,
        spare=free - room - aside,
        device=device[0],
        device_cached=device[1],
    )
