"""Which models a newcomer is offered."""

from __future__ import annotations

import dataclasses

import pytest

from app.library.model_text import fit_level, fit_summary, recommend, time_to_fetch
from engine import protocol
from tests.app.fake_hub import CATALOGUE, DEEPSEEK, FITS, GLM, QWEN


def model(
    name: str, billions: float, speed: tuple[float, float] | None, pill: str = "fits", **more: object
) -> protocol.HubModel:
    fit = dataclasses.replace(FITS, pill=pill, speed=speed)  # type: ignore[arg-type]
    return dataclasses.replace(QWEN, repo=name, parameters=int(billions * 1e9), fit=fit, **more)  # type: ignore[arg-type]


def names(*models: protocol.HubModel) -> list[str]:
    return [model.repo for model, _ in recommend(models)]


def test_the_largest_at_reading_speed_comes_first_then_a_quicker_and_a_larger_one() -> None:
    small, middle, large = model("s", 7, (30, 40)), model("m", 30, (9, 14)), model("l", 100, (2.5, 4))
    assert names(small, middle, large, GLM, DEEPSEEK) == ["m", "s", "l"]


def test_where_nothing_keeps_pace_with_reading_the_quickest_is_recommended() -> None:
    assert names(model("s", 7, (3, 4)), model("m", 30, (2, 3))) == ["s", "m"]


def test_of_equals_the_catalogue_s_first() -> None:
    assert names(model("all-rounder", 30, (9, 14)), model("coder", 30, (9, 14))) == ["all-rounder"]


@pytest.mark.parametrize("other", [
    model("x", 50, (9, 14), gated=True), model("x", 50, (9, 14), download_bytes=0), model("x", 50, (1, 1.5), "slow"),
    model("x", 50, None, "too_big"), dataclasses.replace(QWEN, fit=None),
])  # fmt: skip
def test_what_is_not_offered(other: protocol.HubModel) -> None:
    assert names(other) == []
    assert names(other, model("m", 30, (9, 14))) == ["m"]


@pytest.mark.parametrize(("speed", "share", "level"), [
    ((9, 14), 0.6, "fits"), ((2.5, 4), 0.6, "disk"), ((2.5, 4), 1.0, "fits"), (None, 0.6, "fits"),
])  # fmt: skip
def test_only_what_keeps_pace_with_reading_has_the_color_of_what_fits(
    speed: tuple[float, float] | None, share: float, level: str
) -> None:
    assert fit_level(dataclasses.replace(FITS, speed=speed, share=share)) == level
    assert fit_level(dataclasses.replace(FITS, pill="slow", speed=(0.8, 1.5))) == "slow"


def test_words() -> None:
    assert fit_summary(CATALOGUE) == "2 of 4 recommended models run well here"
    assert fit_summary((GLM,)).startswith("None of the 1 ")
    assert fit_summary(()) == ""
    assert time_to_fetch(18_750_000_000) == "about 50 min at 50 Mbit/s"
    assert time_to_fetch(61_000_000_000) == "about 2.7 h at 50 Mbit/s"
    assert time_to_fetch(1) == "about 1 min at 50 Mbit/s"
