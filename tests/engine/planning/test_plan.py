"""The plan on simulated laptops: never beyond what is free, never slower with more memory, and honest sentences."""

from __future__ import annotations

import dataclasses
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.errors import Kind, UnderhillError
from engine.hardware.machine import GB, DiskPoint, Machine, Memory
from engine.planning.budget import GROUP_MARGIN, held_by
from engine.planning.facts import ModelFacts
from engine.planning.memory_shares import CHUNKS, FEW, SMALLEST_CONTEXT, Opened
from engine.planning.plan import LONGER, Plan, make_plan
from engine.settings import ENGINE, validated

DEFAULTS = validated({}, ENGINE)


def laptop(ram_gb: float, disk: float = 3e9) -> Machine:
    return Machine(
        cores=8,
        memory=Memory(int(ram_gb * GB), int(ram_gb * 0.7 * GB)),
        memory_rate=40e9,
        disk_rate=disk,
        disk_free=200 * GB,
    )


def thirty_b() -> ModelFacts:
    """Qwen3-30B-A3B's shape at 8 bits on disk."""
    weights = 3 * 768 * 2048
    per = {2: 2.5, 4: 4.5, 8: 8.5}
    record = {t: int(weights * bits / 8) for t, bits in per.items()}
    return ModelFacts(
        name="Thirty",
        expert_bytes={t: b * 128 * 48 for t, b in record.items()},
        record_bytes=record,
        dense_bytes={"f32": 6_160_000_000, "bf16": 3_080_000_000, "int8": 1_560_000_000},
        kv_bytes=2 * 48 * 4 * 128 * 2,
        moe_layers=48,
        experts=128,
        experts_per_token=8,
        context_length=32768,
        opening_bytes={"f32": 1_300_000_000, "bf16": 700_000_000, "int8": 700_000_000, "int4": 700_000_000},
        token_bytes=200_000,
        working_bytes=8_000_000,
    )


def with_settings(**changes: object) -> dict[str, object]:
    return {**DEFAULTS, **validated(changes, ENGINE), **changes}


def total(plan: Plan, model: ModelFacts) -> int:
    cache = held_by(plan.cache_bytes, min(model.record_bytes.values()), model.experts * model.moe_layers)
    return cache + plan.context * model.kv_bytes + model.dense_bytes[plan.dense] + plan.workspace


@given(
    ram=st.sampled_from([8, 16, 32, 64, 128]),
    fraction=st.none() | st.floats(0, 1),
    tier=st.sampled_from(["top", "8", "4", "2"]),
    in_use=st.integers(0, 2 * GB),
)
def test_a_plan_never_takes_more_than_is_free_less_the_margin(
    ram: int, fraction: float | None, tier: str, in_use: int
) -> None:
    machine, model = laptop(ram), thirty_b()
    try:
        plan = make_plan(machine, model, with_settings(cache_fraction=fraction, tier=tier), in_use)
    except UnderhillError as e:
        if e.kind is not Kind.OUT_OF_MEMORY:
            raise
        return
    assert in_use + total(plan, model) <= plan.ceiling
    assert in_use + model.dense_bytes[plan.dense] + model.opening_bytes[plan.dense] <= plan.ceiling
    assert plan.least <= plan.ceiling <= machine.memory.free + in_use
    assert plan.cache_bytes >= model.record_bytes[plan.tier] * model.experts_per_token


def test_more_memory_is_never_slower() -> None:
    speeds = [make_plan(laptop(ram), thirty_b(), with_settings(tier="4")).speed for ram in (12, 16, 24, 32, 64, 128)]
    assert speeds == sorted(speeds)
    assert speeds[0][0] < speeds[-1][0]


def test_a_faster_disk_is_faster_only_while_experts_are_missing() -> None:
    slow, fast = (make_plan(laptop(16, d), thirty_b(), with_settings(tier="4")) for d in (0.5e9, 7e9))
    assert fast.speed > slow.speed
    assert slow.limit == "disk"
    slow, fast = (make_plan(laptop(128, d), thirty_b(), with_settings(tier="4")) for d in (0.5e9, 7e9))
    assert fast.speed == slow.speed
    assert slow.limit == "memory"
    assert slow.cache_bytes == thirty_b().expert_bytes[4]


def test_too_little_memory_is_refused_with_both_figures() -> None:
    with pytest.raises(UnderhillError, match=r"needs .* GB of memory; .* [GM]B may be used") as error:
        make_plan(laptop(4), thirty_b(), DEFAULTS)
    assert error.value.kind is Kind.OUT_OF_MEMORY


