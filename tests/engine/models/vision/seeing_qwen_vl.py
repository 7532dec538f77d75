"""A tiny Qwen3-VL with experts, with words and a template."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from safetensors.torch import load, save_file
from transformers import Qwen3VLMoeConfig

from tests.engine.models.families.tiny import COMMON, QWEN
from tests.engine.models.vision import seeing_qwen
from tests.engine.models.vision.seeing_qwen import PLACE, PREPARED, oracle, prepared

__all__ = ["PLACE", "PREPARED", "oracle", "prepared"]  # as Qwen3.5

SIGHT = {**seeing_qwen.SIGHT, "depth": 4, "deepstack_visual_indexes": [0, 2]}


def config() -> Any:
    """For transformers. Pictures of it have 40 tokens at most."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [3, 3, 2], "mrope_interleaved": True}
    text = {**COMMON, **QWEN, "rope_parameters": rope}
    return Qwen3VLMoeConfig(text_config=text, vision_config=SIGHT, image_token_id=PLACE, tie_word_embeddings=False)


def model() -> Any:
    """transformers', random."""
    return seeing_qwen.randomized(config())


def checkpoint(made: Any, folder: Path) -> Path:
    """As a hub has it: experts lie the other way round than transformers saves them."""
    seeing_qwen.checkpoint(made, folder)
    file = folder / "model.safetensors"
    tensors = load(file.read_bytes())
    turned = {name: t.transpose(1, 2).contiguous() for name, t in tensors.items() if ".experts." in name}
    save_file({**tensors, **turned}, file, {"format": "pt"})
    return folder
