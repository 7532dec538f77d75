"""Expert deferral: what a layer lacks is added one layer later instead of being waited for; what that brings in time.

    python -m tests.benchmarks.deferral [--defer 2,3] [--shares 0.5,0.25] [--dials exact,fast] [--rate 5e7] [--json]

A trial on top of the engine, which has no such thing (KTransformers, SOSP 2025; what it costs: tests.benchmarks.dials
--defer). --defer: experts of least weight of a token's that are deferred where they are missing. The built-in model at
4 bits on a disk of a modelled rate, with --shares of its experts in memory, is fed the same evaluation text token by
token; medians of --turns. ms: of a token. times: of the same without. times_at_once: of the same steps of this trial,
which are Python, without the delay (`at_once`). busy: share of the time in which the disk had anything to read: no
hiding of reads makes a token more than 1 / busy times as fast. waited: share of the time in which the model's thread
had nothing to compute. read: bytes a token. late, spared: as in dials.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from unittest.mock import patch

import torch
from torch import Tensor

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.calibration.evaluate import sequences
from engine.experts.backend import GraphLayers, Step
from engine.experts.cache.expert_cache import Lease
from engine.experts.keys import ExpertKey
from engine.experts.loading.pending import LoadQueue
from engine.experts.runtime import ExpertRuntime
from engine.kernels.call import Work
from engine.kernels.native import SKIPPED
from engine.native.op_graph import GraphStep
from tests.benchmarks.common import arguments, emit, medians, own_home, several
from tests.benchmarks.warm import PROMPT, STEPS, slow_disk


@dataclass(frozen=True)
class Late:
    """Experts of one token that its layer did not wait for.

    x: [1, H], their input. weights: [1, K], 0 for those that ran. slots, tiers: by expert.
    """

    layer: int
    x: Tensor
    weights: Tensor
    slots: dict[ExpertKey, int]
    tiers: dict[ExpertKey, int]


class Deferral:
    """Defers experts of single tokens in a runtime while `in_force`: those that are missing when their layer looks, of
    the `most` of least weight that a token chose. Those of the last layer never. Prompts and drafts go as ever.

    To compare, add: False leaves the deferred outputs out altogether, and at_once waits for them and adds them in their
    own layer, at the price of deferring. experts: that were deferred. lacking: layers of a token that lacked any;
    spared: those that had nothing left to wait for.
    """

    def __init__(self, runtime: ExpertRuntime, most: int, *, add: bool = True, at_once: bool = False) -> None:
        self.experts = self.lacking = self.spared = 0
        self._runtime, self._most, self._add, self._at_once = runtime, most, add, at_once
        self._last = [*runtime.table.layers][-1]
        self._now: tuple[int, Step] | None = None  # the layer call of a single token that runs
        self._late: Late | None = None  # of the layer before
        self._moe_step, self._run_layers = runtime.moe_step, runtime.run_layers
        self._demand_all = runtime.pending.demand_all

    @contextmanager
    def in_force(self) -> Iterator[None]:
        """As long as this lasts."""
        runtime = self._runtime
        with (
            patch.object(runtime, "moe_step", self._step),
            patch.object(runtime, "run_layers", self._run),
            patch.object(runtime.pending, "demand_all", self._demand),
        ):
            yield

    def _run(self, layers: GraphLayers, at: int, step: GraphStep) -> int:
        # Native code would run a layer that lacks nothing by itself, and what is late would miss it.
        return self._run_layers(layers, at, step) if self._late is None else layers.run_one(at, step)

    def _step(self, layer: int, step: Step) -> None:
        if step.tokens > 1:
            self._moe_step(layer, step)
            return
        with self._runtime.pending.layer_lock:
            before, self._late, self._now = self._late, None, (layer, step)
            try:
                self._moe_step(layer, step)
            finally:
                self._now = None
            if self._at_once:
                before, self._late = self._late, None
            if before is not None:
                output = self._output(before)
                if self._add:
                    step.y.add_(output)

    def _demand(
        self, base: int, ids: int, to_fetch: int, k: int, indices: int, awaited: int
    ) -> tuple[int, int, int]:  # fmt: skip
        asked, ready, missing = self._demand_all(base, ids, to_fetch, k, indices, awaited)
        if self._now is None or not missing:
            return asked, ready, missing
        self.lacking += 1
        layer, step = self._now
        if layer == self._last or asked < missing:  # some found no room, and which is not said
            return asked, ready, missing
        chosen = (ctypes.c_int64 * k).from_address(ids)
        fetched, waiting = ((ctypes.c_int32 * k).from_address(at) for at in (to_fetch, awaited))
        least = torch.argsort(step.weights[0].abs(), stable=True)[: self._most].tolist()
        late = [index for index in least if waiting[index]]
        if late:
            table, weights = self._runtime.table.layers[layer], torch.zeros_like(step.weights)
            weights[0, late] = step.weights[0, late]
            slots = {table.keys[chosen[index]]: index for index in late}
            tiers = {key: table.spec.tiers[waiting[index] - 1] for key, index in slots.items()}
            self._late = Late(layer, step.x.clone(), weights, slots, tiers)
            for index in late:
                waiting[index], fetched[index] = 0, SKIPPED
            self.experts += len(late)
            self.spared += missing == len(late)
        return asked - len(late), ready, missing - len(late)

    def _output(self, late: Late) -> Tensor:
        """Their weighted sum [1, H], once they have come."""
        runtime, table = self._runtime, self._runtime.table.layers[late.layer]
        leases = self._leased(late, table.full)
        try:
            work = [Work(lease.parts, (late.slots[lease.key],)) for lease in leases]
            out = torch.zeros(late.weights.shape[1], late.x.shape[1])
            runtime.kernel.run(table.spec, runtime.batch.activations[late.layer], work, late.x, len(out), out)
            for lease in leases:
                runtime.telemetry.precision[lease.tier] += 1
                if lease.tier < table.full:
                    runtime.upgrader.ran_coarse(lease.key, table.full)
        finally:
            for lease in leases:
                lease.release()
        return runtime.kernel.combine(out, late.weights)

    def _leased(self, late: Late, full: int) -> list[Lease]:
        runtime, leases = self._runtime, []
        runtime.pending.commit_completed()
        missing = {}
        for key, tier in late.tiers.items():
            lease = runtime.cache.lookup(key, tier, full)
            if lease is None:
                missing[key] = tier
            else:
                leases.append(lease)
        loads = LoadQueue(runtime.pending, missing, max(1, len(missing)))
        while loads:
            leases += loads.wait()
        return leases


def fed(dial: str, share: float, most: int, at_once: bool) -> dict[str, float]:
    """What a token takes behind a prompt of evaluation text."""
    # Without routing of former sessions, so that all begin alike.
    chosen = {"dial": dial, "cache_fraction": share, "tier": "4", "remember_routing": False}
    with open_calibrated("builtin", chosen | {"cache_aware_routing": "off"}) as session:
        path = resources.path("calibration", "eval.jsonl")
        chats = sequences(session.chat, path, session.context.limit, PROMPT + STEPS)
        ids = [token for chat in chats for token in chat][: PROMPT + STEPS]
        deferral = Deferral(session.runtime, most, at_once=at_once)
        telemetry, loader = session.runtime.telemetry, session.runtime.loader
        session.context.read(ids[:PROMPT])
        busy, waited, read = loader.io_stats().busy, telemetry.waited, telemetry.bytes_read
        start = time.perf_counter()
        with deferral.in_force():
            for token in ids[PROMPT:]:
                session.context.step(token)
        taken = time.perf_counter() - start
        return {
            "ms": 1e3 * taken / STEPS,
            "busy": (loader.io_stats().busy - busy) / taken,
            "waited": (telemetry.waited - waited) / taken,
            "read": (telemetry.bytes_read - read) / STEPS,
            "late": deferral.experts / STEPS,
            "spared": deferral.spared / max(1, deferral.lacking),
        }


def compare(dial: str, share: float, defers: Sequence[int], turns: int) -> list[dict[str, Any]]:
    """Rows of one preset and share, interleaved: each number of experts, and the same waited for at once."""
    ways = [(0, False), *((most, at_once) for most in defers for at_once in (True, False))]
    runs: dict[tuple[int, bool], list[dict[str, float]]] = {way: [] for way in ways}
    for _ in range(turns):
        for way, own in runs.items():
            own.append(fed(dial, share, *way))
    found = {way: medians(own) for way, own in runs.items()}
    rows: list[dict[str, Any]] = []
    for (most, at_once), own in found.items():
        against = found[(most, True)] if most else own
        times = {"times": found[ways[0]]["ms"] / own["ms"], "times_at_once": against["ms"] / own["ms"]}
        rows.append({"preset": dial, "share": share, "defer": most, "at_once": at_once, **times, **own})
    return rows


def main() -> None:
    """Print the rows."""
    parser = arguments(__doc__)
    parser.add_argument("--defer", type=several(int), default="3", help="numbers of experts")
    parser.add_argument("--shares", type=several(float), default="0.5,0.25", help="of the experts in memory")
    parser.add_argument("--dials", type=several(str), default="fast")
    parser.add_argument("--rate", type=float, default=5e7, help="bytes per second of the disk (default: 5e7)")
    parser.add_argument("--turns", type=int, default=9)
    args = parser.parse_args()
    rows: list[dict[str, Any]] = []
    with own_home():
        with open_calibrated("builtin", {"dial": "exact"}):  # finds T1 and T2 at the disk's own pace
            pass
        with slow_disk(args.rate):
            for dial in args.dials:
                for share in args.shares:
                    rows += compare(dial, share, args.defer, args.turns)
    emit({"rows": rows, "conditions": {"rate": args.rate, "turns": args.turns, "tokens": STEPS}}, args.json)


if __name__ == "__main__":
    main()
