"""How long does the first prompt take, with nothing read yet, of a model that fits in memory?

    python -m tests.benchmarks.first_prompt --shape qwen3 [--layers N] [--words 500] [--json]

Each turn opens the model in a process of its own, with the system's file cache empty and all the memory it wants, and
reads one prompt of uniform tokens, which visits nearly every expert; then others, until nothing is read any more. It is
asked at once, which no person does: in the app all experts are read while the question is typed (WarmStart).
`reading`: the bytes read for the first one by the disk's rate in this turn. `computing`: what a prompt takes with all
in memory. `floor`: the longer of both. `times_floor`: the first prompt over it; the aim is 1.25. `together`: what both
take where the disk brings less while memory is read: at that rate (`disk_beside`) while it computes, then at its
own. `opening`: seconds from the start of the process until it can be asked. Needs an administrator's rights on Linux,
for emptying the caches.

--touched: just before, another process writes to as much memory, and ends. A virtual machine may have to ask its host
for memory that nobody has used for a while, which is slow (`touching`, GB/s).
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from contextlib import ExitStack
from statistics import median
from typing import Any

from tests.benchmarks.blockdevice import drop_caches
from tests.benchmarks.common import Quiet, arguments, conditions, emit, medians, orderly, say
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.prepare import prepare_model
from tests.benchmarks.roofs import Roofs
from tests.random_models.shapes import large
from tests.random_models.tokens import stream

BAR = 1.25
SPARE = 64  # tokens of context beside the prompt
TOUCH = "from engine.native.memory import huge; huge({nbytes}).fill_(1)"


def touch(nbytes: int) -> float:
    """Have so much memory written to, and given back; bytes a second."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", TOUCH.format(nbytes=nbytes)], check=True)
    return nbytes / (time.perf_counter() - start)


def first_prompts(args: argparse.Namespace, stack: ExitStack) -> dict[str, Any]:
    """Turns, each of a model just opened."""
    shape = large(args.shape, args.layers)
    model = prepare_model(shape, args.tier, args.folder)
    roofs, quiet = Roofs(model.store, args.tier, args.threads), Quiet(args.patience)
    stack.callback(roofs.close)
    given = {"dial": "exact", "tier": str(args.tier), "dense": "auto", "threads": args.threads,
             "context_length": args.words + SPARE, **dict(args.set)}  # fmt: skip
    tokens = stream("uniform", shape.vocabulary, args.words * (args.repeats + 1))
    turns: list[dict[str, float]] = []
    for number in range(args.repeats):
        say(f"Turn {number + 1} of {args.repeats}")
        quiet.wait()
        roofs.measure()
        drop_caches()
        start = time.perf_counter()
        with OursAlone(model.store, None, given) as ours:
            opening = time.perf_counter() - start
            if ours.about["cache_share"] < 1:
                raise SystemExit(f"Not every expert fits in memory: {' '.join(ours.about['plan'])}")
            touching = touch(model.nbytes) if args.touched else 0.0
            taken, read = ours.prompt_read(tokens[number * args.words : (number + 1) * args.words])
            while ours.prompt_read(tokens[-args.words :])[1]:
                pass
            computing = ours.prompt(tokens[-args.words :])
        rates = roofs.taken[-1]
        reading = read / rates.disk
        floor, together = max(reading, computing), rates.together(read, computing * rates.memory)
        turns.append({"first": taken, "opening": opening, "reading": reading, "computing": computing, "floor": floor,
                      "together": together, "times_floor": taken / floor, "times_together": taken / together,
                      "gb_read": read / 1e9, "touching": touching / 1e9})  # fmt: skip
    return {
        "ratio": round(median(turn["times_floor"] for turn in turns), 3),
        "bar": BAR,
        **{name: round(value, 3) for name, value in medians(turns).items()},
        "turns": [round(turn["times_floor"], 3) for turn in turns],
        "roof": roofs.report(),
        "conditions": conditions(args, isa=roofs.isa, others=quiet.others),
    }


def main() -> None:
    """Print the figures."""
    parser = arguments(__doc__, "shape", "layers", "tier", "threads", "patience", "folder", "set")
    parser.add_argument("--words", type=int, default=500, help="tokens of the prompt")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--touched", action="store_true", help="let the system have memory at hand")
    args = parser.parse_args()
    with orderly(), ExitStack() as stack:
        emit(first_prompts(args, stack), args.json)


if __name__ == "__main__":
    main()
