"""The memory that is planned for looking at a picture is what it takes, and not much more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.models.vision.footprint import ROWS_BYTES, vision_footprint
from tests.engine.models.vision import seeing_gemma as gemma
from tests.engine.models.vision import seeing_glm as glm
from tests.engine.models.vision import seeing_kimi as kimi
from tests.engine.models.vision import seeing_qwen as qwen
from tests.engine.models.vision import seeing_qwen_vl as qwen_vl

TOKENS = 280
MROPE = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [24, 20, 20], "mrope_interleaved": True}
APART = {"rope_type": "default", "rope_theta": 1e4, "mrope_section": [8, 12, 12], "partial_rotary_factor": 0.5}
QWEN = {
    "depth": 2, "hidden_size": 1152, "intermediate_size": 4304, "num_heads": 16, "patch_size": 16,
    "out_hidden_size": 2048, "num_position_embeddings": 2304, "spatial_merge_size": 2, "temporal_patch_size": 2,
}  # fmt: skip
GEMMA = {
    "num_hidden_layers": 2, "hidden_size": 1152, "intermediate_size": 4304, "num_attention_heads": 16,
    "num_key_value_heads": 16, "head_dim": 72, "patch_size": 16, "pooling_kernel_size": 3,
}  # fmt: skip
GLM = {
    "depth": 2, "hidden_size": 1536, "intermediate_size": 10944, "num_heads": 12, "patch_size": 14,
    "out_hidden_size": 4096, "image_size": 336, "spatial_merge_size": 2, "temporal_patch_size": 2,
}  # fmt: skip
KIMI = {"vt_hidden_size": 1152, "vt_intermediate_size": 4304, "vt_num_attention_heads": 16, "patch_size": 14}
TEXT = {"hidden_size": 2048, "hidden_size_per_layer_input": 0, "rope_parameters": MROPE}
REAL = {
    "gemma4": ({"vision_config": GEMMA}, {"max_soft_tokens": TOKENS}),
    "glm4v_moe": (
        {"vision_config": GLM, "text_config": {**TEXT, "hidden_size": 4096, "rope_parameters": APART}},
        {**glm.PREPARED, "patch_size": 14, "size": {"longest_edge": TOKENS * 2 * 784, "shortest_edge": 2 * 784}},
    ),
    "kimi_k25": (
        {"vision_config": {**KIMI, "vt_num_hidden_layers": 2}, "text_config": {**TEXT, "hidden_size": 7168}},
        {"media_proc_cfg": {**kimi.PREPARED, "in_patch_limit": 4 * TOKENS, "patch_size": 14}},
    ),
    "qwen3_vl_moe": (
        {"vision_config": {**QWEN, "deepstack_visual_indexes": [0, 1]}},
        {**qwen.PREPARED, "patch_size": 16, "size": {"longest_edge": TOKENS * 1024, "shortest_edge": 1024}},
    ),
}  # widths of what is published

# A process of its own, whose high mark is its own; the first picture, of few tokens, has modules imported.
PROGRAM = """
import json, re, sys
from pathlib import Path
import torch
from engine.models.vision.encoders import ENCODERS
from engine.models.vision.kimi import KimiNames
from engine.models.vision.pixels import Pixels
from engine.native.memory import trim_heap

class Zeros:
    def has(self, name):
        return True
    def get(self, name):
        return torch.zeros(wanted[name], dtype=torch.bfloat16)

def status(key):
    return int(re.search(key + r":\\s+(\\d+)", Path("/proc/self/status").read_text()).group(1)) * 1024

def picture(wide, high):
    return Pixels(wide * step, high * step, bytes(wide * high * step * step * 3))

torch.set_num_threads(1)
folder, config = Path(sys.argv[1]), json.loads(sys.argv[2])
encoder = ENCODERS[config["model_type"]](config, folder, Zeros(), lambda: None)
parts = {"gemma4": {"_tower": "model.vision_tower.", "_embedder": "model.embed_vision."},
         "kimi_k25": {"_tower": "vision_tower.", "_projector": "mm_projector."}}
kind, usual = config["model_type"], {"_tower": "model.visual."}
wanted = {
    prefix + name: tensor.shape for part, prefix in parts.get(kind, usual).items()
    for held in (getattr(encoder, part).named_parameters(), getattr(encoder, part).named_buffers())
    for name, tensor in held
}
if kind == "kimi_k25":  # queries, keys and values are one matrix there
    stored = KimiNames(Zeros(), 16)._stored
    wanted = {stored(name): (3 * shape[0], *shape[1:]) if "wqkv" in stored(name) else shape
              for name, shape in wanted.items()}
step = encoder.sizing.step
encoder.encode(picture(8, 8))
trim_heap()
large = picture(20, 14)
Path("/proc/self/clear_refs").write_text("5")
before = status("VmRSS")
encoder.encode(large)
print(status("VmHWM") - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the high mark is read as Linux tells it")
@pytest.mark.parametrize("family", REAL)
def test_no_more_is_taken_than_is_planned(family: str, tmp_path: Path) -> None:
    seen, said = REAL[family]
    config = {"model_type": family, "image_token_id": 5, "text_config": TEXT, **seen}
    name = "processor_config.json" if family == "gemma4" else "preprocessor_config.json"
    written = {"image_processor": said} if family == "gemma4" else said
    (tmp_path / name).write_text(json.dumps(written), encoding="utf-8")
    planned, tokens = vision_footprint(config, tmp_path)
    assert tokens == TOKENS
    asked = [sys.executable, "-c", PROGRAM, str(tmp_path), json.dumps(config)]
    told = subprocess.run(asked, check=True, capture_output=True, text=True, encoding="utf-8").stdout
    taken = int(told.split()[-1])
    print(f"{family}: {taken / 1e6:.0f} MB taken, {(planned - ROWS_BYTES) / 1e6:.0f} planned")
    assert 0.5 * (planned - ROWS_BYTES) < taken <= planned - ROWS_BYTES


def written(family: Any, folder: Path) -> dict[str, Any]:
    """The config of a tiny model of this family, and how its pictures are prepared."""
    family.checkpoint(family.model(), folder)
    found: dict[str, Any] = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.parametrize(("family", "most"), [(gemma, 70), (glm, 40), (kimi, 70), (qwen, 40), (qwen_vl, 40)])
def test_tokens_are_those_of_the_preparation(family: Any, most: int, tmp_path: Path) -> None:
    config = written(family, tmp_path)
    planned, tokens = vision_footprint(config, tmp_path)
    assert tokens == most
    assert planned > ROWS_BYTES
    there, usual = vision_footprint(config, None)
    assert (there > planned, usual > most) == (True, True)


def test_layers_in_the_middle_of_the_tower_take_rows_of_their_own(tmp_path: Path) -> None:
    config = written(qwen_vl, tmp_path)
    shallow = {**config, "vision_config": {**config["vision_config"], "deepstack_visual_indexes": []}}
    found, less = (vision_footprint(one, tmp_path)[0] for one in (config, shallow))
    assert found - less == 2 * 2 * 40 * 48 * 4  # two layers, rows of 48 numbers, by themselves and put together


def test_what_reads_no_pictures_takes_nothing(tmp_path: Path) -> None:
    config = written(qwen, tmp_path)
    assert vision_footprint({**config, "model_type": "mistral3"}, tmp_path) == (0, 0)
    (tmp_path / "preprocessor_config.json").write_text("{}", encoding="utf-8")  # the first picture is refused
    assert vision_footprint(config, tmp_path) == (0, 0)
