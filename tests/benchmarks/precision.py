"""What each precision costs on the built-in model: perplexity and KL, beside plain transformers in bf16.

python -m tests.benchmarks.precision [--tokens N] [--json]
"""

from __future__ import annotations

import argparse
import json
import math
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

from engine import resources
from engine.session import Session
from engine.session.calibration import calibrate
from engine.session.evaluate import evaluate, sequences

CASES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("8 bits", {"dial": "exact"}),
    ("4 bits", {"dial": "exact", "tier": "4"}),
    ("2 bits", {"dial": "exact", "tier": "2"}),
    ("T1/T2 at 67/30/3 %, every use a miss", {"dial": "balanced", "cache_fraction": 0.0}),
    ("T1/T2 at 67/30/3 %, cache of 25 %", {"dial": "balanced", "cache_fraction": 0.25}),
    ("T1/T2 at 45/45/10 %, every use a miss", {"dial": "fast", "cache_fraction": 0.0}),
)


def transformers_perplexity(windows: Sequence[Sequence[int]], dtype: torch.dtype) -> float:
    """Plain transformers over the same windows."""
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(resources.path("builtin", "model"), dtype=dtype).eval()
    nll, count = 0.0, 0
    with torch.no_grad():
        for ids in windows:
            logits = model(torch.tensor([ids])).logits[0, :-1].double()
            picked = torch.log_softmax(logits, -1).gather(1, torch.tensor(ids[1:])[:, None])
            nll, count = nll - float(picked.sum()), count + len(picked)
    return math.exp(nll / count)


def measure(tokens: int) -> dict[str, Any]:
    """All cases over the same windows of the evaluation chats."""
    exact = Session.open("builtin", {"dial": "exact"})
    cuts = calibrate(exact)
    windows = sequences(exact.chat, resources.path("calibration", "eval.jsonl"), exact.context.limit, tokens)
    rows: list[dict[str, Any]] = []
    for label, dtype in (("transformers, float32", torch.float32), ("transformers, bf16", torch.bfloat16)):
        rows.append({"what": label, "perplexity": transformers_perplexity(windows, dtype)})
    for label, chosen in CASES:
        with Session.open("builtin", chosen) as tested:
            found = evaluate(exact, tested, windows)
            counters = tested.counters()
        uses = sum(counters.precision.values())
        shares = {k: round(n / uses, 4) for k, n in counters.precision.items() if n}
        rows.append({"what": label, "perplexity": found.perplexity, "kl_to_exact": found.kl_to_exact, "uses": shares})
    exact.close()
    return {
        "tokens": sum(len(w) - 1 for w in windows),
        "thresholds": {dial: [t.t1, t.t2] for dial, t in cuts.items()},
        "rows": rows,
    }


def main() -> None:
    """Print the table."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--tokens", type=int, default=12_000)
    arguments.add_argument("--json", action="store_true")
    args = arguments.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ.setdefault("UNDERHILL_HOME", str(Path(home)))
        result = measure(args.tokens)
    if args.json:
        print(json.dumps(result))
        return
    print(f"{result['tokens']} tokens; thresholds {result['thresholds']}")
    first = result["rows"][0]["perplexity"]
    for row in result["rows"]:
        kl = f"{row['kl_to_exact']:.5f}" if "kl_to_exact" in row else ""
        print(f"{row['what']:40} {row['perplexity']:8.4f} {100 * (row['perplexity'] / first - 1):+6.2f} %  {kl:8} "
              f"{row.get('uses', '')}")  # fmt: skip


if __name__ == "__main__":
    main()
