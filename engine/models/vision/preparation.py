"""What a model's files say of preparing its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.models.config import Config, unsupported
from engine.models.vision.sizing import LARGEST, NEAREST, Sizing
from engine.regular_file import read_json
from engine.translatable import msg

GEMMA_TOKENS = (70, 140, 280, 560, 1120)  # that Gemma 4 takes for a picture at most
QWEN_TOKENS = 1024  # for a picture at most, of a million pixels: Qwen's own limit is 16 times that, minutes of looking


def preparation(folder: Path) -> Config:
    """The settings beside config.json; none where there is no such file. Raises UnderhillError(BROKEN_FILE)."""
    for name, inner in (("processor_config.json", "image_processor"), ("preprocessor_config.json", "")):
        try:
            found = read_json(folder / name)
            found = found.get(inner) if inner else found
        except FileNotFoundError:
            continue
        except (OSError, ValueError, AttributeError) as cause:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("Can't read the model's {name}.", name=name), msg("Import it again.")
            ) from cause
        if isinstance(found, Mapping):
            return Config(found)
    return Config({})


def sizing_of(config: Mapping[str, Any], folder: Path) -> Sizing:
    """The size that a model wants pictures in. config: of which vision_prefixes is not empty. folder: of its store.

    Raises UnderhillError: BROKEN_FILE, and UNSUPPORTED_MODEL where how they are prepared is not known.
    """
    return _SIZINGS[str(config["model_type"])](config, preparation(folder))


def _gemma4(config: Mapping[str, Any], said: Config) -> Sizing:
    seen = Config(config["vision_config"])
    side, pooled = seen.integer("patch_size", 16, low=1), seen.integer("pooling_kernel_size", 3, low=1)
    tokens = said.integer("max_soft_tokens", 280)
    same = (said.integer("patch_size", side), said.integer("pooling_kernel_size", pooled))
    shifted = any(said.raw.get("image_mean") or ()) or any(n != 1 for n in said.raw.get("image_std") or ())
    if tokens not in GEMMA_TOKENS or same != (side, pooled) or (said.flag("do_normalize", False) and shifted):
        raise _not_known()
    return Sizing(LARGEST, side * pooled, tokens, around=2)


def _qwen(config: Mapping[str, Any], said: Config) -> Sizing:
    seen = Config(config["vision_config"])
    side, merged = seen.integer("patch_size", 16, low=1), seen.integer("spatial_merge_size", 2, low=1)
    times = seen.integer("temporal_patch_size", 2, low=1)
    own = tuple(said.raw.get(key) for key in ("patch_size", "merge_size", "temporal_patch_size"))
    size, step = said.group("size"), side * merged
    most, least = size.integer("longest_edge", 0), size.integer("shortest_edge", 0)
    plain = said.flag("do_normalize", True) and said.raw.get("image_mean") == said.raw.get("image_std") == [0.5] * 3
    rope = Config(config).rope_settings()
    turns = rope.get("mrope_section") and rope.get("mrope_interleaved")
    known = own == (side, merged, times) and 0 < least <= most and most >= step**2
    if not known or not plain or not turns:
        raise _not_known()
    return Sizing(NEAREST, step, min(most // step**2, QWEN_TOKENS), max(1, least // step**2))


def _not_known() -> UnderhillError:
    """For settings that Underhill would have to guess at."""
    return unsupported(msg("How this model wants its images prepared isn't known."))


_SIZINGS: dict[str, Callable[[Mapping[str, Any], Config], Sizing]] = {
    "gemma4": _gemma4,
    "qwen3_5_moe": _qwen,
    "qwen3_vl_moe": _qwen,
}
