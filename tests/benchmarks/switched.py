"""What live settings are worth to a model bigger than memory: turns with and without them, by turns, in one process.

    python -m tests.benchmarks.switched --shape olmoe|qwen3|mixtral --limit 0.5|0.25 [--off prefetch=off] [--json]

One process under the limit, and its settings changed between two tokens as anybody can: the same cache, and the same
disk a second later. Turns come in pairs, with and without first by turns, each on tokens of its own. ours: tokens per
second as --set and the defaults say; peer: with --off on top; ratio: the median of the pairs' ratios; of_time: all
tokens of one by all of the other. least: what `ratio` must not be below where reading ahead is what is switched.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

from engine import settings
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import limited
from tests.benchmarks.common import Quiet, conditions, emit, limit_options, median, orderly, setting
from tests.benchmarks.offload import calibrated, chosen, counted, fitting, limit_of
from tests.benchmarks.ours_client import OursAlone, Turn
from tests.benchmarks.prepare import prepare_model, say
from tests.benchmarks.roofs import Roofs, floors
from tests.random_models.shapes import large
from tests.random_models.tokens import stream

LEAST = 0.98  # of the speed without reading ahead


def pairs(
    ours: OursAlone, tokens: list[int], on: dict[str, Any], off: dict[str, Any], count: int, calm: Callable[[], None]
) -> tuple[list[Turn], list[Turn]]:
    """Turns with the settings `on` and as many with `off`, who begins by turns. calm: called before every pair."""
    segment = len(tokens) // (2 * count)
    found: tuple[list[Turn], list[Turn]] = ([], [])
    at = 0
    for pair in range(count):
        calm()
        for which in (0, 1) if pair % 2 else (1, 0):
            ours.update(off if which else on)
            found[which].append(ours.turn(tokens[at : at + segment]))
            at += segment
    return found


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    count = fitting(args.warm + 2 * args.pairs * args.segment)
    model = prepare_model(large(args.shape, args.layers), args.tier, args.folder, keep_only=args.keep_only)
    tokens = stream(args.stream, model.shape.vocabulary, count)
    limit = limit_of(args, model)
    with_ = settings.validated(chosen(args, limit), settings.ENGINE)
    changed = settings.validated({**with_, **dict(args.off or [("prefetch", "off")])}, settings.ENGINE)
    off = {name: value for name, value in changed.items() if value != with_[name]}
    quiet = Quiet(args.patience)
    with orderly(), ExitStack() as stack:
        group = stack.enter_context(limited("ours", limit))
        drop_caches()
        say("Opening and warming")
        ours = stack.enter_context(OursAlone(model.store, model.shape, chosen(args, limit), group))
        calibrated(args, ours, model.shape, args.dial)
        roofs = Roofs(model.store, args.tier, args.threads)
        stack.callback(roofs.close)
        ours.turn(tokens[: args.warm])

        def calm() -> None:
            quiet.wait()
            roofs.measure()

        mine, without = pairs(ours, tokens[args.warm :], {name: with_[name] for name in off}, off, args.pairs, calm)
        kills = group.kills()
    a, b = ([t.per_token for t in turns] for turns in (mine, without))
    ratios = [y / x for x, y in zip(a, b, strict=True)]
    return {
        "ours": round(1 / median(a), 3),
        "peer": round(1 / median(b), 3),
        "ratio": round(median(ratios), 3),
        "least": LEAST,
        "of_time": round(sum(b) / sum(a), 3),
        "ratios": [round(r, 3) for r in sorted(ratios)],
        **floors(mine, [roofs.medians()] * len(mine)),
        "roof": roofs.report(),
        "with": counted(mine),
        "without": counted(without),
        "kills": kills,
        "off": off,
        "conditions": conditions(args, isa=roofs.isa, others=[round(x, 2) for x in quiet.others]),
    }


def main() -> None:
    """Print the figures."""
    parser = limit_options(__doc__)
    parser.add_argument("--off", type=setting, action="append", metavar="NAME=VALUE",
                        help="a live setting of the turns without; by default prefetch=off")  # fmt: skip
    parser.add_argument("--pairs", type=int, default=10)
    parser.add_argument("--segment", type=int, default=16, help="tokens in one turn")
    parser.add_argument("--warm", type=int, default=48, help="tokens before the first pair")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
