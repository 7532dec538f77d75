"""Tokenize the corpus into flat arrays: `python -m training.pack --data DIR --tokenizer DIR --out DIR [--source NAME]`.

Each source and split becomes SOURCE_SPLIT.npy (uint16 ids, chats separated by id 0) and SOURCE_SPLIT_answer.npy
(uint8, 1 where the token is part of an answer and is to be learned in full).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from training.corpus import MIX, Message, rows
from training.shape import END_OF_TEXT, TURN_END, TURN_START


class Packer:
    """Encodes chats exactly as the chat template does."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._start = self._special(TURN_START)
        self._end = self._special(TURN_END)
        self._separator = self._special(END_OF_TEXT)
        self._newline = self._encode("\n")

    def _special(self, token: str) -> int:
        found: int | None = self._tokenizer.token_to_id(token)
        if found is None:
            raise ValueError(f"the tokenizer has no {token}")
        return found

    def _encode(self, text: str) -> list[int]:
        ids: list[int] = self._tokenizer.encode(text, add_special_tokens=False).ids
        return ids

    def chat(self, messages: list[Message]) -> tuple[list[int], list[int]]:
        """Ids of one chat and, for each, whether it belongs to an answer (its end mark included)."""
        ids: list[int] = []
        answer: list[int] = []
        for message in messages:
            head = [self._start, *self._encode(message["role"]), *self._newline]
            body = [*self._encode(message["content"]), self._end]
            learned = int(message["role"] == "assistant")
            ids += [*head, *body, *self._newline]
            answer += [0] * len(head) + [learned] * len(body) + [0] * len(self._newline)
        return [*ids, self._separator], [*answer, 0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--source", action="append", choices=list(MIX), help="only this source; may be repeated")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    packer = Packer(Tokenizer.from_file(str(args.tokenizer / "tokenizer.json")))
    for source in args.source or MIX:
        for split in ("train", "test"):
            ids: list[int] = []
            answer: list[int] = []
            for messages in rows(args.data, source, split):
                more_ids, more_answer = packer.chat(messages)
                ids += more_ids
                answer += more_answer
            np.save(args.out / f"{source}_{split}.npy", np.array(ids, dtype=np.uint16))
            np.save(args.out / f"{source}_{split}_answer.npy", np.array(answer, dtype=np.uint8))
            print(f"{source} {split}: {len(ids):,} tokens, {sum(answer):,} of answers", flush=True)


if __name__ == "__main__":
    main()
