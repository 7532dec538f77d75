"""The search for fewer bits on models whose experts kept the codes of their source, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.calibration import lowering_search, robustness
from engine.calibration.calibrator import open_calibrated
from engine.errors import UnderhillError
from engine.library import library
from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.convert.test_kept_codes import _q4_k_m
from tests.engine.formats.forms import FORMS

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def own_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UNDERHILL_HOME", str(tmp_path / "home"))
    for name in ("TOKENS", "JUDGED"):
        monkeypatch.setattr(robustness, name, 60)


@pytest.mark.parametrize("form", ["GGUF Q4_K", "GGUF Q4_0", "MXFP4"])
def test_experts_that_kept_their_codes_are_lowered_to_two_of_their_four_bits(tmp_path: Path, form: str) -> None:
    FORMS[form](tmp_path / "source")
    path = library.add(tmp_path / "source", "kept")
    with Store.open(path) as store:
        before, coded = store.expert_bytes(), store.manifest.specs[0].codings
        assert coded
    lowering_search.in_place("kept", 0.5, lambda *_: None)
    assert verify(path) == ()
    card = library.card(path)
    assert {bits for bits, _ in card.expert_bits} <= {2, 4}
    assert card.expert_bits[0][0] == 2
    assert card.expert_bytes < before
    with open_calibrated("kept", {"dial": "exact", "threads": 1}) as session:
        session.logits([1, 2, 3, 4], one_by_one=True)
        assert "2" in session.counters().precision


def test_layers_of_a_mixed_file_are_lowered_each_from_what_it_has(tmp_path: Path) -> None:
    _q4_k_m(tmp_path / "source")
    path = library.add(tmp_path / "source", "mixed")
    with Store.open(path) as store:
        assert len(set(store.manifest.specs)) > 1
        before = store.expert_bytes()
    lowering_search.in_place("mixed", 0.5, lambda *_: None)
    assert verify(path) == ()
    assert library.card(path).expert_bytes < before


def test_experts_that_are_whole_are_refused(tmp_path: Path) -> None:
    FORMS["GGUF Q4_0"](tmp_path / "source")
    library.add(tmp_path / "source", "whole", 16)
    with pytest.raises(UnderhillError, match="isn't stored with 4 or 8 bits"):
        lowering_search.in_place("whole", 0.02, lambda *_: None)
