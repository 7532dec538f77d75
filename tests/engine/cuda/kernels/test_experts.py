"""The card's experts against the processor's, bit by bit, and against float64; on the machine that runs PTX."""

from __future__ import annotations

from functools import lru_cache

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.experts.execution.requests import slots_by_expert
from engine.kernels.activation import KINDS as ACTIVATIONS
from engine.kernels.activation import SWIGLU_KINDS, Activation
from engine.kernels.call import Parts
from engine.kernels.native import NativeKernel
from engine.quantization.planes import encode
from engine.record.layout import ExpertSpec
from tests.engine.cuda.kernels.card import FLAVOURS, SILU, Card
from tests.engine.kernels.calls import routed, run
from tests.engine.kernels.oracle import forward_8_bits
from tests.engine.kernels.records import random_experts
from tests.engine.kernels.reference import expert_forward
from tests.engine.quantization.grouped_codes import KINDS, expert

HOWS = ("1", "4", "exact", "gemm")
# Codes into a table of wide bytes: AVX2 alone takes 127 from level and zero first, so its sums differ in the last bits.
WIDE = ("IQ4_NL", "NF4")


@lru_cache(maxsize=2)
def processor(exact: bool) -> NativeKernel:
    """The processor's kernels with the best instructions that it has."""
    return NativeKernel(1, exact=exact)


def same_as_processor(
    how: str, spec: ExpertSpec, experts: dict[int, Parts], x: Tensor, ids: Tensor, activation: Activation = SILU
) -> tuple[Tensor, Tensor]:
    """What the card and what the processor gives for all slots."""
    theirs = run(processor(how == "exact"), spec, experts, x, ids, activation)
    flavour = FLAVOURS[len(x) % 2]
    # by turns as a record lies, and with dead bytes behind each of its sections
    return Card(flavour, seed=len(x), apart=bool(spec.hidden % 4)).layer(spec, experts, x, ids, how, activation), theirs


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hidden=st.integers(1, 200), intermediate=st.integers(1, 150), top=st.sampled_from([2, 4, 8]),
    group=st.sampled_from([16, 32, 48, 64, 128, 256]), has_gate=st.booleans(), has_bias=st.booleans(),
    tokens=st.integers(1, 12), kind=st.sampled_from([k for k in ACTIVATIONS if k != "gelu"]),
    how=st.sampled_from(HOWS), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_bits_of_the_processor_for_any_shape(
    hidden: int, intermediate: int, top: int, group: int, has_gate: bool, has_bias: bool, tokens: int, kind: str,
    how: str, seed: int,
) -> None:  # fmt: skip
    spec = ExpertSpec(hidden, intermediate, top, group, has_gate=has_gate or kind in SWIGLU_KINDS, has_bias=has_bias)
    experts = random_experts(spec, 3, list(spec.tiers), seed)
    torch.manual_seed(seed)
    x, ids = torch.randn(tokens, hidden), routed(tokens, 2, 3, seed)
    ours, theirs = same_as_processor(how, spec, experts, x, ids, Activation(kind))  # type: ignore[arg-type]
    assert torch.equal(ours, theirs)