def test_the_users_ceiling_is_a_ceiling_on_the_whole_process() -> None:
    plan = make_plan(laptop(64), thirty_b(), with_settings(memory_gb=10.0, tier="4"), in_use=1 * GB)
    assert plan.ceiling == 10 * GB
    assert 1 * GB + total(plan, thirty_b()) <= 10 * GB


def test_a_ceiling_beyond_what_is_free_is_lowered_and_said() -> None:
    plan = make_plan(laptop(16), thirty_b(), with_settings(memory_gb=100.0, tier="4"))
    assert plan.ceiling < 16 * GB
    assert any("lowered" in s for s in plan.sentences)


@pytest.mark.parametrize("short", [0.001, 0.01, 0.04, 0.06, 0.3])
def test_a_ceiling_that_is_lowered_by_little_is_never_lowered_to_itself(short: float) -> None:
    plan = make_plan(laptop(64), thirty_b(), with_settings(memory_gb=100.0, tier="4"))
    asked = plan.ceiling / GB + short
    plan = make_plan(laptop(64), thirty_b(), with_settings(memory_gb=asked, tier="4"))
    found = [re.search(r"limit lowered from ([\d.]+) GB to ([\d.]+) GB", s) for s in plan.sentences]
    (told,) = [(float(m[1]), float(m[2])) for m in found if m]
    assert told[0] == round(asked, 2)
    assert told[1] * GB <= plan.ceiling < asked * GB


def test_what_is_said_to_be_the_least_is_enough_and_a_little_less_is_not() -> None:
    model = dataclasses.replace(native(thirty_b()), opening_bytes={})
    with pytest.raises(UnderhillError, match=r"Raise the memory limit to") as refused:
        make_plan(laptop(64), model, with_settings(memory_gb=0.5), in_use=300_000_000)
    said = float(re.findall(r"needs ([\d.]+) GB", refused.value.sentence)[0])
    for_it = [with_settings(memory_gb=gb) for gb in (said, said - 0.1)]
    plan = make_plan(laptop(64), model, for_it[0], in_use=300_000_000)
    assert plan.least <= said * GB < plan.least + 0.1 * GB
    assert plan.context < 2 * SMALLEST_CONTEXT
    assert plan.chunk in CHUNKS[-3:]
    with pytest.raises(UnderhillError):
        make_plan(laptop(64), model, for_it[1], in_use=300_000_000)


def test_within_a_control_group_nearly_all_of_its_memory_is_used_for_nobody_else_is_there() -> None:
    machine = dataclasses.replace(laptop(64), memory=Memory(6 * GB, 40 * GB, group_free=int(5.7 * GB)))
    plan = make_plan(machine, thirty_b(), with_settings(tier="4"), in_use=300_000_000)
    assert 5.8 * GB < plan.ceiling <= 6 * GB - GROUP_MARGIN
    asked = make_plan(machine, thirty_b(), with_settings(tier="4", memory_gb=5.5), in_use=300_000_000)
    assert asked.ceiling == 5.5 * GB


def test_prompts_are_read_in_smaller_pieces_where_memory_is_short() -> None:
    model = dataclasses.replace(thirty_b(), opening_bytes={})
    plans = [make_plan(laptop(64), model, with_settings(memory_gb=gb, dense="int8")) for gb in (1.9, 2.2, 16.0)]
    assert [plan.chunk for plan in plans] == sorted(plan.chunk for plan in plans)
    assert plans[0].chunk < CHUNKS[0]


def test_a_prompt_is_read_in_long_pieces_where_each_would_read_the_disk_anew_and_in_usual_ones_elsewhere() -> None:
    model = dataclasses.replace(thirty_b(), opening_bytes={})
    chosen = with_settings(memory_gb=16.0, dense="int8", tier="4")
    slow_disk, all_there = (make_plan(laptop(64, 0.5e9), model, {**chosen, "memory_gb": gb}) for gb in (12.0, 48.0))
    assert slow_disk.chunk == LONGER[0]
    assert slow_disk.lent >= (LONGER[0] - FEW) * model.token_bytes * 0.9
    assert all_there.chunk == CHUNKS[0]
    short = make_plan(laptop(64, 0.5e9), model, {**chosen, "memory_gb": 12.0, "context_length": 1024})
    assert short.chunk <= 1024
    slow = dataclasses.replace(laptop(64, 50e9), products={64: 1e9})
    many_cores = make_plan(slow, model, {**chosen, "memory_gb": 12.0})
    assert many_cores.chunk == CHUNKS[0]  # what computing takes is the same however long they are


