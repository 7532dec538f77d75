"""The precision that suits a source: no finer than what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.hub import library
from engine.hub.sources.source import suited
from tests.engine.hub.forms import FORMS


@pytest.mark.parametrize(("bits", "top"), [(16.0, 8), (8.5, 8), (8.0, 8), (5.5, 8), (4.9, 4), (4.25, 4), (2.6, 4)])
def test_a_coarse_source_gets_no_finer_store(bits: float, top: int) -> None:
    assert suited(bits) == top


@pytest.mark.parametrize(("form", "top"), [("bf16", 8), ("block FP8", 8), ("MXFP4", 4), ("GGUF Q4_K", 4)])
def test_an_import_without_a_precision_takes_it_from_the_source(
    form: str, top: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(library.HOME, str(tmp_path / "home"))
    FORMS[form](tmp_path / "source")
    library.add(tmp_path / "source", "model", 0)
    (card,) = library.cards()
    assert max(card.tiers) == top
