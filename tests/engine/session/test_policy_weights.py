"""The cache policy's weights: kept beside the store, used when it is opened, and those of the house where none are."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from engine.calibration import policy_fit
from engine.calibration.calibrator import open_calibrated
from engine.errors import Kind, UnderhillError
from engine.experts.policies import DEFAULT, Hobbit, HobbitWeights, HobbitWeightsByShare
from engine.experts.precision import EXACT, Thresholds
from engine.library.dials import DIALS
from engine.session import loaded_model
from engine.session.policy_weights import FILE, Fitted, in_force, keep, read, weights_of
from engine.session.thresholds import thresholds_of
from engine.settings import ENGINE, validated
from engine.tracing.replay import Replayer
from tests.engine.calibration.idling import idle, rest, rested
from tests.engine.session.test_prefetch_choice import answered

pytestmark = pytest.mark.long

HAND = HobbitWeights(0.5, 0.25, 0.125, 0.125)
ONE = HobbitWeightsByShare(((0.25, HobbitWeights(0.5, 0.25, 0.125, 0.125)), (0.5, HobbitWeights(1, 0, 0, 0))))


def test_what_is_kept_is_found_again(tmp_path: Path) -> None:
    keep(tmp_path, {"balanced": Fitted(EXACT, ONE)})
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
        '{"hobbit": {"fast": [[0.5, [1, 0, 0, 0]]]}}',
        '{"version": 2, "fingerprint": "", "hobbit": {"fast": {"t1": 0, "t2": 1, "weights": []}}}',
        '{"version": 2, "fingerprint": "", "hobbit": {"fast": {"t1": 0, "t2": 1, "weights": [[0.5, [1, 1, 1, 1]]]}}}',
        '{"version": 2, "fingerprint": "", "hobbit": {"fast": {"t1": 2, "t2": 1, "weights": [[0.5, [1, 0, 0, 0]]]}}}',
        '{"version": 2, "fingerprint": "b", "hobbit": {"fast": {"t1": 0, "t2": 1, "weights": [[1, [1, 0, 0, 0]]]}}}',
    ],
)
def test_a_damaged_file_counts_as_none(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    assert weights_of(tmp_path, "fast") == DEFAULT


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(UnderhillError, match="Can't save") as error:
        keep(tmp_path / "nowhere", {"fast": Fitted(EXACT, ONE)})
    assert error.value.kind is Kind.DISK_ERROR


@pytest.fixture
def unfitted(home: Path) -> Iterator[Path]:
    """The built-in model's store, before and after without weights of its own."""
    path = home / "models" / "builtin"
    (path / FILE).unlink(missing_ok=True)
    yield path
    (path / FILE).unlink(missing_ok=True)


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> list[tuple[float, Thresholds]]:
    """What was searched for: shares, and thresholds. Every search finds the same."""
    found: list[tuple[float, Thresholds]] = []

    def search(replayer: Any, share: float, smaller: Any, known: Any) -> HobbitWeights:
        found.append((share, replayer.thresholds))
        return HAND

    monkeypatch.setattr(policy_fit, "fit_share", search)
    monkeypatch.setattr(policy_fit, "TOKENS", 40)
    return found


