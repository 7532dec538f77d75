"""`underhill-cli` calibrate, eval, lower: what precisions of a model are and cost."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from engine import settings
from engine.calibration import lowering_search
from engine.calibration.calibrator import calibrate, open_calibrated
from engine.calibration.evaluate import evaluate, sequences
from engine.calibration.policy_fit import fit_policy
from engine.calibration.robustness import estimated, measured
from engine.cli.output import ProgressBar, gb, table
from engine.cli.parser import given
from engine.experts.keys import keys_of
from engine.library import dials, library, lowering
from engine.library.lowering import write_lowered
from engine.store.reader import Store


def run_calibrate(args: argparse.Namespace) -> int:
    """Measure and keep thresholds and costs."""
    if args.fit_policy:
        return _policy(args)
    bar = ProgressBar(sys.stderr.isatty())
    with open_calibrated(args.model, given(args, settings.ENGINE), bar.report) as session:
        found = calibrate(session, lambda done, total: bar.show("Calibrating", done, total, "windows"))
    bar.close()
    if args.json:
        print(json.dumps(asdict(found)))
    else:
        for dial, cost in found.dials.items():
            print(f"{dials.in_words(found, dial)} T1 {cost.t1:.3f}, T2 {cost.t2:.3f}.")
    return 0


def _policy(args: argparse.Namespace) -> int:
    bar = ProgressBar(sys.stderr.isatty())
    with open_calibrated(args.model, given(args, settings.ENGINE), bar.report) as session:
        found = fit_policy(session, lambda done, total: bar.show("Fitting", done, total, "steps"))
    bar.close()
    if args.json:
        print(json.dumps({dial: {share: w.rounded for share, w in one.pairs} for dial, one in found.items()}))
        return 0
    rows = [
        (dial, f"{100 * share:g} % cached", *(f"{w:.3f}" for w in weights.rounded))
        for dial, one in found.items()
        for share, weights in one.pairs
    ]
    print(table(rows, ("DIAL", "CACHE", "RECENCY", "USE", "AT HIGH PRECISION", "DISTANCE")))
    return 0


def run_eval(args: argparse.Namespace) -> int:
    """Print perplexity, kl_to_exact and tokens.

    A dial costs the more the less is in memory. Where no cache is named it gets the least, so that the figure is the
    most that the dial can cost.
    """
    chosen = given(args, settings.ENGINE)
    if args.cache_fraction is None and chosen["dial"] != "exact":
        chosen["cache_fraction"] = 0.0
    # Both are open at once. Exact says the same whatever is cached and reads windows whole, so it gets the least.
    reference = {**chosen, "dial": "exact", "tier": "top", "cache_fraction": 0.0}
    bar = ProgressBar(sys.stderr.isatty())
    with open_calibrated(args.model, reference, bar.report) as exact:
        windows = sequences(exact.chat, Path(args.text), min(args.window, exact.context.limit), args.max_tokens)
        with open_calibrated(args.model, chosen, bar.report) as tested:
            result = evaluate(exact, tested, windows, lambda done, total: bar.show("Scoring", done, total, "tokens"))
            counters = tested.counters()
    bar.close()
    found = {
        "model": args.model,
        "dial": chosen["dial"],
        "tier": chosen["tier"],
        "cache_fraction": chosen["cache_fraction"],
        "thresholds": [tested.thresholds.t1, tested.thresholds.t2],
        "perplexity": result.perplexity,
        "kl_to_exact": result.kl_to_exact,
        "tokens": result.tokens,
        "exact_perplexity": result.exact_perplexity,
        "precision": counters.precision,
        "hits": counters.hits,
        "misses": counters.misses,
    }
    if args.json:
        print(json.dumps(found))
    else:
        rise = 100 * (result.perplexity / result.exact_perplexity - 1)
        print(f"KL to Exact {result.kl_to_exact:.5f}, perplexity {result.perplexity:.4f} ({rise:+.2f} % against Exact)")
        print(f"over {result.tokens} tokens; expert uses by bits {counters.precision}")
    return 0


def run_lower(args: argparse.Namespace) -> int:
    """Lower the bits of the most robust experts within --tolerance, and write the smaller model; --restore undoes it.

    Resumes where an earlier run was interrupted.
    """
    bar = ProgressBar(sys.stderr.isatty())
    if args.restore:
        return _restored(args.model, as_json=args.json)
    destination = library.location(args.name) if args.name else None
    if destination is not None and destination.exists():
        raise library.taken(args.name)
    source = library.prepare(args.model, bar.report)
    with lowering_search.own_sessions(source, bar.report) as open_with:
        found = lowering_search.search(
            source,
            open_with,
            args.tolerance / 100,
            lambda phrase, done, total: bar.show(phrase, done, total, "steps"),
            rank=measured if args.measure else estimated,
        )
    path = destination or source
    with Store.open(source) as store:
        before, experts = store.expert_bytes(), len(keys_of(store))
        if destination is None:
            lowering.write_beside(store, found.bits, found.lowering, bar.report)
        else:
            write_lowered(store, destination, found.bits, found.lowering, bar.report)
    if destination is None:
        lowering.put_in_place(path)
    bar.close()
    card = library.card(path)
    layers: dict[int, list[int]] = {}
    for key in sorted(found.bits):
        layers.setdefault(key.layer, []).append(key.expert)
    counts = {level: sum(own == level for own in found.bits.values()) for level in sorted(set(found.bits.values()))}
    if args.json:
        report = {"experts": experts, "bits": counts, "lowered": layers}
        report.update({"bytes": card.expert_bytes, "bytes_before": before})
        print(json.dumps({"model": asdict(card), **report, **asdict(found.lowering)}))
    else:
        for level, count in counts.items():
            print(f"{card.name}: {count} of {experts} experts keep {level} bits.")
        print(f"Experts take {gb(card.expert_bytes)}, before {gb(before)}.")
        if found.lowering.dense:
            now, then = (gb(n) for n in reversed(found.dense))
            print(f"Other weights take {now} of memory ({found.lowering.dense}), before {then}.")
        print(f"KL {found.lowering.kl:.4f} from Exact, over {found.lowering.tokens} tokens of other text.")
    return 0


def _restored(model: str, *, as_json: bool) -> int:
    path = library.location(model)
    lowering.restore(path)
    card = library.card(path)
    print(json.dumps(asdict(card)) if as_json else f"{card.name} is as it was: experts take {gb(card.expert_bytes)}.")
    return 0
