"""What does each part of the engine add to the speed of a model bigger than memory?

    python -m tests.benchmarks.ablation --shape olmoe|qwen3|mixtral --limit 0.5|0.25 --stream uniform|zipf|text
        [--dials exact,balanced,fast] [--off prefetch=off] [--json]

Every engine is a process in a control group with the limit, and has turns on the same tokens while the others stand
still, so that the disk, which is another one from one quarter of an hour to the next, is the same for all.

Rows, unless told otherwise: each is the row above and one thing more, switched by the engine's own settings; only that
the first waits for all that it lacks before it computes is the benchmark's doing. `ratio` is against the first row,
which stays open, and `peer` its speed in those turns. T1 and T2 are found before all rows. `first`: tokens per second
of the first tokens, when nothing is in memory yet; in the row of the warm start, what a session before it left behind
has been read by then, in `read_before` seconds.
--dials: an engine each; `times_exact` is the median over rounds. Takes that much memory once for each.
--off: one engine, its live settings changed between two turns, which come in pairs, with and without first by turns.
ours: tokens per second as --set and the defaults say; peer: with --off on top; ratio: the median of the pairs' ratios;
of_time: all tokens of one by all of the other; least: what `ratio` must not be below where it is reading ahead.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from statistics import median
from typing import Any

from engine import settings
from tests.benchmarks.bench import OVERLAP, Bench, calibrated, chosen, counted, fitting
from tests.benchmarks.common import emit, limit_options, orderly, say, setting, several
from tests.benchmarks.ours import OursAlone, Turn
from tests.benchmarks.roofs import floors

FIRST = 16  # tokens
LEAST = 0.98  # of the speed without reading ahead


@dataclass(frozen=True)
class Step:
    """One thing more. without: settings in the rows above it; with_: from its row on, where that is no default."""

    name: str
    without: dict[str, Any]
    with_: dict[str, Any]


STEPS = (
    Step("what is there is computed meanwhile", {OVERLAP: False}, {}),
    Step("several reads at once", {"readers": 1}, {}),
    Step("reading ahead", {"prefetch": "off"}, {}),
    Step("policy", {"policy": "lru"}, {}),
    Step("mixed precision", {"dial": "exact"}, {"dial": "balanced"}),
    Step("warm start", {"remember_routing": False}, {}),
)


def rows() -> list[tuple[str, dict[str, Any]]]:
    """Names and settings, from nothing but reading on demand to everything."""
    found = []
    for count in range(len(STEPS) + 1):
        values: dict[str, Any] = {}
        for n, step in enumerate(STEPS):
            values |= step.with_ if n < count else step.without
        name = "one read after another, on demand" if count == 0 else f"+ {STEPS[count - 1].name}"
        settings.validated(settings_of(values), settings.ENGINE)  # before anything is written or opened
        found.append((name, values))
    return found


def settings_of(values: dict[str, Any]) -> dict[str, Any]:
    """Of what a row sets, the settings of the engine."""
    return {name: value for name, value in values.items() if name != OVERLAP}


def put_up(args: argparse.Namespace, turns: int, stack: ExitStack) -> tuple[Bench, list[int], list[list[int]]]:
    """The bench, tokens to warm up, and those of so many turns."""
    engines = len(args.dials) if args.dials else 1 if args.off else 2
    bench = Bench(args, stack, fitting(args.warm + turns * args.segment), engines=engines)
    ends = range(args.warm, len(bench.tokens), args.segment)
    return bench, bench.tokens[: args.warm], [bench.tokens[at : at + args.segment] for at in ends]


def steps(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """All rows."""
    bench, warm, segments = put_up(args, args.repeats, stack)
    (base_name, base_values), *others = rows()
    cuts: dict[str, dict[str, float]] = {"exact": {}}
    for dial in {values["dial"] for _, values in others} - set(cuts):
        with bench.opened("thresholds", {"dial": dial, "remember_routing": False}) as (ours, _):
            cut = calibrated(args, ours, bench.model.shape, dial)
        cuts[dial] = {} if cut is None else {"t1": cut[0], "t2": cut[1]}
    base, _ = stack.enter_context(bench.opened("base", base_values))
    cold, table = base.turn(warm), []
    for name, values in others:
        say(name)
        values |= cuts[values["dial"]]
        if warm_start := values.get("remember_routing", True):
            with bench.opened("row", values) as (before, _):
                before.turn(bench.tokens[len(warm) :][: len(warm)])
        with bench.opened("row", values) as (ours, group):
            read_before = ours.warm() if warm_start else None
            first = ours.turn(warm)
            base.clear()
            mine, theirs = [], []
            for segment in segments:
                bench.look()
                theirs.append(base.turn(segment))
                mine.append(ours.turn(segment))
            a, b = _speeds(mine, theirs)
            table.append({
                "name": name, "settings": values, "read_before": read_before, "first": _first_speed(first),
                "ours": a, "peer": b, "ratio": round(a / b, 3), **floors(mine, bench.roofs.taken[-len(mine) :]),
                **counted(mine), "kills": group.kills(),
            })  # fmt: skip
    base_row = {"name": base_name, "settings": base_values, "first": _first_speed(cold), "ours": table[0]["peer"]}
    last = {name: table[-1][name] for name in ("ours", "peer", "ratio", "floor")}
    return {**last, "rows": [base_row, *table], **bench.about()}


def dials(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Every dial in turns."""
    bench, warm, segments = put_up(args, args.repeats, stack)
    engines: dict[str, OursAlone] = {}
    turns: dict[str, list[Turn]] = {}
    thresholds: dict[str, tuple[float, float] | None] = {}
    for name in args.dials:
        engines[name], _ = stack.enter_context(bench.opened(name, {"dial": name}))
        thresholds[name], turns[name] = calibrated(args, engines[name], bench.model.shape, name), []
        engines[name].turn(warm)
    for number, segment in enumerate(segments):
        bench.look()
        for name in list(engines)[:: -1 if number % 2 else 1]:
            turns[name].append(engines[name].turn(segment))
    found: dict[str, Any] = {}
    for name, own in turns.items():
        ratios = [e.per_token / t.per_token for e, t in zip(turns.get("exact", ()), own)]
        found[name] = {
            "ours": _speeds(own)[0],
            "times_exact": round(median(ratios), 3) if ratios else None,
            **floors(own, bench.roofs.taken),
            **counted(own),
            "milliseconds": [round(1e3 * t.per_token, 2) for t in own],
            "thresholds": thresholds[name],
        }
    return {**found, **bench.about()}


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


