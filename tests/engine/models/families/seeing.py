"""Tiny models that see beside reading, as they lie on the hub: a language model of another family is inside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors.torch import load, save_file
from transformers import CONFIG_MAPPING

from tests.engine.models.families.tiny import tiny

INNER = {"kimi_k25": "deepseek_v3", "mistral3": "mistral4"}
CALLED = {"kimi_k25": "kimi_k2"}  # what the hub's config calls the one inside
SIGHT = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": 48}
KIND = {"mistral3": {"model_type": "pixtral"}}


def config(family: str, **changes: Any) -> Any:
    """A small config, for transformers. changes: of the language model."""
    text = tiny(INNER[family], n_group=1, topk_group=1, **changes).to_dict()
    sight = {**SIGHT, **KIND.get(family, {})}
    return CONFIG_MAPPING[family](text_config=text, vision_config=sight, tie_word_embeddings=False)


def save(model: Any, path: Path) -> dict[str, Any]:
    """The checkpoint of transformers' model. Returns its config.

    transformers writes some names of Kimi's otherwise than they are on the hub, where it reads them.
    """
    model.save_pretrained(path)
    file = path / "model.safetensors"
    tensors = load(file.read_bytes())
    for wrong, right in (
        ("language_model.model.blocks.", "language_model.model.layers."),
        ("model.mm_", "mm_"),
        ("vision_tower.encoder.patch_embed.", "vision_tower.patch_embed."),
    ):
        tensors = {name.replace(wrong, right): tensor for name, tensor in tensors.items()}
    save_file(tensors, file, {"format": "pt"})
    raw: dict[str, Any] = json.loads((path / "config.json").read_text(encoding="utf-8"))
    raw["text_config"]["model_type"] = CALLED.get(raw["model_type"], raw["text_config"]["model_type"])
    (path / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    return raw
