"""Per-layer table of cached expert addresses, laid out for the C kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from engine.experts.backend import Step
from engine.experts.cache.expert_cache import ExpertCache
from engine.experts.keys import ExpertKey
from engine.experts.precision import RequestedPrecision, Thresholds
from engine.experts.predictors.predictor import Floats
from engine.experts.telemetry import ExpertTelemetry
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, RankShares, ResidentLayer, expert_layout
from engine.native.eviction import learn_ranks
from engine.record.layout import ExpertSpec


class LayerTable:
    """One layer: a ResidentLayer, and what its addresses point to.

    full: the finest tier that one runs at. uniform: whether all experts have one shape, of which some may have been
    lowered: then a single native call can run them. whole: an expert that was not lowered. specs: by expert.
    """

    def __init__(
        self, layer: int, specs: Sequence[ExpertSpec], activation: Activation, telemetry: ExpertTelemetry
    ) -> None:
        n, spec = len(specs), max(specs, key=lambda spec: spec.top)
        self.layer, self.spec = layer, spec
        self.uniform = all(replace(own, top=spec.top) == spec for own in {*specs})
        self.whole = specs.index(spec)
        self.keys = [ExpertKey(layer, expert) for expert in range(n)]
        self.full = 0
        # Kept here for as long as native code has their addresses.
        self.table = (ctypes.c_char * (EXPERT.size * n))()
        for expert, own in enumerate(specs):
            most = 0 if own == spec else len(own.tiers)
            # No address and no planes: an expert is not there until ExpertCache.show has been told of this table and it
            # comes in. The last number caps a lowered expert, whose record holds fewer planes than the layer's layout;
            # 0: no cap.
            EXPERT.pack_into(self.table, EXPERT.size * expert, 0, 0, 0, 0, 0, 0, 1, most)
        self._layout, self._ranks = expert_layout(spec, activation), RankShares()
        self._scores: Floats | None = None  # that were looked at last
        self._scores_at = 0
        # Arrays of the telemetry are counted up by C in place: they must never be replaced by longer ones.
        self.native = ResidentLayer(
            ctypes.addressof(self._layout),
            ctypes.addressof(self.table),
            telemetry.uses(layer).buffer_info()[0],
            telemetry.hit_count.buffer_info()[0],
            telemetry.precision.buffer_info()[0],
            telemetry.notes(layer).ctypes.data,
            n=n,
        )
        # Of a graphics card's: planes that it holds of each expert, and 1 for those that it computes in a call. Written
        # by CardExperts; all 0 where no card is used.
        self.card, self.taken = (ctypes.c_uint8 * n)(), (ctypes.c_uint8 * n)()
        self.native.card, self.native.taken = ctypes.addressof(self.card), ctypes.addressof(self.taken)
        self.native.ranks = ctypes.addressof(self._ranks)
        self._denied = (ctypes.c_double * n)()
        self.native.denied = ctypes.addressof(self._denied)
        self.native.substituted = telemetry.substituted.buffer_info()[0]
        # By planes held: the index of `precision` that native code adds to when an expert runs with so many; four, as
        # UH_PLANES is 3.
        self.native.tiers[:] = (0, *spec.tiers, 0, 0)[:4]
        self.address = ctypes.addressof(self.native)

    def address_of(self, scores: Floats) -> int:
        """Where the scores of its experts lie: float32 [experts]. Raises ValueError.

        Predictors mostly answer in the same memory; to ask numpy for its address takes longer than all else here.
        """
        if scores is not self._scores:
            if scores.dtype != np.float32 or scores.size < len(self.keys) or not scores.flags.c_contiguous:
                raise ValueError(f"scores are {scores.dtype} {scores.shape}; expected float32 [{len(self.keys)}]")
            # Both, so that the array whose address is used lives at least until the next one comes.
            self._scores, self._scores_at = scores, scores.ctypes.data
        return self._scores_at

    def learn(self, step: Step) -> None:
        """Learn what tokens ask of their experts by rank; `moe_if_resident` does that itself. See uh_ranks_learn."""
        for token in range(step.tokens):
            at = step.addresses[1] + token * step.k * step.weights.element_size()
            learn_ranks(self.native.ranks, at, step.k, self.native.t1, self.native.t2)

    def set_thresholds(self, thresholds: Thresholds, substitute: float) -> None:
        """Change the dial: what was learnt of ranks says nothing any more. See ExpertRuntime.set_thresholds."""
        self.native.t1, self.native.t2, self._ranks.n = thresholds.t1, thresholds.t2, 0
        self.native.substitute = substitute


class ResidentTable:
    """All layers of one cache. Native code that reads it is called under the cache's lock, or on pinned experts: that
    keeps the addresses valid."""

    def __init__(
        self,
        cache: ExpertCache,
        specs: Mapping[int, Sequence[ExpertSpec]],
        activations: Mapping[int, Activation],
        telemetry: ExpertTelemetry,
    ) -> None:
        """specs: by layer and expert. telemetry: owns the counters that native code adds to."""
        self._cache, self._telemetry = cache, telemetry
        self.layers = {layer: LayerTable(layer, own, activations[layer], telemetry) for layer, own in specs.items()}
        for index, layer in self.layers.items():
            layer.native.policy, layer.native.row = cache.notes, cache.base(index) // cache.width

    def set_thresholds(self, thresholds: Thresholds, substitute: float = 0.0) -> None:
        """Change the dial: see ExpertRuntime.set_thresholds."""
        with self._cache.lock:  # or a layer would run under the old t1 and the new t2
            for layer in self.layers.values():
                layer.set_thresholds(thresholds, substitute)

    def set_tiers(self, tiers: Mapping[int, Sequence[tuple[int, int, int]]]) -> None:
        """Change what counts as full and as coarse. tiers: by layer, expert and RequestedPrecision."""
        with self._cache.lock:
            for index, layer in self.layers.items():
                # Of an expert that was not lowered: what lowered ones run at is capped by their own record (`most` of
                # uh_expert).
                _, low, layer.full = tiers[index][layer.whole]
                planes = layer.spec.tiers.index
                layer.native.low = planes(low) + 1
                layer.native.high = planes(tiers[index][layer.whole][RequestedPrecision.HIGH]) + 1
                self._cache.show(layer.keys, layer.table, planes(layer.full) + 1)
