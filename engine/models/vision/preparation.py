"""What a model's files say of preparing its pictures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.models.config import Config, unsupported
from engine.models.vision.sizing import GROWN, LARGEST, NEAREST, PADDED, Sizing
from engine.regular_file import read_json
from engine.translatable import msg

GEMMA_TOKENS = (70, 140, 280, 560, 1120)  # that Gemma 4 takes for a picture at most
MOST_TOKENS = 1024  # for a picture at most: the own limits of Qwen and GLM are 16 and 6 times that, minutes of looking
# What is subtracted from red, green and blue, each from 0 to 1, and what they are divided by then.
HALVES = ((0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
CLIP = ((0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711))


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
    rope = Config(config).rope_settings()
    if not rope.get("mrope_section") or not rope.get("mrope_interleaved"):
        raise _not_known()
    step, least, most = _merging(config, said, 16, HALVES)
    return Sizing(NEAREST, step, min(most // step**2, MOST_TOKENS), max(1, least // step**2))


def _glm(config: Mapping[str, Any], said: Config) -> Sizing:
    """Its limits count the pixels of as many images as are put behind each other to one patch."""
    rope, times = Config(config).rope_settings(), Config(config["vision_config"]).integer("temporal_patch_size", 2)
    if not rope.get("mrope_section") or rope.get("mrope_interleaved"):
        raise _not_known()
    step, least, most = _merging(config, said, 14, CLIP)
    counted = times * step**2
    if most < counted:
        raise _not_known()
    return Sizing(GROWN, step, min(most // counted, MOST_TOKENS), max(1, least // counted))


def _merging(
    config: Mapping[str, Any], said: Config, side: int, shift: tuple[tuple[float, ...], tuple[float, ...]]
) -> tuple[int, int, int]:
    """(side of a token's tile, least and most pixels), where squares of patches are merged to tokens.

    side: of a patch, where the config does not say. shift: HALVES or CLIP.
    """
    seen = Config(config["vision_config"])
    side, merged = seen.integer("patch_size", side, low=1), seen.integer("spatial_merge_size", 2, low=1)
    times = seen.integer("temporal_patch_size", 2, low=1)
    own = tuple(said.raw.get(key) for key in ("patch_size", "merge_size", "temporal_patch_size"))
    size, step = said.group("size"), side * merged
    most, least = size.integer("longest_edge", 0), size.integer("shortest_edge", 0)
    shifted = [said.raw.get(key) for key in ("image_mean", "image_std")] == [list(part) for part in shift]
    known = own == (side, merged, times) and 0 < least <= most and most >= step**2
    if not known or not shifted or not said.flag("do_normalize", True):
        raise _not_known()
    return step, least, most


KIMI_NAMES = {  # on the hub: in transformers
    "vt_hidden_size": "hidden_size", "vt_intermediate_size": "intermediate_size",
    "vt_num_attention_heads": "num_attention_heads", "vt_num_hidden_layers": "num_hidden_layers",
    "init_pos_emb_height": "pos_emb_height", "init_pos_emb_width": "pos_emb_width", "init_pos_emb_time": "pos_emb_time",
}  # fmt: skip
_KIMI_WAYS = {
    "pos_emb_type": "divided_fixed", "merge_type": "sd2_tpool", "mm_projector_type": "patchmerger",
    "projector_hidden_act": "gelu",
}  # fmt: skip


def kimi_tower(config: Mapping[str, Any]) -> Config:
    """The settings of Kimi's tower by the names that transformers gives them.

    Raises UnderhillError(UNSUPPORTED_MODEL) for a tower of another kind.
    """
    named = {KIMI_NAMES.get(key, key): value for key, value in config["vision_config"].items()}
    found = Config({**named, "model_type": config["model_type"]})
    for key, value in _KIMI_WAYS.items():
        found.expect(key, value)
    merged = found.integers("merge_kernel_size") or (2, 2)
    square = len(merged) == 2 and 0 < merged[0] == merged[1]
    if not square or found.integer("pos_emb_height", 64) != found.integer("pos_emb_width", 64):
        raise _not_known()
    usual = {"patch_size": 14, "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16}
    return Config({**usual, **named, "merge_kernel_size": list(merged)})


def _kimi(config: Mapping[str, Any], said: Config) -> Sizing:
    seen, own = kimi_tower(config), said.group("media_proc_cfg")
    side, merged = seen.integer("patch_size", low=1), own.integer("merge_kernel_size", 0)
    patches, longest = own.integer("in_patch_limit", 0), own.integer("patch_limit_on_one_side", 0)
    shifted = [own.raw.get(key) for key in ("image_mean", "image_std")] == [list(part) for part in HALVES]
    squares = seen.integers("merge_kernel_size") == (merged, merged) and own.integer("patch_size", 0) == side
    if not shifted or not squares or not merged or own.has("fixed_output_tokens") or min(patches, longest) < merged**2:
        raise _not_known()
    return Sizing(PADDED, side * merged, min(patches // merged**2, MOST_TOKENS), longest=longest // merged)


def _not_known() -> UnderhillError:
    """For settings that Underhill would have to guess at."""
    return unsupported(msg("How this model wants its images prepared isn't known."))


_SIZINGS: dict[str, Callable[[Mapping[str, Any], Config], Sizing]] = {
    "gemma4": _gemma4,
    "glm4v_moe": _glm,
    "kimi_k25": _kimi,
    "qwen3_5_moe": _qwen,
    "qwen3_vl_moe": _qwen,
}
