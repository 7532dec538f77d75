"""Decode: a few tokens through the experts of one layer, those that are cached while the others are read."""

from __future__ import annotations

import ctypes
import time
from array import array
from collections.abc import Mapping, Sequence

import torch

from engine.experts.backend import GraphLayers, Step
from engine.experts.cache.expert_cache import ExpertCache
from engine.experts.cache.resident_table import LayerTable, ResidentTable
from engine.experts.execution.assistant import CardAssistant
from engine.experts.execution.sweep import Sweeps
from engine.experts.keys import ExpertKey
from engine.experts.loading.pending import LoadQueue, PendingLoads, cache_is_held
from engine.experts.loading.upgrader import PrecisionUpgrader
from engine.experts.policies import LayerVisit
from engine.experts.prefetch.prefetcher import Prefetcher
from engine.experts.telemetry import ExpertTelemetry, ProfilerHook
from engine.kernels.native import (
    MOST_ASKED,
    MOST_CHOSEN,
    NOT_DECIDED,
    NOT_RESIDENT,
    SKIPPED,
    TAKEN,
    NativeKernel,
    StepArgs,
)
from engine.native.op_graph import GraphStep

# Nanoseconds after which whoever wants the cache (the watch of memory, the panels) gets it, in the middle of a token.
PATIENCE = 20_000_000


class _CardFailed(Exception):
    """The card did not compute what it was asked for."""


