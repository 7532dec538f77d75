"""`underhill-cli lower`: a model made smaller, its more robust experts with fewer bits, or a smaller copy of it."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from engine.cli.output import ProgressBar, gb
from engine.convert.lowering import write_lowered
from engine.experts.keys import keys_of
from engine.library import library, replacing
from engine.session import lowered
from engine.session.robustness import estimated, measured
from engine.store.reader import Store


def run(args: argparse.Namespace) -> int:
    """Rank, choose, write. Run again after an interruption, it goes on."""
    bar = ProgressBar(sys.stderr.isatty())
    if args.restore:
        return _restored(args.model, as_json=args.json)
    destination = library.location(args.name) if args.name else None
    if destination is not None and destination.exists():
        raise library.taken(args.name)
    source = library.prepare(args.model, bar.report)
    with lowered.own_sessions(source, bar.report) as open_with:
        found = lowered.search(
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
            replacing.write_beside(store, found.bits, found.lowering, bar.report)
        else:
            write_lowered(store, destination, found.bits, found.lowering, bar.report)
    if destination is None:
        replacing.put_in_place(path)
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
    replacing.restore(path)
    card = library.card(path)
    print(json.dumps(asdict(card)) if as_json else f"{card.name} is as it was: experts take {gb(card.expert_bytes)}.")
    return 0