@pytest.mark.parametrize("gb", [1.9, 2.2, 3.0, 16.0, 48.0])
def test_between_prompts_experts_have_the_memory_that_a_chunk_takes(gb: float) -> None:
    model = dataclasses.replace(thirty_b(), opening_bytes={})
    plan = make_plan(laptop(64), model, with_settings(memory_gb=gb, dense="int8", tier="4"))
    entries = min(model.record_bytes.values()), model.experts * model.moe_layers
    beside = total(plan, model) - held_by(plan.cache_bytes, *entries)
    in_prompts = beside + plan.chunk * model.token_bytes + held_by(plan.cache_bytes - plan.lent, *entries)
    assert in_prompts <= plan.ceiling + FEW * model.token_bytes
    assert plan.smallest_cache <= plan.cache_bytes - plan.lent
    assert (plan.lent > 0) == (plan.cache_bytes < model.expert_bytes[4])
    if plan.lent:
        assert total(plan, model) > 0.99 * plan.ceiling


def test_an_open_model_keeps_its_other_weights_and_the_tokens_in_use_when_the_ceiling_falls() -> None:
    model = native(thirty_b())
    wide = make_plan(laptop(64), model, with_settings(memory_gb=16.0))
    assert wide.dense == "int8"
    opened = Opened(wide.dense, wide.context, 5000, 5000 * model.kv_bytes)
    narrow = make_plan(laptop(64), model, with_settings(memory_gb=3.0), opened=opened)
    assert (narrow.dense, narrow.cache_bytes < wide.cache_bytes) == ("int8", True)
    assert 5000 <= narrow.context < wide.context
    assert total(narrow, model) <= 3 * GB
    again = make_plan(laptop(64), model, with_settings(memory_gb=16.0), opened=opened)
    assert (again.context, again.cache_bytes) == (wide.context, wide.cache_bytes)
    with pytest.raises(UnderhillError, match="may be used"):
        make_plan(laptop(64), model, with_settings(memory_gb=2.0), opened=opened)


def test_a_cache_fraction_is_kept_to() -> None:
    plan = make_plan(laptop(64), thirty_b(), with_settings(cache_fraction=0.25, tier="4"))
    assert plan.cache_bytes == pytest.approx(0.25 * thirty_b().expert_bytes[4], rel=1e-6)


def test_a_tier_that_is_not_stored_is_refused_and_the_stored_ones_named() -> None:
    model = dataclasses.replace(thirty_b(), expert_bytes={2: 1, 4: 2}, record_bytes={2: 1, 4: 2})
    with pytest.raises(UnderhillError, match=r"no 8-bit experts.*2, 4"):
        make_plan(laptop(64), model, with_settings(tier="8"))


def test_context_gives_way_to_experts_and_says_so() -> None:
    model = dataclasses.replace(thirty_b(), context_length=1_000_000)
    plan = make_plan(laptop(32), model, with_settings(tier="4"))
    assert plan.context < 1_000_000
    assert any("context" in s for s in plan.sentences)


def native(model: ModelFacts) -> ModelFacts:
    held = {"f32": 6_160_000_000, "bf16": 3_080_000_000, "int8": 1_640_000_000, "int4": 1_160_000_000}
    return dataclasses.replace(model, dense_bytes=held)


def test_other_weights_are_8_bits_with_native_kernels_and_bf16_without() -> None:
    assert make_plan(laptop(64), thirty_b(), DEFAULTS).dense == "bf16"
    assert make_plan(laptop(64), native(thirty_b()), DEFAULTS).dense == "int8"
    tiny = dataclasses.replace(thirty_b(), dense_bytes=dict.fromkeys(("f32", "bf16", "int8", "int4"), 10_000_000))
    assert make_plan(laptop(64), tiny, DEFAULTS).dense == "f32"


def test_they_shrink_to_4_bits_only_so_that_a_model_fits_and_it_is_said() -> None:
    model = dataclasses.replace(native(thirty_b()), opening_bytes={})
    for ceiling in (2.6, 2.0, 1.6):
        plan = make_plan(laptop(64), model, with_settings(memory_gb=ceiling))
        said = any("costs some precision" in sentence for sentence in plan.sentences)
        assert said == (plan.dense == "int4")
        with_8 = native(thirty_b()).dense_bytes["int8"]
        if plan.dense == "int4":
            with pytest.raises(UnderhillError):
                make_plan(laptop(64), model, with_settings(memory_gb=ceiling, dense="int8"))
        else:
            assert plan.cache_bytes + with_8 < ceiling * GB
    assert {make_plan(laptop(64), model, with_settings(memory_gb=c)).dense for c in (2.6, 1.6)} == {"int8", "int4"}


