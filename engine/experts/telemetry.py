"""Counters of the expert runtime, which cost a decode step next to nothing, and the hook of the profiler."""

from __future__ import annotations

import copy
import time
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.experts.keys import ExpertKey, ExpertSource, Urgency

MOST_TIER = 32  # bits of float32, the finest that experts are stored at; native code counts into an array up to here
GATES, GATE, COARSE, SKIPPED = range(4)  # what is noted of an expert: see uh_resident_layer in underhill_kernels.h
Matrix = tuple[tuple[int, ...], ...]


@dataclass(kw_only=True)
class PrefetchStats:
    """What prefetch did since it was turned on. said, right: experts expected at width k, and of these chosen, by
    layers ahead less one; first_said, first_right: the same of the first layer, before it has run. Bytes:
    useful (asked for; early: those of them that were there or in hand by then), wasted
    (read, and not asked for by the layer they were read for).

    started, used, joined, cancelled: reads begun ahead, those asked for, of these those under way, those given up.
    failed: reads that ended in an error while no layer waited for them. seconds: of the model's thread. rests: how
    often it backed off because it did not pay.
    """

    said: list[int] = field(default_factory=list)
    right: list[int] = field(default_factory=list)
    useful: int = 0
    early: int = 0
    wasted: int = 0
    started: int = 0
    used: int = 0
    joined: int = 0
    cancelled: int = 0
    failed: int = 0
    seconds: float = 0.0
    rests: int = 0
    first_said: int = 0
    first_right: int = 0

    @property
    def recall(self) -> tuple[float, ...]:
        """Share of the chosen experts that were among the k expected most, by layers ahead."""
        return tuple(right / said if said else 0.0 for said, right in zip(self.said, self.right))

    @property
    def first_recall(self) -> float:
        """As `recall`, of the first layer, before it has run."""
        return self.first_right / self.first_said if self.first_said else 0.0


@dataclass(frozen=True, kw_only=True)
class ExpertSnapshot:
    """A picture of the counters. Matrices are [moe_layers][experts], rows as in `layers`.

    hits, misses: experts asked for, once per layer call, that were there at the tier wanted or had to be read.
    uses: since load, activations: in the current answer; both count (token, expert) pairs, skipped ones too.
    residency: finest tier held (0 none). precision: pairs by what they ran at: '32', '16', '8', '4', '2', 'skipped'.
    read_seconds: summed over reads, which overlap; reads: how many. upgraded: experts that had run coarse and were
    completed while the disk had nothing else to do. substituted: pairs for which an expert in memory stood in for a
    missing one. prefetch: None where nothing is read ahead.
    """

    layers: tuple[int, ...]
    hits: int
    misses: int
    bytes_read: int
    reads: int
    read_seconds: float
    upgraded: int
    substituted: int
    precision: dict[str, int]
    activations: Matrix
    uses: Matrix
    residency: Matrix
    prefetch: PrefetchStats | None = None


