"""What is told of a model from its config.json alone is what its store turns out to be."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from transformers import AutoConfig, AutoModelForCausalLM

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.library.config_facts import config_facts
from engine.library.facts import model_facts, spec_of
from engine.library.library import card
from engine.models.families import FAMILIES
from engine.planning.fit import fit
from engine.store.reader import Store
from tests.engine.models.families import seeing
from tests.engine.models.families.test_bailing_moe import FIRST, SECOND
from tests.engine.models.families.tiny import FAMILIES as TINY
from tests.engine.models.families.tiny import raw, tiny
from tests.engine.planning.test_plan import laptop

PLAIN = {
    "hidden_size": 64, "intermediate_size": 96, "moe_intermediate_size": 32, "num_hidden_layers": 2,
    "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16, "num_experts": 8, "num_local_experts": 8,
    "num_experts_per_tok": 2, "vocab_size": 8000,
}  # fmt: skip
DENSE_BY_DEFAULT = {"gemma4", "dots1"}


@pytest.mark.parametrize("family", ["qwen3_moe", "gpt_oss", "deepseek_v2", "qwen3_next", "lfm2_moe"])
def test_a_config_says_what_the_store_will_take(tmp_path: Path, family: str) -> None:
    torch.manual_seed(0)
    config = tiny(family, vocab_size=8000) if family in TINY else AutoConfig.for_model(family, **PLAIN)
    AutoModelForCausalLM.from_config(config).save_pretrained(tmp_path / "checkpoint")
    store = Store.open(import_checkpoint(tmp_path / "checkpoint", tmp_path / "store", 4))
    there = model_facts(store, card(store.path), spec_of(store))
    told = config_facts(store.config, "x", 4)
    for name in (
        "expert_bytes", "record_bytes", "kv_bytes", "moe_layers", "experts", "experts_per_token", "context_length",
        "state_bytes", "looked_up_bytes", "head_bytes", "token_bytes", "working_bytes", "lean", "vocabulary",
        "windowed", "latent_products",
    ):  # fmt: skip
        assert getattr(told, name) == getattr(there, name), name
    assert bool(told.windowed) == (family == "gpt_oss")
    assert sum(told.windowed.values()) < told.kv_bytes
    assert bool(told.latent_products) == (family == "deepseek_v2")
    for kind, size in there.dense_bytes.items():
        assert told.dense_bytes[kind] == pytest.approx(size, rel=0.02), kind
    store.close()


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - DENSE_BY_DEFAULT))
def test_every_family_gets_its_pill(family: str) -> None:
    """With transformers' own defaults, which are those of some real model."""
    by_hand = {
        "kimi_k2": raw("kimi_k2"),
        "mistral3": seeing.config("mistral3").to_dict(),
        "bailing_moe": FIRST,
        "bailing_moe_v2": SECOND,
    }
    config = by_hand.get(family) or (tiny(family) if family in TINY else AutoConfig.for_model(family)).to_dict()
    facts = config_facts(config, family)
    roomy, narrow = (fit(laptop(ram), facts, here=True) for ram in (1024, 1))
    assert roomy.pill in ("fits", "slow")
    assert roomy.wanted >= facts.expert_bytes[8]
    assert (narrow.pill == "too_big") == (narrow.speed is None)
    assert narrow.disk == roomy.disk > facts.expert_bytes[8]


def test_a_family_without_a_file_and_a_dense_model_are_refused() -> None:
    for config in ({"model_type": "llama", "num_hidden_layers": 2}, {}):
        with pytest.raises(UnderhillError) as refused:
            config_facts(config, "x")
        assert refused.value.kind is Kind.UNSUPPORTED_MODEL
