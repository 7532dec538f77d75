"""Every policy on a recorded trace at several cache sizes, and beside them what cannot be beaten."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from engine.experts.eam import EamCollection
from engine.experts.policies import DEFAULT, NAMES, ActivationAware, HobbitWeightsByShare, Policy, make_policy
from engine.experts.precision import Thresholds
from engine.tracing.bounds import belady_misses, foresight, least_bytes
from engine.tracing.simulate import Outcome, Simulation
from engine.tracing.trace import Trace
from engine.tracing.visits import Sizes, TraceVisit, sizes_of, visits_of

SHARES = (0.125, 0.25, 0.5, 0.75)  # of all experts' bytes: from a cache that hardly helps to one that is rarely missed
BELADY, BOUND, ACTIVATION = "belady", "bound", "activation"


@dataclass(frozen=True)
class Replay:
    """One policy in a cache of `share` of all experts' bytes at full precision. penalty: see Outcome; of all misses.

    policy 'belady': under the Exact dial his bound, which nobody can beat; where precisions mix the same choice (whose
    next use is farthest away leaves), made one expert at a time with the future known: good, but no bound. There,
    'bound' is the least that any cache must read; hits are not counted for it.
    """

    policy: str
    share: float
    capacity: int
    uses: int
    misses: int
    coarse: int
    raised: int
    skipped: int
    bytes_read: int
    penalty: float
    hit_rate: float | None


class Replayer:
    """One trace under one dial, ready to be played through policies. weights: hobbit's. collection: what
    activation begins with; every play has its own copy, to which sequences are added as they end.

    cancelled: asked now and then while it is made and while it plays; True ends either with UnderhillError(CANCELLED).
    """

    def __init__(
        self,
        trace: Trace,
        thresholds: Thresholds | None = None,
        weights: HobbitWeightsByShare = DEFAULT,
        sizes: Sizes | None = None,
        collection: EamCollection | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.trace = trace
        self.thresholds = trace.conditions.thresholds if thresholds is None else thresholds
        known = trace.conditions
        self.sizes = sizes or sizes_of(known.spec, known.tier, known.low)
        self.cancelled = cancelled
        self.visits: list[TraceVisit] = visits_of(trace, self.thresholds, cancelled)
        self._weights = weights
        self._collection = collection

    def capacity(self, share: float) -> int:
        """Bytes of this share of all experts at full precision, at least one expert."""
        experts = max(1, round(len(self.trace.layers) * self.trace.experts * share))
        return experts * self.sizes.full

    def play(self, policy: str, share: float) -> Replay:
        """Play the trace through a policy of NAMES, or through BELADY or BOUND."""
        if policy == BOUND:
            return self._bound(share)
        if policy == BELADY and self.thresholds.exact:
            return self._belady(share)
        if policy == BELADY:
            return self.play_with(policy, foresight(self.trace.shape, self.visits), share)
        if policy == ACTIVATION and self._collection is not None:
            return self.play_with(policy, ActivationAware(self.trace.shape, self._collection.copy()), share)
        return self.play_with(policy, make_policy(policy, self.trace.shape, share, self._weights), share)

    def play_with(self, name: str, policy: Policy, share: float) -> Replay:
        """Play the trace through a policy of one's own, which has seen nothing yet."""
        capacity = self.capacity(share)
        simulation = Simulation(self.trace.shape, self.sizes, capacity, policy)
        return _row(name, share, capacity, simulation.run(self.visits, self.cancelled))

    def _belady(self, share: float) -> Replay:
        slots = self.capacity(share) // self.sizes.full
        misses = belady_misses(self.visits, slots)
        uses = sum(len(visit.experts) for visit in self.visits)
        outcome = Outcome(self.sizes.full, uses, misses, bytes_read=misses * self.sizes.full)
        return _row(BELADY, share, self.capacity(share), outcome)

    def _bound(self, share: float) -> Replay:
        nbytes = least_bytes(self.visits, self.sizes, self.capacity(share))
        return Replay(BOUND, share, self.capacity(share), 0, 0, 0, 0, 0, round(nbytes), nbytes / self.sizes.full, None)


def _row(name: str, share: float, capacity: int, o: Outcome) -> Replay:
    return Replay(
        name, share, capacity, o.uses, o.misses, o.coarse, o.raised, o.skipped, o.bytes_read, o.penalty, o.hit_rate
    )


def rows_of(thresholds: Thresholds) -> tuple[str, ...]:
    """The policies and bounds that make sense under a dial."""
    return (*NAMES, BELADY) if thresholds.exact else (*NAMES, BELADY, BOUND)


def compare(
    replayer: Replayer,
    shares: Sequence[float] = SHARES,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> list[Replay]:
    """Every policy at every share of all experts."""
    names = rows_of(replayer.thresholds)
    found: list[Replay] = []
    for share in shares:
        for name in names:
            found.append(replayer.play(name, share))
            progress(len(found), len(shares) * len(names))
    return found
