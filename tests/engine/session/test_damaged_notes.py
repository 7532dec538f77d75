"""Small files beside a model that somebody has damaged are as good as not there; none of them keeps it from opening."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.calibration import calibrator, lowering_search
from engine.hardware import fingerprint as rates
from engine.library import dials, offline_index, partial_imports, store_copy
from engine.library.home import HOME
from engine.session import policy_weights, routing_history
from engine.store.journal import PARTIAL
from tests.engine.experts.execution.test_decode import SPEC
from tests.engine.experts.sources import MemorySource

ENDLESS = 1e999  # which JSON spells Infinity
DEEP = b"[" * 100_000
READERS: dict[str, tuple[str, Callable[[Path], object], object]] = {
    "dials": (dials.FILE, dials.read, None),
    "weights": (policy_weights.FILE, lambda store: policy_weights.weights_of(store, "exact"), policy_weights.DEFAULT),
    "bits": (lowering_search.FILE, lowering_search._read, {}),
    "residents": (
        routing_history.RESIDENTS,
        lambda store: routing_history.RoutingHistory(store, MemorySource(SPEC)).residents(),
        [],
    ),
    "copy": (store_copy.NOTE, store_copy.read, None),
    "import": (f"../m{PARTIAL}/{partial_imports.NOTE}", partial_imports.read, None),
    "rates": (rates.FILE, rates.kept_rows, []),
    "seen": ("seen.json", offline_index.cards, ()),
    "calibration": (calibrator.FILE, calibrator.CalibrationState.load, None),
}
MANGLED: list[Any] = [None, 1, "x", [], [1], {}, {"version": ENDLESS}, {"hobbit": {"exact": [[ENDLESS, [1] * 4]]}},
                      {"version": 2, "fingerprint": "", "hobbit": {"exact": {"t1": 0, "t2": ENDLESS, "weights": []}}},
                      {"version": 2, "fingerprint": "", "hobbit": [1]},
                      {"source": "a", "top": ENDLESS, "problem": ""}, {"version": 1, "layers": {"0": [ENDLESS]}},
                      {"version": 1, "layers": [0]}]  # fmt: skip


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "m").mkdir()
    (tmp_path / f"m{PARTIAL}").mkdir()
    monkeypatch.setenv(HOME, str(tmp_path / "m"))
    return tmp_path / "m"


@pytest.mark.parametrize("which", READERS)
def test_damaged_is_as_good_as_not_there(which: str, store: Path) -> None:
    name, read, nothing = READERS[which]
    for content in (DEEP, b"", b"\xff", *(json.dumps(value).encode() for value in MANGLED)):
        (store / name).write_bytes(content)
        assert read(store) == nothing


def test_so_is_a_number_without_end_in_what_a_dial_costs(store: Path) -> None:
    fields = {"version": dials.VERSION, "dials": {}, "share": 1, "exact_perplexity": 1, "tokens": ENDLESS}
    one = {"t1": 0.5, "t2": 0.6, "worst": None, "here": None}
    (store / dials.FILE).write_text(json.dumps({**fields, "dials": dict.fromkeys(dials.DIALS, one)}), encoding="utf-8")
    assert dials.read(store) is None


def test_so_are_cards_of_a_folder_that_are_none(store: Path) -> None:
    for cards in (1, [1], [[]], {"a": 1}, [{"tiers": 1}], [{"tiers": [], "tier_bytes": [1]}]):
        (store / "seen.json").write_text(json.dumps({str(store): {"cards": cards}}), encoding="utf-8")
        assert offline_index.cards(store) == ()
