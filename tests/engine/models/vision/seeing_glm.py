"""A tiny GLM-4.5V, with words and a template."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image
from transformers import Glm4vMoeConfig
from transformers.models.glm46v.image_processing_pil_glm46v import Glm46VImageProcessorPil

from engine.models.vision.preparation import CLIP
from tests.engine.models.families.test_plain_attention import COMMON, GLM4
from tests.engine.models.vision import seeing_qwen
from tests.engine.models.vision.seeing_qwen import PLACE, oracle_of

SIGHT = {
    "depth": 2, "hidden_size": 32, "intermediate_size": 40, "num_heads": 2, "patch_size": 4, "out_hidden_size": 48,
    "image_size": 24, "rms_norm_eps": 1e-3,
}  # fmt: skip
ROPE = {"rope_type": "default", "rope_theta": 1e4, "partial_rotary_factor": 0.5, "mrope_section": [1, 2, 1]}
TEXT = {**COMMON, **{key: value for key, value in GLM4.items() if key != "use_qk_norm"}, "rope_parameters": ROPE}
PREPARED = {
    **seeing_qwen.PREPARED, "image_mean": list(CLIP[0]), "image_std": list(CLIP[1]),
    "size": {"longest_edge": 2 * 40 * 64, "shortest_edge": 2 * 4 * 64},
}  # fmt: skip


def config(**changes: Any) -> Any:
    """For transformers. changes: of the language model. Pictures of it have 40 tokens at most."""
    return Glm4vMoeConfig(text_config={**TEXT, **changes}, vision_config=SIGHT, image_token_id=PLACE)


def model() -> Any:
    """transformers', random."""
    return seeing_qwen.randomized(config(), gain=4.0)


def checkpoint(made: Any, folder: Path) -> Path:
    """As a hub has it."""
    seeing_qwen.checkpoint(made, folder)
    (folder / "preprocessor_config.json").write_text(json.dumps(PREPARED), encoding="utf-8")
    return folder


def prepared(images: Sequence[bytes]) -> Any:
    """As transformers prepares pictures."""
    processor = Glm46VImageProcessorPil(**PREPARED)
    return processor([Image.open(io.BytesIO(image)) for image in images], return_tensors="pt")


def oracle(made: Any, ids: Sequence[int], images: Sequence[bytes]) -> Any:
    """As of seeing_qwen."""
    return oracle_of(made, ids, prepared(images) if images else {})
