"""Tokens per second of a model bigger than memory under each dial, in turns: how many times Exact a lossy dial is.

    python -m tests.benchmarks.dial_turns --shape olmoe|qwen3|mixtral --limit 0.5|0.25 [--dials exact,fast] [--json]

Every dial has a process of its own in a control group with the limit, warm, and takes its turns while the others stand
still: so the disk, which is another one from one quarter of an hour to the next, is the same for all. Takes that much
memory once for each dial. `times_exact` is the median over rounds. `floor`, `together` and their shares are as in
`offload`, by the rates that were measured before each round.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from typing import Any

from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import limited
from tests.benchmarks.common import Quiet, conditions, emit, limit_options, median, orderly
from tests.benchmarks.offload import calibrated, chosen, counted, fitting, limit_of
from tests.benchmarks.ours_client import OursAlone, Turn
from tests.benchmarks.prepare import prepare_model, say
from tests.benchmarks.roofs import Roofs, floors
from tests.random_models.shapes import large
from tests.random_models.tokens import stream


class Dial:
    """Our engine under one dial, and its turns."""

    def __init__(self, name: str, ours: OursAlone, thresholds: tuple[float, float] | None) -> None:
        self.name, self.thresholds = name, thresholds
        self.turns: list[Turn] = []
        self._ours = ours

    def warm(self, tokens: list[int]) -> None:
        """The first tokens."""
        self._ours.turn(tokens)

    def turn(self, tokens: list[int]) -> None:
        """One turn."""
        self.turns.append(self._ours.turn(tokens))

    def report(self, roofs: Roofs, exact: list[Turn] | None) -> dict[str, Any]:
        """All figures of it."""
        ratios = [e.per_token / t.per_token for e, t in zip(exact or (), self.turns)]
        return {
            "ours": round(1 / median([t.per_token for t in self.turns]), 3),
            "times_exact": round(median(ratios), 3) if ratios else None,
            **floors(self.turns, roofs.taken),
            **counted(self.turns),
            "milliseconds": [round(1e3 * t.per_token, 2) for t in self.turns],
            "thresholds": self.thresholds,
        }


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All dials."""
    count = fitting(args.warm + args.repeats * args.segment)
    shape = large(args.shape, args.layers)
    model = prepare_model(shape, args.tier, args.folder, keep_only=args.keep_only)
    tokens, limit = stream(args.stream, shape.vocabulary, count), limit_of(args, model)
    with orderly(), ExitStack() as stack:
        dials: list[Dial] = []
        for name in args.dials.split(","):
            group = stack.enter_context(limited(name, limit))
            drop_caches()
            say(f"Opening and warming {name}")
            settings = {**chosen(args, limit), "dial": name}
            ours = stack.enter_context(OursAlone(model.store, shape, settings, group))
            dials.append(Dial(name, ours, calibrated(args, ours, shape, name)))
            dials[-1].warm(tokens[: args.warm])
        roofs, quiet = Roofs(model.store, args.tier, args.threads), Quiet(args.patience)
        stack.callback(roofs.close)
        for number in range(args.repeats):
            at = args.warm + number * args.segment
            quiet.wait()
            roofs.measure()
            for dial in dials if number % 2 == 0 else reversed(dials):
                dial.turn(tokens[at : at + args.segment])
        exact = next((dial.turns for dial in dials if dial.name == "exact"), None)
        found: dict[str, Any] = {dial.name: dial.report(roofs, exact) for dial in dials}
        others = [round(share, 2) for share in quiet.others]
        return {**found, "roof": roofs.report(), "conditions": conditions(args, isa=roofs.isa, others=others)}


def main() -> None:
    """Print the figures."""
    parser = limit_options(__doc__)
    parser.add_argument("--dials", default="exact,balanced,fast", help="separated by commas")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each")
    parser.add_argument("--segment", type=int, default=10, help="tokens in one turn")
    parser.add_argument("--warm", type=int, default=32, help="tokens before the first turn")
    emit(measure(args := parser.parse_args()), args.json)


if __name__ == "__main__":
    main()
