"""One byte budget over all open models: experts, contexts and other weights of those not in use make way in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.service.model_usage import ModelUsage, lacks_preliminary
from engine.translatable import Translatable

Report = Callable[[Translatable, int, int], None]
Chosen = Mapping[str, Any]

# Of the budget, what all models together keep that are not in use, however probable they are; until the user's own runs
# say how much is best (memory_split.py).
IDLE_SHARE = 0.5


@dataclass(frozen=True)
class MemoryParts:
    """Bytes of an open model. experts: in memory now, of them `least` at the least; whole: all that it would have."""

    dense: int
    context: int
    experts: int
    least: int
    whole: int

    @property
    def total(self) -> int:
        """What closing it frees."""
        return self.dense + self.context + self.experts

    @property
    def lacking(self) -> int:
        """Of the experts that it would have."""
        return max(0, self.whole - self.experts)


class Open(Protocol):
    """What the pool needs of an open model. leases: answers under way."""

    key: str
    leases: int

    @property
    def parts(self) -> MemoryParts:
        """Its memory now."""

    def keep_experts(self, nbytes: int) -> None:
        """Keep no more bytes of experts than these, the hottest, until `restore`."""

    def drop_context(self) -> None:
        """Forget the tokens it has seen; they are read again with the next prompt."""

    def restore(self) -> None:
        """Take back what memory there is. Raises UnderhillError(OUT_OF_MEMORY)."""

    def close(self) -> None:
        """Release its memory."""


class MemoryBudget(Protocol):
    """What the pool asks of the computer."""

    def free(self, chosen: Chosen) -> int:
        """Bytes below the ceiling of these settings that nothing has now; negative beyond it."""

    def demand(self, model: str, chosen: Chosen) -> int | None:
        """Bytes that a model would take with every expert in memory, were it opened; None where that is not known."""


class PoolRecords(Protocol):
    """What the pool asks of the records of models."""

    usage: ModelUsage

    @property
    def idle_share(self) -> float | None:
        """In the place of IDLE_SHARE; None where nothing better is known."""

    def key(self, model: str) -> str:
        """What `usage` calls a model of this name."""


class Pool:
    """Open models by name and by the settings that need a reload. Used from one thread.

    A model that needs memory gets it from those that are not in use, in two stages (coserve, section 4.3): first of
    models that are only asked for behind others, none of which is open, the largest first; then of the others, the
    least probable first. Experts go before contexts, and both before whole models. Each keeps as large a part of the
    budget as it is probable to be asked for next, so that its hottest experts are there when it is; only where a model
    could not be opened otherwise does that go, too.
    """

    def __init__(
        self, open_model: Callable[[str, Chosen, Report], Any], memory: MemoryBudget, records: PoolRecords
    ) -> None:
        self._open, self._memory, self._records = open_model, memory, records
        # In the order of their last use, which decides between models that are equally probable.
        self._models: dict[tuple[str, str], Any] = {}
        self.opened = 0  # how often a model was opened: switches, in the terms of coserve

    def __len__(self) -> int:
        return len(self._models)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._models.values())

    def acquire(self, model: str, chosen: Chosen, report: Report) -> Any:
        """This model, opened if need be; settings that are live are the caller's to apply.

        Raises what opening raises.
        """
        name = (model, repr([chosen.get(s.name) for s in settings.ENGINE if not s.live]))
        known = self._models.get(name)
        if known is None:
            for same in [own for own in self._models if own[0] == model]:  # the same model under other settings
                self._remove(same)
            self._models[name] = self._opened(model, chosen, report)
        elif name != next(reversed(self._models)):
            self._models[name] = self._models.pop(name)
            self._restore(known, chosen)
        return self._models[name]

    def budget(self, chosen: Chosen) -> int:
        """Bytes that all models together may take under these settings."""
        return max(0, self._memory.free(chosen) + sum(one.parts.total for one in self._models.values()))

    def is_open(self, model: str) -> bool:
        """Whether a model of this name is open, under whatever settings."""
        return any(name == model for name, _ in self._models)

    def _opened(self, model: str, chosen: Chosen, report: Report) -> Any:
        key = self._records.key(model)
        wanted = self._memory.demand(model, chosen)
        if wanted is not None:
            self._make_room(wanted, chosen, key)
        while True:
            try:
                found = self._open(model, chosen, report)
            except UnderhillError as e:
                if e.kind is not Kind.OUT_OF_MEMORY or not self._give_up(key):
                    raise
            else:
                break
        self.opened += 1
        if wanted is None:  # idle ones made no room for it before, as it might have been no model
            self._restore(found, chosen)
        return found

    def _restore(self, known: Any, chosen: Chosen) -> None:
        if not (lacking := known.parts.lacking):
            return
        self._make_room(lacking, chosen, known.key, known)
        while True:
            try:
                return known.restore()
            except UnderhillError as e:
                if e.kind is not Kind.OUT_OF_MEMORY or not self._give_up(known.key, known):
                    raise

    def _make_room(self, wanted: int, chosen: Chosen, key: str, known: Any = None) -> None:
        """For a model that wants so many bytes more; `known`, where it is open."""
        budget, missing = self.budget(chosen), wanted - self._memory.free(chosen)
        idle = self.idle(key, known)
        kept = {id(one): int(budget * self._share(one, key)) for one in idle}
        for one in idle:
            if missing > 0:
                parts = one.parts
                least = min(parts.experts, max(parts.least, kept[id(one)] - parts.dense - parts.context))
                given = min(missing, parts.experts - least)
                if given:
                    one.keep_experts(parts.experts - given)
                    missing -= given
        for one in idle:
            parts = one.parts
            if missing > 0 and parts.context and kept[id(one)] < parts.dense + parts.context:
                one.drop_context()
                missing -= parts.context
        for one in idle:
            parts = one.parts
            if missing > 0 and kept[id(one)] < parts.dense + parts.least:
                self._close(one)
                missing -= parts.total

    def _give_up(self, key: str, known: Any = None) -> bool:
        """Free what a model could not be opened without, for that of this key; False where there is nothing left."""
        idle = self.idle(key, known)
        if not idle:
            return False
        larger = [one for one in idle if one.parts.experts > one.parts.least or one.parts.context]
        for one in larger:
            one.keep_experts(one.parts.least)
            one.drop_context()
        if not larger:
            self._close(idle[0])
        return True

    def _close(self, one: Any) -> None:
        self.release(lambda other: other is one)

    def idle(self, key: str, but: Any) -> list[Any]:
        """Those that are not in use, in the order in which they make way."""
        idle = [one for one in self._models.values() if not one.leases and one is not but]
        usage = self._records.usage
        unready = [one for one in idle if self._unready(one, key)]
        return [
            *sorted(unready, key=lambda one: -one.parts.total),
            *sorted((one for one in idle if one not in unready), key=lambda one: usage.probability(one.key)),
        ]

    def _share(self, one: Any, key: str) -> float:
        """Of the budget, what this one keeps while another is in use."""
        if self._unready(one, key):
            return 0.0
        found = self._records.idle_share
        return (IDLE_SHARE if found is None else found) * self._records.usage.probability(one.key)

    def _unready(self, one: Any, key: str) -> bool:
        """Whether it only runs behind models of which none is there, once that of this key is."""
        there = {key, *(other.key for other in self._models.values())}
        return lacks_preliminary(self._records.usage, one.key, there)

    def holds(self, model: Any) -> bool:
        """Whether this one is open still."""
        return any(model is one for one in self._models.values())

    def release(self, gone: Callable[[Any], bool]) -> None:
        """Close the models for which `gone` is true."""
        for name in [name for name, one in self._models.items() if gone(one)]:
            self._remove(name)

    def close(self) -> None:
        """Close all."""
        while self._models:
            self._remove(next(reversed(self._models)))

    def _remove(self, name: tuple[str, str]) -> None:
        # Not before it is closed: whoever looks from another thread may go on once its last files are written.
        try:
            self._models[name].close()
        finally:
            del self._models[name]