def test_a_model_is_fitted_and_opened_with_what_was_found(
    unfitted: Path, searches: list[tuple[float, Thresholds]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given = []
    open_runtime = loaded_model.open_runtime

    def opening(*args: Any, **more: Any) -> Any:
        given.append(more["weights"])
        return open_runtime(*args, **more)

    monkeypatch.setattr(loaded_model, "open_runtime", opening)
    with open_calibrated("builtin", {"threads": 1}) as opened:
        said: list[tuple[int, int]] = []
        policy_fit.fit_policy(opened, lambda done, total: said.append((done, total)), tokens=40)
    with open_calibrated("builtin", {"threads": 1, "dial": "fast"}):
        pass
    steps = 1 + len(policy_fit.DIALS) * 4
    assert said[-1] == (steps, steps)
    assert given == [DEFAULT, weights_of(unfitted, "fast")]
    assert given[1].at(0.25) == HAND
    assert [share for share, _ in searches[:4]] == [0.125, 0.25, 0.5, 0.75]
    assert {thresholds for _, thresholds in searches} == {thresholds_of(unfitted, dial) for dial in policy_fit.DIALS}


def test_the_text_is_recorded_as_if_it_were_decoded(unfitted: Path) -> None:
    with open_calibrated("builtin", {"threads": 1}) as opened:
        fitter = policy_fit.PolicyFitter(opened, 40)
        fitter.step()
        trace = fitter._recorder.trace().one_by_one()
    assert 40 <= trace.tokens < 60
    assert (trace.passes == 1).all()
    assert trace.sequences >= 1
    assert trace.conditions.spec is not None


def test_while_nobody_asks_it_fits_itself_and_the_running_model_has_it(
    unfitted: Path, searches: list[tuple[float, Thresholds]], monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[HobbitWeights] = []
    reweigh = Hobbit.reweigh
    monkeypatch.setattr(Hobbit, "reweigh", lambda self, weights: (given.append(weights), reweigh(self, weights))[1])
    with open_calibrated("builtin", {"threads": 1, "cache_fraction": 0.25, "dial": "exact"}) as opened:
        said = rested(opened)
        assert any("Fitting eviction weights" in sentence for sentence in said)
        assert given == [HAND]  # once: other dials' weights change nothing of this one's
        assert opened.card.doing == ""
        assert set(read(unfitted)) == set(policy_fit.DIALS)
    before = len(searches)
    with open_calibrated("builtin", {"threads": 1, "cache_fraction": 0.25}) as opened:
        rested(opened)
    assert len(searches) == before  # it is known


def test_a_question_stops_it_and_a_restart_goes_on(unfitted: Path, searches: list[tuple[float, Thresholds]]) -> None:
    with open_calibrated("builtin", {"threads": 1}) as opened:
        rested(opened, until=lambda: len(searches) >= 6)
        assert not idle(opened).over
        assert list(read(unfitted)) == ["balanced"]  # what is in use comes first
    with open_calibrated("builtin", {"threads": 1}) as opened:
        rested(opened)
    assert [share for share, thresholds in searches if thresholds == thresholds_of(unfitted, "balanced")] == [
        0.125,
        0.25,
        0.5,
        0.75,
    ]
    assert set(read(unfitted)) == set(policy_fit.DIALS)


def test_within_a_search_it_stops_at_once_and_plays_nothing_twice(
    unfitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plays: list[tuple[float, Any]] = []
    play = Replayer.play_with

    def counted(self: Replayer, name: str, policy: Any, share: float) -> Any:
        found = play(self, name, policy, share)
        plays.append((share, policy.weights))
        return found

    monkeypatch.setattr(Replayer, "play_with", counted)
    with open_calibrated("builtin", {"threads": 1}) as opened:
        fitter = policy_fit.PolicyFitter(opened, 40)
        fitter.step()
        asked, times = 0, 0

        def wanted() -> bool:
            nonlocal asked
            asked += 1
            return asked % 40 == 0

        while fitter.done < 2:
            with suppress(UnderhillError):
                fitter.step(wanted)
                times -= 1
            times += 1
        assert times > 2
        assert len(plays) == len(set(plays)) > 10
        whole = policy_fit.PolicyFitter(opened, 40)
        whole.step()
        whole.step()
        assert whole.sizes == fitter.sizes


def test_thresholds_that_changed_are_fitted_for_anew(unfitted: Path, searches: list[tuple[float, Thresholds]]) -> None:
    with open_calibrated("builtin", {"threads": 1}) as opened:
        policy_fit.fit_policy(opened, tokens=40)
        known = read(unfitted)
        keep(unfitted, {**known, "fast": Fitted(Thresholds(0.1, 0.2), ONE)})
        fitter = policy_fit.PolicyFitter(opened, 40)
        assert fitter._left == ["fast"]
        assert weights_of(unfitted, "fast") == ONE  # better than none until then


def test_weights_by_hand_go_before_fitted_ones_in_caches_of_any_size(tmp_path: Path) -> None:
    keep(tmp_path, {"balanced": Fitted(EXACT, ONE)})
    assert in_force(tmp_path, validated({}, ENGINE)) == ONE
    found = in_force(tmp_path, validated({"policy_weights": "1,1,0,2"}, ENGINE))
    assert {found.at(share) for share in (0.1, 0.5, 1.0)} == {HobbitWeights(0.25, 0.25, 0, 0.5)}


def test_they_change_while_the_model_is_open(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[tuple[float, ...]] = []
    reweigh = Hobbit.reweigh
    monkeypatch.setattr(
        Hobbit, "reweigh", lambda self, weights: (given.append(weights.rounded), reweigh(self, weights))[1]
    )
    few = {"threads": 1, "cache_fraction": 0.3, "dial": "exact"}
    with open_calibrated("builtin", few) as opened:
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


def test_a_ceiling_that_changes_the_share_puts_its_weights_in_force(
    unfitted: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[HobbitWeights] = []
    reweigh = Hobbit.reweigh
    monkeypatch.setattr(Hobbit, "reweigh", lambda self, weights: (given.append(weights), reweigh(self, weights))[1])
    keep(unfitted, {"exact": Fitted(EXACT, ONE)})
    with open_calibrated("builtin", {"threads": 1, "cache_fraction": 0.2, "dial": "exact"}) as opened:
        opened.update({"cache_fraction": 0.3})
        assert given == []
        opened.update({"cache_fraction": 0.6})
        assert given == [ONE.at(0.6)]
        whole = opened.runtime.cache.capacity / 0.6
        opened.runtime.set_capacity(int(0.25 * whole))  # as when the computer is short of memory
        assert given == [ONE.at(0.6), ONE.at(0.25)]
        opened.runtime.lend(int(0.6 * whole))  # for a prompt
        assert len(given) == 2


def test_other_bits_of_coarse_experts_are_fitted_anew(unfitted: Path, searches: list[tuple[float, Thresholds]]) -> None:
    with open_calibrated("builtin", {"threads": 1, "low": "2"}) as opened:
        rested(opened)
        before = len(searches)
        opened.update({"low": "4"})
        while idle(opened).over:
            rest(opened)  # which sees it
        rested(opened)
        assert len(searches) - before == 4 * (len(policy_fit.DIALS) - 1)  # nobody runs coarse under Exact
        lows = {dial: one.low for dial, one in read(unfitted).items()}
        assert lows == {"exact": None} | dict.fromkeys(DIALS, 4)


def test_with_another_policy_they_say_that_they_do_nothing(home: Path) -> None:
    with open_calibrated("builtin", {"threads": 1, "policy": "lru", "policy_weights": "1,0,0,0"}) as opened:
        said = "Eviction weights only works with Cache policy: HOBBIT."
        assert said in opened.card.plan
        opened.update({"policy_weights": None})
        assert said not in opened.card.plan
