"""What the model card promises: `python -m training.promises --model DIR --memory FILE`.

Memory: chats in which something is told and asked for later, from a list made before training
(`tests/resources/builtin/memory_questions.json`); an answer is right when it holds the expected word.
Sums: two two-digit numbers, those that no training text has (`arithmetic.held_out`); only the exact answer is right.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import torch

from training.checkpoint import Checkpoint
from training.corpus import Message
from training.generator.arithmetic import held_out


class Wrong(NamedTuple):
    """A question that was answered wrongly."""

    question: str
    expected: str
    given: str


def remembered(model: Checkpoint, path: Path) -> tuple[int, list[Wrong]]:
    """How many questions the list has, and those answered wrongly; the model's own replies stand in the chat."""
    questions = json.loads(path.read_text(encoding="utf-8"))
    wrong = []
    for question in questions:
        messages: list[Message] = []
        for told in question["told"]:
            messages.append({"role": "user", "content": told})
            messages.append({"role": "assistant", "content": model.answer(messages, limit=80)})
        messages.append({"role": "user", "content": question["asked"]})
        given = model.answer(messages, limit=80)
        if question["expected"].lower() not in given.lower():
            wrong.append(Wrong(question["asked"], question["expected"], given))
    return len(questions), wrong


def sums() -> list[tuple[str, str]]:
    """The sums that are held out, each with the answer that is right."""
    return [
        (f"What is {a} + {b}?", f"{a} + {b} = {a + b}.")
        for a in range(10, 100)
        for b in range(10, 100)
        if held_out(a, b)
    ]


@torch.no_grad()
def summed(model: Checkpoint, asked: list[tuple[str, str]], rows: int = 128) -> list[Wrong]:
    """Those answered wrongly when the likeliest token is taken at every place."""
    wrong = []
    for start in range(0, len(asked), rows):
        part = asked[start : start + rows]
        chats = []
        for question, answer in part:
            ids = model.ids([{"role": "user", "content": question}], prompt=True)[0].tolist()
            chats.append((len(ids), ids + model.tokenizer(f"{answer}<|im_end|>")["input_ids"]))
        longest = max(len(ids) for _, ids in chats)
        tensor = torch.tensor([ids + [0] * (longest - len(ids)) for _, ids in chats])
        best = model.model(tensor).logits.argmax(-1)
        for (head, ids), row, (question, answer) in zip(chats, best.tolist(), part, strict=True):
            # Where every likeliest token is the expected one, greedy decoding gives exactly the expected answer.
            if (given := row[head - 1 : len(ids) - 1]) != ids[head:]:
                wrong.append(Wrong(question, answer, model.tokenizer.decode(given)))
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--memory", type=Path, required=True)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    model = Checkpoint(args.model)
    asked = sums()
    wrong_sums = summed(model, asked)
    print(f"sums: {len(asked) - len(wrong_sums)} of {len(asked)}")
    for wrong in wrong_sums[:8]:
        print(f"  {wrong}")
    count, forgotten = remembered(model, args.memory)
    print(f"memory: {count - len(forgotten)} of {count}")
    for wrong in forgotten:
        print(f"  {wrong}")


if __name__ == "__main__":
    main()
