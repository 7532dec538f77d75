"""The memory that looking at a picture takes: bytes, known from a model's config before anything is read."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.errors import UnderhillError
from engine.formats.families import vision_prefixes
from engine.models.config import Config
from engine.models.vision.preparation import MOST_TOKENS, kimi_tower, sizing_of

FLOAT, STORED = 4, 2  # bytes of a number at work, and in the store
BESIDE = 60_000_000  # copies that products of matrices work on, and holes of the heap between blocks (measured)
ROWS_BYTES = 64 << 20  # most that is kept of what encoders gave, but for the last picture's
USUAL_TOKENS = {"gemma4": 280}  # where nothing says otherwise; of others: MOST_TOKENS


def vision_footprint(config: Mapping[str, Any], folder: Path | None) -> tuple[int, int]:
    """(bytes that looking at a picture takes, tokens of the largest one); zeros for a model that reads none.

    config: of config.json. folder: of its store; None: it is not here yet.
    """
    if not vision_prefixes(config):
        return 0, 0
    family = str(config["model_type"])
    try:
        tokens = USUAL_TOKENS.get(family, MOST_TOKENS) if folder is None else sizing_of(config, folder).most
        return _bytes(config, tokens), tokens
    except UnderhillError:  # the first picture is refused with it
        return 0, 0


def _bytes(config: Mapping[str, Any], tokens: int) -> int:
    own, hidden = Config(config["vision_config"]), Config(config).integer("hidden_size")
    if config["model_type"] == "glm4v_moe":
        return _glm(own, tokens) + FLOAT * 2 * tokens * hidden + BESIDE + ROWS_BYTES
    parts = 1
    if config["model_type"] == "kimi_k25":
        own = kimi_tower(config)
        width, inner = own.integer("hidden_size"), own.integer("intermediate_size")
        given, merged = 3 * own.integer("patch_size") ** 2, own.integers("merge_kernel_size")[0]
        largest = width * merged**2 * max(width * merged**2, hidden)
    elif config["model_type"] == "gemma4":
        width, inner, merged = _sizes(own, 768, 3072, "pooling_kernel_size", 3)
        given = 3 * own.integer("patch_size", 16) ** 2
        largest = 2 * own.integer("position_embedding_size", 10240) * width  # of rows and columns
    else:
        width, inner, merged = _sizes(own, 1152, 4304, "spatial_merge_size", 2)
        given = 3 * own.integer("patch_size", 16) ** 2 * own.integer("temporal_patch_size", 2)
        parts = 1 + (len(own.integers("deepstack_visual_indexes")) if config["model_type"] == "qwen3_vl_moe" else 0)
        largest = width * merged**2 * max(width * merged**2, hidden)  # merges patches to a token
    patches = tokens * merged**2 * _patch(given, width, 2 * inner)
    rows = 2 * parts * tokens * hidden  # each part by itself, and put together
    return FLOAT * (patches + rows) + (FLOAT + STORED) * largest + BESIDE + ROWS_BYTES


def _patch(given: int, width: int, inside: int) -> int:
    """Numbers of a patch: as it comes and in another order; the stream, its norm, queries, keys and values, two of them
    turned, and what attention makes of them; and what is inside an MLP. Measured: 65 to 90 % of that."""
    return 2 * given + 8 * width + inside


def _glm(own: Config, tokens: int) -> int:
    """In a layer, or where patches are merged to tokens, whose weights are larger than what is left of patches."""
    merged, given = own.integer("spatial_merge_size", 2), 3 * own.integer("patch_size", 14) ** 2
    width, given = own.integer("hidden_size", 1536), given * own.integer("temporal_patch_size", 2)
    out, inner = own.integer("out_hidden_size", 4096), own.integer("intermediate_size", 13696)
    # of gated MLPs: both sides of their product and what comes of it
    layer = FLOAT * tokens * merged**2 * _patch(given, width, 3 * out) + (FLOAT + STORED) * width * max(3 * width, out)
    # A convolution has its weights in three orders, a product of matrices packs a part of them (measured).
    largest = max(3 * FLOAT * out * width * merged**2, (FLOAT + STORED + 1) * out * inner)
    return max(layer, FLOAT * tokens * (merged**2 * 2 * width + 2 * out + 3 * inner) + largest)


def _sizes(own: Config, width: int, inner: int, merges: str, merged: int) -> tuple[int, int, int]:
    """Numbers of a patch, and inside its MLP; side of the square of patches that is a token. Given: the defaults."""
    return own.integer("hidden_size", width), own.integer("intermediate_size", inner), own.integer(merges, merged)
