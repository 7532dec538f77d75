"""What is resident, kept in the form in which native code looks up one token's experts by itself."""

from __future__ import annotations

import ctypes
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import compress

import numpy as np
import torch

from engine.experts.backend import Step
from engine.experts.buffers import Buffer
from engine.experts.cache import ExpertCache
from engine.experts.entry import Entry
from engine.experts.keys import ExpertKey
from engine.experts.level import Level
from engine.experts.native_cache import NativeCache
from engine.experts.policies import Visit
from engine.experts.precision import Demand, Thresholds, at_high
from engine.experts.predictors.predictor import Floats
from engine.experts.telemetry import Telemetry
from engine.kernels.activation import Activation
from engine.kernels.native import (
    EXPERT,
    MISSING,
    SKIPPED,
    NativeKernel,
    RankShares,
    ResidentLayer,
    Serving,
    expert_layout,
)
from engine.store.layout import ExpertSpec

MOST = 64  # experts per token that native code takes
NO_CODES = (0, 0, 0)
PLANES = 8  # of the 4-byte words of EXPERT: its planes


def finest(specs: Sequence[ExpertSpec]) -> ExpertSpec:
    """The one of the finest top tier."""
    return max(specs, key=lambda spec: spec.top)


class ResidentExperts:
    """One layer whose experts are of one shape; some may have been lowered. full: the finest tier that one runs at.

    specs: by expert.
    """

    def __init__(self, layer: int, specs: Sequence[ExpertSpec], activation: Activation, telemetry: Telemetry) -> None:
        n, spec = len(specs), finest(specs)
        self.layer = layer
        self.spec = spec
        self.whole = specs.index(spec)  # an expert that was not lowered
        self.keys = [ExpertKey(layer, expert) for expert in range(n)]
        self.most = [0 if own == spec else len(own.tiers) for own in specs]
        self.full = 0
        self.tiers = spec.tiers
        self.table = (ctypes.c_char * (EXPERT.size * n))()
        for expert, most in enumerate(self.most):
            EXPERT.pack_into(self.table, EXPERT.size * expert, 0, 0, 0, 0, 0, 0, 1, most)
        self._scores: Floats | None = None  # that were looked at last
        self._scores_at = 0
        self._planes = memoryview(self.table).cast("B").cast("i")[PLANES :: EXPERT.size // 4]
        self._layout = expert_layout(spec, activation)
        self.native = ResidentLayer(
            ctypes.addressof(self._layout),
            ctypes.addressof(self.table),
            telemetry.uses(layer).buffer_info()[0],
            telemetry.hit_count.buffer_info()[0],
            telemetry.precision.buffer_info()[0],
            telemetry.notes(layer).ctypes.data,
            n=n,
        )
        self._ranks = RankShares()
        self.native.ranks = ctypes.addressof(self._ranks)
        self.native.tiers[:] = (0, *spec.tiers, 0, 0)[:4]
        self.address = ctypes.addressof(self.native)
        self._parts = {
            tier: (
                [part.index for part in spec.layout.codes_for(tier)],
                None if spec.raw else spec.layout.params_for(tier).index,
            )
            for tier in spec.tiers
        }

    def address_of(self, scores: Floats) -> int:
        """Where the scores of its experts lie, mostly in the same memory; float32 [experts]. Raises ValueError."""
        if scores is not self._scores:
            if scores.dtype != np.float32 or scores.size < len(self.keys) or not scores.flags.c_contiguous:
                raise ValueError(f"scores are {scores.dtype} {scores.shape}; expected float32 [{len(self.keys)}]")
            self._scores, self._scores_at = scores, scores.ctypes.data
        return self._scores_at

    def ask(self, thresholds: Thresholds) -> None:
        """Of tokens from now on: what was seen of ranks says nothing any more."""
        self.native.t1, self.native.t2, self._ranks.n = thresholds.t1, thresholds.t2, 0

    def put(self, expert: int, held: Mapping[int, Buffer], tier: int) -> None:
        """An expert runs at `tier` from now on; 0: it is not there. See Parts.addresses."""
        if not tier:
            self._planes[expert] = 0
            return
        codes, params = self._parts[tier]
        at = [held[index].address for index in codes]
        EXPERT.pack_into(
            self.table, EXPERT.size * expert, *at, *NO_CODES[len(at) :], 0 if params is None else held[params].address,
            len(at), 0, 1, self.most[expert],
        )  # fmt: skip


class Residents:
    """The experts of one level of memory, for one token at a time.

    Follows one cache. `run` may be used but under its lock, `run_some` on what is leased, which keeps addresses valid.
    needed: after MISSING, what each of the token's experts lacks; see NativeKernel.moe_resident.
    ranks: who is to run next (`serve`).
    times: of the last `serve`, when it began, had computed, and had waited, in nanoseconds by time.perf_counter.
    """

    def __init__(
        self,
        cache: Level,
        kernel: NativeKernel,
        specs: Mapping[int, Sequence[ExpertSpec]],
        activations: Mapping[int, Activation],
        telemetry: Telemetry,
    ) -> None:
        self._cache = cache
        self._kernel = kernel
        self._telemetry = telemetry  # owns the counters
        self.needed = array("i", [0] * MOST)
        self.ranks = array("i", [0] * MOST)
        self._serving, self.times = Serving(), (ctypes.c_int64 * 3)()
        self._serving.needed = self.needed.buffer_info()[0]
        self._addresses = ctypes.addressof(self._serving), self.ranks.buffer_info()[0], ctypes.addressof(self.times)
        self._asked, self._expected, self._lacks = (array("i", [0] * MOST) for _ in range(3))
        self._out = torch.empty(0)
        self._exact = True
        self._layers = {
            layer: ResidentExperts(layer, own, activations[layer], telemetry)
            for layer, own in specs.items()
            if all(replace(spec, top=finest(own).top) == finest(own) for spec in {*own})
        }
        if isinstance(cache, ExpertCache):
            cache.changed = self._changed
        self._tells = not isinstance(cache, NativeCache) or not cache.notes
        if isinstance(cache, NativeCache):
            for index, layer in self._layers.items():
                layer.native.policy, layer.native.row = cache.notes, cache.first(index) // cache.width

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Change the dial."""
        with self._cache.lock:
            for layer in self._layers.values():
                layer.ask(thresholds)
            self._exact = thresholds.exact

    def set_tiers(self, tiers: Mapping[int, Sequence[tuple[int, int, int]]]) -> None:
        """Change what counts as full and as coarse. tiers: by layer, expert and Demand."""
        with self._cache.lock:
            for index, layer in self._layers.items():
                _, low, layer.full = tiers[index][layer.whole]
                layer.native.low = layer.spec.tiers.index(low) + 1
                layer.native.high = layer.spec.tiers.index(tiers[index][layer.whole][Demand.HIGH]) + 1
                if isinstance(self._cache, NativeCache):
                    self._cache.show(layer.keys, layer.table, layer.spec.tiers.index(layer.full) + 1)
                    continue
                for key in layer.keys:
                    entry = self._cache.entry(key)
                    if entry is not None and entry.held:
                        self._changed(entry, True)

    def experts(self, layer: int, step: Step) -> ResidentExperts | None:
        """Those of a layer, where native code can look them up for this step."""
        found = self._layers.get(layer)
        return found if found is not None and found.spec.hidden == step.hidden and step.k <= MOST else None

    def all_of(self, layers: Sequence[int]) -> list[ResidentExperts] | None:
        """Those of these layers; None where one of them cannot be looked up by native code."""
        found = [self._layers[layer] for layer in layers if layer in self._layers]
        return found if len(found) == len(layers) else None

    def foresee(
        self, layer: int, scores: Floats, asked: Sequence[Demand], most: int
    ) -> tuple[list[int], list[int]] | None:
        """The `most` experts of a layer with the greatest scores, best first, and of the first of them the tier that
        each would have to be fetched at to be what is asked of its rank; 0: it is there. None: it is not known here.
        """
        experts = self._layers.get(layer)
        if experts is None or most > MOST:
            return None
        native, expected, lacks = experts.native, self._expected, self._lacks
        planes = (0, native.low, native.high)
        for rank, demand in enumerate(asked):
            self._asked[rank] = planes[demand]
        found = self._kernel.foresee(
            experts.address, experts.address_of(scores), self._asked.buffer_info()[0], len(asked), most,
            expected.buffer_info()[0], lacks.buffer_info()[0],
        )  # fmt: skip
        tiers = (0, *experts.tiers)
        return expected[:found].tolist(), [tiers[n] for n in lacks[: min(found, len(asked))]]

    def lacking(self, experts: ResidentExperts, step: Step) -> int:
        """How many of a step's experts have to be fetched, as far as is seen without the lock; or UNDECIDED."""
        _, ids, weights, _ = step.addresses
        return self._kernel.lacking(experts.address, ids, step.k, weights, self.needed.buffer_info()[0])

    def run(self, experts: ResidentExperts, step: Step) -> int:
        """Fill step.y if all are there, and return how many ran; MISSING or UNDECIDED: nothing was computed."""
        x, ids, weights, y = step.addresses
        ran = self._kernel.moe_resident(
            experts.address, ids, step.k, x, weights, y, self.needed.buffer_info()[0]
        )  # fmt: skip
        if self._tells and (ran >= 0 or ran == MISSING):
            self._tell_policy(experts, step)
        return ran

    def _tell_policy(self, experts: ResidentExperts, step: Step) -> None:
        chosen = step.chosen.tolist()
        if self._exact:
            self._cache.routed(Visit(experts.layer, chosen))
            return
        high = at_high(step.gates.tolist(), experts.native.t1)
        run = [lacks != SKIPPED for lacks in self.needed[: step.k]]
        self._cache.routed(Visit(experts.layer, list(compress(chosen, run)), list(compress(high, run))))

    def run_some(self, experts: ResidentExperts, step: Step, ranks: Sequence[int]) -> None:
        """Compute the experts of these ranks, all of them leased, for `combine`."""
        self.about_to_run(ranks)
        x, ids, _, _ = step.addresses
        self._kernel.moe_some(
            experts.address, ids, self.ranks.buffer_info()[0], len(ranks), step.k, x, self._given(step)
        )

    def about_to_run(self, ranks: Sequence[int]) -> int:
        """Write them down in `ranks`; returns how many."""
        for at, rank in enumerate(ranks):
            self.ranks[at] = rank
        return len(ranks)

    def take_up(self, step: Step) -> None:
        """What is computed by `serve` from now on."""
        serving = self._serving
        serving.x, serving.ids, serving.weights, serving.y = step.addresses
        serving.k, serving.out = step.k, self._given(step)

    def serve(self, experts: ResidentExperts, n: int, ends: tuple[int, int, int] | None) -> int:
        """Compute the first n `ranks`, all of them leased, then wait for reads to end: see uh_serve; returns how many.

        ends: of the readers, of the memory for ends, and for how many; None: all has come, `combine` is done, too.
        """
        serving, ranks, times = self._addresses
        reads, to, most = ends or (None, 0, 0)
        return self._kernel.serve(experts.address, serving, ranks, n, reads, to, most, times)

    def _given(self, step: Step) -> int:
        """Where what the experts of a step give is written to."""
        if self._out.numel() < step.k * step.hidden:
            with torch.inference_mode(False):
                self._out = torch.empty(step.k * step.hidden)
        return self._out.data_ptr()

    def combine(self, step: Step) -> None:
        """step.y, from all that was run since MISSING; what was skipped is left out."""
        _, _, weights, y = step.addresses
        needed = self.needed.buffer_info()[0]
        self._kernel.combine_some(weights, needed, self._out.data_ptr(), y, step.k, step.hidden)

    def _changed(self, entry: Entry, there: bool) -> None:
        key = entry.key
        layer = self._layers.get(key.layer)
        if layer is None:
            return
        tier = entry.best(layer.full) if there else 0
        layer.put(key.expert, entry.held, tier)
