"""Tiny random checkpoints that can be chatted with: any family's, with the built-in model's tokenizer and template."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import torch

from engine import resources
from tests.engine.models.parity import hf_model

SMALL_FILES = ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")
VOCABULARY: dict[str, Any] = {"vocab_size": 4096, "pad_token_id": 0, "bos_token_id": None, "eos_token_id": 2}


def write_chattable(config: Any, folder: Path, gain: float = 4.0, dtype: torch.dtype = torch.bfloat16) -> Any:
    """A random model of this config (with VOCABULARY) in `folder`, as on a hub. Returns transformers' own, in float32
    and of the weights as they were saved."""
    model = hf_model(config, gain=gain).to(dtype)
    model.save_pretrained(folder)
    for name in SMALL_FILES:
        shutil.copy(resources.path("builtin", "model") / name, folder / name)
    (folder / "generation_config.json").unlink(missing_ok=True)
    return model.float()
