"""What each part of the engine adds to the speed of a model bigger than memory.

    python -m tests.benchmarks.ablation --shape olmoe|qwen3|mixtral --limit 0.5|0.25 --stream uniform|zipf|text [--json]

Every row is the row above and one thing more, switched by the engine's own settings; only that the first row waits for
all that it lacks before it computes is the benchmark's doing. Rows run one after the other, each in a control group
with the limit, in turns with the first row, which stays open: `ratio` is against that one, and `peer` is its speed in
those turns. T1 and T2 are found for the model before all rows. `first`: tokens per second of the first tokens, when
nothing is in memory yet; in the row of the warm start, what a session before it left behind has been read by then, in
`read_before` seconds.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from engine import settings
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import Group, limited
from tests.benchmarks.common import Quiet, conditions, emit, limit_options, median, orderly
from tests.benchmarks.offload import calibrated, chosen, counted, fitting, limit_of
from tests.benchmarks.ours_client import OursAlone, Turn
from tests.benchmarks.prepare import Model, prepare_model, say
from tests.benchmarks.roofs import Roofs, floors
from tests.random_models.shapes import large
from tests.random_models.tokens import stream

FIRST = 16  # tokens


@dataclass(frozen=True)
class Step:
    """One thing more. without: settings in the rows above it; with_: from its row on, where that is no default."""

    name: str
    without: dict[str, Any]
    with_: dict[str, Any]


OVERLAP = "overlap"  # no setting: see OursAlone
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


@contextmanager
def opened(
    args: argparse.Namespace, model: Model, name: str, values: dict[str, Any]
) -> Iterator[tuple[OursAlone, Group]]:
    """Our engine under the limit with these settings, cold."""
    limit = limit_of(args, model)
    with limited(name, limit) as group:
        drop_caches()
        set_here, overlap = {**chosen(args, limit), **settings_of(values)}, values.get(OVERLAP, True)
        with OursAlone(model.store, model.shape, set_here, group, overlap=overlap) as ours:
            yield ours, group


def thresholds(args: argparse.Namespace, model: Model, dial: str) -> dict[str, float]:
    """T1 and T2 of the dial for this model, as settings; none where they are given by hand."""
    with opened(args, model, "thresholds", {"dial": dial, "remember_routing": False}) as (ours, _):
        cut = calibrated(args, ours, model.shape, dial)
    return {} if cut is None else {"t1": cut[0], "t2": cut[1]}


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All rows."""
    model = prepare_model(large(args.shape, args.layers), args.tier, args.folder, keep_only=args.keep_only)
    tokens = stream(args.stream, model.shape.vocabulary, fitting(args.warm + args.repeats * args.segment))
    warm, rest = tokens[: args.warm], tokens[args.warm :]
    segments = [rest[at : at + args.segment] for at in range(0, len(rest), args.segment)]
    (base_name, base_values), *others = rows()
    dials = {values["dial"] for _, values in others}
    cuts = {dial: {} if dial == "exact" else thresholds(args, model, dial) for dial in dials}
    quiet, table = Quiet(args.patience), []
    with orderly(), ExitStack() as stack:
        roofs = Roofs(model.store, args.tier, args.threads)
        stack.callback(roofs.close)
        base, _ = stack.enter_context(opened(args, model, "base", base_values))
        cold = base.turn(warm)
        for name, values in others:
            say(name)
            values |= cuts[values["dial"]]
            if warm_start := values.get("remember_routing", True):
                with opened(args, model, "row", values) as (before, _):
                    before.turn(rest[: len(warm)])
            with opened(args, model, "row", values) as (ours, group):
                read_before = ours.warm() if warm_start else None
                first = ours.turn(warm)
                base.clear()
                mine, theirs = [], []
                for segment in segments:
                    quiet.wait()
                    roofs.measure()
                    theirs.append(base.turn(segment))
                    mine.append(ours.turn(segment))
                table.append({"read_before": read_before, **_row(name, values, first, mine, theirs, roofs, group)})
    base_row = {"name": base_name, "settings": base_values, "first": _speed(cold, FIRST), "ours": table[0]["peer"]}
    return {
        "ours": table[-1]["ours"],
        "peer": table[-1]["peer"],
        "ratio": table[-1]["ratio"],
        "floor": table[-1]["floor"],
        "roof": roofs.report(),
        "rows": [base_row, *table],
        "conditions": conditions(args, isa=roofs.isa, others=[round(x, 2) for x in quiet.others]),
    }


def _row(
    name: str, values: dict[str, Any], first: Turn, mine: list[Turn], theirs: list[Turn], roofs: Roofs, group: Group
) -> dict[str, Any]:
    a, b = median([t.per_token for t in mine]), median([t.per_token for t in theirs])
    return {
        "name": name,
        "settings": values,
        "first": _speed(first, FIRST),
        "ours": round(1 / a, 3),
        "peer": round(1 / b, 3),
        "ratio": round(b / a, 3),
        **floors(mine, roofs.taken[-len(mine) :]),
        **counted(mine),
        "kills": group.kills(),
    }


def _speed(turn: Turn, count: int) -> float:
    return round(len(turn.seconds[:count]) / sum(turn.seconds[:count]), 3)


def main() -> None:
    """Print the table."""
    parser = limit_options(__doc__)
    parser.add_argument("--repeats", type=int, default=5, help="turns of each row")
    parser.add_argument("--segment", type=int, default=16, help="tokens in one turn")
    parser.add_argument("--warm", type=int, default=64, help="tokens of each row before its first turn")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
