"""Tokens as they are trained on, against tokens as the template makes them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from tokenizers import Tokenizer
from training.batches import Source, held_out
from training.corpus import MIX, story_request
from training.pack import Packer
from transformers import AutoTokenizer

CHAT = [
    {"role": "system", "content": "Be short."},
    {"role": "user", "content": "What is 12 + 7?\nThanks"},
    {"role": "assistant", "content": "12 + 7 = 19."},
]


def test_packed_chats_are_what_the_template_makes(resources: Path) -> None:
    folder = resources / "builtin" / "model"
    ids, answer = Packer(Tokenizer.from_file(str(folder / "tokenizer.json"))).chat(CHAT)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    assert ids == [*tokenizer.apply_chat_template(CHAT, tokenize=True, return_dict=False), 0]
    learned = [i for i, a in zip(ids, answer, strict=True) if a]
    assert tokenizer.decode(learned) == "12 + 7 = 19.<|im_end|>"


def test_held_out_windows_weigh_answers_only(tmp_path: Path) -> None:
    for name in MIX:
        np.save(tmp_path / f"{name}_test.npy", np.array([1, 5, 6, 0] * 30, dtype=np.uint16))
        np.save(tmp_path / f"{name}_test_answer.npy", np.array([0, 0, 1, 0] * 30, dtype=np.uint8))
    for batch in held_out(tmp_path, count=3, length=16).values():
        assert batch.ids.shape == batch.targets.shape == (3, 16)
        assert (batch.ids[:, 1:] == batch.targets[:, :-1]).all()
        assert (batch.targets[batch.weights > 0] == 6).all()
        assert (batch.weights[batch.targets == 6] == 1).all()


def test_sources_know_where_chats_begin(tmp_path: Path) -> None:
    np.save(tmp_path / "own_train.npy", np.array([1, 5, 0, 1, 6, 7, 0], dtype=np.uint16))
    np.save(tmp_path / "own_train_answer.npy", np.zeros(7, dtype=np.uint8))
    source = Source(tmp_path, "own", "train")
    assert source.starts.tolist() == [0, 3]
    assert source.window(5, 4)[0].tolist() == [7, 0, 1, 5, 0]  # round the end


def test_stories_are_asked_for_by_their_hero() -> None:
    import random

    request = story_request("Once upon a time, there was a little dog named Max. He ran.", random.Random(0))
    assert "a little dog named Max" in request
