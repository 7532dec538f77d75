"""Sixty laptops and eight models: no plan takes what is not there, and a better laptop is never slower."""

from __future__ import annotations

import itertools

import pytest

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.hardware.machine import Machine
from engine.library.config_facts import config_facts
from engine.planning.budget import MARGIN, held_by
from engine.planning.facts import ModelFacts
from engine.planning.fit import PROGRAM, fit
from engine.planning.plan import Plan, make_plan
from tests.engine.planning.laptops import CHIPS, DISKS, MODELS, RAM, laptop, laptops

TIERS = ("top", "2")
FACTS = {name: config_facts(config, name, top=4) for name, (_, config) in MODELS.items()}


def plan_of(machine: Machine, model: ModelFacts, **changes: object) -> Plan | None:
    """None where it does not fit."""
    chosen = {**settings.validated({}, settings.ENGINE), "dial": "exact", **changes}
    try:
        return make_plan(machine, model, chosen, PROGRAM)
    except UnderhillError as e:
        if e.kind is not Kind.OUT_OF_MEMORY:
            raise
        return None


@pytest.mark.parametrize("name", MODELS)
def test_the_configs_are_those_of_the_models_they_are_named_after(name: str) -> None:
    stated, config = MODELS[name]
    model = config_facts(config, name, top=8)
    eight_bits = 8 + 32 / 64  # a parameter
    found = model.expert_bytes[8] * 8 / eight_bits + model.dense_bytes["bf16"] / 2
    assert found / 1e9 == pytest.approx(stated, rel=0.03)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tier", TIERS)
def test_no_plan_takes_more_than_is_free_less_the_margin(name: str, tier: str) -> None:
    model, planned = FACTS[name], 0
    for key, machine in laptops():
        plan = plan_of(machine, model, tier=tier)
        if plan is None:
            continue
        planned += 1
        experts = held_by(plan.cache_bytes, min(model.record_bytes.values()), model.experts * model.moe_layers)
        fixed = PROGRAM + model.dense_bytes[plan.dense] + plan.workspace + model.state_bytes
        context = plan.context * model.per_token(plan.dense)
        free = machine.memory.free + PROGRAM
        assert fixed + experts + context <= free - min(MARGIN, free // 4), key
        assert plan.mode == "cpu"
    assert planned


LADDERS = (
    *([(ram, disk, chip) for ram in RAM] for disk in DISKS for chip in CHIPS),
    *([(ram, disk, chip) for disk in DISKS] for ram in RAM for chip in CHIPS),
    *([(ram, disk, chip) for chip in CHIPS] for ram in RAM for disk in DISKS),
)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("dense", ["int4", "int8"])
def test_more_memory_a_faster_disk_and_a_faster_chip_are_never_slower(name: str, dense: str) -> None:
    speeds = {
        key: (0.0, 0.0) if (plan := plan_of(machine, FACTS[name], dense=dense)) is None else plan.speed
        for key, machine in laptops()
    }
    for ladder in LADDERS:
        for end in (0, 1):
            climbed = [speeds[key][end] for key in ladder]
            assert all(b >= a * (1 - 1e-9) for a, b in itertools.pairwise(climbed)), (ladder, climbed)
    assert len(set(speeds.values())) > 3


@pytest.mark.parametrize("name", MODELS)
def test_left_to_itself_only_finer_other_weights_may_cost_speed_for_more_memory(name: str) -> None:
    plans = {key: plan_of(machine, FACTS[name]) for key, machine in laptops()}
    for ladder in LADDERS:
        for lower, upper in itertools.pairwise(ladder):
            worse, better = plans[lower], plans[upper]
            if worse is None:
                continue
            assert better is not None
            if (worse.dense, better.dense) == ("int4", "int8"):
                assert any("costs some precision" in sentence for sentence in worse.sentences)
                continue
            assert all(b >= a * (1 - 1e-9) for a, b in zip(worse.speed, better.speed)), (lower, upper)


@pytest.mark.parametrize("name", MODELS)
def test_every_model_gets_a_pill_that_its_plan_bears_out(name: str) -> None:
    for key, machine in laptops():
        found = fit(machine, FACTS[name], {**settings.validated({}, settings.ENGINE), "dial": "exact"})
        plan = plan_of(machine, FACTS[name])
        assert (found.pill == "too_big") == (plan is None), key
        if plan is not None:
            assert found.speed == plan.speed
            assert found.needed <= plan.ceiling


def test_a_small_model_fits_a_small_laptop_and_a_large_one_does_not() -> None:
    small = laptop(8, "HDD", "4 cores")
    assert fit(small, FACTS["OLMoE-1B-7B"]).pill != "too_big"
    assert fit(small, FACTS["Qwen3-235B-A22B"]).pill == "too_big"
    assert fit(laptop(32, "NVMe 7", "12 cores"), FACTS["Qwen3-30B-A3B"]).pill == "fits"
