"""Three modes by arithmetic, on laptops with cards: never beyond what is free, never slower with more, no promises."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, Machine
from engine.planning import offload
from engine.planning.budget import held_by
from engine.planning.facts import CardSeen
from engine.planning.fit import PROGRAM
from engine.planning.offload import (
    ASSISTED,
    CPU,
    FASTER,
    GPU,
    MARGIN,
    MODES,
    Outlook,
    choose_card,
    conditions_with_card,
    make_plan_with_card,
    outlooks,
    sentences,
    with_speed,
    without_card,
)
from engine.planning.plan import Plan, make_plan
from engine.planning.speed import figure, is_speed_sentence
from tests.engine.planning.laptops import CARDS, DISKS, RAM, laptop, with_card
from tests.engine.planning.test_laptops import FACTS

SOME = ("OLMoE-1B-7B", "DeepSeek-V2-Lite", "Qwen3-30B-A3B", "Mixtral-8x7B", "gpt-oss-120b")


def planned(machine: Machine, name: str) -> Plan | None:
    values = {**settings.validated({"dense": "int4"}, settings.ENGINE), "dial": "exact"}
    try:
        return make_plan(machine, FACTS[name], values, PROGRAM)
    except UnderhillError:
        return None


def looked(machine: Machine, name: str) -> tuple[Outlook, ...]:
    plan = planned(machine, name)
    return () if plan is None else outlooks(machine, FACTS[name], plan, "exact")


def of(found: tuple[Outlook, ...], mode: str) -> Outlook | None:
    return next((o for o in found if o.mode == mode), None)


@pytest.mark.parametrize("name", SOME)
def test_no_mode_takes_more_than_is_free_on_the_card_or_beside_it(name: str) -> None:
    model, seen = FACTS[name], set()
    for ram, disk, card in itertools.product(RAM, DISKS, CARDS):
        machine = with_card(laptop(ram, disk, "8 cores"), card)
        if (plan := planned(machine, name)) is None:
            continue
        for o in outlooks(machine, model, plan, "exact"):
            seen.add(o.mode)
            assert o.device_experts + o.host_experts <= model.expert_bytes[plan.tier]
            if o.mode != CPU:
                assert o.device_experts <= o.device_bytes <= machine.gpus[0].free - MARGIN
            weights = model.dense_bytes[plan.dense] + plan.context * model.per_token(plan.dense)
            fixed = PROGRAM + model.state_bytes + plan.workspace + (weights if o.dense == "host" else 0)
            experts = held_by(o.host_experts, min(model.record_bytes.values()), model.experts * model.moe_layers)
            assert fixed + experts <= plan.ceiling
    assert seen >= {CPU, ASSISTED}


LADDERS = (
    *([(ram, disk, card) for card in list(CARDS)[1:]] for ram in RAM for disk in DISKS),
    *([(ram, disk, card) for ram in RAM] for disk in DISKS for card in CARDS),
    *([(ram, disk, card) for disk in DISKS] for ram in RAM for card in CARDS),
)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("mode", [CPU, ASSISTED, GPU])
def test_more_memory_of_either_kind_or_a_faster_disk_is_never_slower(name: str, mode: str) -> None:
    keys = {key for ladder in LADDERS for key in ladder}
    speeds = {}
    for ram, disk, card in keys:
        found = of(looked(with_card(laptop(ram, disk, "8 cores"), card), name), mode)
        speeds[ram, disk, card] = (0.0, 0.0) if found is None else found.speed
    for ladder in LADDERS:
        for end in (0, 1):
            climbed = [speeds[key][end] for key in ladder]
            assert all(b >= a * (1 - 1e-9) for a, b in itertools.pairwise(climbed)), (ladder, climbed)
    assert len(set(speeds.values())) > 3


def test_what_the_card_lacks_is_computed_where_it_lies_and_crosses_nothing() -> None:
    slow_link, fast_link = (
        dataclasses.replace(machine, gpus=(dataclasses.replace(machine.gpus[0], pinned=rate),))
        for machine in [with_card(laptop(64, "NVMe 3", "8 cores"), 8)]
        for rate in (6e9, 200e9)
    )
    slow, fast = looked(slow_link, "Qwen3-30B-A3B"), looked(fast_link, "Qwen3-30B-A3B")
    assisted, centric = of(slow, ASSISTED), of(slow, GPU)
    assert assisted is not None
    assert centric is not None
    assert assisted.speed > centric.speed
    assert (assisted.limit, centric.limit) == ("host", "link")
    assert of(fast, ASSISTED) == assisted
    assert of(fast, GPU).speed > centric.speed  # type: ignore[union-attr]


def test_a_card_that_holds_all_experts_leaves_nothing_to_ordinary_memory() -> None:
    found, other = looked(with_card(laptop(32, "SATA", "8 cores"), 24), "DeepSeek-V2-Lite")[:2]
    # Nothing has to cross: both modes are one.
    assert (found.mode, other.mode) == (ASSISTED, GPU)
    assert found.speed == other.speed
    assert (found.host_experts, found.device_experts) == (0, FACTS["DeepSeek-V2-Lite"].expert_bytes[4])
    assert found.limit == "device"


@pytest.mark.parametrize("name", SOME)
def test_by_itself_the_card_is_taken_where_it_is_faster_and_never_else(name: str) -> None:
    taken = 0
    for ram, disk, card in itertools.product(RAM, DISKS, CARDS):
        machine = with_card(laptop(ram, disk, "8 cores"), card)
        alone, auto = planned(machine, name), automatic(machine, name)
        if alone is None or auto is None:
            assert alone is auto
            continue
        assert auto.mode in MODES
        if auto.mode == CPU:
            assert dataclasses.replace(auto, sentences=alone.sentences) == alone
            assert (auto.sentences == alone.sentences) == (card == 0)
            continue
        taken += 1
        assert auto.speed[0] >= FASTER * alone.speed[0]
        assert (auto.card, 0 < auto.card_bytes <= machine.gpus[0].free - MARGIN) == (0, True)
        assert auto.cache_bytes <= alone.cache_bytes  # its driver takes memory too
        assert sum(map(is_speed_sentence, auto.sentences)) == 1
        assert any("of experts in GPU memory" in sentence for sentence in auto.sentences)
        # What the processor would need is told as a bound, and as it was once the card has failed.
        assert ["-token prompt: under " in sentence for sentence in auto.sentences].count(True) == 1
        assert not any("-token prompt: under " in sentence for sentence in without_card(auto).sentences)
    assert taken > 5


@pytest.mark.parametrize("name", SOME)
def test_what_was_seen_with_the_card_decides_from_then_on(name: str) -> None:
    taken = 0
    for ram, disk, card in itertools.product(RAM, DISKS, CARDS):
        machine = with_card(laptop(ram, disk, "8 cores"), card)
        alone, auto = planned(machine, name), automatic(machine, name)
        if alone is None or auto is None or auto.mode == CPU:
            continue
        taken += 1
        slower, faster = 0.9 * alone.speed[0], 1.1 * alone.speed[0]
        seen = conditions_with_card(machine, FACTS[name], auto, "exact", slower)
        found = automatic(machine, name, seen)
        assert found is not None
        assert (found.mode, found.speed, found.card_bytes) == (CPU, alone.speed, 0)
        assert any(s.startswith(f"{machine.gpus[0].name} isn't used: {figure(slower)} tok/s") for s in found.sentences)
        found = automatic(machine, name, seen, mode=auto.mode)
        assert found is not None
        assert (found.mode, found.speed) == (auto.mode, (slower, slower))
        found = automatic(machine, name, dataclasses.replace(seen, speed=faster))
        assert found == with_speed(auto, faster)
        for other in ({"card": "another"}, {"threads": seen.threads + 1}, {"near": seen.near + 0.2}):
            assert automatic(machine, name, dataclasses.replace(seen, **other)) == auto
    assert taken > 5


def automatic(machine: Machine, name: str, seen: CardSeen | None = None, **chosen: object) -> Plan | None:
    values = {**settings.validated({"dense": "int4", **chosen}, settings.ENGINE), "dial": "exact"}
    try:
        return make_plan_with_card(machine, dataclasses.replace(FACTS[name], card_seen=seen), values, PROGRAM)
    except UnderhillError:
        return None


def test_the_card_with_most_free_memory_is_taken_unless_another_is_wanted() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 8)
    small, large = dataclasses.replace(machine.gpus[0], name="Small", free=6 * GB), machine.gpus[0]
    old = dataclasses.replace(large, name="Old", free=20 * GB, capability=(6, 1))
    shared = dataclasses.replace(large, name="Shared", free=30 * GB, unified=True)
    assert choose_card((small, large, old, shared)) == 1
    assert choose_card((small, large, old, shared), 0) == 0
    assert choose_card((small, large, old, shared), 2) is None
    assert choose_card((old, shared)) is None
    plan = automatic(dataclasses.replace(machine, gpus=(small, large, old, shared)), "Qwen3-30B-A3B", card=0)
    assert plan is not None
    assert plan.card == 0
    assert set(plan.sentences) >= {
        "Card isn't used: another GPU is.",
        "Old isn't used: it is too old.",
        "Shared isn't used: it has no memory of its own.",
    }


def test_every_mode_is_told_and_what_stands_against_it() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 8)
    cpu, assisted, gpu = sentences(machine, looked(machine, "Qwen3-30B-A3B"), ASSISTED)
    assert cpu.startswith("CPU: about ")
    assert not cpu.endswith("(in use).")
    assert assisted.startswith("CPU + GPU: about ")
    assert assisted.endswith("(in use).")
    assert gpu.startswith("GPU: about ")
    assert "estimated" in gpu
    small = with_card(laptop(32, "NVMe 3", "8 cores"), 3)
    assert sentences(small, looked(small, "gpt-oss-120b"), CPU)[2].startswith(
        "GPU: not possible. It doesn't fit in GPU memory."
    )
    alone = laptop(32, "NVMe 3", "8 cores")
    cpu, assisted, _ = sentences(alone, looked(alone, "Qwen3-30B-A3B"), CPU)
    assert cpu.endswith("(in use).")
    assert assisted == "CPU + GPU: not possible. No NVIDIA GPU with its own memory found."


def test_a_card_without_memory_of_its_own_gains_nothing_and_takes_nothing() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 24, unified=True)
    found = looked(machine, "Qwen3-30B-A3B")
    assert [o.mode for o in found] == [CPU]
    assert sentences(machine, found, CPU)[0] == "Card has no memory of its own: no gain."


@pytest.mark.parametrize("mode", settings.ALL["mode"].choices)
def test_what_cannot_run_is_refused_and_says_what_is_missing(mode: str) -> None:
    card = with_card(laptop(32, "NVMe 3", "8 cores"), 8).gpus
    old = tuple(dataclasses.replace(one, capability=(6, 1)) for one in card)
    for cards, missing in (((), "No NVIDIA GPU"), (old, "too old"), (card, "")):
        runs = mode in ("auto", CPU) or cards is card
        assert (offload.why_not(mode, cards) == "") == runs
        if runs:
            offload.demand(mode, lambda cards=cards: cards)  # type: ignore[misc]
            continue
        with pytest.raises(UnderhillError, match=missing) as refused:
            offload.demand(mode, lambda cards=cards: cards)  # type: ignore[misc]
        assert refused.value.kind is Kind.BAD_REQUEST
        assert refused.value.action == "Choose auto or cpu."
    if mode in ("auto", CPU):
        offload.demand(mode, lambda: pytest.fail("nobody needs to know the cards"))


def test_cpu_alone_can_be_chosen_beside_a_card() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 8)
    cpu, alone = automatic(machine, "Qwen3-30B-A3B", mode="cpu"), planned(machine, "Qwen3-30B-A3B")
    assert cpu is not None
    assert alone is not None
    assert cpu.sentences[-1] == "Card isn't used: CPU is selected."
    assert (cpu.mode, cpu.cache_bytes, cpu.speed) == (CPU, alone.cache_bytes, alone.speed)


def test_raw_experts_stay_on_the_processor() -> None:
    model = dataclasses.replace(FACTS["OLMoE-1B-7B"], expert_bytes={16: 13 * GB}, record_bytes={16: 13 * 10**6})
    values = settings.validated({"mode": "cpu-assisted"}, settings.ENGINE)
    plan = make_plan_with_card(with_card(laptop(32, "NVMe 3", "8 cores"), 8), model, values, PROGRAM)
    assert plan.mode == CPU
    assert plan.sentences[-1] == "Card isn't used: this model's experts are not quantized."
