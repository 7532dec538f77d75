"""Prefill: several tokens at once, or one that decode leaves to it; hits are computed while misses load."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence

import torch

from engine.experts.cache.expert_cache import ExpertCache, Lease
from engine.experts.execution.assistant import CardAssistant
from engine.experts.execution.card_share import Computed
from engine.experts.execution.requests import Call, ExpertRequest
from engine.experts.execution.sweep import Sweeps
from engine.experts.loading.pending import LoadQueue, PendingLoads
from engine.experts.prefetch.prefetcher import Prefetcher
from engine.experts.telemetry import ExpertTelemetry, ProfilerHook
from engine.kernels.activation import Activation
from engine.kernels.call import Work
from engine.kernels.native import NativeKernel
from engine.record.layout import ExpertSpec

# Products computed at a time while others are read: some 4 ms on two cores, long enough for the kernels to be called
# for, and short enough for what has come meanwhile to be followed by more before the disk runs out of work.
BATCH = 1 << 31
OWN = 8  # tokens whose products take as long as an expert's weights take to come from memory (docs/benchmarks.md)


class BatchExecutor:
    """Fills the slots of a call, expert by expert, in the order in which they come.

    activations: by layer. window: loads that may be in flight at a time, for many tokens. prefetch: told of single
    tokens; None: nothing is read ahead. card: computes what it holds; None: there is none. read_on: called again and
    again while experts are awaited and computed, to have others read behind them.
    """

    def __init__(
        self,
        cache: ExpertCache,
        pending: PendingLoads,
        kernel: NativeKernel,
        activations: Mapping[int, Activation],
        telemetry: ExpertTelemetry,
        *,
        window: int,
        sweeps: Sweeps,
    ) -> None:
        self._cache, self._pending, self._kernel, self._sweeps = cache, pending, kernel, sweeps
        self.activations, self._telemetry, self._window = activations, telemetry, window
        self.observer: ProfilerHook | None = None
        self.prefetch: Prefetcher | None = None
        self.card: CardAssistant | None = None
        self.read_on: Callable[[], None] = lambda: None
        self._computed: list[int] = []  # tokens of each expert that the last call computed here
        self._seconds = 0.0

    def run(self, call: Call, requests: Sequence[ExpertRequest]) -> list[int]:
        """Fill the slots of every request; returns those that were skipped.

        Raises the UnderhillError of an expert that cannot be had; nothing is leased or pending for the call then.
        """
        self._computed, self._seconds = [], 0.0
        card = self.card
        share = None if card is None else card.share(call, requests)
        if card is None or share is None:
            return self._run(call, requests)
        names = {request.key for request in share.taken}
        try:
            rest = [request for request in requests if request.key not in names]
            skipped = self._run(call, rest) if rest else []
            if not card.collect_share(share, Computed(self._computed, self._seconds)):
                skipped += self._run(call, share.taken)  # on the processor: nothing is lost but time
            return skipped
        finally:
            card.done_with(share)

    def _run(self, call: Call, requests: Sequence[ExpertRequest]) -> list[int]:
        """See run: on the processor."""
        # Before the look: what a prefetch has brought by now is a hit and need not be waited for.
        self._pending.commit_completed()
        found = [(request, self._cache.lookup(request.key, request.tier, request.full)) for request in requests]
        there = deque((request, lease) for request, lease in found if lease is not None)
        missing = {request.key: request for request, lease in found if lease is None and request.tier}
        came: deque[tuple[ExpertRequest, Lease]] = deque()
        sweep = None
        if requests and len(call.x) > 1:
            sweep = self._sweeps.begin(requests[0].key.layer, requests)
        if sweep is not None:
            there = deque(sorted(there, key=sweep.keeps))  # first those whose memory is freed by it
        window = self._window if len(call.x) > 1 else len(missing)  # one token's experts are soon all there
        has_room = None if sweep is None else sweep.has_room
        loads = LoadQueue(self._pending, {key: request.tier for key, request in missing.items()}, window, has_room)
        try:
            loads.start(len(there))
            if len(call.x) == 1 and self.prefetch is not None and self.prefetch.awake:
                x = call.x[0].to("cpu", torch.float32).numpy()
                self.prefetch.prefetch_after(requests[0].key.layer, [request.key.expert for request in requests], x)
            self._telemetry.hit(len(there))
            self._telemetry.misses += len(missing)
            skipped = [
                slot for request, lease in found if lease is None and not request.tier for slot in request.slots
            ]  # fmt: skip
            self._telemetry.precision[0] += len(skipped)
            while there or came or loads:
                came.extend((missing[lease.key], lease) for lease in loads.poll())
                loads.start(len(there) + len(came))
                if not loads.waiting:
                    (self.read_on if sweep is None else sweep.read_ahead)()
                if not there and not came:
                    came.extend((missing[lease.key], lease) for lease in loads.wait())
                # Those that came first: the next ones are read into their memory. What was there can wait, and
                # is something to compute whenever none has come.
                batch = _batch(came or there, None if sweep is None and not loads else BATCH)
                self.compute(call, batch)
                if sweep is not None:
                    for request, _ in batch:
                        sweep.done(request.key)
            return skipped
        finally:
            for _, lease in (*there, *came):
                lease.release()
            # After an error or a stop: what was demanded for this call is in nobody's account any more, and would hold
            # its room.
            loads.cancel()

    def compute(self, call: Call, found: Sequence[tuple[ExpertRequest, Lease]]) -> None:
        """Compute these experts and release them."""
        try:
            # One kernel call takes one layout, and a lowered expert (fewer bits stored) has another than the rest of
            # its layer.
            groups: dict[int, tuple[ExpertSpec, list[Work]]] = {}  # by identity of the spec
            for request, lease in found:
                _, work = groups.setdefault(id(request.spec), (request.spec, []))
                work.append(Work(lease.parts, request.slots))
                self._telemetry.precision[lease.tier] += len(request.slots)
                if lease.tier < request.full:
                    self._telemetry.coarse(request.key, len(request.slots))
            for spec, work in groups.values():
                layer = found[0][0].key.layer
                start = time.perf_counter()
                self._kernel.run(spec, self.activations[layer], work, call.x, call.k, call.out)
                end = time.perf_counter()
                self._seconds += end - start
                if self.observer is not None:
                    self.observer.computed(layer, len(work), start, end)
            self._computed += [len(request.slots) for request, _ in found]
        finally:
            for _, lease in found:
                lease.release()


def _batch(waiting: deque[tuple[ExpertRequest, Lease]], most: int | None) -> list[tuple[ExpertRequest, Lease]]:
    """The first of these, as many as `most` products allow, and one at least; None: all."""
    taken: list[tuple[ExpertRequest, Lease]] = []
    products = 0
    while waiting and (most is None or not taken or products < most):
        request, lease = waiting.popleft()
        taken.append((request, lease))
        products += request.spec.parameters * (len(request.slots) + OWN)
    return taken
