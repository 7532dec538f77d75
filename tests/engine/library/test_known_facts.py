"""What is known of a model that is not here is enough for its pill."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from engine.library import catalogue
from engine.library.config_facts import catalogue_facts, config_facts, looked_at_facts, remote_facts
from engine.models.families import FAMILIES
from engine.planning.fit import fit
from engine.record.layout import ExpertSpec
from tests.engine.models.vision import seeing_qwen
from tests.engine.planning.laptops import MODELS, laptops
from tests.engine.planning.test_plan import laptop

ENTRIES = {entry.repo: entry for entry in catalogue.load()}
REAL = {
    "OLMoE-1B-7B": "allenai/OLMoE-1B-7B-0125-Instruct",
    "gpt-oss-20b": "openai/gpt-oss-20b",
    "Qwen3-30B-A3B": "Qwen/Qwen3-30B-A3B-Instruct-2507",
    "GLM-4.5-Air": "zai-org/GLM-4.5-Air",
    "gpt-oss-120b": "openai/gpt-oss-120b",
}


@pytest.mark.parametrize("name", REAL)
def test_a_shape_says_what_the_config_would(name: str) -> None:
    config = {**MODELS[name][1], "max_position_embeddings": ENTRIES[REAL[name]].context_length}
    told, known = config_facts(config, name), catalogue_facts(ENTRIES[REAL[name]], 8)
    for field in ("expert_bytes", "dense_bytes", "looked_up_bytes", "head_bytes"):
        assert getattr(known, field) == pytest.approx(getattr(told, field), rel=0.1), field
    for field in ("kv_bytes", "disk_bytes", "token_bytes", "working_bytes"):
        assert getattr(known, field) == pytest.approx(getattr(told, field), rel=0.01), field
    assert (known.moe_layers, known.experts, known.vocabulary) == (told.moe_layers, told.experts, told.vocabulary)
    for key, machine in laptops():
        one, other = fit(machine, told), fit(machine, known)
        assert one.pill == other.pill or other.speed == pytest.approx(one.speed, rel=0.005), key  # on the very edge


@pytest.mark.parametrize("entry", ENTRIES.values(), ids=lambda e: e.repo)
def test_every_model_of_the_catalogue_gets_its_pill(entry: catalogue.CatalogueEntry) -> None:
    found = {top: catalogue_facts(entry, top) for top in (4, 8)}
    assert fit(laptop(4096), found[8], here=True).speed is not None
    assert fit(laptop(1), found[8], here=True).pill == "too_big" or entry.parameters < 4e9
    assert 0.9 * entry.parameters < found[8].disk_bytes < 1.8 * entry.parameters
    assert found[4].disk_bytes < 0.75 * found[8].disk_bytes
    assert found[8].lean == (entry.model_type in FAMILIES)


SEEING = [entry for entry in ENTRIES.values() if entry.vision]


@pytest.mark.parametrize("entry", SEEING, ids=lambda e: e.repo)
def test_what_reading_an_image_takes_is_in_the_estimate(entry: catalogue.CatalogueEntry) -> None:
    facts = catalogue_facts(entry, 8)
    blind = replace(facts, image_bytes=0, image_tokens=0)
    assert facts.image_tokens in (280, 1024)
    assert 0.4e9 < facts.image_bytes < 0.8e9
    machine = laptop(4096)
    more = fit(machine, facts).wanted - fit(machine, blind).wanted
    assert 0 < more <= facts.reading_image
    read_from = catalogue.FourBit("a/b", "GGUF Q4_K_M", "Q4_K_M"), catalogue.FourBit("a/c", "GPTQ-Int4", "")
    assert [catalogue_facts(entry, 4, source).image_bytes for source in read_from] == [0, facts.image_bytes]


def test_of_a_tower_that_is_not_among_the_weights_nothing_is_counted(tmp_path: Path) -> None:
    seeing_qwen.checkpoint(seeing_qwen.model(), tmp_path)
    config = json.loads((tmp_path / "config.json").read_text(encoding="utf-8"))
    groups = [(8, ExpertSpec(48, 24, 8))] * 4
    there, gone = (looked_at_facts(config, "x", 1, 123, groups, vision=nbytes) for nbytes in (1000, 0))
    assert there.image_bytes == config_facts(config, "x").image_bytes > 0
    assert (gone.image_bytes, gone.image_tokens) == (0, 0)
    assert there.disk_bytes - gone.disk_bytes == 1000


HYBRID: dict[str, Any] = {
    "model_type": "jamba", "hidden_size": 1536, "intermediate_size": 512, "num_hidden_layers": 40,
    "num_local_experts": 64, "num_experts_per_tok": 6, "vocab_size": 100352, "max_position_embeddings": 131072,
}  # fmt: skip


def test_a_family_without_a_file_is_guessed_at_and_its_headers_say_it_exactly() -> None:
    parameters = 6_940_000_000
    guessed = remote_facts(HYBRID, "x", parameters, 8)
    assert (guessed.moe_layers, guessed.experts, guessed.experts_per_token) == (40, 64, 6)
    assert not guessed.lean
    spec = ExpertSpec(1536, 512, 8)
    dense = parameters - 40 * 64 * spec.parameters
    told = looked_at_facts(HYBRID, "x", dense, 2 * dense, [(64, spec)] * 40)
    assert guessed == told


def test_more_experts_than_parameters_are_not_believed() -> None:
    guessed = remote_facts({**HYBRID, "num_hidden_layers": 1000}, "x", 10**9, 8)
    assert guessed.expert_bytes[8] < 1.5e9
    strange = remote_facts({"model_type": "jamba"}, "x", 0, 8)
    assert fit(laptop(16), strange, here=True).pill in ("fits", "slow")


def test_of_a_lean_family_the_headers_only_say_what_it_takes_on_disk() -> None:
    config = MODELS["OLMoE-1B-7B"][1]
    spec = ExpertSpec(2048, 1024, 4)
    told = looked_at_facts(config, "x", 1, 123, [(64, spec)] * 16)
    assert told.expert_bytes == config_facts(config, "x", 4).expert_bytes
    assert told.disk_bytes == 123 + 16 * 64 * spec.layout.nbytes
