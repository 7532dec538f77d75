"""A tiny Qwen3.5 that sees, with words and a template."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from tokenizers import Tokenizer
from torch import Tensor
from transformers import AutoModelForImageTextToText, Qwen3_5MoeConfig
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

from tests.engine.models.families.tiny import COMMON, LINEAR
from tests.engine.models.parity import randomize
from tests.engine.models.tiny_store import give_words

GAIN = 2.0
PLACE = 94
SIGHT = {
    "depth": 2, "hidden_size": 32, "intermediate_size": 40, "num_heads": 2, "patch_size": 4, "out_hidden_size": 48,
    "num_position_embeddings": 36,
}  # fmt: skip
PREPARED = {
    "patch_size": 4, "merge_size": 2, "temporal_patch_size": 2, "image_mean": [0.5] * 3, "image_std": [0.5] * 3,
    "size": {"longest_edge": 40 * 64, "shortest_edge": 4 * 64},
}  # fmt: skip
TEMPLATE = (
    "{% for m in messages %}{{ 'w3 ' }}{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{{ 'w95 w94 w96 ' if c.type == 'image' else c.text }}{% endfor %}{% endif %}{{ ' w4 ' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'w5 ' }}{% endif %}"
)


def config() -> Any:
    """For transformers. Pictures of it have 40 tokens at most."""
    rope = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.75}
    text = {**COMMON, **LINEAR, "rope_parameters": {**rope, "mrope_section": [2, 2, 2], "mrope_interleaved": True}}
    return Qwen3_5MoeConfig(text_config=text, vision_config=SIGHT, image_token_id=PLACE, tie_word_embeddings=False)


def model() -> Any:
    """transformers', random."""
    return randomized(config())


def randomized(wanted: Any, gain: float = GAIN) -> Any:
    """transformers' model of this config, random."""
    torch.manual_seed(0)
    made = AutoModelForImageTextToText.from_config(wanted, attn_implementation="eager").eval()
    randomize(made, gain=gain)
    return made


def checkpoint(made: Any, folder: Path) -> Path:
    """As a hub has it."""
    made.save_pretrained(folder)
    give_words(folder, 97)
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.add_tokens([f"w{n}" for n in range(94)])  # Qwen's tokenizer knows no others: it splits what is left to bytes
    words.add_special_tokens(["w94", "w95", "w96"])
    words.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "TokenizersBackend", "unk_token": "w0", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPARED), encoding="utf-8")
    return folder


def prepared(images: Sequence[bytes]) -> Any:
    """As transformers prepares pictures."""
    processor = Qwen2VLImageProcessorPil(**PREPARED)
    return processor([Image.open(io.BytesIO(image)) for image in images], return_tensors="pt")


def oracle(made: Any, ids: Sequence[int], images: Sequence[bytes]) -> Tensor:
    """Logits [T, V] of transformers for a prompt with pictures in it (ids below zero), in one pass."""
    return oracle_of(made, ids, prepared(images) if images else {})


def oracle_of(made: Any, ids: Sequence[int], given: Any) -> Tensor:
    """As oracle. given: the pictures as transformers prepares them."""
    shown = torch.tensor([[PLACE if one < 0 else one for one in ids]])
    seen = {name: given[name] for name in ("pixel_values", "image_grid_thw") if name in given}
    made.model.rope_deltas = None
    with torch.no_grad():
        found = made(input_ids=shown, mm_token_type_ids=(shown == PLACE).long(), use_cache=False, **seen)
    logits: Tensor = found.logits[0].float()
    return logits
