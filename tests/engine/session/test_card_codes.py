"""A session of a GGUF model whose weights keep their codes, beside a card that is not there: the processor's words."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path

import pytest
import torch
from gguf import GGMLQuantizationType as Type

from engine.convert.importer import import_checkpoint
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.kernels.native import WIDE_TABLED
from engine.session import Session
from tests.engine.formats import forms
from tests.engine.formats.gguf_model import Array, write
from tests.engine.formats.test_gguf_source import with_tokenizer
from tests.engine.session.test_card import a_card, opened, stand_in_for, take_attention, take_linears
from tests.engine.session.test_session import Listener

pytestmark = pytest.mark.long

ASKED = (Message("user", " ".join(f"w{3 + 7 * n % 90}" for n in range(12))),)
GREEDY = Sampling(temperature=0, max_tokens=12)


def mixed(folder: Path) -> None:
    """A GGUF with experts of one type, and attention of two others."""
    source = folder.with_name("bf16")
    forms.plain(torch.bfloat16, source)
    folder.mkdir()

    def type_of(name: str, array: Array) -> Type:
        if "attn_v.weight" in name:
            return Type.IQ4_NL
        return Type.Q4_K if "_exps" in name else Type.Q4_0 if "attn_" in name and "norm" not in name else Type.F32

    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    write(source, config, folder / "model.gguf", "qwen3moe", type_of, with_tokenizer)


def answer(session: Session) -> str:
    return session.generate(ASKED, GREEDY, (), Listener()).text


def test_weights_that_keep_the_codes_of_a_gguf_are_computed_on_the_card(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed(tmp_path / "source")
    store = import_checkpoint(tmp_path / "source", tmp_path / "store", 0)
    with opened(str(store), mode="cpu", dense="int4") as session:
        alone = answer(session)
    take_linears(monkeypatch)
    take_attention(monkeypatch)
    with closing(stand_in_for(store)) as compiler, a_card(compiler, monkeypatch) as simulated:
        with opened(str(store), dense="int4") as session:
            there = session.card_mode.mode
            assert there is not None
            assert there.layers is not None
            kept = [view.kind for _, _, view in session.decoder.linear_ops() if view.form]
            assert (kept.count(2), kept.count(WIDE_TABLED)) == (6, 2)
            assert there.layers.whole
            assert answer(session) == alone
            assert there.layers.computed > 0
        assert simulated.leaks == []
