"""Models without weights: no code of a checkpoint is run, and what cannot be opened is refused with its reason."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from transformers import CONFIG_MAPPING

from engine.convert.skeleton import build_skeleton
from engine.errors import Kind, UnderhillError
from tests.engine.models.compat.tiny import tiny_config


@pytest.mark.parametrize(
    ("model_type", "reason"),
    [
        ("switch_transformers", "encoder-decoder"),
        ("nllb-moe", "encoder-decoder"),
        ("llama4", "one by one"),
        ("jetmoe", "one by one"),
        ("qwen3", "is dense"),
        ("openai_privacy_filter", "token by token"),
        ("deepseek_ocr2", "does not chat"),
        ("diffusion_gemma", "diffusion"),
    ],
)
def test_refusals_say_why(model_type: str, reason: str) -> None:
    with pytest.raises(UnderhillError, match=reason) as raised:
        build_skeleton(CONFIG_MAPPING[model_type]().to_dict())
    assert raised.value.kind == Kind.UNSUPPORTED_MODEL
    assert model_type in raised.value.sentence


def test_unknown_families_and_no_family_at_all() -> None:
    with pytest.raises(UnderhillError, match="does not know") as raised:
        build_skeleton({"model_type": "brand_new"})
    assert raised.value.kind == Kind.UNSUPPORTED_MODEL
    with pytest.raises(UnderhillError) as raised:
        build_skeleton({"hidden_size": 64})
    assert raised.value.kind == Kind.NOT_A_MODEL


@pytest.mark.parametrize("damage", [{"hidden_size": "wide"}, {"num_attention_heads": 0}, {"num_local_experts": -3}])
def test_a_config_that_makes_no_sense_is_broken(damage: dict[str, object]) -> None:
    with pytest.raises(UnderhillError) as raised:
        build_skeleton({**tiny_config("granitemoe_swa").to_dict(), **damage})
    assert raised.value.kind == Kind.BROKEN_FILE
    assert raised.value.__cause__ is not None


def test_code_of_the_checkpoint_is_never_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "modeling_evil.py").write_text("raise SystemExit('ran')\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    config = tiny_config("granitemoe_swa").to_dict()
    config["auto_map"] = {
        "AutoConfig": "modeling_evil.Config",
        "AutoModelForCausalLM": "modeling_evil.Model",
    }
    before = copy.deepcopy(config)
    skeleton = build_skeleton(config)
    assert type(skeleton.model).__module__.startswith("transformers.models.granitemoe_swa")
    assert config == before


def test_nothing_is_allocated_whatever_the_size() -> None:
    skeleton = build_skeleton(tiny_config("granitemoe_swa", hidden_size=8192, intermediate_size=65536).to_dict())
    assert all(tensor.is_meta for tensor in skeleton.model.state_dict().values())
    assert [found.layer for found in skeleton.experts] == [0, 1, 2, 3]


def test_a_tower_is_known_from_the_text() -> None:
    skeleton = build_skeleton(tiny_config("qwen3_vl_moe").to_dict())
    assert skeleton.needs("model.language_model.embed_tokens.weight")
    assert skeleton.needs("lm_head.weight")
    assert not skeleton.needs("model.visual.patch_embed.proj.weight")