class DecodeExecutor:
    """One native call where all experts are cached, else one for those that are and one for each group that comes.

    prefetch: told of every layer while it is awake; None: nothing is read ahead. card: computes some of a layer's
    experts meanwhile; None: there is none.
    """

    def __init__(
        self,
        kernel: NativeKernel,
        table: ResidentTable,
        cache: ExpertCache,
        pending: PendingLoads,
        telemetry: ExpertTelemetry,
        *,
        upgrader: PrecisionUpgrader,
        sweeps: Sweeps,
    ) -> None:
        self.observer: ProfilerHook | None = None
        self.prefetch: Prefetcher | None = None
        self.card: CardAssistant | None = None
        self._kernel, self._table, self._cache, self._pending = kernel, table, cache, pending
        self._telemetry, self._upgrader, self._sweeps = telemetry, upgrader, sweeps
        # The step's experts are listed in `args`; an index is into that list. indices: those to run next; awaited:
        # planes that each waits for, 0: none. Native code keeps their addresses, so none ever changes its length.
        self._args = StepArgs()
        self._experts, self._to_fetch = self._args.experts, self._args.to_fetch
        self._indices, self._awaited = (array("i", [0] * MOST_ASKED) for _ in range(2))
        arrays = (self._experts, self._to_fetch, self._indices, self._awaited)
        self._addresses = tuple(own.buffer_info()[0] for own in arrays)
        # Of the last compute_and_wait: begun, computed, waited; ns of perf_counter.
        self._times = (ctypes.c_int64 * 3)()
        self._times_at = ctypes.addressof(self._times)
        self._out = torch.empty(0)
        self._layers: GraphLayers | None = None  # that know where the experts are

    def run_layers(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        """See Stepper.run_layers. Nothing may have to be told of a layer, or of what is not read of it."""
        if layers is not self._layers:
            self._bind_layers(layers)
        self._pending.commit_completed()
        with self._cache.lock:  # what is found there must not be evicted before it has run
            return self._kernel.run_layers(
                layers.packed, at, layers.count(step), step=step, asked=self._args, patience=PATIENCE
            )

    def _bind_layers(self, layers: GraphLayers) -> None:
        """Tell native code where each layer's experts are; of those that it does not take, nothing."""
        for asked, packed in zip(layers.asked, layers.packed, strict=True):
            if asked is not None and self._takes(self._table.layers[asked[0]], asked[1]) and self._cache.notes:
                packed.experts = self._table.layers[asked[0]].address
        self._layers = layers

    @staticmethod
    def _takes(experts: LayerTable, step: Step) -> bool:
        return experts.uniform and experts.spec.hidden == step.hidden and step.k <= MOST_CHOSEN

    def run(self, layer: int, step: Step) -> bool:
        """Run the layer's experts into step.y, reading those that are missing; blocks until they are there.

        False: nothing was done, and the caller takes the executor for several tokens.

        Raises the UnderhillError of an expert that cannot be read; nothing is leased or pending for the step then.
        """
        experts = self._table.layers[layer]
        if not self._takes(experts, step):
            return False
        self._pending.commit_completed()
        self._args.set(step.addresses, step.tokens, step.k)
        card = self.card if self.card is not None and self.card.alive else None
        if step.tokens > 1 and (card is not None or self._is_sweep(experts)):
            return False  # of several tokens the long way gives the card its share
        # From here on others may stand in for what is missing; the long way takes what the router chose.
        self._args.set(step.addresses, step.tokens, step.k, route=step.route)
        # First of all: the card computes while everything else is looked up, read and computed here.
        if card is None:
            return self._step(experts, step, None)
        try:
            return self._step(experts, step, card if card.begin(experts, step) else None)
        except _CardFailed:
            pass
        finally:
            card.end(experts, step)
        # Nothing of the layer is lost: nothing is TAKEN any more, and the processor computes all of it.
        return self._step(experts, step, None)

    def _step(self, experts: LayerTable, step: Step, card: CardAssistant | None) -> bool:
        """See run. card: computes the TAKEN ones; None: there are none."""
        layer = experts.layer
        prefetch = self.prefetch if self.prefetch is not None and self.prefetch.awake and step.tokens == 1 else None
        # Looked at without the lock: an expert may go or come before `_run_cached` looks again. A wrong guess costs no
        # more than the order: with nothing missing the next layer's reads begin before this layer computes, and with
        # something missing only once the demands are submitted, which they must not delay.
        if prefetch is not None and not self._kernel.look_up(experts.address, self._args):
            prefetch.prefetch_after(layer, step.chosen.tolist(), step.given)
            prefetch = None
        return self._run(experts, step, prefetch, card)

    def _is_sweep(self, experts: LayerTable) -> bool:
        """Whether several tokens lack experts and want more of them than the layer may keep.

        The layers to come would lose all they have to this one; the long way reads them through a part of the cache.
        """
        if self._kernel.look_up(experts.address, self._args) <= 0:
            return False
        largest = experts.spec.layout.bytes_for(experts.full)
        return not self._sweeps.may_stay(experts.layer, self._args.n, largest)

    def _run(self, experts: LayerTable, step: Step, prefetch: Prefetcher | None, card: CardAssistant | None) -> bool:
        """See _step. prefetch: to be told of the layer once all is asked for; None: it was told, or there is none."""
        cache, pending = self._cache, self._pending
        base = cache.base(experts.layer)
        ids, to_fetch, indices, awaited = self._addresses
        n = 0  # experts listed
        ready = missing = 0  # ready: the first of the indices, pinned
        try:
            with cache.lock:  # what is found there must not be evicted before it has run, or is pinned
                ran = self._run_cached(experts, step)
                if ran >= 0:
                    return True
                if ran == NOT_DECIDED:
                    return False
                n = self._args.n
                asked, ready, missing = pending.demand_all(base, ids, to_fetch, n, indices, awaited)
            self._telemetry.misses += missing
            self._note_coarse(experts, n)
            if prefetch is not None:
                prefetch.prefetch_after(experts.layer, step.chosen.tolist(), step.given)
            again = asked < missing  # some found no room, or are on their way at a coarser tier than is wanted
            self._bind(step)
            while missing and not again:
                ended = self._compute_and_wait(experts, ready, pending.ends)
                if not ended:
                    # None has ended and none is open: what is missing was never asked for, since all the room is
                    # pinned.
                    raise cache_is_held()
                ran, ready = ready, 0
                ready, again = pending.commit_step(base, ids, awaited, n, indices, ran, n=ended)
                missing -= ready
            if missing:
                self._compute(experts, self._indices[:ready].tolist())
                ran, ready = ready, 0
                cache.unpin([base + self._experts[index] for index in self._indices[:ran]])
                missing = 0
                self._run_one_by_one(experts, n)
                self._combine(step, card)
            elif card is not None:
                self._compute(experts, self._indices[:ready].tolist())
                self._combine(step, card)
            else:
                self._compute_and_wait(experts, ready, None)
            return True
        finally:
            if ready:
                cache.unpin([base + self._experts[index] for index in self._indices[:ready]])
            if missing:
                # Only after an error: a step that went well has set `missing` to 0.
                pending.cancel([experts.keys[self._experts[index]] for index in self._left(n)])

    def _combine(self, step: Step, card: CardAssistant | None) -> None:
        """Sum up what has been computed, in the order of the router's choice, what the card computed included."""
        if card is not None and not card.collect(self._out, step.hidden):
            raise _CardFailed
        self._kernel.combine_some(self._args, self._out.data_ptr(), step.hidden)

    def _run_cached(self, experts: LayerTable, step: Step) -> int:
        """Fill step.y if all are there, and return how many ran; NOT_RESIDENT or NOT_DECIDED: nothing was computed."""
        ran = self._kernel.moe_if_resident(experts.address, self._args)
        if not self._cache.notes and (ran >= 0 or ran == NOT_RESIDENT):  # else native code has told the policy
            self._tell_policy(experts.layer, step.tokens)
        return ran

    def _tell_policy(self, layer: int, tokens: int) -> None:
        args = self._args
        indices = [index for index in range(args.n) if args.to_fetch[index] not in (SKIPPED, TAKEN)]
        counts = None if tokens == 1 else [args.offsets[index + 1] - args.offsets[index] for index in indices]
        high = None if tokens == 1 else [bool(args.high[index]) for index in indices]
        self._cache.routed(LayerVisit(layer, [args.experts[index] for index in indices], high, counts, tokens))

    def _bind(self, step: Step) -> None:
        """Point native code to where a step's experts give their outputs."""
        needed = step.tokens * step.k * step.hidden
        if self._out.numel() < needed:
            with torch.inference_mode(False):  # or it could not be written to outside of that
                self._out = torch.empty(needed)
        # `_out` may just have been replaced by a longer one, so its address is taken anew.
        self._args.set(step.addresses, step.tokens, step.k, out=self._out.data_ptr(), route=step.route)

    def _compute_and_wait(self, experts: LayerTable, n: int, ends: tuple[int, int, int] | None) -> int:
        """Compute the experts at the first n indices, all pinned, then wait for reads to end; returns how many have.

        ends: of the readers, of the memory for ends, and for how many; None: all has come, and step.y is filled.
        """
        reads, to, most = ends or (None, 0, 0)
        ended = self._kernel.compute_and_wait(
            experts.address, self._args, self._addresses[2], n=n, reads=reads, ends=to, most=most,
            times=self._times_at,
        )  # fmt: skip
        # uh_nanoseconds and time.perf_counter are one clock (CLOCK_MONOTONIC; QueryPerformanceCounter on Windows), so
        # the profiler may hold these against times of its own.
        begun, computed, waited = self._times
        if self.observer is not None and n:
            self.observer.computed(experts.layer, n, begun * 1e-9, computed * 1e-9)
        if waited > computed:
            self._pending.waited(computed * 1e-9, waited * 1e-9)
        return ended

    def _compute(self, experts: LayerTable, indices: Sequence[int]) -> None:
        """Compute the experts at these indices, all of them pinned, for `combine_some`."""
        if not indices:
            return
        for at, index in enumerate(indices):
            self._indices[at] = index
        start = time.perf_counter()
        self._kernel.moe_some(experts.address, self._args, self._addresses[2], len(indices))
        end = time.perf_counter()
        if self.card is not None:
            self.card.computed(len(indices), end - start)
        if self.observer is not None:
            self.observer.computed(experts.layer, len(indices), start, end)

    def _run_one_by_one(self, experts: LayerTable, n: int) -> None:
        """Those for which there was no room, or that were loading at a coarser tier than is needed."""
        indices = {experts.keys[self._experts[index]]: index for index in self._left(n)}
        tiers = {key: experts.spec.tiers[self._to_fetch[index] - 1] for key, index in indices.items()}
        self._run_as_they_come(experts, LoadQueue(self._pending, tiers, len(tiers)), indices)

    def _run_as_they_come(self, experts: LayerTable, loads: LoadQueue, indices: Mapping[ExpertKey, int]) -> None:
        try:
            while loads:
                leases = loads.wait()
                try:
                    self._compute(experts, [indices[lease.key] for lease in leases])
                finally:
                    for lease in leases:
                        lease.release()
        finally:
            loads.cancel()

    def _left(self, n: int) -> list[int]:
        """Indices of those that have not come."""
        return [index for index, planes in enumerate(self._awaited[:n]) if planes]

    def _note_coarse(self, experts: LayerTable, n: int) -> None:
        full = experts.native.high
        for expert, planes in zip(self._experts[:n], self._to_fetch):
            if 0 < planes < full:
                self._upgrader.ran_coarse(experts.keys[expert], experts.full)
