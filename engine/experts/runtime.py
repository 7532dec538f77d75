"""The expert runtime: decides the precision of each expert, finds or fetches it, and runs it."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from queue import Empty, SimpleQueue
from typing import NamedTuple

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.backend import Step
from engine.experts.entry import Lease
from engine.experts.keys import ExpertKey, ExpertSource, largest_expert
from engine.experts.loader import Loader
from engine.experts.observer import UNSEEN, Observer, seen
from engine.experts.precision import EXACT, Demand, Thresholds, demands, tiers_of
from engine.experts.request import Request
from engine.experts.residents import Residents
from engine.experts.telemetry import Snapshot, Telemetry
from engine.experts.two_level import Arrival, TieredCache
from engine.kernels.activation import Activation
from engine.kernels.call import Kernel, Work
from engine.kernels.native import NativeKernel
from engine.kernels.reference import slots_by_expert
from engine.store.layout import ExpertSpec

RouteListener = Callable[[int, Tensor, Tensor], None]
GivenListener = Callable[[int, Tensor], None]
READS_AHEAD = 2  # reads under way or queued, per reader: enough to keep the disk busy, and room is taken late


class Want(NamedTuple):
    """One expert of a layer call. tier: fetched at, if missing (0: then skipped); full: never run finer than that."""

    key: ExpertKey
    spec: ExpertSpec
    tier: int
    full: int
    slots: Sequence[int]


class _Call(NamedTuple):
    x: Tensor
    k: int
    out: Tensor  # [T * K, H], one row per slot: added up in order at the end, whoever came first


class ExpertRuntime:
    """The ExpertBackend over a store: cache, loader and kernels. One thread runs the model.

    kernels: one per level of the cache. tier: bits of full precision; None is the finest stored. The setters take
    effect with the next layer. route_listener is told (layer, ids [T, K], weights [T, K]) of every call, given_listener
    (layer, x [T, H]) of every call with many tokens, x being written over after that. interrupted is
    asked before every layer of a prompt, which may take seconds; True ends it with an UnderhillError(CANCELLED).
    """

    def __init__(
        self,
        source: ExpertSource,
        activation: Activation,
        cache: TieredCache,
        loader: Loader,
        kernels: Sequence[Kernel],
        thresholds: Thresholds = EXACT,
        tier: int | None = None,
    ) -> None:
        if len(kernels) != len(cache.levels):
            raise ValueError(f"{len(kernels)} kernels for {len(cache.levels)} levels of memory")
        self.cache = cache
        self.telemetry = Telemetry(source)
        self.route_listener: RouteListener | None = None
        self.given_listener: GivenListener | None = None
        self.interrupted: Callable[[], bool] | None = None
        self._source = source
        self._activation = activation
        self._loader = loader
        self._observer: Observer | None = None
        self._room: Tensor | None = None
        self._kernels = tuple(kernels)
        self._specs = {layer: [source.spec(layer, e) for e in range(source.experts(layer))] for layer in source.layers}
        self._tiers: dict[int, list[tuple[int, int, int]]] = {}  # by layer, expert and Demand
        first = kernels[0]
        # Where experts may lie in two kinds of memory, or torch computes, every token goes the long way.
        self._residents = (
            Residents(cache.levels[0], first, self._specs, activation, self.telemetry)
            if len(kernels) == 1 and isinstance(first, NativeKernel)
            else None
        )
        self.set_thresholds(thresholds)
        self.set_tier(tier)

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """See ExpertBackend.moe. Raises UnderhillError when an expert cannot be read; the runtime stays usable.

        Under the Exact dial the result is the same to the last bit whatever was cached.
        """
        if ids.shape[0] > 1 and self.interrupted is not None and self.interrupted():
            raise UnderhillError(Kind.CANCELLED, "Stopped.")
        if self.route_listener is not None:
            self.route_listener(layer, ids, weights)
        if self.given_listener is not None:
            self.given_listener(layer, x)
        with self._seen(layer, ids.shape[0]):
            return self._moe(layer, x, ids, weights)

    def _moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        tokens, k = ids.shape
        slots = slots_by_expert(ids.flatten().tolist())
        wants = self._wants(layer, slots, weights)
        self.telemetry.routed(layer, slots)
        x = x.contiguous()
        call = _Call(x, k, self._room_for(tokens * k, x))
        skipped = self._serve(call, wants)
        if skipped:
            weights = weights.clone()
            weights.view(-1)[skipped] = 0.0
        return self._kernels[0].combine(call.out, weights)

    def _room_for(self, slots: int, x: Tensor) -> Tensor:
        """[slots, H] of whatever values, in the same memory for every layer.

        To have the 32 MB of a long chunk anew from the system, cleared page by page, takes 13 ms (measured).
        """
        needed, room = slots * x.shape[1], self._room
        if room is None or room.numel() < needed or (room.dtype, room.device) != (x.dtype, x.device):
            with torch.inference_mode(False):  # what is made within it could not be written to outside
                room = self._room = torch.empty(needed, dtype=x.dtype, device=x.device)
        return room[:needed].view(slots, -1)

    @property
    def native(self) -> NativeKernel | None:
        """The kernel over ordinary memory, for whoever else has something to multiply; None where that is torch."""
        kernel = self._kernels[-1]
        return kernel if isinstance(kernel, NativeKernel) else None

    def moe_step(self, layer: int, step: Step) -> None:
        """See Stepper.moe_step. Raises what `moe` raises."""
        if self.route_listener is not None:
            self.route_listener(layer, step.ids.clone(), step.weights.clone())  # the step's own are written over
        with self._seen(layer, 1):
            ran = None if self._residents is None else self._residents.play(layer, step)
            if ran is None:
                step.y.copy_(self._moe(layer, step.x, step.ids, step.weights))
            else:
                self.cache.counts[0].hits += ran

    def observe(self, observer: Observer | None) -> None:
        """Tell it of everything from now on; None ends that."""
        self._observer = observer
        self._loader.listener = None if observer is None else observer.chunk

    def _seen(self, layer: int, tokens: int) -> AbstractContextManager[None]:
        return UNSEEN if self._observer is None else seen(self._observer, layer, tokens)

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Change the dial."""
        self._thresholds = thresholds
        for level in self.cache.levels:
            level.keep_coarse = not thresholds.exact
        if self._residents is not None:
            self._residents.set_thresholds(thresholds)

    def set_tier(self, tier: int | None, capacity: int | None = None) -> None:
        """Change what counts as full precision, and with it, where given, the capacity of the cache in memory.

        Raises UnderhillError(BAD_REQUEST) for a tier that is not stored, and where not one expert of it would fit.
        """
        stored = sorted({t for specs in self._specs.values() for spec in specs for t in spec.tiers})
        if tier is not None and tier not in stored:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                f"This model has no {tier}-bit experts.",
                f"It holds {', '.join(map(str, stored))} bits.",
            )
        least = largest_expert(self._source, tier)
        for level in self.cache.levels:
            last = level is self.cache.levels[-1]
            level.set_capacity(capacity if last and capacity is not None else level.capacity, least)
        self._tiers = {layer: [tiers_of(spec, tier) for spec in specs] for layer, specs in self._specs.items()}
        if self._residents is not None:
            self._residents.set_tiers(self._tiers)

    def set_capacity(self, nbytes: int, level: int = -1) -> None:
        """Change the ceiling of one level of the cache, in bytes. Raises UnderhillError(BAD_REQUEST) if too small."""
        self.cache.levels[level].set_capacity(nbytes)

    def snapshot(self) -> Snapshot:
        """The counters and what is resident."""
        return self.telemetry.snapshot(self.cache.residency())

    def close(self) -> None:
        """End the readers and the kernels' threads. The source belongs to the caller."""
        self._loader.close()
        for kernel in self._kernels:
            kernel.close()

    def _wants(self, layer: int, slots: dict[int, list[int]], weights: Tensor) -> list[Want]:
        """Who is asked for, and at which tier: of several tokens the strongest demand wins."""
        specs = self._specs[layer]
        unknown = [expert for expert in slots if not 0 <= expert < len(specs)]
        if unknown:
            raise ValueError(f"layer {layer} has no expert {unknown[0]}; it has {len(specs)}")
        # Many tokens visit many experts: then the order of the disk serves, else that of the router.
        order = sorted(slots) if weights.shape[0] > 1 else list(slots)
        asked = None if self._thresholds.exact else demands(weights, self._thresholds).flatten().tolist()
        wants = []
        for expert in order:
            chosen, tiers = slots[expert], self._tiers[layer][expert]
            demand = Demand.HIGH if asked is None else max(asked[slot] for slot in chosen)
            wants.append(Want(ExpertKey(layer, expert), specs[expert], tiers[demand], tiers[Demand.HIGH], chosen))
        return wants

    def _serve(self, call: _Call, wants: Sequence[Want]) -> list[int]:
        """Fill the slots of every want; returns those that were skipped. Hits are computed while misses load."""
        leases = self.cache.lookup((want.key, want.tier, want.full) for want in wants)
        hits = [(want, leases[want.key]) for want in wants if want.key in leases]
        misses = [want for want in wants if want.tier and want.key not in leases]
        skipped = [slot for want in wants if not want.tier and want.key not in leases for slot in want.slots]
        self.telemetry.hit(len(hits))
        self.telemetry.misses += len(misses)
        self.telemetry.precision[0] += len(skipped)
        if not misses:
            self._run(call, hits)
            return skipped
        arrivals = _Arrivals(self.cache, self._loader, self.telemetry, self._observer)
        try:
            misses = arrivals.request(misses)
            taken, hits = hits, []
            self._run(call, taken)
            while misses or arrivals.under_way:
                misses = arrivals.request(misses)
                self._run(call, arrivals.take())
        finally:
            for _, lease in hits:
                lease.release()
            arrivals.abandon()
        return skipped

    def _run(self, call: _Call, found: Sequence[tuple[Want, Lease]]) -> None:
        """Compute these experts and release them."""
        try:
            groups: dict[tuple[int, int], tuple[ExpertSpec, list[Work]]] = {}  # by level and identity of the spec
            for want, lease in found:
                _, work = groups.setdefault((lease.level, id(want.spec)), (want.spec, []))
                work.append(Work(lease.parts, want.slots))
                self.telemetry.precision[lease.tier] += len(want.slots)
            for (level, _), (spec, work) in groups.items():
                start = 0.0 if self._observer is None else time.perf_counter()
                self._kernels[level].run(spec, self._activation, work, call.x, call.k, call.out)
                if self._observer is not None:
                    self._observer.computed(found[0][0].key.layer, len(work), start, time.perf_counter())
        finally:
            for _, lease in found:
                lease.release()


