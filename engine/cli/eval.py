"""`underhill-cli eval`: what a dial or a tier costs, against Exact at the top tier."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from engine import settings
from engine.cli.main import given
from engine.cli.output import ProgressBar
from engine.session import Session
from engine.session.evaluate import evaluate, sequences


def run(args: argparse.Namespace) -> int:
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
    with Session.open(args.model, reference, bar.report) as exact:
        windows = sequences(exact.chat, Path(args.text), min(args.window, exact.context.limit), args.max_tokens)
        with Session.open(args.model, chosen, bar.report) as tested:
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
