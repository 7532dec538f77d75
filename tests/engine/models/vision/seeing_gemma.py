"""A tiny Gemma 4 that sees, with words and a template, and pictures to show it."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from tokenizers import Tokenizer
from torch import Tensor
from transformers import Gemma4Config
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil

from tests.engine.models.families.tiny import COMMON, GEMMA
from tests.engine.models.parity import hf_model
from tests.engine.models.tiny_store import give_words

GAIN = 1.0  # at 2, transformers itself strays 1e-5 from float64: its tower is one model before another
PLACE, BEGIN, END = 94, 95, 96  # the last words of 97
SIGHT = {
    "hidden_size": 32, "intermediate_size": 40, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 2, "head_dim": 16, "patch_size": 4, "pooling_kernel_size": 2, "position_embedding_size": 300,
    "rms_norm_eps": 1e-3, "standardize": True, "use_clipped_linears": True,
}  # fmt: skip
TEMPLATE = (
    "{% for m in messages %}{{ 'w3 ' }}{% if m.content is string %}{{ m.content }}{% else %}{% for c in m.content %}"
    "{{ 'w94 ' if c.type == 'image' else c.text }}{% endfor %}{% endif %}{{ ' w4 ' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ 'w5 ' }}{% endif %}"
)


def config(**changes: Any) -> Any:
    """For transformers. changes: of the language model. Pictures of it have 70 tokens at most."""
    text = {**COMMON, **GEMMA, "use_bidirectional_attention": "vision", "sliding_window": 24, **changes}
    return Gemma4Config(
        text_config=text, vision_config=SIGHT, image_token_id=PLACE, boi_token_id=BEGIN, eoi_token_id=END
    )


def model(**changes: Any) -> Any:
    """transformers', random. Bounds of its tower are such that they bind."""
    made = hf_model(config(**changes), gain=GAIN)
    with torch.no_grad():
        for name, bound in made.named_buffers():
            if name.endswith(("_min", "_max")):
                bound.fill_(-0.5 if name.endswith("_min") else 0.5)
    return made


def checkpoint(made: Any, folder: Path) -> Path:
    """As a hub has it."""
    made.save_pretrained(folder)
    give_words(folder, 97)
    words = Tokenizer.from_file(str(folder / "tokenizer.json"))
    words.add_special_tokens(["w94", "w95", "w96"])
    words.save(str(folder / "tokenizer.json"))
    about = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "w0", "chat_template": TEMPLATE}
    (folder / "tokenizer_config.json").write_text(json.dumps(about), encoding="utf-8")
    (folder / "processor_config.json").write_text(json.dumps({"image_processor": {"max_soft_tokens": 70}}))
    return folder


def picture(seed: int, width: int = 61, height: int = 47, kind: str = "PNG", **how: Any) -> bytes:
    """A file with noise."""
    values = np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)
    into = io.BytesIO()
    Image.fromarray(values).save(into, kind, **how)
    return into.getvalue()


def prepared(images: Sequence[bytes]) -> Any:
    """As transformers prepares pictures."""
    processor = Gemma4ImageProcessorPil(patch_size=4, pooling_kernel_size=2, max_soft_tokens=70)
    return processor([Image.open(io.BytesIO(image)) for image in images], return_tensors="pt")


def oracle(made: Any, ids: Sequence[int], images: Sequence[bytes]) -> Tensor:
    """Logits [T, V] of transformers for a prompt with pictures in it (ids below zero), in one pass."""
    shown = torch.tensor([[PLACE if one < 0 else one for one in ids]])
    given = prepared(images) if images else {}
    seen = {name: given[name] for name in ("pixel_values", "image_position_ids") if images}
    with torch.no_grad():
        found = made(input_ids=shown, mm_token_type_ids=(shown == PLACE).long(), use_cache=False, **seen)
    logits: Tensor = found.logits[0].float()
    return logits
