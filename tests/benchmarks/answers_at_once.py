"""How much faster are several answers at once than one after another?

    python -m tests.benchmarks.answers_at_once --shape qwen3 [--at-once 4] [--share 0.5] [--words 24] [--answer 48]
        [--repeats 3] [--peer] [--json]

Different prompts are answered by one open model, whole answers with the reading of their prompts: one after another,
and at once, in turns. --share: of the experts that memory holds; 1 is all of them. Tokens are drawn at a high
temperature, so that those of a random model spread over its experts as far as they can: text makes answers share more.
Both ways must have given the same tokens, or there are no figures. --peer: also llama.cpp, the same weights in its own
format, with as many sequences in one batch as its server has slots; with all in memory only.
"""

from __future__ import annotations

import argparse
from statistics import median
from typing import Any

from tests.benchmarks.bench import PREFERRED
from tests.benchmarks.common import Quiet, arguments, conditions, emit
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.prepare import prepare_model, prepare_pair
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream

CONTEXT = 2048
BARS = {"in_memory": 1.6, "from_disk": 2.0, "peer": 1.3}  # ratios that are to be reached


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    shape, whole = SHAPES[args.shape], args.share >= 1
    if args.peer and not whole:
        raise SystemExit("The peer is compared with all in memory: take --share 1.")
    chosen = {"dial": "exact", "tier": str(args.tier), "dense": PREFERRED[args.tier], "threads": args.threads}
    chosen |= {"context_length": CONTEXT, "cache_fraction": args.share}
    model = prepare_model(shape, args.tier, args.folder, top=8)
    drawn = stream("uniform", shape.vocabulary, args.words * args.at_once)
    prompts = [drawn[at : at + args.words] for at in range(0, len(drawn), args.words)]
    quiet, apart, together, read = Quiet(args.patience), [], [], []
    with OursAlone(model.store, shape, chosen) as ours:
        share = ours.about["cache_share"]
        if whole and not ours.about["all_in_memory"]:
            raise SystemExit(f"Not every expert fits in memory: {' '.join(ours.about['plan'])}")
        if whole:
            ours.fill(drawn[:CONTEXT])
        for turn in range(args.repeats + 1):  # the first one warms up
            quiet.wait()
            one = ours.answers(prompts, args.answer, False)
            quiet.wait()
            all_at_once = ours.answers(prompts, args.answer, True)
            if one["tokens"] != all_at_once["tokens"]:
                raise SystemExit("Answers at once are not those of each alone.")
            if turn:
                apart.append(one["seconds"])
                together.append(all_at_once["seconds"])
                read.append((one["bytes_read"], all_at_once["bytes_read"]))
    count = sum(len(tokens) for tokens in one["tokens"])
    a, b = median(apart), median(together)
    found: dict[str, Any] = {
        "one_after_another": count / a, "at_once": count / b, "ratio": a / b,
        "bar": BARS["in_memory" if whole else "from_disk"], "cache_share": share,
        "gb_read": [round(median(way) / 1e9, 2) for way in zip(*read, strict=True)],
    }  # fmt: skip
    if args.peer:
        found |= against_peer(args, prompts, count / b)
    return found | {"conditions": conditions(args, others=quiet.others, tokens=count)}


def against_peer(args: argparse.Namespace, prompts: list[list[int]], ours: float) -> dict[str, Any]:
    """Tokens a second of the peer with as many sequences, and how many times that ours is."""
    _, rival = prepare_pair(SHAPES[args.shape], args.tier, args.folder, top=8)
    best = 0.0
    for repack in (True, False):
        peer = Peer(rival.python, rival.file, args.threads, CONTEXT, repack=repack, slots=args.at_once)
        with peer:
            peer.answers(prompts, args.answer)  # the first time reads the file
            taken = median(peer.answers(prompts, args.answer) for _ in range(args.repeats))
            best = max(best, args.at_once * args.answer / taken)
    return {"peer": best, "peer_ratio": ours / best, "peer_bar": BARS["peer"]}


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "shape", "tier", "threads", "patience", "folder")
    parser.add_argument("--at-once", type=int, default=4, help="answers")
    parser.add_argument("--share", type=float, default=0.5, help="of the experts that memory holds; 1: all")
    parser.add_argument("--words", type=int, default=24, help="tokens of each prompt, about")
    parser.add_argument("--answer", type=int, default=48, help="tokens of each answer")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--peer", action="store_true", help="also llama.cpp")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
