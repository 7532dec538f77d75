"""The length of context: it does not cost a model its place in memory, unless somebody asked for it."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hardware.machine import GB
from engine.planning.context_length import ENOUGH, SHORT, STEP, tokens_of_context
from engine.planning.plan import Plan, make_plan
from tests.engine.planning.test_plan import laptop, native, thirty_b, with_settings

LONG = 262_144


def planned(gb: float, context: int | None = None, length: int = LONG) -> Plan:
    model = dataclasses.replace(native(thirty_b()), context_length=length)
    return make_plan(laptop(256), model, with_settings(memory_gb=gb, tier="4", context_length=context))


def whole(plan: Plan) -> bool:
    return plan.cache_bytes == thirty_b().expert_bytes[4]


def said(plan: Plan) -> list[str]:
    return [s for s in plan.sentences if s.startswith("Context: ")]


def test_a_long_context_leaves_all_experts_in_memory() -> None:
    short = planned(22.0, length=SHORT)
    assert whole(short)
    plan = planned(22.0)
    assert whole(plan)
    assert SHORT <= plan.context < LONG
    assert plan.speed == short.speed
    assert "to keep all experts in memory" in said(plan)[0]
    one_step_more = planned(22.0, context=plan.context + 2 * STEP)
    assert not whole(one_step_more)


def test_all_of_it_where_there_is_room_for_all() -> None:
    plan = planned(60.0)
    assert (plan.context, whole(plan), said(plan)) == (LONG, True, [])


def test_where_experts_are_read_from_disk_anyway_it_is_enough_and_no_more() -> None:
    plan = planned(14.0)
    assert plan.context == ENOUGH
    assert "to leave memory for experts" in said(plan)[0]
    assert planned(14.0, length=4096).context == 4096


def test_what_was_asked_for_is_kept_up_to_half_of_the_room() -> None:
    plan = planned(22.0, context=100_000)
    assert (plan.context, whole(plan), said(plan)) == (100_000, False, [])
    plan = planned(14.0, context=LONG)
    assert ENOUGH < plan.context < LONG
    assert "to leave memory for experts" in said(plan)[0]
    beside_all = planned(60.0, context=LONG)
    assert (beside_all.context, whole(beside_all)) == (LONG, True)


@pytest.mark.parametrize("length", [4096, 40_960, LONG])
def test_more_memory_never_costs_speed_whatever_it_does_to_the_context(length: int) -> None:
    plans = [planned(4 + tenth / 10, length=length) for tenth in range(0, 400, 3)]
    speeds = [plan.speed for plan in plans]
    assert speeds == sorted(speeds)
    assert not whole(plans[0])
    assert whole(plans[-1])
    assert all(SHORT // 2 <= plan.context <= length for plan in plans)


@given(
    wanted=st.integers(64, 1 << 20),
    least=st.integers(1, 512),
    room=st.integers(0, 64 * GB),
    taken=st.integers(0, 64 * GB),
    per_token=st.integers(0, 1 << 18),
    asked=st.booleans(),
)
def test_it_is_never_beyond_its_room_nor_beyond_what_is_wanted(
    wanted: int, least: int, room: int, taken: int, per_token: int, asked: bool
) -> None:
    least = min(least, wanted)
    why: list[str] = []
    found = tokens_of_context(wanted, least, room, room - taken, per_token, asked=asked, why=why)
    assert least <= found <= wanted
    assert found == least or found * per_token <= room
    assert bool(why) == (found < wanted)
