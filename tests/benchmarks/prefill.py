"""Prompt tokens per second, beside llama.cpp on the same weights at about the same bits, all in memory.

    python -m tests.benchmarks.prefill --shape olmoe|qwen3|mixtral --tier 4 [--json]

Both read the same prompts, each the start of a new sequence, and take turns. Figures are medians over turns. `floor` is
the seconds that reading every weight once takes at the roof, which is far from what a long prompt is bound by.
"""

from __future__ import annotations

import argparse
from typing import Any

from tests.benchmarks.common import Quiet, busy, conditions, emit, kinds, median, options
from tests.benchmarks.ours import Ours
from tests.benchmarks.prepare import prepare
from tests.benchmarks.rivals import best_peer
from tests.benchmarks.roof import Roof
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    shape, length = SHAPES[args.shape], args.prompt
    prepared = prepare(shape, kinds(args), args.folder)
    tokens = stream(args.stream, shape.vocabulary, (args.repeats + 1) * length)
    prompts = [tokens[at : at + length] for at in range(0, len(tokens), length)]
    context = 2 * length
    peer, variants = best_peer(prepared, args.threads, context, lambda peer: peer.prefill(prompts[0]), trials=1)
    ours = Ours(prepared.store, shape, args.tier, args.threads, context, args.dense)
    roof = Roof(args.threads)
    quiet = Quiet(args.patience)
    mine, theirs, roofs = [], [], []
    try:
        ours.warm(prompts[0])
        with busy(args.busy):
            for prompt in prompts[1:]:
                if not args.busy:
                    quiet.wait()
                roofs.append(roof.measure())
                mine.append(ours.prefill(prompt))
                theirs.append(peer.prefill(prompt))
    finally:
        ours.close()
        peer.close()
        roof.close()
    a, b, r = median(mine), median(theirs), median(roofs)
    return {
        "ours": round(length / a, 1),
        "peer": round(length / b, 1),
        "ratio": round(b / a, 3),
        "floor": ours.all_bytes / r,
        "roof": round(r / 1e9, 2),
        "seconds": {"ours": [round(s, 3) for s in sorted(mine)], "peer": [round(s, 3) for s in sorted(theirs)]},
        "peer_best": peer.name,
        "peer_variants": {name: round(length / seconds, 1) for name, seconds in variants.items()},
        "conditions": conditions(args, isa=roof.isa, dense=ours.dense, others=[round(x, 2) for x in quiet.others]),
    }


def main() -> None:
    """Print the figures."""
    parser = options(__doc__, repeats=5)
    parser.add_argument("--prompt", type=int, default=512, help="tokens")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