def live(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """One engine with and without live settings."""
    bench, warm, _ = put_up(args, 2 * args.repeats, stack)
    with_ = settings.validated(chosen(args, bench.limit), settings.ENGINE)
    changed = settings.validated({**with_, **dict(args.off)}, settings.ENGINE)
    off = {name: value for name, value in changed.items() if value != with_[name]}
    ours, group = stack.enter_context(bench.opened("ours", {}))
    calibrated(args, ours, bench.model.shape, args.dial)
    ours.turn(warm)
    mine, without = pairs(
        ours, bench.tokens[len(warm) :], {name: with_[name] for name in off}, off, args.repeats, bench.look
    )
    a, b = ([t.per_token for t in turns] for turns in (mine, without))
    ratios = sorted(round(y / x, 3) for x, y in zip(a, b, strict=True))
    speed, other = _speeds(mine, without)
    return {
        "ours": speed, "peer": other, "ratio": median(ratios), "least": LEAST, "of_time": round(sum(b) / sum(a), 3),
        "ratios": ratios, **floors(mine, [bench.roofs.medians()] * len(mine)), "with": counted(mine),
        "without": counted(without), "kills": group.kills(), "off": off, **bench.about(),
    }  # fmt: skip


def _speeds(*sides: list[Turn]) -> list[float]:
    """Tokens a second of each, by the median turn."""
    return [round(1 / median([turn.per_token for turn in turns]), 3) for turns in sides]


def _first_speed(turn: Turn) -> float:
    return round(len(turn.seconds[:FIRST]) / sum(turn.seconds[:FIRST]), 3)


def main() -> None:
    """Print the table."""
    parser = limit_options(__doc__)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--dials", type=several(str), help="compare these, separated by commas")
    way.add_argument("--off", type=setting, action="append", metavar="NAME=VALUE", help="compare without, live")
    parser.add_argument("--repeats", type=int, help="turns of each; 5, with --off 10")
    parser.add_argument("--segment", type=int, help="tokens in one turn; 16, with --dials 10")
    parser.add_argument("--warm", type=int, help="tokens before the first turn; 64, with --dials 32, with --off 48")
    args = parser.parse_args()
    run, usual = (dials, (5, 10, 32)) if args.dials else (live, (10, 16, 48)) if args.off else (steps, (5, 16, 64))
    for name, value in zip(("repeats", "segment", "warm"), usual):
        if getattr(args, name) is None:
            setattr(args, name, value)
    with orderly(), ExitStack() as stack:
        emit(run(args, stack), args.json)


if __name__ == "__main__":
    main()
