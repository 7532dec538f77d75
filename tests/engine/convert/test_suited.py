"""The precision that suits a source: no finer than what it holds."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.convert import importer
from engine.formats import opening
from engine.formats.source import WeightSource, suited
from engine.library import library, partial_imports
from tests.engine.formats.forms import FORMS


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


def test_the_source_is_opened_once_and_what_is_taken_is_taken_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twice, a file replaced in between would be stored with the precision of the one before it."""
    monkeypatch.setenv(library.HOME, str(tmp_path / "home"))
    FORMS["GGUF Q4_K"](tmp_path / "source")
    opened: list[Path] = []

    def counted(path: Path | str) -> WeightSource:
        opened.append(Path(path))
        return opening.open_source(path)

    for module in (importer, library):
        if hasattr(module, "open_source"):
            monkeypatch.setattr(module, "open_source", counted)

    def stop(phrase: str, done: int, total: int) -> None:
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(tmp_path / "source", "model", 0, stop)
    assert len(opened) == 1
    begun = partial_imports.read(library.location("model"))
    assert begun is not None
    assert begun.top == 0
    library.go_on("model")
    assert len(opened) == 2
    assert max(library.card(library.location("model")).tiers) == 4
