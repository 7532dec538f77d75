"""The cache policy's weights: kept beside the store, used when it is opened, and those of the house where none are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.policies import DEFAULT, Hobbit, Weights, WeightsByShare
from engine.session import Session, fit_policy, session
from engine.session.policy_weights import FILE, in_force, keep, weights_of
from engine.settings import ENGINE, validated
from tests.engine.session.test_reading_ahead import answered

ONE = WeightsByShare(((0.25, Weights(0.5, 0.25, 0.125, 0.125)), (0.5, Weights(1, 0, 0, 0))))


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    keep(tmp_path, {"balanced": ONE})
    assert weights_of(tmp_path, "balanced") == ONE
    assert weights_of(tmp_path, "exact") == DEFAULT
    assert weights_of(tmp_path / "none", "exact") == DEFAULT
    assert ONE.at(0.3) == ONE.pairs[0][1]
    assert ONE.at(0.9) == ONE.pairs[1][1]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"hobbit": {"fast": []}}',
        '{"hobbit": {"fast": [[0.5, [1, 1, 1, 1]]]}}',
        '{"hobbit": {"fast": [[0.5, [1]]]}}',
    ],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert weights_of(tmp_path, "fast") == DEFAULT


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnderhillError, match="cannot be kept") as error:
        keep(tmp_path / "nowhere", {"fast": ONE})
    assert error.value.kind is Kind.DISK_ERROR


def test_a_model_is_fitted_and_opened_with_what_was_found(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits, given = [], []

    def fit(trace: Any, thresholds: Any) -> WeightsByShare:
        fits.append((trace, thresholds))
        return ONE

    open_runtime = session.open_runtime
    monkeypatch.setattr(fit_policy, "fit", fit)
    monkeypatch.setattr(
        session, "open_runtime", lambda *args, **more: (given.append(more["weights"]), open_runtime(*args, **more))[1]
    )
    try:
        with Session.open("builtin", {"threads": 1}) as opened:
            said: list[tuple[int, int]] = []
            fit_policy.fit_policy(opened, lambda done, total: said.append((done, total)), tokens=40)
            path = opened.store.path
        with Session.open("builtin", {"threads": 1, "dial": "fast"}):
            pass
    finally:
        (path / FILE).unlink()
    assert said[-1] == (4, 4)
    assert given == [DEFAULT, ONE]
    assert [thresholds.exact for _, thresholds in fits] == [True, False, False]
    trace = fits[0][0]
    assert 40 <= trace.tokens < 60
    assert (trace.passes == 1).all()
    assert trace.sequences >= 1
    assert trace.conditions.spec is not None


def test_weights_by_hand_go_before_fitted_ones_in_caches_of_any_size(tmp_path: Path) -> None:
    keep(tmp_path, {"balanced": ONE})
    assert in_force(tmp_path, validated({}, ENGINE)) == ONE
    found = in_force(tmp_path, validated({"policy_weights": "1,1,0,2"}, ENGINE))
    assert {found.at(share) for share in (0.1, 0.5, 1.0)} == {Weights(0.25, 0.25, 0, 0.5)}


def test_they_change_while_the_model_is_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[float, ...]] = []
    reweigh = Hobbit.reweigh
    monkeypatch.setattr(
        Hobbit, "reweigh", lambda self, weights: (given.append(weights.rounded), reweigh(self, weights))[1]
    )
    few = {"threads": 1, "cache_fraction": 0.3, "dial": "exact"}
    with Session.open("builtin", few) as opened:
        first = answered(opened)
        opened.update({"policy_weights": [0, 0, 0, 1]})
        assert given == [(0, 0, 0, 1)]
        assert opened.settings["policy_weights"] == (0.0, 0.0, 0.0, 1.0)
        by_hand = answered(opened)
        opened.update({"policy_weights": None})
        opened.update({"prefetch": "off"})
        assert given[1:] == [DEFAULT.at(0.3).rounded]
    assert by_hand.token_ids == first.token_ids
    assert by_hand.misses != first.misses


def test_with_another_policy_they_say_that_they_do_nothing(home: Path) -> None:
    with Session.open("builtin", {"threads": 1, "policy": "lru", "policy_weights": "1,0,0,0"}) as opened:
        said = "Weights of HOBBIT does nothing unless Cache policy is HOBBIT."
        assert said in opened.card.plan
        opened.update({"policy_weights": None})
        assert said not in opened.card.plan
