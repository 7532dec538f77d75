"""Do two executors on one processor answer more than one? Two models in memory, asked for several answers each.

    python -m tests.benchmarks.executors --shape qwen3 [--at-once 4] [--answer 32] [--repeats 5]
        [--ways one,two_whole,two] [--json]
    python -m tests.benchmarks.executors --json            the built-in model, which is as small as models get

Each executor is a process of its own, which holds one model whole (CoServe, sections 4.4 and 4.5, chooses their number
by such a measurement). `one`: answers of one model at once, then those of the other, each with all threads, as the
engine's one executor does it. `two`: both models at the same time, each with half of the threads; `two_whole`: each
with all of them. Tokens a second of both models together, medians; `ratio`: of the better of the two ways to `one`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from tests.benchmarks.bench import PREFERRED
from tests.benchmarks.common import Quiet, arguments, conditions, emit, say, several
from tests.benchmarks.ours import OursAlone
from tests.benchmarks.prepare import prepare_model
from tests.random_models.shapes import SHAPES
from tests.random_models.tokens import stream

CONTEXT = 2048
WORDS = 24  # of a prompt
WAYS = ("one", "two_whole", "two")
BUILTIN = 4000  # token numbers that the built-in model has

Prompts = list[list[int]]


@contextmanager
def executors(model: Path | str, chosen: dict[str, Any], vocabulary: int) -> Iterator[tuple[OursAlone, OursAlone]]:
    """Two processes, each with all experts of its model in memory."""
    with ExitStack() as opened:
        both = OursAlone(model, None, chosen), OursAlone(model, None, chosen)
        for one in both:
            opened.enter_context(one)
            if not one.about["all_in_memory"]:
                raise SystemExit(f"Not every expert fits in memory: {' '.join(one.about['plan'])}")
            one.fill(stream("uniform", vocabulary, CONTEXT // 4))
        yield both


def rate(both: tuple[OursAlone, OursAlone], prompts: tuple[Prompts, Prompts], answer: int, together: bool) -> float:
    """Tokens a second of both, at the same time or one behind the other."""

    def made(number: int) -> int:
        found = both[number].answers(prompts[number], answer, True)
        return sum(map(len, found["tokens"]))

    begun = time.perf_counter()
    if together:
        with ThreadPoolExecutor(2) as pool:
            tokens = sum(pool.map(made, range(2)))
    else:
        tokens = made(0) + made(1)
    return tokens / (time.perf_counter() - begun)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """All figures."""
    model, vocabulary, chosen = _model(args)
    drawn = stream("uniform", vocabulary, 2 * WORDS * args.at_once)
    each = [drawn[at : at + WORDS] for at in range(0, len(drawn), WORDS)]
    prompts = each[: args.at_once], each[args.at_once :]
    quiet, taken = Quiet(args.patience), {way: list[float]() for way in args.ways}

    def turn(both: tuple[OursAlone, OursAlone], way: str) -> None:
        quiet.wait()
        taken[way].append(rate(both, prompts, args.answer, way != "one"))
        say(f"{way}: {taken[way][-1]:.1f} tokens/s")

    for threads, ways in ((args.threads, ("one", "two_whole")), (max(1, args.threads // 2), ("two",))):
        if not (mine := [way for way in ways if way in taken]):
            continue
        with executors(model, {**chosen, "threads": threads}, vocabulary) as both:
            rate(both, prompts, args.answer, False)  # warms up
            for _ in range(args.repeats):
                for way in mine:
                    turn(both, way)
    found: dict[str, Any] = {way: median(rates) for way, rates in taken.items()}
    if "one" in found and len(found) > 1:
        found["ratio"] = max(rate for way, rate in found.items() if way != "one") / found["one"]
    return found | {"conditions": conditions(args, others=quiet.others)}


def _model(args: argparse.Namespace) -> tuple[Path | str, int, dict[str, Any]]:
    """A model, the token numbers that prompts are drawn from, and settings."""
    chosen = {"dial": "exact", "context_length": CONTEXT}
    if args.shape is None:
        return "builtin", BUILTIN, chosen
    shape = SHAPES[args.shape]
    chosen |= {"tier": str(args.tier), "dense": PREFERRED[args.tier]}
    return prepare_model(shape, args.tier, args.folder, top=8).store, shape.vocabulary, chosen


def main() -> None:
    """Command line."""
    parser = arguments(__doc__, "tier", "threads", "patience", "folder")
    parser.add_argument("--shape", choices=tuple(SHAPES), help="instead of the built-in model")
    parser.add_argument("--at-once", type=int, default=4, help="answers of each model")
    parser.add_argument("--answer", type=int, default=32, help="tokens of each answer")
    parser.add_argument("--ways", type=several(str), default=list(WAYS), help="those to measure, separated by commas")
    parser.add_argument("--repeats", type=int, default=5)
    args = parser.parse_args()
    emit(measure(args), args.json)


if __name__ == "__main__":
    main()
