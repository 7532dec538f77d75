"""`underhill-cli trace replay`: recorded routing through every cache policy, as a table and a plot."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from engine.cli.output import ProgressBar, gb, say, table
from engine.errors import Kind, UnderhillError
from engine.session.trace_replay import prepare_replay
from engine.tracing.recall import recall
from engine.tracing.replay import BELADY, BOUND, Replay, Replayer, chart, compare, rows_of
from engine.tracing.trace import load
from engine.translatable import msg


def run_trace(args: argparse.Namespace) -> int:
    """Print hit rate, miss penalty and bytes of every policy at several cache sizes."""
    trace = load(Path(args.file))
    if args.tokens is not None:
        trace = trace.first(args.tokens)
    if args.one_by_one:
        trace = trace.one_by_one()
    replayer, fitted, matrices = prepare_replay(trace, args.dial)
    bar = ProgressBar(sys.stderr.isatty())
    found = compare(replayer, args.cache, lambda done, total: bar.show("Replaying", done, total, "replays"))
    bar.close()
    predicted = {name: score.row() for name, score in recall(trace).items()}
    if args.plot is not None:
        _write(Path(args.plot), _plot(replayer, found))
    if args.json:
        about = {**_about(replayer), "fitted": fitted, "matrices": matrices}
        print(json.dumps({**about, "replays": [asdict(r) for r in found], "predictors": predicted}))
        return 0
    about = _about(replayer)
    print(
        f"{about['tokens']} tokens in {about['sequences']} sequences, {about['layers']} layers of {about['experts']} "
        f"experts of {gb(replayer.sizes.full)}, T1 {replayer.thresholds.t1:g}, T2 {replayer.thresholds.t2:g}."
    )
    print(_FITTED if fitted else _UNFITTED)
    print(_MATRICES.format(matrices) if matrices else _NO_MATRICES)
    names = rows_of(replayer.thresholds)
    for title, cell in _TABLES:
        print(f"\n{title}")
        rows = [(f"{100 * share:g} % cached", *(cell(r) for r in found if r.share == share)) for share in args.cache]
        print(table(rows, ("CACHE", *names)))
    print("\n" + (_EXACT_NOTE if replayer.thresholds.exact else _MIXED_NOTE))
    if predicted:
        print(f"\nExperts foreseen among as many guesses as a token uses, taught on the first half ({_TWICE})")
        print(table(map(_foreseen, predicted.items()), ("PREDICTOR", *_AHEAD.values(), "READ IN VAIN")))
    return 0


_AHEAD = {"1": "NEXT LAYER", "2": "2 AHEAD", "3": "3 AHEAD", "start": "FIRST LAYER"}
_TWICE = "and among twice as many"


def _foreseen(item: tuple[str, dict[str, Any]]) -> tuple[str, ...]:
    name, row = item
    cells = (f"{100 * row['recall_k'][at]:.1f} % ({100 * row['recall_2k'][at]:.1f} %)" for at in _AHEAD)
    return (name, *cells, "-" if row["wasted"] is None else f"{100 * row['wasted']:.1f} %")


_TABLES = (
    ("Hit rate", lambda r: "-" if r.hit_rate is None else f"{100 * r.hit_rate:.1f} %"),
    ("Miss penalty, in experts at full precision", lambda r: f"{r.penalty:,.0f}"),
    ("Read from disk", lambda r: gb(r.bytes_read)),
)
_MATRICES = (
    "activation: with the matrices of {} past answers of this model, among which may be those that were recorded; "
    "every sequence joins them at its end."
)
_NO_MATRICES = "activation: with no matrices of past answers; every sequence joins them at its end."
_FITTED = "hobbit: with the weights that were fitted to this model."
_UNFITTED = "hobbit: with the weights for any model; this one's own are not known (they are fitted while it rests)."
_EXACT_NOTE = f"{BELADY}: the most hits that any policy could have, had it known what comes."
_MIXED_NOTE = (
    f"{BELADY}: a policy that knows what comes and gives up what is used last; where precisions mix it is very good "
    f"but not the limit. {BOUND}: fewer bytes than this nobody can read; seldom reachable."
)


def _about(replayer: Replayer) -> dict[str, object]:
    trace, known = replayer.trace, replayer.trace.conditions
    return {
        "model": known.model,
        "recorded_dial": known.dial,
        "t1": replayer.thresholds.t1,
        "t2": replayer.thresholds.t2,
        "tokens": trace.tokens,
        "sequences": trace.sequences,
        "layers": len(trace.layers),
        "experts": trace.experts,
        "expert_bytes": asdict(replayer.sizes),
    }


def _plot(replayer: Replayer, found: Sequence[Replay]) -> str:
    """Bytes read as a share of those that would be read without a cache."""
    without = replayer.bytes_without_cache
    lines = {
        name: [(r.share, min(1.0, r.bytes_read / without)) for r in found if r.policy == name]
        for name in rows_of(replayer.thresholds)
    }
    model = replayer.trace.conditions.model or "a recorded chat"
    return chart(
        f"What cache policies read from disk: {model}",
        "Cache, as a share of all experts",
        "Bytes read, as a share of no cache",
        lines,
        (BELADY, BOUND),
    )


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as e:
        raise UnderhillError(
            Kind.DISK_ERROR, msg("The plot cannot be written to {path}.", path=path), msg("Check the folder.")
        ) from e
    say(f"Plot written to {path}.")