class _Arrivals:
    """The reads of one layer call: a window of them under way, so that a call may need more than fits at once."""

    def __init__(self, cache: TieredCache, loader: Loader, telemetry: Telemetry, observer: Observer | None) -> None:
        self._cache = cache
        self._loader = loader
        self._telemetry = telemetry
        self._observer = observer
        self._ended: SimpleQueue[Request] = SimpleQueue()
        self._open: dict[Request, tuple[Want, Arrival]] = {}

    @property
    def under_way(self) -> bool:
        """True while reads have not been taken."""
        return bool(self._open)

    def request(self, misses: Sequence[Want]) -> list[Want]:
        """Start as many as there is room for now; returns the others, to be asked for again."""
        waiting = list(misses)
        while waiting and len(self._open) < READS_AHEAD * self._loader.readers:
            want = waiting[0]
            arrival = self._cache.reserve(want.key, want.tier)
            if arrival is None:
                break
            parts, views = arrival.reservation.parts, arrival.views
            self._open[self._loader.submit(want.key, parts, views, self._ended.put)] = (want, arrival)
            del waiting[0]
        return waiting

    def take(self) -> list[tuple[Want, Lease]]:
        """Wait for one read and take all that have ended. Raises the UnderhillError of one that failed."""
        if not self._open:
            raise UnderhillError(Kind.OUT_OF_MEMORY, "The expert cache is held by something else.", "Try again.")
        ended = [self._wait() if self._ended.empty() else self._ended.get()]
        while len(ended) < len(self._open):
            try:
                ended.append(self._ended.get_nowait())
            except Empty:
                break
        taken: list[tuple[Want, Lease]] = []
        error: UnderhillError | None = None
        try:
            for request in ended:
                want, arrival = self._open.pop(request)
                if request.error is None:
                    self._telemetry.read(request.nbytes, request.seconds)
                    taken.append((want, self._cache.commit(arrival)))
                else:
                    error = request.error
                    self._cache.abandon(arrival)
            if error is not None:
                raise error
        except BaseException:
            for _, lease in taken:
                lease.release()
            raise
        return taken

    def _wait(self) -> Request:
        start = 0.0 if self._observer is None else time.perf_counter()
        request = self._ended.get()
        if self._observer is not None:
            self._observer.waited(request.key.layer, start, time.perf_counter())
        return request

    def abandon(self) -> None:
        """End what is still open, after an error: cancel, or wait for the reader and keep what it brought."""
        for request in self._open:
            self._loader.cancel(request)
        for request, (_, arrival) in self._open.items():
            request.wait()  # chunks under way still write to its views
            if request.error is None:
                self._telemetry.read(request.nbytes, request.seconds)
                self._cache.commit(arrival).release()
            else:
                self._cache.abandon(arrival)
        self._open.clear()