@pytest.mark.parametrize("flavour", FLAVOURS)
@pytest.mark.parametrize("how", HOWS)
def test_within_its_tolerance_of_float64(flavour: str, how: str) -> None:
    spec = ExpertSpec(256, 144, 8, 64)
    experts = random_experts(spec, 3, [8, 4, 2])
    torch.manual_seed(0)
    x, ids = torch.randn(7, 256), routed(7, 2, 3)
    ours = Card(flavour).layer(spec, experts, x, ids, how).double()
    oracle = torch.full((14, 256), float("nan"), dtype=torch.float64)
    for e, slots in slots_by_expert(ids.flatten().tolist()).items():
        forward = expert_forward if how == "exact" else forward_8_bits
        oracle[slots] = forward(spec, SILU, experts[e], x[torch.tensor(slots) // 2].double())
    assert (ours - oracle).norm() <= (1e-5 if how == "exact" else 5e-3) * oracle.norm()


@lru_cache(maxsize=64)
def experts_of(kind: str, count: int) -> tuple[ExpertSpec, dict[int, Parts]]:
    """Experts that keep the codes of a source, by turns at all their bits and at 2."""
    found: dict[int, Parts] = {}
    for e in range(count):
        spec, own = expert(KINDS[kind][0], 3 * e, 256, 256)
        record = torch.from_numpy(encode(dict(own), spec, 0, e).record)
        parts = {p.index: record[p.offset : p.offset + p.nbytes].contiguous() for p in spec.layout.parts}
        found[e] = Parts(spec, parts, (4, 2)[e % 2])
    return spec, found


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("kind", KINDS)
def test_codes_that_a_source_had_keep_the_processors_bits(kind: str, how: str) -> None:
    spec, experts = experts_of(kind, 2)
    torch.manual_seed(1)
    x, ids = torch.randn(3, spec.hidden), routed(3, 2, 2)
    ours, theirs = same_as_processor(how, spec, experts, x, ids)
    if kind in WIDE and processor(False).isa in ("avx2", "avx512") and how != "exact":
        assert (ours - theirs).norm() <= 2e-3 * theirs.norm()  # a code of h may fall to the other side
    else:
        assert torch.equal(ours, theirs)


def test_gelu_is_that_of_the_processor_to_the_rounding_of_h() -> None:
    spec = ExpertSpec(96, 70, 8, 32)
    experts = random_experts(spec, 2, [8])
    x, ids = torch.randn(3, 96), routed(3, 2, 2)
    for how in HOWS:
        ours, theirs = same_as_processor(how, spec, experts, x, ids, Activation("gelu"))
        assert (ours - theirs).norm() <= (2e-6 if how == "exact" else 5e-3) * theirs.norm()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("poison", [float("nan"), float("inf"), float("-inf")])
def test_what_is_not_finite_is_never_quietly_finite_and_stays_with_its_token(how: str, poison: float) -> None:
    spec = ExpertSpec(150, 40, 8, 32)
    experts = random_experts(spec, 2, [8, 2])
    x, ids = torch.randn(6, 150), routed(6, 2, 2)
    clean = Card().layer(spec, experts, x, ids, how)
    x[3, 149] = poison
    dirty = Card().layer(spec, experts, x, ids, how)
    assert not dirty[6:8].isfinite().any()
    others = [i for i in range(12) if i not in (6, 7)]
    assert torch.equal(dirty[others], clean[others])


def test_zeros_and_very_small_values_count_as_zero_in_8_bits() -> None:
    spec = ExpertSpec(64, 48, 8, 16)
    experts, ids = random_experts(spec, 1, [8]), torch.zeros(2, 1, dtype=torch.int64)
    x = torch.tensor([0.0, 1e-42]).view(2, 1) * torch.ones(2, 64)
    assert torch.equal(Card().layer(spec, experts, x, ids, "1"), torch.zeros(2, 64))


def test_a_layer_of_a_real_models_size_at_mixed_precision() -> None:
    spec = ExpertSpec(2048, 768, 8, 64)
    experts = random_experts(spec, 3, [8, 4, 2])
    x, ids = torch.randn(1, 2048), routed(1, 3, 3)
    for how in ("1", "gemm"):
        ours, theirs = same_as_processor(how, spec, experts, x, ids)
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("how", ["1", "4", "exact"])
def test_an_expert_that_is_not_there_gives_zeros_and_the_others_what_they_give(how: str) -> None:
    spec = ExpertSpec(150, 70, 4, 48, has_bias=True)
    experts = random_experts(spec, 3, [4])
    x, ids = torch.randn(1, spec.hidden), torch.tensor([[1, 0, 2]])
    theirs = run(processor(how == "exact"), spec, experts, x, ids, SILU)
    found = Card().layer(spec, experts, x, ids, how, missing={0})
    assert torch.equal(found[1], torch.zeros(spec.hidden))
    assert torch.equal(found[[0, 2]], theirs[[0, 2]])


def test_combining_is_the_processors_and_leaves_out_weights_of_zero() -> None:
    out, weights = torch.randn(12, 200), torch.rand(3, 4)
    weights[1, 2] = 0
    out[6] = float("nan")
    assert torch.equal(Card().combine(out, weights), processor(False).combine(out, weights))


def test_the_order_of_blocks_and_warps_changes_nothing() -> None:
    spec = ExpertSpec(160, 100, 4, 32)
    experts = random_experts(spec, 4, [4, 2])
    x, ids = torch.randn(4, 160), routed(4, 3, 4)
    first = Card(seed=0).layer(spec, experts, x, ids, "4")
    for seed in range(1, 6):
        assert torch.equal(Card(seed=100 * seed).layer(spec, experts, x, ids, "4"), first)
