"""A tiny Kimi K2.5, with words and a template. What the hub calls otherwise than transformers is called as there."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image, ImageOps
from transformers import Kimi_K25Config

from engine.models.vision.preparation import KIMI_NAMES
from tests.engine.models.families import seeing
from tests.engine.models.families.tiny import tiny
from tests.engine.models.vision import seeing_qwen
from tests.engine.models.vision.seeing_qwen import PLACE, oracle_of

SIGHT = {
    "hidden_size": 32, "num_attention_heads": 2, "num_hidden_layers": 2, "intermediate_size": 40, "patch_size": 4,
    "pos_emb_height": 6, "pos_emb_width": 6,
}  # fmt: skip
PREPARED = {
    "in_patch_limit": 4 * 70, "patch_limit_on_one_side": 100, "patch_size": 4, "merge_kernel_size": 2,
    "image_mean": [0.5] * 3, "image_std": [0.5] * 3, "fixed_output_tokens": None,
}  # fmt: skip


def config(**changes: Any) -> Any:
    """For transformers. changes: of the language model. Pictures of it have 70 tokens at most."""
    text = tiny("deepseek_v3", n_group=1, topk_group=1, **changes).to_dict()
    return Kimi_K25Config(
        text_config=text, vision_config=SIGHT, projection_hidden_size=32, image_token_id=PLACE,
        tie_word_embeddings=False,
    )  # fmt: skip


def model() -> Any:
    """transformers', random, but for what it computes."""
    made = seeing_qwen.randomized(config(), gain=4.0)
    times = made.model.vision_tower.patch_embed.pos_emb
    times.time_position_embeddings.copy_(times.compute_pos_embed())
    return made


def checkpoint(made: Any, folder: Path) -> Path:
    """As a hub has it."""
    seeing_qwen.checkpoint(made, folder)
    raw = seeing.save(made, folder)
    hub = {ours: theirs for theirs, ours in KIMI_NAMES.items()}
    sight = {hub.get(name, name): value for name, value in raw["vision_config"].items() if name != "model_type"}
    raw["vision_config"] = {
        **sight, "merge_type": "sd2_tpool", "mm_projector_type": "patchmerger",
        "_attn_implementation": "flash_attention_2",
    }  # fmt: skip
    raw["media_placeholder_token_id"] = raw.pop("image_token_id")
    (folder / "config.json").write_text(json.dumps(raw), encoding="utf-8")
    (folder / "preprocessor_config.json").write_text(json.dumps({"media_proc_cfg": PREPARED}), encoding="utf-8")
    return folder


def prepared(images: Sequence[bytes]) -> Any:
    """As transformers prepares pictures that need not be made smaller: its own processor wants torchvision."""
    patches, grids = [], []
    for image in images:
        pixels = ImageOps.exif_transpose(Image.open(io.BytesIO(image))).convert("RGB")
        high, wide = (-(-side // 8) * 2 for side in (pixels.height, pixels.width))
        canvas = np.zeros((high * 4, wide * 4, 3), dtype=np.float32)
        canvas[: pixels.height, : pixels.width] = np.asarray(pixels)
        tiles = torch.from_numpy((canvas / np.float32(255) - np.float32(0.5)) / np.float32(0.5))
        patches.append(tiles.view(high, 4, wide, 4, 3).permute(0, 2, 4, 1, 3).reshape(-1, 3, 4, 4))
        grids.append([1, high, wide])
    return {"pixel_values": torch.cat(patches), "image_grid_thw": torch.tensor(grids)}


def oracle(made: Any, ids: Sequence[int], images: Sequence[bytes]) -> Any:
    """As of seeing_qwen."""
    return oracle_of(made, ids, prepared(images) if images else {})
