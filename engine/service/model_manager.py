"""The open models with what is known of them: which one is likely next, and what each costs."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine.errors import Kind, UnderhillError
from engine.service.model_profile import RunMeter
from engine.service.open_model import OpenModel
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.service.memory_split import MemorySplit, SplitSearch
    from engine.service.model_records import ModelRecords
    from engine.service.pool import Pool
    from engine.session import Session

Report = Callable[[Translatable, int, int], None]
BUDGET_CHANGED = 0.1  # share of the budget by which another one is searched for anew
_log = logging.getLogger(__name__)


class ModelManager:
    """Used from one thread, that of the model, but for `is_closed`. Nothing is imported or read before the first model
    is opened.
    """

    def __init__(self) -> None:
        self._pool: Pool | None = None
        self._records: ModelRecords | None = None
        self._runs = RunMeter(self._run_ended)
        self._unwanted: set[Path] = set()
        self._chosen: Mapping[str, Any] | None = None  # settings of the model that was acquired last
        self._search: SplitSearch | None = None
        self._searched: tuple[int, int] = 0, 0  # the requests that had been noted then, and the budget

    @property
    def pool(self) -> Pool:
        """The open models under one byte budget."""
        from engine.service.model_memory import ModelMemory
        from engine.service.pool import Pool

        if self._pool is None:
            self._pool = Pool(OpenModel, ModelMemory(), self.records)
        return self._pool

    @property
    def records(self) -> ModelRecords:
        """What is kept of models between sessions."""
        from engine.service.model_records import ModelRecords

        if self._records is None:
            self._records = ModelRecords()
        return self._records

    def acquire(self, model: str, chosen: Mapping[str, Any], report: Report) -> OpenModel:
        """As Pool.acquire. What opening it took is kept."""
        self._chosen, before = chosen, self.pool.opened
        opened: OpenModel = self.pool.acquire(model, chosen, report)
        if self.pool.opened != before:
            self.records.computes_on(opened.key, opened.device)
            known, parts = self.records.profile(opened.key), opened.parts
            known = known.opened(opened.took, parts.dense + parts.whole).needing(opened.costs)
            self.records.keep_profile(opened.key, known)
        return opened

    def cost(self, model: str, n: int) -> float:
        """Seconds that n requests for a model of this name take, if it is the next; '' is the current one."""
        if not model or self._pool is None:
            return 0.0
        known = self.records.profile(self.records.key(model))
        return known.additional(n, joins=False, loaded=self._pool.is_open(model))

    @contextmanager
    def answering(self, opened: OpenModel, chain: Sequence[str] = ()) -> Iterator[None]:
        """While this lasts, the model answers a request: it is leased, timed and counted.

        chain: as of protocol.Generate; it goes on from the model before it.
        """
        self._note_use(opened, chain)
        self.records.computes_on(opened.key, opened.device)  # a plan may have changed that
        with opened.leased(), self._runs.answering(opened.key):
            yield
            known = self.records.profile(opened.key)
            passes = opened.session.answers.pass_seconds
            self.records.keep_profile(opened.key, known.computed(opened.conversation, passes))

    def joined(self, session: Session, chain: Sequence[str]) -> None:
        """One more request is answered together with that under way; see `answering`."""
        self._note_use(next(one for one in self.pool if one.session is session), chain)
        self._runs.joined()

    def going_on(self) -> AbstractContextManager[None]:
        """While this lasts, answers that joined another come to their end behind it."""
        return self._runs.going_on()

    def _note_use(self, opened: OpenModel, chain: Sequence[str]) -> None:
        keys = [self.records.key(name) for name in chain]
        before = keys[: keys.index(opened.key)] if opened.key in keys else []
        if opened.session.settings["remember_routing"]:
            self.records.note_use(opened.key, before[-1] if before else "")

    def settings_changed(self, opened: OpenModel) -> None:
        """Where uses of this model are not to be remembered, what was counted of them is removed at once."""
        if not opened.session.settings["remember_routing"] and self.records.usage.knows(opened.key):
            self.records.forget_use(opened.key)
            self.records.save()

    def delete(self, name: str, in_use: Iterable[Path | None], *, now: bool) -> bool:
        """As library.delete, of a model that is not at one of the paths `in_use`: it is closed first.

        Raises UnderhillError: BUSY for one that is in use.
        """
        from engine.library import library

        path = library.location(name)
        if path in in_use:
            raise UnderhillError(Kind.BUSY, msg("{name} is in use.", name=name), msg("Select another model first."))
        self.release(lambda one: one.session.store.path == path)
        return library.delete(name, now=now)

    def holds(self, opened: OpenModel) -> bool:
        """Whether this one is open still."""
        return self._pool is not None and self._pool.holds(opened)

    def release(self, gone: Callable[[OpenModel], bool]) -> None:
        """Close the models for which `gone` is true."""
        if self._pool is not None:
            self._pool.release(gone)

    def is_closed(self, store: Path) -> bool:
        """Whether no model of this store is open, asked from any thread; else `close_unwanted` will close it."""
        if self._pool is None or all(one.session.store.path != store for one in list(self._pool)):
            return True
        self._unwanted.add(store)
        return False

    def close_unwanted(self, current: OpenModel | None) -> None:
        """Close the models that `is_closed` was asked about, but not the one in use."""
        if self._unwanted:
            unwanted, self._unwanted = self._unwanted, set()
            self.release(lambda one: one is not current and one.session.store.path in unwanted)

    def split_memory(self) -> None:
        """No request came for a while: search on for how much of the memory idle models should keep, one step. It
        begins once requests came or the budget changed since the last search.
        """
        from engine.service.memory_split import SplitSearch

        if self._pool is None or self._chosen is None:
            return
        if self._search is None:
            budget = self._pool.budget(self._chosen)
            noted, before = self._searched
            if self.records.noted == noted and abs(budget - before) <= BUDGET_CHANGED * before:
                return
            self._searched = self.records.noted, budget
            usage = self.records.usage
            known = {key: self.records.profile(key) for key in usage.uses}
            self._search = SplitSearch(usage, known, budget)
        if not self._search.over:
            self._search.step()
        if self._search.over:
            found, self._search = self._search.found, None
            if found is not None:
                self._split_found(found)

    def _split_found(self, found: MemorySplit) -> None:
        before = self.records.split
        self.records.keep_split(found)
        if before is None or before.share != found.share:
            _log.info(
                "Idle models keep %.0f %% of %.0f MB: %.3f answers a second are expected of runs as they came, "
                "%.3f at the usual share",
                100 * found.share, found.budget / 1e6, found.throughput, found.usual,
            )  # fmt: skip

    def save(self) -> None:
        """No request came for a while: what was seen until now is kept."""
        if self._records is not None:
            self._runs.end()
            self._records.save()

    def close(self) -> None:
        """Close all, and keep what was seen."""
        self.release(lambda one: True)
        self.save()

    def _run_ended(self, key: str, answers: int, seconds: float) -> None:
        self.records.keep_profile(key, self.records.profile(key).answered(answers, seconds))
