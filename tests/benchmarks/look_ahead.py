"""How many layers ahead are worth looking at (hobbit, section 3.3: p): misses, and what was read in vain.

    python -m tests.benchmarks.look_ahead [--share S] [--rate BYTES] [--dials exact,hobbit] [--turns N] [--json]

The built-in model, whose gates are taught first, on a disk of a modelled rate: a chain of twelve chats on evaluation
text for every p, in turns. waited: experts that were not there when their layer asked for them. early, vain: bytes that
were there in time, and bytes read and not asked for, each as a share of all bytes that were used of what was read
ahead. recall: of the experts a layer chose, those foreseen 1, 2 and 3 layers ahead. Nothing is timed.
"""

from __future__ import annotations

from typing import Any

from engine.calibration.calibrator import open_calibrated
from tests.audit.f01_sequences import chain
from tests.benchmarks.common import arguments, emit, medians, own_home, several
from tests.benchmarks.warm import slow_disk
from tests.engine.calibration.idling import idle, rest

DEPTHS = (1, 2, 3)


def run(dial: str, share: float, depth: int) -> dict[str, Any]:
    """One chain."""
    chosen = {"dial": dial, "cache_fraction": share, "prefetch_depth": depth, "remember_routing": False}
    with open_calibrated("builtin", chosen) as session:
        before = session.counters().misses
        chain(session)
        assert session.runtime.prefetch is not None
        seen, waited = session.runtime.prefetch.stats, session.counters().misses - before
    used = max(1, seen.useful)
    return {"waited": waited, "early": seen.early / used, "vain": seen.wasted / used, "recall": seen.recall}


def measure(dial: str, share: float, turns: int) -> dict[str, dict[str, Any]]:
    """By p, medians of turns."""
    runs: dict[int, list[dict[str, Any]]] = {depth: [] for depth in DEPTHS}
    for _ in range(turns):
        for depth, own in runs.items():
            own.append(run(dial, share, depth))
    return {
        str(depth): {
            **medians([{name: one[name] for name in ("waited", "early", "vain")} for one in own]),
            "waited, least and most": [min(one["waited"] for one in own), max(one["waited"] for one in own)],
            "recall": [round(share, 3) for share in own[0]["recall"]],
        }
        for depth, own in runs.items()
    }


def main() -> None:
    """Print one object, or a line per dial and p."""
    parser = arguments(__doc__)
    parser.add_argument("--share", type=float, default=0.4, help="of the experts in memory (default: 0.4)")
    parser.add_argument("--rate", type=float, default=1e9, help="bytes per second of the disk (default: 1e9)")
    parser.add_argument("--dials", type=several(str), default="exact,hobbit")
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    with own_home():
        with open_calibrated("builtin", {"dial": "exact"}) as session:
            while not idle(session).over:
                rest(session)
        with slow_disk(args.rate):
            found = {dial: measure(dial, args.share, args.turns) for dial in args.dials}
    emit({"share": args.share, "rate": args.rate, **found}, args.json)


if __name__ == "__main__":
    main()
