"""Tokens per second, one at a time, beside llama.cpp on the same weights at about the same bits, all in memory.

    python -m tests.benchmarks.decode --shape olmoe|qwen3|mixtral --tier 8|4|2 [--json]

Both are fed the same tokens and take turns; the roof is measured in between. Figures are medians over turns. The first
run builds the peer and the models. `floor` is the seconds that reading a token's bytes takes at the roof.
"""

from __future__ import annotations

import argparse
from typing import Any

from tests.benchmarks.common import Quiet, busy, conditions, emit, kinds, median, options
from tests.benchmarks.ours import Ours
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import prepare
from tests.benchmarks.rivals import best_peer
from tests.benchmarks.roof import Roof
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import routing, stream

CONTEXT = 2048
PROMPT = 512
TRIAL = 16  # tokens with which the peer's variants are compared


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    shape = SHAPES[args.shape]
    prepared = prepare(shape, kinds(args), args.folder)
    tokens = stream(args.stream, shape.vocabulary, PROMPT + (args.repeats + 1) * args.segment)
    prompt, rest = tokens[:PROMPT], tokens[PROMPT:]

    quiet = Quiet(args.patience)

    def trial(peer: Peer) -> float:
        peer.clear()
        quiet.wait()
        return peer.decode(prompt[:TRIAL])

    peer, variants = best_peer(prepared, args.threads, CONTEXT, trial)
    ours = Ours(prepared.store, shape, args.tier, args.threads, CONTEXT, args.dense)
    roof = Roof(args.threads)
    try:
        routes = routing(ours.session, prompt)
        ours.warm(prompt)
        peer.clear()
        segments = [rest[at : at + args.segment] for at in range(0, len(rest), args.segment)]
        mine, theirs, roofs = [], [], []
        quiet.others.clear()
        with busy(args.busy):
            for segment in segments:
                if not args.busy:
                    quiet.wait()
                roofs.append(roof.measure())
                mine.append(ours.decode(segment) / args.segment)
                roofs.append(roof.measure())
                theirs.append(peer.decode(segment) / args.segment)
    finally:
        ours.close()
        peer.close()
        roof.close()
    a, b, r = median(mine[1:]), median(theirs[1:]), median(roofs)
    need = ours.token_bytes
    return {
        "ours": round(1 / a, 2),
        "peer": round(1 / b, 2),
        "ratio": round(b / a, 3),
        "floor": need / r,
        "roof": round(r / 1e9, 2),
        "gb_s": round(need / a / 1e9, 2),
        "of_roof": round(need / a / r, 3),
        "token_bytes": need,
        "peer_gb_s": round(peer.token_bytes / b / 1e9, 2),
        "peer_of_roof": round(peer.token_bytes / b / r, 3),
        "peer_token_bytes": peer.token_bytes,
        "seconds": {"ours": _spread(mine[1:]), "peer": _spread(theirs[1:])},
        "peer_best": peer.name,
        "peer_variants": {name: round(TRIAL / seconds, 2) for name, seconds in variants.items()},
        "routing": routes,
        "conditions": conditions(args, isa=roof.isa, dense=ours.dense, others=[round(x, 2) for x in quiet.others]),
    }


def _spread(seconds: list[float]) -> list[float]:
    return [round(1e3 * s, 3) for s in sorted(seconds)]


def main() -> None:
    """Print the figures."""
    parser = options(__doc__, repeats=9)
    parser.add_argument("--segment", type=int, default=32, help="tokens in one turn")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
