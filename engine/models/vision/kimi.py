"""What Kimi K2.5 and 2.6 see with: MoonViT (arXiv 2504.07491) and what turns squares of its patches into tokens."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine.models.config import Config
from engine.models.layers.weights import CheckpointWeights
from engine.models.vision.pixels import Pixels
from engine.models.vision.preparation import HALVES, kimi_tower, sizing_of
from engine.models.vision.tower import building, read_when_needed

_PROJECTION = re.compile(r"(.+)\.layers\.(\d+)\.attn\.([qkv])_proj\.(weight|bias)$")
_RENAMED = (  # in transformers, on the hub
    (r"^vision_tower\.layers\.", "vision_tower.encoder.blocks."),
    (r"^vision_tower\.final_", "vision_tower.encoder.final_"),
    (r"\.norm1\.", ".norm0."),
    (r"\.norm2\.", ".norm1."),
    (r"\.fc1\.", ".fc0."),
    (r"\.fc2\.", ".fc1."),
    (r"\.attn\.proj\.", ".wo."),
    (r"\.position_embeddings$", ".weight"),
    (r"\.in_proj\.", ".proj.0."),
    (r"\.out_proj\.", ".proj.2."),
)


class KimiEncoder:
    """As large as the picture is, with black at its right and lower edge up to whole tokens."""

    begins: tuple[int, ...] = ()  # the template writes them
    ends: tuple[int, ...] = ()

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """As Gemma4Encoder."""
        self.sizing, seen = sizing_of(config, folder), kimi_tower(config)
        self._side = seen.integer("patch_size")
        with building(config):
            from transformers import Kimi_K25Config
            from transformers.models.kimi_k25.modeling_kimi_k25 import (
                Kimi_K25MultimodalProjection,
                Kimi_K25VisionModel,
            )

            parsed = Kimi_K25Config(
                text_config={"model_type": "deepseek_v3", "hidden_size": Config(config).integer("hidden_size")},
                vision_config=dict(seen.raw),
                projection_hidden_size=seen.integer("hidden_size"),
                projection_layer_norm_eps=seen.number("projector_ln_eps", 1e-5),
            )
            tower = Kimi_K25VisionModel._from_config(parsed.vision_config, dtype=torch.float32)
            self._projector = Kimi_K25MultimodalProjection(parsed)
            with torch.device("cpu"):  # computed, not stored
                tower.rotary_emb = type(tower.rotary_emb)(parsed.vision_config)
                times = tower.patch_embed.pos_emb
                times.time_position_embeddings = times.compute_pos_embed()
        hub = KimiNames(weights, seen.integer("num_attention_heads"))
        read_when_needed(tower, "vision_tower.", hub, pause)
        read_when_needed(self._projector, "mm_projector.", hub, pause)
        self._tower = tower

    @torch.inference_mode()
    def encode(self, picture: Pixels) -> Tensor:
        """See VisionEncoder."""
        grid = torch.tensor([[1, picture.height // self._side, picture.width // self._side]])
        found: Tensor = self._projector(self._tower(kimi_patches(picture, self._side), grid).pooler_output)
        return found.transpose(0, 1)


class KimiNames:
    """The tower's weights by the names that transformers gives them, and as it wants them.

    On the hub queries, keys and values are one matrix, and a head's rotary pairs are neighbours in queries and keys;
    transformers has the first of each pair in the first half.
    """

    def __init__(self, weights: CheckpointWeights, heads: int) -> None:
        """heads: of attention in the tower."""
        self._weights, self._heads = weights, heads

    def has(self, name: str) -> bool:
        """See CheckpointWeights."""
        return self._weights.has(self._stored(name))

    def get(self, name: str) -> Tensor:
        """See CheckpointWeights."""
        found, projection = self._weights.get(self._stored(name)), _PROJECTION.match(name)
        if projection is None:
            return found
        part = found.chunk(3)["qkv".index(projection.group(3))]
        if projection.group(3) == "v":
            return part
        return part.view(self._heads, -1, 2, *part.shape[1:]).transpose(1, 2).reshape(part.shape)

    def _stored(self, name: str) -> str:
        if (projection := _PROJECTION.match(name)) is not None:
            name = f"{projection.group(1)}.layers.{projection.group(2)}.wqkv.{projection.group(4)}"
        for ours, hub in _RENAMED:
            name = re.sub(ours, hub, name)
        return name


def kimi_patches(picture: Pixels, side: int) -> Tensor:
    """[P, 3, side, side], -1 to 1, row by row, as Kimi_K25ImageProcessor has them."""
    high, wide = picture.height // side, picture.width // side
    mean, deviation = (torch.tensor(part) for part in HALVES)
    values = ((picture.values() - mean) / deviation).view(high, side, wide, side, 3)
    return values.permute(0, 2, 4, 1, 3).reshape(high * wide, 3, side, side)
