"""The arithmetic held against runs whose figures docs/benchmarks.md has, at the rates that were seen beside them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import pytest

from engine import resources, settings
from engine.hardware.machine import GB, Machine, Memory
from engine.library.config_facts import config_facts
from engine.planning.facts import ModelFacts
from engine.planning.plan import make_plan
from engine.planning.speed import attending, expected, token_costs
from tests.benchmarks.prepare import Model
from tests.random_models.shapes import SHAPES, large

OFF = 0.25
PROGRAM = 285_000_000  # bytes of the process before the model, in those runs
SHARES = {8: 0.97, 4: 0.96, 2: 0.87}  # of the memory's rate, that the kernels reached there
# Of two cores of Zen 4: medians of what eight probes found.
ZEN_SHARES = {8: 0.82, 4: 0.84, 2: 0.76}
ZEN_PRODUCTS = {2: 2.35e11, 4: 2.95e11, 8: 2.72e11, 16: 3.0e11, 32: 3.15e11, 128: 3.18e11}
WHOLE = 10**12  # bytes of a cache that nothing is missing in


def machine(memory: float, disk: float = 3e9) -> Machine:
    return Machine(
        cores=2,
        memory=Memory(23 * GB, 20 * GB),
        memory_rate=memory,
        disk_rate=disk,
        disk_free=100 * GB,
        isa="avx512vnni",
        kernel_shares=SHARES,
    )


@pytest.mark.parametrize(
    ("name", "limit", "measured", "disk"),
    [
        ("qwen3", 0.5, 9.76, 2.9e9),
        ("qwen3", 0.25, 6.10, 2.4e9),
        ("olmoe", 0.5, 8.24, 2.7e9),
        ("olmoe", 0.25, 5.87, 2.9e9),
        ("mixtral", 0.5, 2.09, 2.8e9),
    ],
)
def test_bigger_than_memory(name: str, limit: float, measured: float, disk: float) -> None:
    """`offload --stream uniform`; memory's rate, which hardly matters here, was not noted."""
    shape = large(name)
    most = Model(shape, 4, Path()).nbytes * limit / GB
    chosen = {"dial": "exact", "dense": "int4", "context_length": 512, "memory_gb": most}
    for memory in (40e9, 75e9):
        facts = config_facts(shape.config(), name, top=4)
        plan = make_plan(machine(memory, disk), facts, settings.validated(chosen, settings.ENGINE), PROGRAM)
        assert plan.speed[0] == pytest.approx(measured, rel=OFF)


@pytest.mark.parametrize(
    ("name", "tier", "measured", "memory"),
    [
        ("olmoe", 8, 33.1, 39.3e9),
        ("olmoe", 4, 47.8, 37.4e9),
        ("qwen3", 8, 49.1, 35.8e9),
        ("qwen3", 4, 70.7, 33.2e9),
        ("qwen3", 4, 90.9, 46.1e9),
        ("qwen3", 2, 142.3, 43.1e9),
        ("mixtral", 8, 35.7, 75.6e9),
        ("mixtral", 4, 62.4, 76.0e9),
        ("mixtral", 4, 59.6, 65.3e9),
        ("mixtral", 4, 45.9, 40.9e9),
        ("mixtral", 2, 95.1, 79.3e9),
        ("mixtral", 2, 60.9, 41.6e9),
    ],
)
def test_all_in_memory(name: str, tier: int, measured: float, memory: float) -> None:
    """`decode`, which stops at the logits: no token is chosen."""
    facts = config_facts(SHAPES[name].config(), name, top=8)
    token = token_costs(machine(memory), facts, tier, dense="int8" if tier == 8 else "int4", cache=WHOLE)
    assert 1 / (token.computing + token.layers - facts.token_seconds) == pytest.approx(measured, rel=OFF)