class ExpertTelemetry:
    """Counters of one loaded model. Written by the thread that runs the model; snapshots may come from any."""

    def __init__(self, source: ExpertSource) -> None:
        self.layers = source.layers
        self.misses = 0
        self.bytes_read = 0
        self.reads = 0
        self.read_seconds = 0.0
        self.upgraded = 0
        self.waited = 0.0  # seconds in which the model's thread did nothing, for the want of an expert
        # Arrays, so that native code may add to them: it is given their addresses, and none ever changes its length.
        self.hit_count = array("q", [0])
        self.substituted = array("q", [0])  # pairs
        self.precision = array("q", [0] * (MOST_TIER + 1))  # pairs by tier; 0: skipped
        self._row = {layer: row for row, layer in enumerate(source.layers)}
        self._uses = [array("q", [0] * source.experts(layer)) for layer in source.layers]
        self._notes = [np.zeros((source.experts(layer), 4)) for layer in source.layers]
        self._kept: ExpertTelemetry | None = None
        self.begin_answer()

    def begin_answer(self) -> None:
        """Activations count from here."""
        self._before = [row[:] for row in self._uses]  # as they were then
        self._gates_before = [notes[:, GATES].copy() for notes in self._notes]

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Count nothing of what happens meanwhile: `shown` stands still, and all counters are put back in the end."""
        # A deep copy to be read by other threads meanwhile; this one stays the one whose arrays native code adds to.
        kept = self._kept = copy.deepcopy(self)
        try:
            yield
        finally:
            self.misses, self.bytes_read, self.reads = kept.misses, kept.bytes_read, kept.reads
            self.read_seconds, self.upgraded, self.waited = kept.read_seconds, kept.upgraded, kept.waited
            # In place: native code knows the addresses.
            for mine, theirs in zip(
                (self.hit_count, self.substituted, self.precision, *self._uses),
                (kept.hit_count, kept.substituted, kept.precision, *kept._uses),
            ):
                mine[:] = theirs
            for notes, before in zip(self._notes, kept._notes):
                notes[:] = before
            self._kept = None

    @property
    def shown(self) -> ExpertTelemetry:
        """The counters to show to people: these, or as they were before what is done `aside`."""
        return self._kept or self

    @property
    def hits(self) -> int:
        """Experts asked for that were there."""
        return self.hit_count[0]

    def hit(self, count: int) -> None:
        """So many were there."""
        self.hit_count[0] += count

    def uses(self, layer: int) -> array[int]:
        """How often each expert of a layer was chosen."""
        return self._uses[self._row[layer]]

    def used(self) -> tuple[Matrix, Matrix]:
        """How often each expert was chosen in the current answer, and since load."""
        answer = (tuple(now - then for now, then in zip(*rows)) for rows in zip(self._uses, self._before))
        return tuple(answer), tuple(map(tuple, self._uses))

    def mean_gates(self) -> tuple[tuple[float, ...], ...]:
        """The mean gate weight of each expert in the current answer, by magnitude; 0: it was not chosen."""
        found = []
        for uses, before, notes, gates in zip(self._uses, self._before, self._notes, self._gates_before):
            times = np.array(uses) - np.array(before)
            means = (notes[:, GATES] - gates) / np.maximum(times, 1)
            found.append(tuple(np.where(times > 0, means, 0.0).tolist()))
        return tuple(found)

    def notes(self, layer: int) -> NDArray[np.float64]:
        """[experts, 4]: of each expert of a layer, what GATES, GATE, COARSE and SKIPPED say. Native code adds to it."""
        return self._notes[self._row[layer]]

    def chosen(self, layer: int) -> list[int]:
        """How often each expert of a layer was chosen in the current answer."""
        row = self._row[layer]
        return [now - then for now, then in zip(self._uses[row], self._before[row])]

    def times(self, key: ExpertKey) -> int:
        """How often an expert was chosen in the current answer."""
        row = self._row[key.layer]
        return self._uses[row][key.expert] - self._before[row][key.expert]

    def routed(self, layer: int, slots: Mapping[int, Sequence[int]], ids: Tensor, weights: Tensor) -> None:
        """These experts were chosen in these slots. ids, weights: [T, K], of the slots in their order."""
        row = self._uses[self._row[layer]]
        for expert, chosen in slots.items():
            row[expert] += len(chosen)
        if len(ids) == 1:
            self.weighed(layer, ids[0].tolist(), weights[0].tolist())
            return
        notes, flat = self.notes(layer), ids.flatten().cpu().numpy()
        gates = weights.detach().flatten().abs().to("cpu", torch.float64).numpy()
        notes[:, GATES] += np.bincount(flat, gates, len(notes))
        # With an index that comes more than once numpy keeps the last: the gate of the expert's last token, as of one
        # by one.
        notes[flat, GATE] = gates

    def chose(self, layer: int, experts: Sequence[int], gates: NDArray[np.float32]) -> None:
        """One token chose these, all of which were there, with these gate weights."""
        row = self._uses[self._row[layer]]
        for expert in experts:
            row[expert] += 1
        self.weighed(layer, experts, gates)
        self.hit(len(experts))

    def weighed(self, layer: int, experts: Sequence[int], gates: Sequence[float] | NDArray[np.float32]) -> None:
        """One token gave these experts these gate weights."""
        notes, own = self._notes[self._row[layer]], np.abs(gates)
        np.add.at(notes[:, GATES], experts, own)
        notes[experts, GATE] = own

    def coarse(self, key: ExpertKey, times: int) -> None:
        """An expert ran at less than its full precision."""
        self._notes[self._row[key.layer]][key.expert, COARSE] += times

    def skipped(self, layer: int, experts: Iterable[int]) -> None:
        """These did not run at all, each once for every time it is named."""
        notes = self._notes[self._row[layer]]
        for expert in experts:
            notes[expert, SKIPPED] += 1

    def read(self, nbytes: int, seconds: float, reads: int = 1) -> None:
        """So many reads ended well."""
        self.bytes_read += nbytes
        self.reads += reads
        self.read_seconds += seconds

    @property
    def ran(self) -> dict[str, int]:
        """As ExpertSnapshot.precision."""
        tiers = reversed(list(enumerate(self.precision)))
        return {str(tier or "skipped"): count for tier, count in tiers if count}

    def matrix(self, values: Mapping[ExpertKey, int]) -> Matrix:
        """A value for each expert, 0 for those that are not named."""
        rows = [[0] * len(row) for row in self._uses]
        for key, value in values.items():
            rows[self._row[key.layer]][key.expert] = value
        return tuple(map(tuple, rows))

    def snapshot(self, residency: Mapping[ExpertKey, int]) -> ExpertSnapshot:
        """The counters now. residency: of the cache."""
        answer, uses = self.used()
        return ExpertSnapshot(
            layers=self.layers,
            hits=self.hits,
            misses=self.misses,
            bytes_read=self.bytes_read,
            reads=self.reads,
            read_seconds=self.read_seconds,
            upgraded=self.upgraded,
            substituted=self.substituted[0],
            precision=self.ran,
            activations=answer,
            uses=uses,
            residency=self.matrix(residency),
        )


class ProfilerHook(Protocol):
    """Times are by time.perf_counter. Called on the thread that runs the model; none may block."""

    def entered(self, layer: int, tokens: int, now: float) -> None:
        """A layer asks for its experts, which its router has chosen."""

    def left(self, layer: int, now: float) -> None:
        """The layer has its answer, or an error."""

    def computed(self, layer: int, experts: int, start: float, end: float) -> None:
        """The kernels ran so many experts of the layer that was entered."""

    def waited(self, layer: int, start: float, end: float) -> None:
        """The thread did nothing, for the want of an expert."""

    def chunk(
        self, reader: int, key: ExpertKey, parts: Sequence[int], urgency: Urgency, nbytes: int,
        when: tuple[float, float],
    ) -> None:  # fmt: skip
        """A reader read a piece of these parts of an expert, or failed to, from and until `when`; called some time
        after it."""


NOT_PROFILED: AbstractContextManager[None] = nullcontext()


@contextmanager
def profiled(observer: ProfilerHook, layer: int, tokens: int) -> Iterator[None]:
    """Tell it of entering a layer and of leaving it."""
    observer.entered(layer, tokens, time.perf_counter())
    try:
        yield
    finally:
        observer.left(layer, time.perf_counter())
