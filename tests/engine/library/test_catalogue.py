"""The catalogue says what is so: every model opens, and is as large as its makers say."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from engine import resources
from engine.errors import Kind, UnderhillError
from engine.formats.families import opens, vision_prefixes
from engine.hub.client import checked
from engine.library import catalogue
from engine.library.catalogue import CatalogueEntry, load, parse
from engine.library.entries import CODE, THINKING, VISION, in_order

ENTRIES = load()


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.repo)
def test_each_can_be_opened_and_is_as_large_as_stated(entry: CatalogueEntry) -> None:
    assert opens(entry.model_type)
    assert checked(entry.repo) == entry.repo
    shape = entry.shape
    assert shape.parameters == pytest.approx(entry.parameters, rel=0.05)
    assert shape.dense_parameters < shape.active_parameters < shape.parameters
    assert 0 < shape.experts_per_token < shape.experts
    assert 0.25 * entry.parameters < entry.download_bytes <= 2 * entry.parameters
    for source in entry.sources:
        assert checked(source.repo) == source.repo
        assert bool(source.gguf) == source.form.startswith("GGUF")
        assert 0.5 * entry.parameters < entry.four_bit_bytes(source) < 0.75 * entry.parameters
    assert not (entry.native and entry.sources)
    assert entry.context_length >= 2048
    assert entry.about.endswith(".")
    assert len(entry.about) < 90
    assert re.fullmatch(r"[a-z0-9.-]+", entry.licence)


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.repo)
def test_each_that_reads_images_says_by_what(entry: CatalogueEntry) -> None:
    seeing = {
        "model_type": entry.model_type,
        "image_token_id": 1,
        "vision_config": {},
        "hidden_size_per_layer_input": 0,
    }
    assert bool(entry.vision) == bool(vision_prefixes(seeing))


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda e: e.repo)
def test_what_each_is_good_at_agrees_with_what_is_said_of_it(entry: CatalogueEntry) -> None:
    assert set(entry.good_at) <= {THINKING, CODE}  # images follow from the tower
    assert entry.uses(None) == in_order(entry.uses(None))
    assert (VISION in entry.uses(None)) == bool(entry.vision)
    for source in entry.sources:
        assert (VISION in entry.uses(source)) == (bool(entry.vision) and not source.gguf)
    if re.search(r"\bcod(e|ing)\b", entry.about.replace("(data, code", "")):
        assert CODE in entry.good_at
    if re.search(r"\bthink(s|ing)\b|reasoning", entry.about):
        assert (THINKING in entry.good_at) == ("without thinking" not in entry.about)
    if "Coder" in entry.repo or "Thinking" in entry.repo:
        assert entry.good_at


def test_active_parameters_where_makers_count_as_we_do() -> None:
    stated = {
        "Qwen/Qwen3-30B-A3B-Instruct-2507": 3.3e9,
        "Qwen/Qwen3.6-35B-A3B": 3e9,
        "allenai/OLMoE-1B-7B-0125-Instruct": 1.3e9,
        "deepseek-ai/DeepSeek-V3.2": 37e9,
        "deepseek-ai/DeepSeek-V4-Flash": 13e9,
        "google/gemma-4-26B-A4B-it": 3.8e9,
        "mistralai/Mistral-Small-4-119B-2603": 6.5e9,
        "moonshotai/Kimi-K2.6": 32e9,
        "tencent/Hunyuan-A13B-Instruct": 13e9,
        "tencent/Hy3-preview": 21e9,
    }
    found = {entry.repo: entry.shape.active_parameters for entry in ENTRIES if entry.repo in stated}
    assert found == pytest.approx(stated, rel=0.05)


def test_many_families_and_sizes() -> None:
    assert len({entry.model_type for entry in ENTRIES}) >= 12
    assert min(entry.parameters for entry in ENTRIES) < 2e9
    assert sum(entry.parameters < 35e9 for entry in ENTRIES) >= 8


def test_four_bit_downloads_are_as_large_as_published() -> None:
    """Bytes of the files themselves, as those who list them say."""
    published = {
        "unsloth/Qwen3-30B-A3B-Instruct-2507-GGUF": 18_556_689_568,
        "unsloth/ERNIE-4.5-21B-A3B-PT-GGUF": 13_331_015_456,
        "allenai/OLMoE-1B-7B-0125-Instruct-GGUF": 4.21e9,
        "Qwen/Qwen3-Coder-Next-GGUF": 48.4e9,
        "unsloth/GLM-4.7-GGUF": 216.5e9,
    }
    found = {s.repo: e.four_bit_bytes(s) for e in ENTRIES for s in e.sources if s.repo in published}
    assert found == pytest.approx(published, rel=0.03)


def test_a_model_is_found_by_each_of_its_repositories() -> None:
    for entry in ENTRIES:
        for repo in (entry.repo, *(source.repo for source in entry.sources)):
            assert catalogue.find(repo) == entry
    assert catalogue.find("nobody/nothing") is None


def first() -> dict[str, Any]:
    found = json.loads(resources.path("catalogue.json").read_text(encoding="utf-8"))["models"][0]
    assert isinstance(found, dict)
    return found


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": "many"},
        {"parameters": -1},
        {"repo": None},
        {"extra": 1},
        {"shape": {}},
        {"sources": [{"repo": "a/b", "form": "GGUF Q9", "gguf": ""}]},
        {"sources": [{"repo": "a/b"}]},
        {"shape": None},
        {"vision": [16]},
        {"vision": {"patch_size": "16"}},
        {"good_at": "code"},
        {"good_at": ["vision"]},
        {"good_at": ["cooking"]},
        {"good_at": [["code"]]},
        {"vision": {"deepstack_visual_indexes": [8, -1]}},
        {"shape": first()["shape"] | {"layers": True}},
        {"shape": first()["shape"] | {"attention": {"heads": 1}}},
        {"shape": first()["shape"] | {"linear": {"layers": 1}}},
    ],
)
def test_what_makes_no_sense_is_refused(change: dict[str, Any]) -> None:
    assert len(parse({"models": [first()]})) == 1
    with pytest.raises(ValueError, match="not complete"):
        parse({"models": [first() | change]})


def test_a_damaged_file_is_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    for text in ("{", "[]", json.dumps({"models": [first(), first()]})):
        (tmp_path / "catalogue.json").write_text(text, encoding="utf-8")
        monkeypatch.setattr(resources, "_ROOT", tmp_path)
        catalogue.load.cache_clear()
        with pytest.raises(UnderhillError) as error:
            load()
        assert error.value.kind is Kind.BROKEN_FILE
    catalogue.load.cache_clear()
