"""A session with what goes along with it, as the pool keeps it open."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from engine.service.model_profile import MemoryCosts
from engine.service.pool import MemoryParts
from engine.translatable import Translatable

STEPS = 8  # from no expert in memory to all of them, at which the plan is asked for the speed


class OpenModel:
    """A session with its idle tasks, as the pool keeps it: the tasks keep their place while another model is in use.

    key: the fingerprint of its store. leases: answers under way. took: seconds that opening it took.
    """

    def __init__(self, model: str, chosen: Mapping[str, Any], report: Callable[[Translatable, int, int], None]) -> None:
        """Open it. Raises what opening raises."""
        from engine.calibration.calibrator import open_calibrated
        from engine.calibration.idle_tasks import IdleTasks
        from engine.store.manifest import fingerprint

        begun = time.monotonic()
        self.session = open_calibrated(model, chosen, report)
        self.idle_tasks = IdleTasks(self.session)
        self.key = fingerprint(self.session.store.path)
        self.leases = 0
        self.took = time.monotonic() - begun

    @property
    def parts(self) -> MemoryParts:
        """Its memory now."""
        session = self.session
        return MemoryParts(
            session.other_bytes,
            session.context.nbytes,
            session.runtime.cache.nbytes,
            session.plan.smallest_cache,
            session.cache_budget.share.most,
        )

    @property
    def device(self) -> str:
        """Where it computes: one of the modes of planning.offload."""
        return self.session.plan.mode

    @property
    def costs(self) -> MemoryCosts:
        """Of its memory, as its plan reckons speed."""
        from engine.planning.speed import dial_of, expected, reading_rate

        session, parts = self.session, self.parts
        plan, facts = session.plan, session.facts
        machine, dial = session.machine.reading(plan.direct), dial_of(session.settings)
        caches = [parts.whole * step // STEPS for step in range(STEPS + 1)]
        rates = [expected(machine, facts, plan.tier, plan.dense, n, dial, chunk=plan.chunk).decode for n in caches]
        return MemoryCosts(
            dense=parts.dense,
            least=parts.least,
            refill=1 / reading_rate(machine, facts, plan.tier),
            pace=tuple(2 / (worse + better) for worse, better in rates),
        )

    @property
    def conversation(self) -> int:
        """Bytes of one of the conversations that it keeps, in the mean."""
        kept = [one.state.nbytes for one in self.session.context.sequences() if one.tokens]
        return sum(kept) // len(kept) if kept else 0

    @contextmanager
    def leased(self) -> Iterator[None]:
        """While this lasts it answers, and nothing of it makes way for other models."""
        self.leases += 1
        try:
            yield
        finally:
            self.leases -= 1

    def keep_experts(self, nbytes: int) -> None:
        """Keep no more bytes of experts than these, those that the cache's policy rates highest, until `restore`."""
        self.session.cache_budget.grant(nbytes)

    def drop_context(self) -> None:
        """Forget the tokens it has seen; they are read again with the next prompt."""
        self.session.context.clear()

    def restore(self) -> None:
        """Take back what memory there is, as a plan for now has it. Raises UnderhillError(OUT_OF_MEMORY)."""
        self.session.cache_budget.grant(None)
        self.session.update({})

    def close(self) -> None:
        """Release its memory."""
        self.session.close()
