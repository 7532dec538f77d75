"""A tiny random checkpoint of any family as a whole model: saved as hubs have it, with words, and imported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tokenizers import Tokenizer, models, pre_tokenizers

from engine.convert.importer import import_checkpoint
from tests.random_models.checkpoint import TEMPLATE


def give_words(folder: Path, vocabulary: int) -> None:
    """A tokenizer of the words w0, w1, ... and a chat template, beside the weights."""
    words = Tokenizer(models.WordLevel({f"w{i}": i for i in range(vocabulary)}, unk_token="w0"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "w0", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")


def tiny_store(model: Any, folder: Path, top: int = 32) -> Path:
    """transformers' model, saved and imported at `top` bits (32: as it is). Returns the store."""
    model.save_pretrained(folder / "checkpoint")
    give_words(folder / "checkpoint", model.config.get_text_config().vocab_size)
    import_checkpoint(folder / "checkpoint", folder / "store", top=top, progress=lambda phrase, done, total: None)
    return folder / "store"
