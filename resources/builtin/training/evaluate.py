"""Figures for the model card: `python -m training.evaluate --model DIR --data DIR [--count N]`.

Perplexity of the answers per source, on test splits, and the share of held-out exchanges with one right answer that
are answered right (greedy).
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter
from itertools import islice
from pathlib import Path

import torch

from training.checkpoint import Checkpoint
from training.corpus import MIX, Message, rows
from training.generator.knowledge import DECLINE

# Many answers are right here, so they are not scored.
_OPEN = re.compile(
    r"(?i)\b(stor\w*|poem|jokes?|riddle|fact|name|list|tell me|give me|rhymes|hello|hi|hey|good|bye|thank)\b"
)
_SUM = re.compile(r"\d+ [-+*] \d+ = \d+")


def kind(expected: str) -> str:
    """What an answer is scored as: every way to decline is as good as another."""
    if expected in DECLINE:
        return "declined"
    return "sums" if _SUM.search(expected) else "other"


def score(
    model: Checkpoint, chats: list[list[Message]]
) -> tuple[Counter[str], Counter[str], list[tuple[str, str, str]]]:
    """Right answers and questions by kind, and the wrong ones as (question, expected, given)."""
    right: Counter[str] = Counter()
    asked: Counter[str] = Counter()
    wrong = []
    for messages in chats:
        question, expected = messages[-2]["content"], messages[-1]["content"]
        if _OPEN.search(question):
            continue
        given = model.answer(messages[:-1], limit=80)
        asked[kind(expected)] += 1
        if given == expected or kind(given) == kind(expected) == "declined":
            right[kind(expected)] += 1
        else:
            wrong.append((question, expected, given))
    return right, asked, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--count", type=int, default=100, help="chats per source; three times as many questions")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = Checkpoint(args.model)
    for source in MIX:
        losses = [model.loss(m) for m in islice(rows(args.data, source, "test"), args.count)]
        mean = sum(loss for loss, _ in losses) / sum(n for _, n in losses)
        print(f"{source}: loss {mean:.3f}, perplexity {math.exp(mean):.2f}", flush=True)
    right, asked, wrong = score(model, list(islice(rows(args.data, "own", "test"), 3 * args.count)))
    for name, count in asked.items():
        print(f"right answers, {name}: {right[name]} of {count}")
    for question, expected, given in wrong:
        print(f"  {question!r}: expected {expected!r}, given {given!r}")


if __name__ == "__main__":
    main()
