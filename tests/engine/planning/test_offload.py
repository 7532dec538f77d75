"""Three modes by arithmetic, on laptops with cards: never beyond what is free, never slower with more, no promises."""

from __future__ import annotations

import dataclasses
import itertools

import pytest

from engine import settings
from engine.errors import Kind, UnderhillError
from engine.hardware.machine import Machine
from engine.planning import offload
from engine.planning.budget import held_by
from engine.planning.fit import PROGRAM
from engine.planning.offload import ASSISTED, CPU, GPU, MARGIN, RUNS, Outlook, chosen, outlooks, sentences
from engine.planning.plan import Plan, make_plan
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


def test_what_is_computed_where_it_lies_is_what_would_take_longer_to_bring_over() -> None:
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
    assisted, centric = of(fast, ASSISTED), of(fast, GPU)
    assert assisted is not None
    assert centric is not None
    assert assisted.speed == centric.speed


def test_a_card_that_holds_all_experts_leaves_nothing_to_ordinary_memory() -> None:
    found = looked(with_card(laptop(32, "SATA", "8 cores"), 24), "DeepSeek-V2-Lite")[0]
    assert found.mode == GPU
    assert (found.host_experts, found.device_experts) == (0, FACTS["DeepSeek-V2-Lite"].expert_bytes[4])
    assert found.limit == "device"


def test_only_what_runs_is_chosen_whatever_the_card(monkeypatch: pytest.MonkeyPatch) -> None:
    for card in CARDS:
        found = looked(with_card(laptop(32, "NVMe 3", "8 cores"), card), "Qwen3-30B-A3B")
        assert chosen(found).mode == CPU
        assert (found[0].mode == CPU) == (card == 0)
    monkeypatch.setattr(offload, "RUNS", (CPU, ASSISTED, GPU))
    assert chosen(found) == found[0]


def test_the_plan_is_the_same_with_a_card_but_for_a_sentence_that_says_so() -> None:
    machine = laptop(16, "NVMe 3", "8 cores")
    without, beside = planned(machine, "Qwen3-30B-A3B"), planned(with_card(machine, 24), "Qwen3-30B-A3B")
    assert without is not None
    assert beside is not None
    assert beside.mode in RUNS
    assert beside.sentences == (*without.sentences, "Card is not computed on: this version uses the processor alone.")
    assert dataclasses.replace(beside, sentences=without.sentences) == without


def test_every_mode_is_told_and_what_stands_against_it() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 8)
    cpu, assisted, gpu = sentences(machine, looked(machine, "Qwen3-30B-A3B"))
    assert cpu.startswith("CPU-only: about ")
    assert cpu.endswith("this is what runs.")
    assert assisted.startswith("CPU-assisted: would be about ")
    assert "no card was held against" in assisted
    assert "computes experts on the processor only, whatever card there is" in assisted
    assert gpu.startswith("GPU-centric: would be about ")
    small = with_card(laptop(32, "NVMe 3", "8 cores"), 3)
    assert sentences(small, looked(small, "gpt-oss-120b"))[2].startswith(
        "GPU-centric: not possible. The card's memory does not hold it. This version"
    )
    alone = laptop(32, "NVMe 3", "8 cores")
    cpu, *others = sentences(alone, looked(alone, "Qwen3-30B-A3B"))
    assert cpu.endswith("this is what runs.")
    assert all("not possible. No graphics card with memory of its own" in told for told in others)


def test_a_card_without_memory_of_its_own_gains_nothing_and_takes_nothing() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 24, unified=True)
    found = looked(machine, "Qwen3-30B-A3B")
    assert [o.mode for o in found] == [CPU]
    assert sentences(machine, found)[0] == "Card has no memory of its own: nothing would be gained."


@pytest.mark.parametrize("mode", settings.ALL["mode"].choices)
def test_what_cannot_run_is_refused_and_says_what_is_missing(mode: str) -> None:
    card = with_card(laptop(32, "NVMe 3", "8 cores"), 8).gpus
    runs = mode in ("auto", *RUNS)
    for cards, missing in (((), "No graphics card"), (card, "whatever card there is")):
        assert (offload.why_not(mode, cards) == "") == runs
        if runs:
            offload.demand(mode, lambda: pytest.fail("nobody needs to know the cards"))
            continue
        with pytest.raises(UnderhillError, match=missing) as refused:
            offload.demand(mode, lambda cards=cards: cards)  # type: ignore[misc]
        assert refused.value.kind is Kind.BAD_REQUEST
        assert refused.value.action == "Set the mode to auto or cpu."


def test_cpu_alone_can_be_chosen_beside_a_card() -> None:
    machine = with_card(laptop(32, "NVMe 3", "8 cores"), 8)
    auto, cpu = (
        make_plan(machine, FACTS["Qwen3-30B-A3B"], settings.validated({"mode": mode}, settings.ENGINE), PROGRAM)
        for mode in ("auto", "cpu")
    )
    assert cpu.sentences[-1] == "Card is not computed on: the processor alone was chosen."
    assert (cpu.mode, cpu.cache_bytes, cpu.speed) == (auto.mode, auto.cache_bytes, auto.speed)
