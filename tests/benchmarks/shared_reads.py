"""How many reads do answers at once share? Replays of routing: nothing is timed.

    python -m tests.benchmarks.shared_reads [--tokens 4096] [--json]

Expert reads of several answers made one after another, divided by those of the same answers at once, where each layer
has a cache of its own that evicts what was used least recently. That is how many times as fast they can be at most
where reading is all that counts. `chats`: the built-in model's routing of chats (resources/calibration/eval.jsonl), of
which other ones are answered at once. `even`: as many experts drawn at random, all equally likely, in the sizes of
Qwen3-30B-A3B (128 experts, 8 of them a token); random weights route nearly so. `different`: experts that a step of all
answers asks for, as a share of what each asks for by itself.
"""

from __future__ import annotations

import argparse
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tests.benchmarks.common import arguments, emit
from tests.benchmarks.policies import builtin

EVEN = (4, 128, 8)  # layers, experts, top k
LENGTH = 64  # tokens of each answer
AT_ONCE = (2, 4, 8)
SHARES = (0.25, 0.5, 0.75)  # of the experts that are cached

Answers = NDArray[np.int64]  # [answers, layers, LENGTH, k]


class Lru:
    """Experts of one layer. misses: counted."""

    def __init__(self, capacity: int) -> None:
        self._capacity, self.misses = capacity, 0
        self._there: OrderedDict[int, None] = OrderedDict()

    def use(self, experts: Iterable[int]) -> None:
        """What a step asks for, each once. What of it is there stays until the step is over, as in the engine."""
        asked = list(experts)
        for expert in sorted(asked, key=self._there.__contains__, reverse=True):
            self.misses += expert not in self._there
            self._there[expert] = None
            self._there.move_to_end(expert)
            if len(self._there) > self._capacity:
                self._there.popitem(last=False)


def reads(groups: Sequence[Answers], capacity: int, at_once: bool) -> int:
    """Of all answers, those of a group at once or one behind the other."""
    missed = 0
    for layer in range(groups[0].shape[1]):
        cache = Lru(capacity)
        for group in groups:
            steps = group[:, layer].swapaxes(0, 1) if at_once else group[:, layer].reshape(-1, 1, group.shape[-1])
            for step in steps:
                cache.use(dict.fromkeys(step.ravel().tolist()))
        missed += cache.misses
    return missed


def different(groups: Sequence[Answers]) -> float:
    """Share of what all answers of a step ask for, each counted once."""
    asked = [group[:, layer, at].ravel() for group in groups for layer in range(group.shape[1]) for at in range(LENGTH)]
    return float(np.mean([len(np.unique(step)) / len(step) for step in asked]))


def chats(tokens: int) -> tuple[Answers, int]:
    """Of the built-in model, and how many experts a layer has."""
    trace = builtin("eval", tokens)
    starts = [*np.flatnonzero(trace.begins), trace.tokens]  # one token a pass
    whole = [start for start, end in pairwise(starts) if end - start >= LENGTH]
    return np.stack([trace.ids[:, start : start + LENGTH].astype(np.int64) for start in whole]), trace.experts


def even(answers: int) -> tuple[Answers, int]:
    """Experts drawn at random."""
    dice, (layers, experts, k) = np.random.default_rng(0), EVEN
    order = dice.random((answers, layers, LENGTH, experts)).argpartition(k, axis=-1)
    return order[..., :k], experts


def measure(tokens: int) -> dict[str, Any]:
    """All rows."""
    rows: dict[str, Any] = {}
    for name, (answers, experts) in {"chats": chats(tokens), "even": even(32)}.items():
        for n in AT_ONCE:
            groups = [answers[at : at + n] for at in range(0, len(answers) - n + 1, n)]
            row: dict[str, Any] = {"answers": n * len(groups), "different": different(groups)}
            for share in SHARES:
                capacity = round(share * experts)
                row[f"cached {share:g}"] = reads(groups, capacity, False) / reads(groups, capacity, True)
            rows[f"{name}, {n} at once"] = row
    return {"rows": rows, "tokens": tokens}


def main() -> None:
    """Command line."""
    parser: argparse.ArgumentParser = arguments(__doc__)
    parser.add_argument("--tokens", type=int, default=4096, help="of chats, read by the built-in model")
    args = parser.parse_args()
    emit(measure(args.tokens), args.json)


if __name__ == "__main__":
    main()
