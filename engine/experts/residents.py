"""What is resident, kept in the form in which native code looks up one token's experts by itself."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

from engine.experts.backend import Step
from engine.experts.cache import ExpertCache
from engine.experts.entry import Entry
from engine.experts.keys import ExpertKey
from engine.experts.precision import Demand, Thresholds
from engine.experts.telemetry import Telemetry
from engine.kernels.activation import Activation
from engine.kernels.native import EXPERT, NativeKernel, ResidentLayer, expert_layout
from engine.store.layout import ExpertSpec


class _Layer:
    """One layer whose experts are all of one spec."""

    def __init__(self, layer: int, spec: ExpertSpec, n: int, activation: Activation, telemetry: Telemetry) -> None:
        self.spec = spec
        self.keys = [ExpertKey(layer, expert) for expert in range(n)]
        self.full = 0  # the finest tier that an expert runs at
        self.table = (ctypes.c_char * (EXPERT.size * n))()
        self._layout = expert_layout(spec, activation)
        self.native = ResidentLayer(
            ctypes.addressof(self._layout),
            ctypes.addressof(self.table),
            telemetry.uses(layer).buffer_info()[0],
            telemetry.hit_count.buffer_info()[0],
            telemetry.precision.buffer_info()[0],
            n=n,
        )
        self.native.tiers[:] = (0, *spec.tiers, 0, 0)[:4]
        self.address = ctypes.addressof(self.native)


class Residents:
    """The short way of one token through the experts of a layer, where all it needs is in ordinary memory.

    Follows one cache: nothing here may be used but under its lock, which keeps every address valid.
    """

    def __init__(
        self,
        cache: ExpertCache,
        kernel: NativeKernel,
        specs: Mapping[int, Sequence[ExpertSpec]],
        activation: Activation,
        telemetry: Telemetry,
    ) -> None:
        self._cache = cache
        self._kernel = kernel
        self._telemetry = telemetry  # owns the counters
        self._layers = {
            layer: _Layer(layer, own[0], len(own), activation, telemetry)
            for layer, own in specs.items()
            if all(spec == own[0] for spec in own)
        }
        cache.changed = self._changed

    def set_thresholds(self, thresholds: Thresholds) -> None:
        """Change the dial."""
        with self._cache.lock:
            for layer in self._layers.values():
                layer.native.t1, layer.native.t2 = thresholds.t1, thresholds.t2

    def set_tiers(self, tiers: Mapping[int, Sequence[tuple[int, int, int]]]) -> None:
        """Change what counts as full and as coarse. tiers: by layer, expert and Demand."""
        with self._cache.lock:
            for index, layer in self._layers.items():
                _, low, layer.full = tiers[index][0]
                layer.native.low = layer.spec.tiers.index(low) + 1
                layer.native.high = layer.spec.tiers.index(tiers[index][0][Demand.HIGH]) + 1
                for key in layer.keys:
                    entry = self._cache.entry(key)
                    if entry is not None and entry.held:
                        self._changed(entry, True)

    def play(self, layer: int, step: Step) -> int | None:
        """Fill step.y; returns how many experts ran, all of them hits. None: one is missing, and nothing was done."""
        found = self._layers.get(layer)
        if found is None or found.spec.hidden != step.hidden:
            return None
        x, ids, weights, y = step.addresses
        with self._cache.lock:
            ran = self._kernel.moe_resident(found.address, ids, step.k, x, weights, y)
            if ran is not None:
                used = [found.keys[expert] for expert in step.chosen.tolist()]
                if ran < step.k:
                    used = [key for key in used if self._cache.tier(key, found.full)]
                self._cache.used(used)
        return ran

    def _changed(self, entry: Entry, there: bool) -> None:
        layer = self._layers.get(entry.key.layer)
        if layer is None:
            return
        tier = entry.best(layer.full) if there else 0
        parts = entry.parts(tier) if tier else None
        addresses, planes = (parts.addresses, parts.planes) if parts else ((0, 0, 0, 0), 0)
        EXPERT.pack_into(layer.table, EXPERT.size * entry.key.expert, *addresses, planes, 0, 1, 0)