def test_they_shrink_too_where_only_opening_them_would_not_fit() -> None:
    model = native(thirty_b())
    held = {kind: nbytes + model.opening_bytes[kind] for kind, nbytes in model.dense_bytes.items()}
    between = (held["int4"] + held["int8"]) / 2 / GB
    assert make_plan(laptop(64), model, with_settings(memory_gb=between)).dense == "int4"
    assert make_plan(laptop(64), model, with_settings(memory_gb=held["int8"] / GB + 0.1)).dense == "int8"


def test_a_kind_that_cannot_be_had_becomes_a_finer_one_and_that_is_said() -> None:
    plan = make_plan(laptop(64), thirty_b(), with_settings(dense="int4"))
    assert plan.dense == "int8"
    assert any("int4 isn't possible" in sentence for sentence in plan.sentences)
    compat = dataclasses.replace(thirty_b(), dense_bytes={"f32": 6_160_000_000, "bf16": 3_080_000_000})
    plan = make_plan(laptop(64), compat, with_settings(dense="int8"))
    assert plan.dense == "bf16"
    assert any("int8 isn't possible" in sentence for sentence in plan.sentences)


def test_rows_that_are_only_looked_up_take_memory_and_no_time() -> None:
    model = native(thirty_b())
    looked_up = dataclasses.replace(model, looked_up_bytes={"int8": 640_000_000})
    plain, tables = (make_plan(laptop(64), m, with_settings(tier="4")) for m in (model, looked_up))
    assert tables.cache_bytes == plain.cache_bytes
    assert tables.speed > plain.speed


@pytest.mark.parametrize(("past", "through", "direct"), [(3e9, 1e9, True), (1.0e9, 1.2e9, True), (1e9, 2e9, False)])
def test_experts_are_read_as_was_measured_to_be_faster_and_it_is_said_why(
    past: float, through: float, direct: bool
) -> None:
    points = tuple(DiskPoint(5 << 19, 4, way, rate) for way, rate in ((True, past), (False, through)))
    machine = dataclasses.replace(laptop(16), disk_points=points)
    plan = make_plan(machine, thirty_b(), with_settings(tier="4"))
    assert plan.direct == direct
    said = [s for s in plan.sentences if "file cache" in s]
    assert len(said) == 1
    assert ("are read directly" in said[0], "are read through" in said[0]) == (direct, not direct)
    alone = dataclasses.replace(laptop(16), disk_points=tuple(p for p in points if p.direct == direct))
    assert plan.speed == make_plan(alone, thirty_b(), with_settings(tier="4")).speed
    for asked in ("on", "off"):
        forced = make_plan(machine, thirty_b(), with_settings(tier="4", direct_io=asked))
        assert forced.direct == (asked == "on")
        assert not any("file cache" in s for s in forced.sentences)


def test_where_only_one_way_of_reading_was_measured_it_is_past_the_file_cache() -> None:
    machine = dataclasses.replace(laptop(16), disk_points=(DiskPoint(5 << 19, 4, False, 1e9),))
    assert make_plan(machine, thirty_b(), DEFAULTS).direct
    assert make_plan(laptop(16), thirty_b(), DEFAULTS).direct


def test_keys_and_values_are_of_8_bits_by_themselves_where_experts_need_the_room() -> None:
    model = dataclasses.replace(native(thirty_b()), packed_kv_bytes=2 * 48 * 4 * 136)
    small, large = (make_plan(laptop(64), model, with_settings(memory_gb=gb)) for gb in (16.0, 60.0))
    assert (small.packed, small.row_bytes) == (True, model.packed_kv_bytes)
    assert (large.packed, large.row_bytes) == (False, model.kv_bytes)
    assert any("8-bit, to leave memory" in str(s) for s in small.sentences)
    plain = make_plan(laptop(64), model, with_settings(memory_gb=16.0, kv_cache="bf16"))
    assert not plain.packed
    assert small.context > plain.context or small.cache_bytes > plain.cache_bytes
    assert make_plan(laptop(64), model, with_settings(memory_gb=60.0, kv_cache="int8")).packed


def test_exact_never_has_keys_and_values_of_8_bits_unless_they_are_asked_for() -> None:
    model = dataclasses.replace(native(thirty_b()), packed_kv_bytes=2 * 48 * 4 * 136)
    exact = with_settings(memory_gb=16.0, dial="exact")
    assert not make_plan(laptop(64), model, exact).packed
    assert make_plan(laptop(64), model, {**exact, "kv_cache": "int8"}).packed
    small = make_plan(laptop(64), model, with_settings(memory_gb=16.0))
    opened = Opened(small.dense, small.context, 5000, 5000 * small.row_bytes, packed=True)
    assert make_plan(
        laptop(64), model, with_settings(memory_gb=60.0), opened=opened
    ).packed  # and not read again for it
    turned = make_plan(laptop(64), model, exact, opened=opened)
    assert (turned.packed, turned.row_bytes) == (False, model.kv_bytes)
    assert total(turned, model) <= 16 * GB


