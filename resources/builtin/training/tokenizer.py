"""Train the byte-level BPE tokenizer: `python -m training.tokenizer --data DIR --out DIR`."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from training.corpus import MIX, rows
from training.shape import CHAT_TEMPLATE, END_OF_TEXT, TURN_END, TURN_START, Shape

# Like the pattern of Qwen and GPT-4, but every digit is a token of its own: sums are easier to learn.
_PATTERN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
_CHARS_PER_SOURCE = 4_000_000  # so that the largest source does not fill the vocabulary


def _text(data: Path) -> Iterator[str]:
    for source in MIX:
        left = _CHARS_PER_SOURCE
        for messages in rows(data, source, "train"):
            for message in messages:
                left -= len(message["content"])
                yield message["content"]
            if left < 0:
                break


def train(data: Path, shape: Shape) -> PreTrainedTokenizerFast:
    """A tokenizer whose ids 0, 1 and 2 are the special tokens of `shape.py`."""
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_PATTERN), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=shape.vocab,
        special_tokens=[END_OF_TEXT, TURN_START, TURN_END],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),  # every byte, so that any text can be written
        show_progress=False,
    )
    bpe.train_from_iterator(_text(data), trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        bos_token=None,
        eos_token=TURN_END,
        pad_token=END_OF_TEXT,
        additional_special_tokens=[TURN_START],
        model_max_length=shape.context,
        clean_up_tokenization_spaces=False,
        chat_template=CHAT_TEMPLATE,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    train(args.data, Shape()).save_pretrained(args.out)


if __name__ == "__main__":
    main()
