"""Every policy on a recorded trace at several cache sizes, and beside them what cannot be beaten; as SVG too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from engine.experts.eam import EamCollection
from engine.experts.policies import DEFAULT, NAMES, ActivationAware, HobbitWeightsByShare, Policy, make_policy
from engine.experts.precision import Thresholds
from engine.tracing.bounds import BeladyPolicy, belady_misses, least_bytes
from engine.tracing.simulate import Outcome, Simulation
from engine.tracing.trace import Trace
from engine.tracing.visits import Sizes, TraceVisit, sizes_of, visits_of

SHARES = (0.125, 0.25, 0.5, 0.75)  # of all experts' bytes: from a cache that hardly helps to one that is rarely missed
BELADY, BOUND, ACTIVATION = "belady", "bound", "activation"
WIDTH, HEIGHT = 720, 440  # as wide as a page of text
LEFT, RIGHT, TOP, BOTTOM = 64, 150, 44, 52  # margins; the names stand at the right
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#888888")  # Okabe and Ito's
DASHED = "6 4"
Line = Sequence[tuple[float, float]]


@dataclass(frozen=True, kw_only=True)
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

    @property
    def bytes_without_cache(self) -> int:
        """Bytes that would be read if every use were a miss; at least 1."""
        wanted = (0, self.sizes.coarse, self.sizes.full)
        return max(1, sum(wanted[demand] for visit in self.visits for demand in visit.demands))

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
            return self.play_with(policy, BeladyPolicy(self.trace.shape, self.visits), share)
        if policy == ACTIVATION and self._collection is not None:
            return self.play_with(policy, ActivationAware(self.trace.shape, self._collection.copy()), share)
        return self.play_with(policy, make_policy(policy, self.trace.shape, share, self._weights), share)

    def play_with(self, name: str, policy: Policy, share: float) -> Replay:
        """Play the trace through a policy of one's own, which has seen nothing yet."""
        capacity = self.capacity(share)
        simulation = Simulation(shape=self.trace.shape, sizes=self.sizes, capacity=capacity, policy=policy)
        return _row(name, share, capacity, simulation.run(self.visits, self.cancelled))

    def _belady(self, share: float) -> Replay:
        slots = self.capacity(share) // self.sizes.full
        misses = belady_misses(self.visits, slots)
        uses = sum(len(visit.experts) for visit in self.visits)
        outcome = Outcome(self.sizes.full, uses, misses, bytes_read=misses * self.sizes.full)
        return _row(BELADY, share, self.capacity(share), outcome)

    def _bound(self, share: float) -> Replay:
        nbytes = least_bytes(self.visits, self.sizes, self.capacity(share))
        return Replay(
            policy=BOUND,
            share=share,
            capacity=self.capacity(share),
            uses=0,
            misses=0,
            coarse=0,
            raised=0,
            skipped=0,
            bytes_read=round(nbytes),
            penalty=nbytes / self.sizes.full,
            hit_rate=None,
        )


def _row(name: str, share: float, capacity: int, o: Outcome) -> Replay:
    return Replay(
        policy=name,
        share=share,
        capacity=capacity,
        uses=o.uses,
        misses=o.misses,
        coarse=o.coarse,
        raised=o.raised,
        skipped=o.skipped,
        bytes_read=o.bytes_read,
        penalty=o.penalty,
        hit_rate=o.hit_rate,
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


def chart(title: str, across: str, up: str, lines: Mapping[str, Line], dashed: Sequence[str] = ()) -> str:
    """An SVG document. lines: points (x, y) by name, x and y from 0 to 1 and printed as percent.

    dashed: names of lines that are no measurements but limits.
    """
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>',
        _text(LEFT, 26, title, size=16),
        *_axes(across, up),
    ]
    ends: list[tuple[float, str, str]] = []
    for index, (name, points) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        dash = f' stroke-dasharray="{DASHED}"' if name in dashed else ""
        path = " ".join(f"{_x(x):.1f},{_y(y):.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"{dash}/>')
        parts += [f'<circle cx="{_x(x):.1f}" cy="{_y(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        if points:
            ends.append((_y(points[-1][1]), name, colour))
    at = 0.0
    for y, name, colour in sorted(ends):
        at = max(y + 4, at + 16)  # names keep out of each other's way
        parts.append(_text(WIDTH - RIGHT + 8, at, name, colour=colour))
    return "\n".join([*parts, "</svg>", ""])


def _axes(across: str, up: str) -> list[str]:
    parts = []
    for tick in (0.0, 0.25, 0.5, 0.75, 1.0):
        x, y = _x(tick), _y(tick)
        parts.append(f'<line x1="{LEFT}" y1="{y:.1f}" x2="{WIDTH - RIGHT}" y2="{y:.1f}" stroke="#dddddd"/>')
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{HEIGHT - BOTTOM}" stroke="#eeeeee"/>')
        parts.append(_text(LEFT - 8, y + 4, f"{100 * tick:.0f} %", anchor="end"))
        parts.append(_text(x, HEIGHT - BOTTOM + 18, f"{100 * tick:.0f} %", anchor="middle"))
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(_text(middle, HEIGHT - 14, across, anchor="middle"))
    centre = (TOP + HEIGHT - BOTTOM) / 2
    parts.append(f'<g transform="rotate(-90 16 {centre:.1f})">{_text(16, centre, up, anchor="middle")}</g>')
    return parts


def _text(x: float, y: float, text: str, *, anchor: str = "start", colour: str = "#222222", size: int = 13) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" font-size="{size}">{escape(text)}</text>'
    )


def _x(value: float) -> float:
    return LEFT + value * (WIDTH - LEFT - RIGHT)


def _y(value: float) -> float:
    return HEIGHT - BOTTOM - value * (HEIGHT - TOP - BOTTOM)