def test_what_cannot_be_of_8_bits_stays_and_says_so() -> None:
    plan = make_plan(laptop(64), native(thirty_b()), with_settings(kv_cache="int8"))
    assert not plan.packed
    assert any("can't be 8-bit" in str(s) for s in plan.sentences)


def reading(model: ModelFacts, image_bytes: int = 600_000_000, tokens: int = 1024) -> ModelFacts:
    """The same model, with images that take so much."""
    return dataclasses.replace(model, image_bytes=image_bytes, image_tokens=tokens)


@pytest.mark.parametrize(("image_bytes", "tokens"), [(600_000_000, 1024), (100_000_000, 8192)])  # by encoder, by layers
@pytest.mark.parametrize("ram", [8, 16, 32, 64])
def test_an_image_stays_below_the_ceiling(ram: int, image_bytes: int, tokens: int) -> None:
    model = reading(native(thirty_b()), image_bytes, tokens)
    plan = make_plan(laptop(ram), model, DEFAULTS, 300_000_000)
    left = dataclasses.replace(plan, cache_bytes=plan.cache_bytes - plan.lent_to_image)
    beside = max(image_bytes, tokens * model.token_bytes) - FEW * model.token_bytes
    assert 300_000_000 + total(left, model) + beside <= plan.ceiling
    assert left.cache_bytes >= plan.smallest_cache
    assert bool(plan.lent_to_image) == (ram < 64)  # there all experts and an image fit
    assert any("An image takes up to" in sentence for sentence in plan.sentences)
    without = make_plan(laptop(ram), native(thirty_b()), DEFAULTS, 300_000_000)
    assert without.lent_to_image == 0
    assert (without.cache_bytes, without.lent) == (plan.cache_bytes, plan.lent) or without.context > plan.context


def test_the_least_that_a_model_needs_has_room_for_an_image() -> None:
    models = [dataclasses.replace(native(thirty_b()), opening_bytes={}, image_bytes=n) for n in (0, 600_000_000)]
    plain, seeing = (make_plan(laptop(64), model, DEFAULTS).least for model in models)
    assert seeing - plain == 600_000_000 - CHUNKS[-1] * models[0].token_bytes
    with pytest.raises(UnderhillError, match="Raise the memory limit") as refused:
        make_plan(laptop(64), models[1], with_settings(memory_gb=(plain + 1e8) / GB, dense="int4"))
    assert refused.value.kind is Kind.OUT_OF_MEMORY
    plan = make_plan(laptop(64), models[1], with_settings(memory_gb=(seeing + 1e6) / GB))
    assert plan.smallest_cache <= plan.cache_bytes - plan.lent_to_image


def test_multi_token_prediction_has_memory_where_everything_else_has_it() -> None:
    model = thirty_b()
    per = model.expert_bytes[8] // 48
    proposes = dataclasses.replace(
        model,
        mtp_bytes=dict.fromkeys(model.dense_bytes, 80_000_000),
        mtp_expert_bytes={8: per, 4: per // 2, 2: per // 3},
    )
    roomy = make_plan(laptop(64), proposes, with_settings(memory_gb=44.0))
    assert per < roomy.mtp < 1.05 * per + 80_000_000
    assert total(roomy, proposes) + roomy.mtp <= 44 * GB
    assert any("multi-token prediction" in str(s) for s in roomy.sentences)
    for changes in ({"speculation": "off"}, {"memory_gb": 32.0}, {"cache_fraction": 0.5}):
        settings = with_settings(**{"memory_gb": 44.0, **changes})
        plan = make_plan(laptop(64), proposes, settings)
        assert plan.mtp == 0
        assert plan == make_plan(laptop(64), model, settings)
    least = make_plan(laptop(64), proposes, with_settings(memory_gb=44.0)).least
    assert least == make_plan(laptop(64), model, with_settings(memory_gb=44.0)).least
    opened = Opened(roomy.dense, roomy.context, 5000, 5000 * roomy.row_bytes, mtp=roomy.mtp)
    lower = make_plan(laptop(64), proposes, with_settings(memory_gb=30.0), opened=opened)
    assert lower.mtp == roomy.mtp
    assert total(lower, proposes) + lower.mtp <= 30 * GB
