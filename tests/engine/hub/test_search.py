"""Searching: what a hub lists, kept to what can be opened."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

from engine.formats.families import COMPATIBLE, FAMILIES, opens
from engine.hub.client import Hub
from engine.hub.search import search
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub.test_gguf import quantized
from tests.hubserver import HubServer


def with_config(folder: Path, **changes: object) -> Path:
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    (folder / "config.json").write_text(json.dumps(config | changes), encoding="utf-8")
    return folder


def test_only_what_can_be_opened_most_downloaded_first(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.page = 2  # so that what is looked for is on several pages
    for i in range(3):
        dense = with_config(write_checkpoint(tmp_path / f"dense{i}"), model_type="llama")
        server.add(f"a/dense-moe-{i}", dense, downloads=100 + i)
    server.add("b/moe-mlx", write_checkpoint(tmp_path / "mlx"), downloads=5, tags=("mlx",))
    own = with_config(write_checkpoint(tmp_path / "own"), model_type="gpt_oss")
    server.add("b/moe-mlx-own", own, downloads=50, tags=("mlx",))  # which MLX stores in a way of its own
    pickled = write_checkpoint(tmp_path / "pickled")
    for shard in pickled.glob("*.safetensors"):
        shard.rename(shard.with_suffix(".bin"))
    server.add("b/moe-pickled", pickled, downloads=40)
    quantized = with_config(write_checkpoint(tmp_path / "fp8"), quantization_config={"quant_method": "fp8"})
    server.add("b/moe-fp8", quantized, downloads=30, gated="auto", tags=("license:mit",))
    server.add("b/other", write_checkpoint(tmp_path / "other"))
    found = search(hub, "moe")
    assert [f.repo for f in found] == ["b/moe-fp8", "tiny/moe", "b/moe-mlx"]
    assert found[2].quantized == "mlx"
    assert (found[0].gated, found[0].licence, found[0].quantized) == (True, "mit", "fp8")
    assert (found[1].gated, found[1].licence, found[1].downloads) == (False, "apache-2.0", 10)
    assert [f.repo for f in search(hub, "moe", limit=1)] == ["b/moe-fp8"]


def test_what_is_there_as_gguf_alone_is_found_too(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    server.page = 2
    served = quantized(tmp_path, "Q8_0")
    server.add("g/moe-GGUF", served, downloads=40)
    both = shutil.copytree(write_checkpoint(tmp_path / "both"), tmp_path / "both2")
    shutil.copy(next(served.iterdir()), both)
    server.add("g/moe-both", both, downloads=30)
    described = Path(shutil.copytree(served, tmp_path / "described"))
    (described / "config.json").write_text(json.dumps({"model_type": "qwen3_moe"}), encoding="utf-8")
    server.add("g/moe-described-GGUF", described, downloads=20)
    eyes = tmp_path / "eyes"
    eyes.mkdir()
    shutil.copy(next(served.iterdir()), eyes / "mmproj-moe.gguf")
    server.add("g/moe-eyes", eyes, downloads=15)
    found = {f.repo: f for f in search(hub, "moe")}
    assert list(found) == ["g/moe-GGUF", "g/moe-both", "g/moe-described-GGUF", "tiny/moe"]
    only = found["g/moe-GGUF"]
    assert (only.quantized, only.gguf, only.model_type) == ("gguf", "model-Q8_0.gguf", "qwen3moe")
    assert only.parameters > 0
    assert found["g/moe-both"].gguf == ""
    assert (found["g/moe-described-GGUF"].gguf, found["g/moe-described-GGUF"].model_type) == ("", "qwen3_moe")


def test_of_llamas_as_gguf_only_those_whose_name_says_experts(hub: Hub, server: HubServer, tmp_path: Path) -> None:
    served = quantized(tmp_path, "Q8_0", "llama")
    server.add("g/Mixtral-8x7B-GGUF", served)
    server.add("g/Llama-3-8B-GGUF", served)
    assert [f.repo for f in search(hub, "g/")] == ["g/Mixtral-8x7B-GGUF"]


def test_sizes_are_those_of_the_weights(hub: Hub, server: HubServer) -> None:
    (found,) = search(hub, "tiny")
    bf16, f32 = 112960 - 64, 64
    assert (found.parameters, found.download_bytes) == (bf16 + f32, 2 * bf16 + 4 * f32)


def test_the_words_go_to_the_hub_as_they_are(hub: Hub, server: HubServer) -> None:
    shutil.copytree(server.repos["tiny/moe"].folder, folder := server.repos["tiny/moe"].folder.with_name("other"))
    server.add("x/Qwen & Co MoE", folder)
    assert [f.repo for f in search(hub, "qwen & co")] == ["x/Qwen & Co MoE"]


def test_what_opens_is_what_the_sweep_over_all_families_found(root: Path) -> None:
    rows = re.findall(
        r"^\| (\S+) \| (lean|compatibility|–) \|", (root / "docs/model-families.md").read_text("utf-8"), re.M
    )
    assert {family for family, backend in rows if backend == "compatibility"} == COMPATIBLE
    assert {family for family, backend in rows if backend == "lean"} == set(FAMILIES)
    assert not any(opens(family) for family, backend in rows if backend == "–")