@pytest.mark.parametrize(
    ("name", "cache", "chunk", "measured", "memory", "disk"),
    [
        ("qwen3", 8.17e9, 512, 3.16, 34.0e9, 2.09e9),
        ("qwen3", 3.08e9, 2048, 3.62, 35.4e9, 2.72e9),
        ("qwen3", 1.0e9, 1024, 4.21, 34.9e9, 2.51e9),
        ("olmoe", 8.16e9, 512, 2.57, 33.6e9, 2.57e9),
        ("olmoe", 2.82e9, 2048, 3.35, 33.1e9, 2.43e9),
        ("olmoe", 0.75e9, 512, 3.79, 33.6e9, 2.55e9),
        ("mixtral", 3.04e9, 512, 6.95, 34.0e9, 2.75e9),
        ("mixtral", 0.99e9, 512, 7.40, 33.4e9, 2.2e9),
    ],
)
def test_prompts(name: str, cache: float, chunk: int, measured: float, memory: float, disk: float) -> None:
    """`forecast`, on two cores of Zen 4: the rates are the means of the looks around its prompts."""
    facts = config_facts(large(name).config(), name, top=4)
    place = replace(machine(memory, disk), kernel_shares=ZEN_SHARES, products=ZEN_PRODUCTS)
    slow, fast = expected(place, facts, 4, "int8", int(cache), "exact", chunk=chunk).first_token
    assert math.sqrt(slow * fast) == pytest.approx(measured, rel=OFF)


def builtin() -> ModelFacts:
    config = json.loads(resources.path("builtin", "model", "config.json").read_text(encoding="utf-8"))
    return config_facts(config, "builtin", top=8)


@pytest.mark.parametrize("measured", [2080, 2100, 2220])
def test_the_model_that_everybody_meets_first(measured: float) -> None:
    """Whole answers of the built-in model (docs/planning.md), beside memory of 41 to 42 GB/s: of a hundred tokens."""
    found = expected(machine(41.5e9), builtin(), 8, "f32", WHOLE, context=100)
    assert found.decode == pytest.approx((measured, measured), rel=OFF)


def test_the_same_behind_a_thousand_tokens() -> None:
    """`forecast --shape builtin`, on two cores of Zen 4."""
    place = replace(machine(33e9), kernel_shares=ZEN_SHARES)
    found = expected(place, builtin(), 8, "f32", WHOLE, context=1000)
    assert found.decode[0] == pytest.approx(765, rel=OFF)


@pytest.mark.parametrize(("context", "microseconds"), [(1024, 191), (8192, 1446)])
def test_latent_attention_takes_the_products_of_all_heads(context: int, microseconds: float) -> None:
    """`mixers --mixer mla`, one thread of Zen 5: less what its matrices take, 136 microseconds."""
    facts = replace(builtin(), kv_bytes=2 * 576, latent_products=16 * (2 * 512 + 64))
    place = replace(machine(38e9), cores=1)
    assert attending(place, facts, "int8", context) == pytest.approx(microseconds / 1e6, rel=OFF)


@pytest.mark.parametrize(
    ("heads", "gigabytes"), [(16, (26.1, 29.8, 31.1)), (4, (22.0, 25.5, 26.4)), (8, (25.1, 29.4, 29.3))]
)
def test_rows_in_memory_are_attended_to_at_a_part_of_its_rate(heads: int, gigabytes: tuple[float, ...]) -> None:
    """`attention --threads 1`, beside a roof of 34 to 39 GB/s, of 1,024 to 32,768 tokens."""
    facts = replace(builtin(), kv_bytes=2 * 2 * heads * 128, latent_products=0)
    for context, rate in zip((1024, 8192, 32768), gigabytes, strict=True):
        found = attending(replace(machine(36.5e9), cores=1), facts, "bf16", context)
        assert found == pytest.approx(context * facts.kv_bytes / (rate * 1e9), rel=OFF)


@pytest.mark.parametrize(
    ("context", "milliseconds"),
    [(200, 0.68), (600, 0.82), (1000, 1.03), (1400, 1.30), (1800, 1.40)],
)
def test_a_token_takes_longer_the_more_there_are_before_it(context: int, milliseconds: float) -> None:
    """Medians of three passes of 2,000 tokens, on two cores of Zen 4, by a program made for the occasion and not kept:
    tokens that are read one by one, none of which is chosen."""
    place, facts = replace(machine(29e9), kernel_shares=ZEN_SHARES), builtin()
    token = token_costs(place, facts, 8, dense="f32", cache=WHOLE, context=context)
    assert token.beside - facts.token_seconds == pytest.approx(milliseconds / 1000, rel=OFF)
