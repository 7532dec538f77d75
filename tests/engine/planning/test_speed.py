"""The expected speed: bytes over rates, what hides behind what, and what was seen before."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.hardware.machine import GB, Machine
from engine.planning.facts import COMPAT_LAYER, NATIVE_LAYER, ModelFacts, Seen
from engine.planning.speed import (
    DISK_USE,
    HIDDEN,
    PRODUCTS,
    PROMPT,
    REUSE,
    ROWS,
    SHARES,
    WIDE_ROWS,
    WINDOW,
    Token,
    chunk_costs,
    decode_sentence,
    expected,
    figure,
    prompt_sentence,
    seconds,
    token_costs,
    window,
)
from tests.engine.planning.test_plan import laptop, thirty_b

DENSE = "bf16"
WHOLE = thirty_b().expert_bytes[4]


def speed(machine: Machine, model: ModelFacts, cache: int = WHOLE, tier: int = 4) -> tuple[float, float]:
    return expected(machine, model, tier, DENSE, cache, context=0).decode


def test_with_all_in_memory_it_is_the_bytes_over_the_kernels_rates_and_a_little_for_layers_and_words() -> None:
    machine, model = laptop(128), thirty_b()
    experts = 8 * 48 * model.record_bytes[4] / (SHARES[4] * machine.memory_rate)
    others = model.dense_bytes[DENSE] / (SHARES[8] * machine.memory_rate)
    low, high = speed(machine, model)
    assert low == high
    assert 1 / low == pytest.approx(experts + others + 48 * NATIVE_LAYER + model.token_seconds)
    measured = dataclasses.replace(machine, kernel_shares={4: 0.5, 8: SHARES[8]})
    assert 1 / speed(measured, model)[0] - 1 / low == pytest.approx(experts * (SHARES[4] / 0.5 - 1))


def test_where_the_disk_sets_the_pace_it_is_the_missing_bytes_over_its_rate_and_computing_hides_behind_it() -> None:
    machine, model = laptop(16, 0.5e9), thirty_b()
    token = token_costs(machine, model, 4, dense=DENSE, cache=WHOLE // 2)
    assert token.reading == pytest.approx(8 * 48 * model.record_bytes[4] / 2 / (DISK_USE * 0.5e9))
    assert token.reading > 5 * token.computing
    assert token.missed == pytest.approx(4)  # of the eight experts of a layer
    hidden = HIDDEN * (1 - 1 / 4)
    assert token.taken(1.0) == pytest.approx(token.reading + (1 - hidden) * (token.computing + token.layers))
    found = expected(machine, model, 4, DENSE, WHOLE // 2)
    assert found.limit == "disk"
    assert 1 < found.decode[1] / found.decode[0] <= 1 / REUSE
    assert "Limited by disk" in decode_sentence(found, all_in_memory=False)


def test_what_limits_is_whatever_takes_longer() -> None:
    nearly = int(0.98 * WHOLE)
    assert expected(laptop(64, 7e9), thirty_b(), 4, DENSE, nearly).limit == "memory"
    assert expected(laptop(64, 0.1e9), thirty_b(), 4, DENSE, nearly).limit == "disk"


@given(
    cache=st.floats(0.02, 1), more=st.floats(0, 1), disk=st.floats(0.1e9, 8e9), faster=st.floats(1, 10),
    memory=st.floats(5e9, 200e9), tier=st.sampled_from([2, 4, 8]), dial=st.sampled_from(["exact", "balanced", "fast"]),
)  # fmt: skip
def test_more_cache_a_faster_disk_and_faster_memory_never_make_it_slower(
    cache: float, more: float, disk: float, faster: float, memory: float, tier: int, dial: str
) -> None:
    model = thirty_b()
    machine = dataclasses.replace(laptop(16, disk), memory_rate=memory)
    whole = model.expert_bytes[tier]
    held = int(cache * whole)

    def of(machine: Machine, held: int) -> tuple[float, ...]:
        found = expected(machine, model, tier, DENSE, held, dial)
        return (*found.decode, *(1 / s for s in found.first_token))

    base = of(machine, held)
    larger = of(machine, held + int(more * (whole - held)))
    better = of(dataclasses.replace(machine, disk_rate=disk * faster), held)
    quicker = of(dataclasses.replace(machine, memory_rate=memory * faster), held)
    for other in (larger, better, quicker):
        assert all(b >= a * (1 - 1e-9) for a, b in zip(base, other))
    assert base[0] <= base[1]
    assert base[2] <= base[3]


def test_lossy_dials_read_less() -> None:
    machine, model = laptop(16, 0.5e9), thirty_b()
    exact, balanced, fast = (
        expected(machine, model, 4, DENSE, WHOLE // 4, dial).decode[0] for dial in ("exact", "balanced", "fast")
    )
    assert 1.5 < balanced / exact < 1.9
    assert 2.2 < fast / exact < 2.9


def test_slower_layers_are_expected_to_be_slower() -> None:
    fast = thirty_b()
    speeds = [speed(laptop(128), model)[1] for model in (fast, dataclasses.replace(fast, lean=False))]
    assert 1 / speeds[1] - 1 / speeds[0] == pytest.approx(48 * (COMPAT_LAYER - NATIVE_LAYER))


def test_a_model_that_the_processors_cache_holds_is_read_faster_than_memory() -> None:
    model = thirty_b()
    small = dataclasses.replace(
        model,
        expert_bytes={4: 10_000_000},
        record_bytes={4: 100_000},
        dense_bytes={DENSE: 4_000_000},
        moe_layers=2,
    )
    larger = dataclasses.replace(small, expert_bytes={4: 100_000_000})
    assert speed(laptop(16), small, 10_000_000) > speed(laptop(16), larger, 100_000_000)


def test_a_token_attends_to_the_rows_before_it_at_a_part_of_memorys_rate() -> None:
    machine, model = laptop(128), thirty_b()

    def taken(context: int, model: ModelFacts = model, machine: Machine = machine, dense: str = DENSE) -> float:
        return token_costs(machine, model, 4, dense=dense, cache=WHOLE, context=context).attending

    assert taken(0) == 0
    assert taken(8192) == pytest.approx(8192 * model.kv_bytes / (ROWS * machine.memory_rate))
    assert taken(8192, dense="f32") == pytest.approx(2 * 8192 * model.kv_bytes / (WIDE_ROWS * machine.memory_rate))
    assert taken(8192, dataclasses.replace(model, lean=False)) > 5 * taken(8192)
    half = dataclasses.replace(model, windowed={128: model.kv_bytes // 2})  # every other layer sees 128 tokens alone
    assert taken(100, half) == taken(100)
    assert taken(8192, half) == pytest.approx((taken(8192) + taken(128)) / 2)
    latent = dataclasses.replace(model, kv_bytes=31_104, latent_products=27 * 16 * (2 * 512 + 64))
    assert taken(8192, latent) == pytest.approx(8192 * latent.latent_products / (8 * PRODUCTS))
    quicker = dataclasses.replace(machine, isa="avx512vnni")
    assert taken(8192, latent, quicker) < taken(8192, latent)


def test_a_long_chat_is_expected_to_be_slower_and_what_is_read_from_disk_hides_it() -> None:
    machine, model = laptop(128), thirty_b()
    early, late = (expected(machine, model, 4, DENSE, WHOLE, context=n) for n in (0, 32768))
    assert late.decode[0] < 0.6 * early.decode[0]
    assert late.first_token == early.first_token
    said = decode_sentence(early, all_in_memory=True, late=late)
    assert f", about {figure(late.decode[0])} with a full context" in said
    assert "context" not in decode_sentence(early, all_in_memory=True, late=early)
    slow = laptop(16, 0.1e9)
    early, late = (expected(slow, model, 4, DENSE, WHOLE // 4, context=n) for n in (0, 8192))
    assert late.decode[0] > 0.95 * early.decode[0]


def test_what_was_seen_of_a_model_narrows_what_is_expected_of_it_and_corrects_it() -> None:
    machine, model = laptop(16, 0.5e9), thirty_b()
    wide = speed(machine, model, WHOLE // 4)
    seen = speed(machine, dataclasses.replace(model, seen=Seen(0.7)), WHOLE // 4)
    assert wide[0] < seen[0] < seen[1] < wide[1]
    corrected = speed(machine, dataclasses.replace(model, seen=Seen(0.7, 0.5)), WHOLE // 4)
    assert corrected == pytest.approx((seen[0] / 2, seen[1] / 2))


def test_a_prompt_waits_for_every_expert_that_is_missing_once_a_chunk() -> None:
    machine, model = laptop(16, 0.5e9), thirty_b()
    held = WHOLE // 4 - PROMPT * model.token_bytes - WINDOW  # what the prompt takes of the cache is missing as well
    once, twice = (expected(machine, model, 4, DENSE, WHOLE // 4, chunk=n).first_token[1] for n in (512, PROMPT // 2))
    assert once == pytest.approx((WHOLE - held) / (DISK_USE * 0.5e9), rel=1e-4)
    assert 1.9 < twice / once < 2
    computed = expected(laptop(128), model, 4, DENSE, WHOLE).first_token
    assert 0.5 < computed[1] < computed[0] < 20
    assert (
        expected(dataclasses.replace(laptop(128), products={64: 1e10}), model, 4, DENSE, WHOLE).first_token > computed
    )


def test_only_where_layers_are_recurrent_a_prompts_last_token_goes_through_by_itself() -> None:
    machine, model = laptop(16, 0.5e9), thirty_b()
    recurrent = dataclasses.replace(model, state_bytes=1000)
    last = token_costs(machine, model, 4, dense=DENSE, cache=WHOLE // 4).taken(1.0)
    one, other = (expected(machine, m, 4, DENSE, WHOLE // 4, context=0).first_token for m in (model, recurrent))
    assert other == pytest.approx(tuple(s + last for s in one))


def test_a_prompt_takes_its_products_one_pass_of_all_weights_but_the_heads_through_memory_and_what_is_beside() -> None:
    machine = dataclasses.replace(laptop(128), products={64: 1e12})
    model = dataclasses.replace(thirty_b(), head_bytes={"int8": 600_000_000})
    rest = model.dense_bytes["int8"] - 600_000_000
    headless = dataclasses.replace(model, dense_bytes={"int8": rest}, head_bytes={})

    def prompt(model: ModelFacts, machine: Machine = machine, dense: str = "int8") -> float:
        return expected(machine, model, 4, dense, WHOLE).first_token[1]

    assert prompt(model) == pytest.approx(prompt(headless))
    at_once = prompt(model, dataclasses.replace(machine, products={64: 1e30}))
    passes = WHOLE / (SHARES[4] * machine.memory_rate) + rest / (SHARES[8] * machine.memory_rate)
    assert at_once > passes + 48 * NATIVE_LAYER
    assert at_once == pytest.approx(passes + 48 * (NATIVE_LAYER + 7e-11 * 200_000 * 500 + 3e-5 * 128 + 1e-6 * 4000))
    products = PROMPT * (8 * 48 * 3 * 768 * 2048 + rest)
    assert prompt(model) - at_once == pytest.approx(products / 1e12, rel=1e-3)
    plain = dataclasses.replace(model, dense_bytes={"f32": 4 * rest}, head_bytes={})
    assert prompt(plain, dense="f32") > prompt(model)  # torch multiplies what is not packed


def test_products_are_those_of_as_many_tokens_as_a_weight_meets() -> None:
    """Of 500 tokens that choose 8 of 128 experts, 31 meet in an expert, and all in the weights beside."""
    rates = {2: 1e11, 8: 1e11, 31.25: 5e10, 500: 2e11}
    machine = dataclasses.replace(laptop(128), products=rates)
    model = dataclasses.replace(thirty_b(), dense_bytes={"int8": 1_000_000_000})

    def prompt(rates: dict[float, float]) -> float:
        return expected(dataclasses.replace(machine, products=rates), model, 4, "int8", WHOLE).first_token[1]

    rest = prompt(dict.fromkeys(rates, 1e30))
    experts = PROMPT * 8 * 48 * 3 * 768 * 2048
    assert prompt(rates) - rest == pytest.approx(experts / 5e10 + PROMPT * 1e9 / 2e11, rel=1e-3)
    assert machine.products_at(4) == pytest.approx(1e11)
    assert machine.products_at(1) == pytest.approx(1e11)
    assert machine.products_at(9999) == pytest.approx(2e11)
    assert 5e10 < machine.products_at(100) < 2e11
    assert laptop(128).products_at(128) > laptop(128).products_at(8) > 0


def test_a_prompt_reads_through_room_for_three_experts_however_large_these_are() -> None:
    record = 100_000_000
    assert window(10 * record, record) == 3 * record
    assert window(2 * record, record) == 2 * record
    assert window(10**10, 2_000_000) == WINDOW
    machine, model = laptop(16, 0.5e9), thirty_b()
    large = dataclasses.replace(model, record_bytes={4: record}, token_bytes=0)
    reading = chunk_costs(machine, large, 4, DENSE, 20 * record, 512).reading
    held = (20 - 3) * record
    assert reading == pytest.approx((WHOLE - held) / (DISK_USE * 0.5e9), rel=1e-4)


def test_kernels_do_not_outrun_memory_whatever_a_disturbed_measurement_said() -> None:
    shares = {4: 1.8, 8: 1.5}
    disturbed, sane = (
        dataclasses.replace(laptop(128), kernel_shares=found) for found in (shares, dict.fromkeys(shares, 1.0))
    )
    assert speed(disturbed, thirty_b()) == speed(sane, thirty_b())


def test_hiding_is_not_perfect_and_nothing_takes_less_than_its_longest_part() -> None:
    token = Token(computing=2.0, layers=1.0, reading=4.0, missed=6.0)
    assert 4.0 < token.taken(1.0) < 7.0
    few = dataclasses.replace(token, missed=2.0)
    alone = dataclasses.replace(token, missed=1.0)  # one reads, then computes
    assert token.taken(1.0) < few.taken(1.0) < alone.taken(1.0) == 7.0
    assert few.taken(0.5) == 3.0 + 2.0
    assert token.taken(0.0) > 2.9
    assert 1 / GB < token.taken(0.5) < token.taken(1.0)


@pytest.mark.parametrize(
    ("slow", "fast", "said"),
    [
        (0.03, 0.02, "under 0.1 s"),
        (0.5, 0.02, "about 0.1–0.5 s "),
        (1.04, 0.96, "about 1.0 s "),
        (30.2, 20.0, "about 20–30 s "),
    ],
)
def test_a_prompt_never_takes_no_time_at_all(slow: float, fast: float, said: str) -> None:
    assert said in prompt_sentence((slow, fast))
    assert seconds(0.0) == "0.1"
