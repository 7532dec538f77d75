"""FitEstimates: what runs well, what runs slowly, and what does not run, with numbers that hold."""

from __future__ import annotations

import dataclasses

import pytest

from engine.hardware.machine import GB, Memory
from engine.planning.budget import ceiling
from engine.planning.fit import SLOW, dial_speeds, fit
from engine.planning.plan import make_plan
from tests.engine.planning.test_plan import laptop, native, thirty_b, with_settings


def test_a_model_gets_its_pill_by_memory_and_disk() -> None:
    model = native(thirty_b())
    pills = {(ram, disk): fit(laptop(ram, disk), model).pill for ram in (2, 16, 64) for disk in (0.1e9, 7e9)}
    assert pills == {
        (2, 0.1e9): "too_big", (2, 7e9): "too_big", (16, 0.1e9): "slow", (16, 7e9): "fits",
        (64, 0.1e9): "fits", (64, 7e9): "fits",
    }  # fmt: skip


def test_the_numbers_are_those_of_the_plan() -> None:
    machine, model = laptop(16), native(thirty_b())
    found, plan = fit(machine, model, in_use=10**8), make_plan(machine, model, with_settings(), 10**8)
    assert (found.speed, found.needed, found.tier) == (plan.speed, plan.least, plan.tier)
    assert found.disk > model.expert_bytes[8]
    assert found.wanted > plan.ceiling > found.needed
    assert "% in memory" in found.sentence
    assert fit(laptop(128), model).sentence.endswith("all in memory")


def test_with_what_is_wanted_nothing_is_read_from_disk_and_with_less_something_is() -> None:
    model = native(thirty_b())
    wanted = fit(laptop(16), model, in_use=10**8).wanted
    why: list[str] = []
    room = Memory(2 * wanted, wanted - 10**8 + 2 * GB)
    assert ceiling(room, None, 10**8, why) == wanted
    plan = make_plan(dataclasses.replace(laptop(16), memory=room), model, with_settings(), 10**8)
    assert plan.cache_bytes == pytest.approx(model.expert_bytes[8], rel=0.05)


def test_what_is_too_big_says_by_how_much_and_what_would_do() -> None:
    found = fit(laptop(2), native(thirty_b()))
    assert found.pill == "too_big"
    assert found.speed is None
    assert found.sentence.startswith("Thirty needs ")
    assert 1 * GB < found.needed < found.wanted
    again = fit(dataclasses.replace(laptop(2), memory=Memory(64 * GB, 64 * GB)), native(thirty_b()))
    assert again.pill != "too_big"


def test_a_disk_without_room_is_too_small_but_not_for_what_lies_there_already() -> None:
    machine = dataclasses.replace(laptop(64), disk_free=5 * GB)
    found = fit(machine, native(thirty_b()))
    assert found.pill == "too_big"
    assert "disk" in found.sentence
    assert fit(machine, native(thirty_b()), here=True).pill == "fits"


def test_a_small_model_wants_no_more_of_the_disk_left_free_than_it_takes() -> None:
    model = dataclasses.replace(native(thirty_b()), disk_bytes=26_000_000)
    assert fit(dataclasses.replace(laptop(64), disk_free=52_000_000), model).pill == "fits"
    found = fit(dataclasses.replace(laptop(64), disk_free=51_000_000), model)
    assert found.sentence == "Not enough disk space: needs 26 MB, 51 MB free"


def test_slow_is_below_a_pace_that_can_be_followed() -> None:
    for disk in (0.05e9, 0.2e9, 0.5e9, 1e9, 3e9):
        found = fit(laptop(16, disk), native(thirty_b()))
        assert found.speed is not None
        assert (found.pill == "slow") == (found.speed[1] < SLOW)


def test_every_quality_has_the_speed_that_a_plan_for_it_would_say() -> None:
    machine, model = laptop(16), native(thirty_b())
    plan = make_plan(machine, model, with_settings(), 10**8)
    found = {dial: (low, high) for dial, low, high in dial_speeds(machine, model, plan)}
    for dial in ("exact", "balanced", "fast", "hobbit"):
        alone = make_plan(machine, model, with_settings(dial=dial), 10**8)
        assert found[dial] == pytest.approx(alone.speed)
    assert found["exact"][1] < found["balanced"][1] < found["fast"][1]
    assert dial_speeds(machine, model, dataclasses.replace(plan, mode="gpu")) == ()
