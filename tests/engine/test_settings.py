"""Settings from a window, a command line or a file: taken as their type, or refused with what would be allowed."""

from __future__ import annotations

import pytest

from engine.errors import Kind, UnderhillError
from engine.settings import ALL, ENGINE, HUB, SAMPLING, idle, validated


@pytest.mark.parametrize("setting", [*SAMPLING, *ENGINE], ids=lambda s: s.name)
@pytest.mark.parametrize("value", [float("inf"), float("-inf"), float("nan"), 10**400, [], {}, object(), ""])
def test_what_makes_no_sense_is_refused_with_what_would(setting: object, value: object) -> None:
    with pytest.raises(UnderhillError, match="Use") as error:
        setting.check(value)  # type: ignore[attr-defined]
    assert error.value.kind is Kind.BAD_REQUEST


def test_defaults_are_values_that_are_allowed() -> None:
    for setting in (*SAMPLING, *ENGINE, *HUB):
        assert setting.check(setting.default) == setting.default


def test_text_from_a_command_line_becomes_the_type() -> None:
    assert validated({"seed": "7", "temperature": "0.5"}, SAMPLING)["seed"] == 7
    assert ALL["temperature"].check("0.5") == 0.5
    for text in ("7.5", "seven", "-1"):
        with pytest.raises(UnderhillError):
            ALL["seed"].check(text)


def test_a_share_may_be_given_in_percent() -> None:
    kept = ALL["cache_fraction"]
    assert [kept.check(value) for value in ("62%", "62 %", "62％", "0.62", 0.62)] == [0.62] * 5
    for wrong in ("101%", "-1%", "%", "half", 62):
        with pytest.raises(UnderhillError, match="from 0% to 100%"):
            kept.check(wrong)
    with pytest.raises(UnderhillError, match="a number from 0 to 1"):
        ALL["top_p"].check("62%")


def test_shares_are_taken_in_any_proportion_and_sum_to_one() -> None:
    weights = ALL["policy_weights"]
    assert weights.check("4,0, 4,2") == weights.check([4, 0, 4, 2]) == (0.4, 0.0, 0.4, 0.2)
    thirds = weights.check((1, 1, 1, 0))
    assert isinstance(thirds, tuple)
    assert sum(thirds) == pytest.approx(1, abs=1e-12)
    assert weights.check(list(thirds)) == thirds  # as it comes back from a file
    assert weights.check(None) is None
    assert weights.check(weights.start) == weights.start
    for wrong in ("0,0,0,0", "1,1,1", "1,1,1,1,1", "1,1,-1,1", "1,1,inf,1", "1,nan,1,1", "a,b,c,d", [True] * 4, 3):
        with pytest.raises(UnderhillError, match="Recency, Frequency, Precision, Distance"):
            weights.check(wrong)


def test_choices_have_names_for_people() -> None:
    for setting in ENGINE:
        if setting.kind == "choice":
            assert len({setting.name_of(choice) for choice in setting.choices}) == len(setting.choices)
    assert ALL["mode"].name_of("cpu-assisted") == "CPU + GPU"
    assert ALL["policy"].name_of("lru_layer") == "LRU per layer"


def test_what_was_chosen_and_has_nothing_to_do_is_told() -> None:
    for setting in ENGINE:
        if setting.needs is not None:
            assert ALL[setting.needs[0]].check(setting.needs[1]) == setting.needs[1]
    assert idle(validated({}, ENGINE), ENGINE) == []
    assert idle(validated({"policy_weights": "1,0,0,0"}, ENGINE), ENGINE) == []
    assert idle(validated({"policy": "lru", "predictor": "paths"}, ENGINE), ENGINE) == []
    assert idle(validated({"policy": "lru", "policy_weights": "1,0,0,0"}, ENGINE), ENGINE) == [
        "Eviction weights only works with Cache policy: HOBBIT."
    ]
