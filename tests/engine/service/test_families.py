"""Every family from a hub to an answer: found, judged, imported while it arrives, loaded, and asked."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import pytest
from transformers import AutoConfig

from engine import protocol
from engine.generation.chat import ChatFormat
from engine.library import settings_file
from engine.library.folders import location
from engine.library.home import home
from engine.models.families import FAMILIES
from engine.store.reader import load_manifest
from tests.engine.formats.chattable import VOCABULARY, write_chattable
from tests.engine.models.families import tiny
from tests.engine.models.families.test_plain_attention import CASES, COMMON
from tests.engine.models.parity import oracle_logits
from tests.engine.service.test_service import Desk, desk
from tests.hubserver import HubServer

pytestmark = pytest.mark.long

__all__ = ["desk"]

INSIDE = {"gemma4": "gemma4_text", "qwen3_5_moe": "qwen3_5_moe_text", "llama4_text": "llama4"}  # the text model of one
# transformers writes no checkpoint of these layouts; test_bailing_moe.py, test_step3p5.py, test_seeing.py,
# test_minimax_m3.py and tests/engine/session/test_pictures.py write and open their own
APART = {"bailing_moe", "bailing_moe_v2", "step3p5", "step3p7", "kimi_k25", "mistral3", "minimax_m3_vl"}
APART |= {"glm4v_moe", "qwen3_vl_moe"}
GAIN = {"gemma4_text": 2.0}  # see its own test
HELLO = (protocol.Message("user", "Hello!"),)
TOKENS = 4


def config_of(family: str) -> Any:
    """As the family's parity test has it, with a vocabulary that can be written in."""
    if family == "kimi_k2":  # transformers knows it as what it is
        return tiny.tiny("deepseek_v3", n_group=1, topk_group=1, **VOCABULARY)
    if family in tiny.FAMILIES:
        return tiny.tiny(family, **VOCABULARY)
    kind, changes = CASES[family]
    return AutoConfig.for_model(kind, **{**COMMON, **changes, **VOCABULARY})


@pytest.fixture
def server(mine: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """An empty hub that the settings name."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    with HubServer() as running:
        settings_file.change({"endpoint": running.url})
        yield running


@pytest.mark.parametrize("family", sorted({INSIDE.get(f, f) for f in FAMILIES} - APART))
def test_from_a_hub_to_an_answer(family: str, server: HubServer, desk: Desk, tmp_path: Path) -> None:
    """Stored as it is, so that transformers has to agree with every token."""
    oracle = write_chattable(config_of(family), tmp_path / "served", GAIN.get(family, 4.0))
    if family == "kimi_k2":
        file = tmp_path / "served" / "config.json"
        file.write_text(
            json.dumps(json.loads(file.read_text(encoding="utf-8")) | {"model_type": family}), encoding="utf-8"
        )
    server.add(f"owner/{family}", tmp_path / "served")
    (found,) = desk.result(protocol.SearchModels, family).models
    assert (found.repo, found.fit.pill) == (f"owner/{family}", "fits")

    begun = desk.result(protocol.PullModel, found.repo, top=16)
    ended: Any = desk.first(
        lambda e: isinstance(e, protocol.TransferChanged) and e.transfer.state in ("finished", "failed"), 60
    )
    assert (ended.transfer.id, ended.transfer.state, ended.transfer.problem) == (begun.id, "finished", "")
    assert not list((home() / "downloads").glob("*/*.safetensors"))
    assert load_manifest(location(family)).source.repo == found.repo

    desk.result(protocol.LoadModel, family, {"dial": "exact", "threads": 1})
    stats = desk.result(protocol.Generate, HELLO, {"temperature": 0.0, "max_tokens": TOKENS})
    assert stats.token_ids
    assert len(stats.token_ids) == TOKENS or stats.finish == "stop"
    prompt = ChatFormat(tmp_path / "served").prompt(HELLO).ids
    logits = oracle_logits(oracle, [*prompt, *stats.token_ids])[len(prompt) - 1 : -1]
    for token, row in zip(stats.token_ids, logits, strict=True):
        assert row[token] >= row.max() - 0.02 * row.std(), family
