"""Several tokens at once, or several kinds of memory: hits are computed while misses load."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from engine.experts.demands import Demands
from engine.experts.entry import Lease
from engine.experts.observer import Observer
from engine.experts.prefetch import Prefetch
from engine.experts.sweep import Sweeps
from engine.experts.telemetry import Telemetry
from engine.experts.two_level import TieredCache
from engine.experts.under_way import UnderWay
from engine.experts.wants import Want
from engine.kernels.activation import Activation
from engine.kernels.call import Kernel, Work
from engine.store.layout import ExpertSpec

# Products computed at a time while others are read: some 4 ms on two cores, long enough for the kernels to be called
# for, and short enough for what has come meanwhile to be followed by more before the disk runs out of work.
BATCH = 1 << 31
OWN = 8  # tokens whose products take as long as an expert's weights take to come from memory (docs/benchmarks.md)


class Call(NamedTuple):
    """One layer call. x: [T, H]. out: [T * k, H], a row per slot: added up in order at the end, whoever came first."""

    x: Tensor
    k: int
    out: Tensor


class Several:
    """Fills the slots of a call, expert by expert, in the order in which they come.

    kernels: one per level of the cache. window: reads that may be under way or queued at a time, for many tokens.
    sweeps: None where there are several levels.
    """

    def __init__(
        self,
        cache: TieredCache,
        arrivals: UnderWay,
        kernels: Sequence[Kernel],
        activations: Mapping[int, Activation],
        telemetry: Telemetry,
        window: int,
        sweeps: Sweeps | None,
    ) -> None:
        self._cache, self._arrivals, self._kernels = cache, arrivals, kernels
        self._activations, self._telemetry, self._window = activations, telemetry, window
        self._sweeps = sweeps
        self.observer: Observer | None = None
        self.ahead: Prefetch | None = None

    def serve(self, call: Call, wants: Sequence[Want]) -> list[int]:
        """Fill the slots of every want; returns those that were skipped.

        Raises the UnderhillError of an expert that cannot be had; nothing is leased or on its way for the call then.
        """
        self._arrivals.settle()
        leases = self._cache.lookup((want.key, want.tier, want.full) for want in wants)
        there = deque((want, leases[want.key]) for want in wants if want.key in leases)
        came: deque[tuple[Want, Lease]] = deque()
        missing = {want.key: want for want in wants if want.tier and want.key not in leases}
        sweep = None
        if self._sweeps is not None and wants and len(call.x) > 1:
            sweep = self._sweeps.begin(wants[0].key.layer, wants)
        if sweep is not None:
            there = deque(sorted(there, key=sweep.keeps))  # those first whose room is free then
        window = self._window if len(call.x) > 1 else len(missing)  # one token's experts are soon all there
        has_room = None if sweep is None else sweep.has_room
        demands = Demands(self._arrivals, {key: want.tier for key, want in missing.items()}, window, has_room)
        try:
            demands.start(len(there))
            if len(call.x) == 1 and self.ahead is not None and self.ahead.awake:
                x = call.x[0].to("cpu", torch.float32).numpy()
                self.ahead.routed(wants[0].key.layer, [want.key.expert for want in wants], x)
            self._telemetry.hit(len(there))
            self._telemetry.misses += len(missing)
            skipped = [slot for want in wants if not want.tier and want.key not in leases for slot in want.slots]
            self._telemetry.precision[0] += len(skipped)
            while there or came or demands:
                came.extend((missing[lease.key], lease) for lease in demands.come())
                demands.start(len(there) + len(came))
                if sweep is not None and not demands.waiting:
                    sweep.read_ahead()
                if not there and not came:
                    came.extend((missing[lease.key], lease) for lease in demands.take())
                # Those that came first: their room is what the next ones are read into. What was there can wait, and
                # is something to compute whenever nobody has come.
                batch = _batch(came or there, None if sweep is None and not demands else BATCH)
                self._run(call, batch)
                if sweep is not None:
                    for want, _ in batch:
                        sweep.done(want.key)
            return skipped
        finally:
            for _, lease in (*there, *came):
                lease.release()
            demands.abandon()

    def _run(self, call: Call, found: Sequence[tuple[Want, Lease]]) -> None:
        """Compute these experts and release them."""
        try:
            groups: dict[tuple[int, int], tuple[ExpertSpec, list[Work]]] = {}  # by level and identity of the spec
            for want, lease in found:
                _, work = groups.setdefault((lease.level, id(want.spec)), (want.spec, []))
                work.append(Work(lease.parts, want.slots))
                self._telemetry.precision[lease.tier] += len(want.slots)
                if lease.tier < want.full:
                    self._telemetry.coarse(want.key, len(want.slots))
            activation = self._activations[found[0][0].key.layer] if found else None
            for (level, _), (spec, work) in groups.items():
                assert activation is not None
                start = 0.0 if self.observer is None else time.perf_counter()
                self._kernels[level].run(spec, activation, work, call.x, call.k, call.out)
                if self.observer is not None:
                    self.observer.computed(found[0][0].key.layer, len(work), start, time.perf_counter())
        finally:
            for _, lease in found:
                lease.release()


def _batch(waiting: deque[tuple[Want, Lease]], most: int | None) -> list[tuple[Want, Lease]]:
    """The first of these, as many as `most` products allow, and one at least; None: all."""
    taken: list[tuple[Want, Lease]] = []
    products = 0
    while waiting and (most is None or not taken or products < most):
        want, lease = waiting.popleft()
        taken.append((want, lease))
        products += want.spec.parameters * (len(want.slots) + OWN)
    return taken
