"""What each family sees with: tokens around a picture, its size, and what its tower makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from engine.models.config import Config
from engine.models.layers.weights import CheckpointWeights
from engine.models.vision.kimi import KimiEncoder
from engine.models.vision.pixels import Pixels
from engine.models.vision.preparation import CLIP, HALVES, sizing_of
from engine.models.vision.sizing import Sizing
from engine.models.vision.tower import building, read_when_needed
from engine.native.memory import trim_heap


class VisionEncoder(Protocol):
    """Of one model. begins, ends: tokens that stand around a picture and that the template does not write."""

    begins: tuple[int, ...]
    ends: tuple[int, ...]
    sizing: Sizing

    def encode(self, picture: Pixels) -> Tensor:
        """What the language model is given: [1 + D, N, hidden] float32, a row for each tile, row by row.

        The first is embedded, the others are added to it behind each of the first D layers (DeepStack).
        Raises what read_when_needed raises.
        """


class Gemma4Encoder:
    """Gemma 4: as large as its tokens allow; patches are averaged to tokens."""

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """config: of config.json. folder: of the store. weights, pause: as of read_when_needed.

        Raises UnderhillError: BROKEN_FILE, UNSUPPORTED_MODEL.
        """
        self.sizing = sizing_of(config, folder)
        self._side = Config(config["vision_config"]).integer("patch_size", 16)
        self.begins: tuple[int, ...]
        self.ends: tuple[int, ...]
        around = Config({"boi_token_id": 255_999, "eoi_token_id": 258_882, **config, "text_config": None})
        self.begins, self.ends = (around.integer("boi_token_id"),), (around.integer("eoi_token_id"),)
        with building(config):
            from transformers import Gemma4Config
            from transformers.models.gemma4.modeling_gemma4 import Gemma4MultimodalEmbedder, Gemma4VisionModel

            parsed = Gemma4Config.from_dict({name: config[name] for name in ("text_config", "vision_config")})
            self._tower = Gemma4VisionModel._from_config(parsed.vision_config, dtype=torch.float32)
            self._embedder = Gemma4MultimodalEmbedder(parsed.vision_config, parsed.text_config)
            with torch.device("cpu"):  # computed, not stored
                self._tower.encoder.rotary_emb = type(self._tower.encoder.rotary_emb)(parsed.vision_config)
        read_when_needed(self._tower, "model.vision_tower.", weights, pause)
        read_when_needed(self._embedder, "model.embed_vision.", weights, pause)

    @torch.inference_mode()
    def encode(self, picture: Pixels) -> Tensor:
        """See VisionEncoder."""
        patches, positions = gemma4_patches(picture, self._side)
        found: Tensor = self._embedder(self._tower(patches[None], positions[None]).last_hidden_state)
        return found[None]


class QwenEncoder:
    """Qwen3-VL and Qwen3.5: about as large as the picture is; squares of patches are merged to tokens.

    Qwen3-VL also gives what layers in the middle of its tower see (DeepStack, arXiv 2406.04334).
    """

    begins: tuple[int, ...] = ()  # the template writes them
    ends: tuple[int, ...] = ()
    _usual_side, _shift, _used_outside = 16, HALVES, ""

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """As Gemma4Encoder."""
        self.sizing, seen = sizing_of(config, folder), Config(config["vision_config"])
        self._side, self._merged = seen.integer("patch_size", self._usual_side), seen.integer("spatial_merge_size", 2)
        self._times = seen.integer("temporal_patch_size", 2)
        with building(config):
            tower = _merging_tower({name: config[name] for name in ("model_type", "text_config", "vision_config")})
            with torch.device("cpu"):  # computed, not stored
                tower.rotary_pos_emb = type(tower.rotary_pos_emb)(tower.config)
        read_when_needed(tower, "model.visual.", weights, pause, self._used_outside)
        self._tower = tower

    @torch.inference_mode()
    def encode(self, picture: Pixels) -> Tensor:
        """See VisionEncoder."""
        patches = merging_patches(picture, self._side, self._merged, self._times, self._shift)
        grid = torch.tensor([[1, picture.height // self._side, picture.width // self._side]])
        found = self._tower(patches, grid_thw=grid)
        return torch.stack([found.pooler_output, *getattr(found, "deepstack_features", ())])


class GlmEncoder(QwenEncoder):
    """GLM-4.5V and 4.6V: as Qwen, by a tower of another kind."""

    _usual_side, _shift, _used_outside = 14, CLIP, "embeddings.position_embedding"

    def __init__(
        self, config: Mapping[str, Any], folder: Path, weights: CheckpointWeights, pause: Callable[[], None]
    ) -> None:
        """As Gemma4Encoder."""
        super().__init__(config, folder, weights, pause)
        # The largest convolution takes 12 bytes a weight: holes that the layers left in the heap must not stay beside.
        self._tower.downsample.register_forward_pre_hook(lambda *_: trim_heap())


def _merging_tower(config: Mapping[str, Any]) -> Any:
    if config["model_type"] == "glm4v_moe":
        from transformers import Glm4vMoeConfig
        from transformers.models.glm4v_moe.modeling_glm4v_moe import Glm4vMoeVisionModel

        other = Glm4vMoeConfig.from_dict(dict(config)).vision_config
        return Glm4vMoeVisionModel._from_config(other, dtype=torch.float32)
    if config["model_type"] == "qwen3_vl_moe":
        from transformers import Qwen3VLMoeConfig
        from transformers.models.qwen3_vl_moe.modeling_qwen3_vl_moe import Qwen3VLMoeVisionModel

        deep = Qwen3VLMoeConfig.from_dict(dict(config)).vision_config
        return Qwen3VLMoeVisionModel._from_config(deep, dtype=torch.float32)
    from transformers import Qwen3_5MoeConfig
    from transformers.models.qwen3_5_moe.modeling_qwen3_5_moe import Qwen3_5MoeVisionModel

    plain = Qwen3_5MoeConfig.from_dict(dict(config)).vision_config
    return Qwen3_5MoeVisionModel._from_config(plain, dtype=torch.float32)


def gemma4_patches(picture: Pixels, side: int) -> tuple[Tensor, Tensor]:
    """([P, side * side * 3], 0 to 1, pixel by pixel; [P, 2], x and y), row by row, as Gemma4ImageProcessor has them."""
    high, wide = picture.height // side, picture.width // side
    patches = picture.values().view(high, side, wide, side, 3).transpose(1, 2).reshape(high * wide, -1)
    rows, columns = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
    return patches, torch.stack((columns.flatten(), rows.flatten()), -1)


def merging_patches(
    picture: Pixels, side: int, merged: int, times: int, shift: tuple[tuple[float, ...], tuple[float, ...]]
) -> Tensor:
    """[P, 3 * times * side * side], those of one token together, as Qwen2VLImageProcessor and Glm46VImageProcessor
    have them. shift: HALVES or CLIP."""
    high, wide = picture.height // side, picture.width // side
    mean, deviation = (torch.tensor(part) for part in shift)
    values = (picture.values() - mean) / deviation
    tiles = values.view(high // merged, merged, side, wide // merged, merged, side, 3).permute(0, 3, 1, 4, 6, 2, 5)
    return tiles[:, :, :, :, :, None].expand(*tiles.shape[:5], times, side, side).reshape(high * wide, -1)


ENCODERS: dict[str, Callable[[Mapping[str, Any], Path, CheckpointWeights, Callable[[], None]], VisionEncoder]] = {
    "gemma4": Gemma4Encoder,
    "glm4v_moe": GlmEncoder,
    "kimi_k25": KimiEncoder,
    "qwen3_5_moe": QwenEncoder,
    "qwen3_vl_moe": QwenEncoder,
}
