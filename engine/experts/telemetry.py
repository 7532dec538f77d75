"""What the expert runtime did, in plain counters that cost a decode step next to nothing."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.experts.foresight import Foresight
from engine.experts.keys import ExpertKey, ExpertSource

MOST_TIER = 32
Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Snapshot:
    """A picture of the counters. Matrices are [moe_layers][experts], rows as in `layers`.

    hits, misses: experts asked for, once per layer call, that were there at the tier wanted or had to be read.
    uses: since load, activations: in the current answer; both count (token, expert) pairs, skipped ones too.
    residency: finest tier held (0 none). precision: pairs by what they ran at: '32', '16', '8', '4', '2', 'skipped'.
    read_seconds: summed over reads, which overlap; reads: how many. repaired: experts that had run coarse and were
    completed while the disk had nothing else to do. foresight: None where nothing is read ahead.
    """

    layers: tuple[int, ...]
    hits: int
    misses: int
    bytes_read: int
    reads: int
    read_seconds: float
    repaired: int
    precision: dict[str, int]
    activations: Matrix
    uses: Matrix
    residency: Matrix
    foresight: Foresight | None = None

    @property
    def read_latency(self) -> float:
        """Mean seconds of one read."""
        return self.read_seconds / self.reads if self.reads else 0.0


class Telemetry:
    """Counters of one loaded model. Written by the thread that runs the model; snapshots may come from any."""

    def __init__(self, source: ExpertSource) -> None:
        self.layers = source.layers
        self.misses = 0
        self.bytes_read = 0
        self.reads = 0
        self.read_seconds = 0.0
        self.repaired = 0
        # Arrays, so that native code may add to them: it is given their addresses, and none ever changes its length.
        self.hit_count = array("q", [0])
        self.precision = array("q", [0] * (MOST_TIER + 1))  # pairs by tier; 0: skipped
        self._row = {layer: row for row, layer in enumerate(source.layers)}
        self._uses = [array("q", [0] * source.experts(layer)) for layer in source.layers]
        self._before = [row[:] for row in self._uses]  # as they were when the current answer began

    def begin_answer(self) -> None:
        """Activations count from here."""
        self._before = [row[:] for row in self._uses]

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

    def chosen(self, layer: int) -> list[int]:
        """How often each expert of a layer was chosen in the current answer."""
        row = self._row[layer]
        return [now - then for now, then in zip(self._uses[row], self._before[row])]

    def times(self, key: ExpertKey) -> int:
        """How often an expert was chosen in the current answer."""
        row = self._row[key.layer]
        return self._uses[row][key.expert] - self._before[row][key.expert]

    def routed(self, layer: int, slots: Mapping[int, Sequence[int]]) -> None:
        """These experts were chosen in these slots."""
        row = self._uses[self._row[layer]]
        for expert, chosen in slots.items():
            row[expert] += len(chosen)

    def read(self, nbytes: int, seconds: float) -> None:
        """One read ended well."""
        self.bytes_read += nbytes
        self.reads += 1
        self.read_seconds += seconds

    def snapshot(self, residency: Mapping[ExpertKey, int]) -> Snapshot:
        """The counters now. residency: of the cache."""
        held = [[0] * len(row) for row in self._uses]
        for key, tier in residency.items():
            held[self._row[key.layer]][key.expert] = tier
        tiers = reversed(list(enumerate(self.precision)))
        precision = {str(tier or "skipped"): count for tier, count in tiers if count}
        return Snapshot(
            layers=self.layers,
            hits=self.hits,
            misses=self.misses,
            bytes_read=self.bytes_read,
            reads=self.reads,
            read_seconds=self.read_seconds,
            repaired=self.repaired,
            precision=precision,
            activations=tuple(
                tuple(now - then for now, then in zip(uses, before)) for uses, before in zip(self._uses, self._before)
            ),
            uses=tuple(map(tuple, self._uses)),
            residency=tuple(map(tuple, held)),
        )
