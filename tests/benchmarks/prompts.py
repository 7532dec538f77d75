"""How long prompts take under a memory limit, held against the disk and against computing with all in memory.

    python -m tests.benchmarks.prompts --shape olmoe|qwen3|mixtral [--limit 0.5] [--tokens 64,500,2000] [--json]

Two processes of ours take turns with prompts of uniform tokens under Exact: one with that share of the model's bytes as
ceiling and in a control group (which needs an administrator's rights on Linux), one with all the memory it wants. Disk
and memory are looked at before every turn. Between prompts the limited one decodes some tokens, as in a chat.

By length: `ours`: seconds until the answer begins. `reading`: bytes read by the disk's rate in this turn. `computing`:
what the unlimited one takes. `floor`: the longer of both. `times_floor`: ours over it, the median of the turns.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from engine.hardware.machine import GB
from engine.native.library import default_threads
from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.cgroup import limited
from tests.benchmarks.common import Quiet, arguments, conditions, emit, median, orderly
from tests.benchmarks.ours_client import OursAlone
from tests.benchmarks.prepare import TOPS, default_folder, prepare_model, say
from tests.benchmarks.roofs import Roofs
from tests.random_models.shapes import SHAPES, large
from tests.random_models.tokens import stream

TIER = 4  # bits of the experts
BETWEEN = 16  # tokens decoded between prompts
SPARE = 64  # tokens of context beside the longest prompt and those between


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    shape = large(args.shape, args.layers)
    model = prepare_model(shape, TIER, args.folder)
    lengths = [int(text) for text in args.tokens.split(",")]
    tokens = iter(stream("uniform", shape.vocabulary, 1 << 20))
    chosen = {"dial": "exact", "context_length": max(lengths) + BETWEEN + SPARE}
    nbytes = int(model.nbytes * args.limit)

    def some(count: int) -> list[int]:
        return [next(tokens) for _ in range(count)]

    turns: dict[int, list[dict[str, float]]] = {length: [] for length in lengths}
    with orderly(), ExitStack() as stack:
        group = stack.enter_context(limited("prompts", nbytes))
        drop_caches()
        say("Opening the model twice")
        ours = stack.enter_context(OursAlone(model.store, None, {**chosen, "memory_gb": nbytes / GB}, group))
        whole = stack.enter_context(OursAlone(model.store, None, chosen))
        if whole.about["cache_share"] < 1:
            raise SystemExit(f"Not every expert fits in memory: {' '.join(whole.about['plan'])}")
        roofs = Roofs(model.store, TOPS[TIER], default_threads())
        stack.callback(roofs.close)
        quiet = Quiet(args.patience)
        for length in lengths:
            for _ in range(2):  # the first fills the cache, or is the first of its length
                ours.prompt(some(length))
            while whole.prompt_read(some(length))[1]:
                pass
            for _ in range(args.repeats):
                quiet.wait()
                roofs.measure()
                ours.turn(some(BETWEEN))
                taken, read = ours.prompt_read(some(length))
                computing = whole.prompt(some(length))
                reading = read / roofs.taken[-1].disk
                turns[length].append({"ours": taken, "reading": reading, "computing": computing, "read": read})
    by_length = {}
    for length, found in turns.items():
        floors = [max(turn["reading"], turn["computing"]) for turn in found]
        by_length[length] = {
            **{name: round(median([turn[name] for turn in found]), 3) for name in ("ours", "reading", "computing")},
            "floor": round(median(floors), 3),
            "times_floor": round(median([turn["ours"] / floor for turn, floor in zip(found, floors)]), 3),
            "turns": [round(turn["ours"] / floor, 3) for turn, floor in zip(found, floors)],
            "gb_read": round(median([turn["read"] for turn in found]) / 1e9, 3),
        }
    return {
        "ours": {length: row["ours"] for length, row in by_length.items()},
        "ratio": {length: row["times_floor"] for length, row in by_length.items()},
        "by_length": by_length,
        "roof": roofs.report(),
        "conditions": conditions(args, chunk=ours.about["chunk"], cache_share=round(ours.about["cache_share"], 3),
                                 others=[round(x, 2) for x in quiet.others]),
    }  # fmt: skip


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__)
    parser.add_argument("--shape", choices=SHAPES, required=True)
    parser.add_argument("--layers", type=int, help="another cut of the model than that of 8 GB at 4 bits")
    parser.add_argument("--limit", type=float, default=0.5, help="most memory, as a share of the model's bytes")
    parser.add_argument("--tokens", default="64,500,2000", help="lengths of prompts")
    parser.add_argument("--repeats", type=int, default=5, help="turns of each length")
    parser.add_argument("--patience", type=float, default=10.0, help="seconds to wait in all for other programs' rest")
    parser.add_argument("--folder", type=Path, default=default_folder(), help="where prepared models are kept")
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
