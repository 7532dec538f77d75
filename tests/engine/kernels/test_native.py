"""The exact C kernels of every instruction set against float64, and the promises that the runtime builds on."""

from __future__ import annotations

import ctypes
import threading
import time
from array import array
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.experts.execution.requests import slots_by_expert
from engine.kernels.activation import KINDS, SWIGLU_KINDS, Activation, ActivationKind
from engine.kernels.call import Parts, Work
from engine.kernels.dense import raw_view
from engine.kernels.native import EXPERT, SKIPPED, NativeKernel, ResidentLayer, StepArgs
from engine.native.op_graph import GraphStep, OpGraph
from engine.record.layout import ExpertSpec
from tests.engine.kernels.calls import SILU, routed, run
from tests.engine.kernels.records import random_experts, random_parts
from tests.engine.kernels.reference import TorchKernel, moe_forward

MakeKernel = Callable[..., NativeKernel]


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    hidden=st.integers(1, 200), intermediate=st.integers(1, 150), top=st.sampled_from([4, 8, 16, 32]),
    group=st.sampled_from([16, 32, 48, 64, 128]), has_gate=st.booleans(), has_bias=st.booleans(),
    tokens=st.integers(1, 11), kind=st.sampled_from(KINDS), seed=st.integers(0, 99),
)  # fmt: skip
def test_within_1e5_of_float64(
    make_kernel: MakeKernel, hidden: int, intermediate: int, top: int, group: int, has_gate: bool, has_bias: bool,
    tokens: int, kind: str, seed: int,
) -> None:  # fmt: skip
    spec = ExpertSpec(hidden, intermediate, top, group, has_gate=has_gate or kind in SWIGLU_KINDS, has_bias=has_bias)
    experts = random_experts(spec, 5, list(spec.tiers), seed)
    activation = Activation(kind)  # type: ignore[arg-type]
    torch.manual_seed(seed)
    x, ids, weights = torch.randn(tokens, hidden), routed(tokens, 3, 5, seed), torch.rand(tokens, 3)
    kernel = make_kernel()
    ours = kernel.combine(run(kernel, spec, experts, x, ids, activation), weights)
    oracle = moe_forward(x.double(), ids, weights, experts, spec, activation)
    assert (ours.double() - oracle).norm() <= 1e-5 * oracle.norm() + 1e-6


@pytest.mark.parametrize("kind", sorted(SWIGLU_KINDS))
@pytest.mark.parametrize("top", [4, 8, 16, 32])
def test_limits_count_at_every_tier(make_kernel: MakeKernel, kind: ActivationKind, top: int) -> None:
    spec = ExpertSpec(80, 45, top, 16)
    limited, free = Activation(kind, 1.3, 2.0, 3.0), Activation(kind, 1.3, 1e9, 1e9)
    x, ids, weights = 5 * torch.randn(6, 80), torch.zeros(6, 1, dtype=torch.int64), torch.ones(6, 1)
    for tier in spec.tiers:
        experts = random_experts(spec, 1, [tier])
        ours = run(make_kernel(), spec, experts, x, ids, limited).double()
        oracle, unlimited = (moe_forward(x.double(), ids, weights, experts, spec, a) for a in (limited, free))
        assert (ours - oracle).norm() <= 1e-5 * oracle.norm()
        assert (unlimited - oracle).norm() > 0.1 * oracle.norm()


def test_large_enough_to_share_among_threads(make_kernel: MakeKernel) -> None:
    spec = ExpertSpec(512, 320, 8, 64)
    experts = random_experts(spec, 4, [8, 4, 2])
    x, ids, weights = torch.randn(7, 512), routed(7, 2, 4), torch.rand(7, 2)
    kernel = make_kernel(3)
    ours = kernel.combine(run(kernel, spec, experts, x, ids), weights)
    oracle = moe_forward(x.double(), ids, weights, experts, spec, SILU)
    assert (ours.double() - oracle).norm() <= 1e-5 * oracle.norm()


@pytest.mark.parametrize("top", [8, 16, 32])
def test_same_bits_for_any_number_of_threads(make_kernel: MakeKernel, top: int) -> None:
    spec = ExpertSpec(400, 300, top, 32, has_bias=True)
    experts = random_experts(spec, 6, list(spec.tiers))
    x, ids, weights = torch.randn(9, 400), routed(9, 3, 6), torch.rand(9, 3)
    alone = run(make_kernel(1), spec, experts, x, ids)
    for threads in (2, 5):
        for _ in range(5):
            shared = run(make_kernel(threads), spec, experts, x, ids)
            assert torch.equal(shared, alone)
            assert torch.equal(make_kernel(threads).combine(shared, weights), make_kernel(1).combine(alone, weights))


@pytest.mark.parametrize("top", [8, 16, 32])
def test_same_bits_in_whichever_call_a_slot_is_computed(make_kernel: MakeKernel, top: int) -> None:
    spec = ExpertSpec(150, 90, top, 16)
    experts = random_experts(spec, 4, list(spec.tiers))
    x, ids = torch.randn(10, 150), routed(10, 2, 4)
    kernel = make_kernel()
    together = run(kernel, spec, experts, x, ids)
    apart = torch.empty_like(together)
    for expert, slots in slots_by_expert(ids.flatten().tolist()).items():
        for slot in slots:
            kernel.run(spec, SILU, [Work(experts[expert], [slot])], x, 2, apart)
    assert torch.equal(together, apart)


def test_combine_adds_in_the_order_of_k_as_the_reference_does(make_kernel: MakeKernel) -> None:
    out, weights = torch.randn(5 * 6, 77) * 1e4, torch.rand(5, 6)
    weights[2, 3] = 0
    out[2 * 6 + 3] = float("nan")
    assert torch.equal(make_kernel().combine(out, weights), TorchKernel().combine(out, weights))


@pytest.mark.parametrize("k", [1, 6, 64])
def test_what_is_skipped_is_dropped_unread_and_nothing_else(make_kernel: MakeKernel, k: int) -> None:
    out, weights, y = torch.randn(k, 77), torch.rand(k), torch.full((77,), float("nan"))
    needed = torch.tensor([(SKIPPED, 0, 2)[rank % 3] for rank in range(k)], dtype=torch.int32)
    out[needed == SKIPPED] = float("nan")
    kernel, step, ids = make_kernel(), StepArgs(), torch.arange(k)
    table = (ctypes.c_char * (EXPERT.size * k))()  # of experts that are not there, of which none is asked for
    layer = ResidentLayer(0, ctypes.addressof(table), t1=-1.0, t2=-1.0, n=k, high=3, low=1)
    step.set((ids.data_ptr(), weights.data_ptr(), 0, y.data_ptr()), 1, k)
    assert kernel.look_up(ctypes.addressof(layer), step) == 0
    assert step.to_fetch[:k].tolist() == [SKIPPED] * k
    step.to_fetch[:k] = array("i", needed.tolist())
    kernel.combine_some(step, out.data_ptr(), 77)
    kept = torch.where(needed == SKIPPED, 0.0, weights)
    assert torch.equal(y, TorchKernel().combine(out, kept[None])[0])


@pytest.mark.parametrize("poison", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("top", [8, 32])
def test_what_is_not_finite_stays_with_its_token(make_kernel: MakeKernel, poison: float, top: int) -> None:
    spec = ExpertSpec(70, 40, top, 32)
    experts = random_experts(spec, 2, [spec.tiers[-1]])
    x, ids = torch.randn(6, 70), routed(6, 2, 2)
    clean = run(make_kernel(), spec, experts, x, ids)
    x[3, 69] = poison
    dirty = run(make_kernel(), spec, experts, x, ids)
    assert not dirty[6:8].isfinite().all(dim=1).any()
    others = [i for i in range(12) if i not in (6, 7)]
    assert torch.equal(dirty[others], clean[others])


@pytest.mark.parametrize("kind", KINDS)
def test_activations_hide_no_more_than_the_reference_does(make_kernel: MakeKernel, kind: ActivationKind) -> None:
    spec = ExpertSpec(70, 40, 32)
    experts, activation = random_experts(spec, 1, [32]), Activation(kind)
    x, ids = torch.randn(3, 70), torch.zeros(3, 1, dtype=torch.int64)
    x[0, 1], x[1, 2], x[2, 3] = float("nan"), float("inf"), float("-inf")
    ours = run(make_kernel(), spec, experts, x, ids, activation)
    oracle = moe_forward(x.double(), ids, torch.ones(3, 1), experts, spec, activation)
    assert ours[0].isnan().all()
    assert torch.equal(ours.isfinite(), oracle.isfinite())
    finite = oracle.isfinite()
    torch.testing.assert_close(ours[finite].double(), oracle[finite], rtol=1e-4, atol=1e-5)


def test_extreme_inputs_give_what_the_reference_gives(make_kernel: MakeKernel) -> None:
    spec = ExpertSpec(64, 48, 32)
    experts = random_experts(spec, 1, [32])
    x = torch.tensor([1e-30, 1e3, -1e3, 3e4]).view(4, 1) * torch.ones(4, 64)
    for kind in KINDS:
        activation = Activation(kind)
        ours = run(make_kernel(), spec, experts, x, torch.zeros(4, 1, dtype=torch.int64), activation)
        oracle = moe_forward(
            x.double(), torch.zeros(4, 1, dtype=torch.int64), torch.ones(4, 1), experts, spec, activation
        )
        torch.testing.assert_close(ours.double(), oracle, rtol=1e-4, atol=1e-6)


def test_parts_may_lie_at_any_address_and_be_longer(make_kernel: MakeKernel) -> None:
    spec = ExpertSpec(48, 32, 8, 16)
    parts = random_parts(spec)
    moved = {index: torch.cat([torch.zeros(3, dtype=torch.uint8), p, p])[3:] for index, p in parts.items()}
    x, ids = torch.randn(2, 48), torch.zeros(2, 1, dtype=torch.int64)
    for tier in spec.tiers:
        here = run(make_kernel(), spec, {0: Parts(spec, parts, tier)}, x, ids)
        there = run(make_kernel(), spec, {0: Parts(spec, moved, tier)}, x, ids)
        assert torch.equal(here, there)


def test_calls_from_many_python_threads_take_turns(make_kernel: MakeKernel) -> None:
    spec = ExpertSpec(300, 200, 8, 32)
    experts, kernel = random_experts(spec, 4, [8]), make_kernel(3)
    inputs = [(torch.randn(3, 300), routed(3, 2, 4, seed)) for seed in range(4)]
    expected = [run(kernel, spec, experts, x, ids) for x, ids in inputs]
    wrong: list[int] = []

    def work(which: int) -> None:
        for _ in range(10):
            if not torch.equal(run(kernel, spec, experts, *inputs[which]), expected[which]):
                wrong.append(which)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_bad_calls_are_refused_before_any_address_is_used(make_kernel: MakeKernel) -> None:
    kernel, spec = make_kernel(), ExpertSpec(32, 16, 8, 16)
    experts = random_experts(spec, 1, [8])
    x, out = torch.randn(2, 32), torch.empty(2, 32)
    work = [Work(experts[0], [0, 1])]
    other = [Work(random_experts(ExpertSpec(32, 32, 8, 16), 1, [8])[0], [0])]
    for arguments in (
        (spec, SILU, work, x.double(), 1, out.double()),
        (spec, SILU, work, x.t().contiguous().t(), 1, out),
        (spec, SILU, work, x, 1, torch.empty(1, 32)),
        (spec, SILU, work, torch.randn(2, 31), 1, out),
        (spec, SILU, [Work(experts[0], [2])], x, 1, out),
        (spec, SILU, [Work(experts[0], [-1])], x, 1, out),
        (spec, SILU, other, x, 1, out),
        (ExpertSpec(32, 16, 8, 16, has_gate=False), Activation("clamped_swiglu"), [], x, 1, out),
    ):
        with pytest.raises(ValueError, match=r"x is|out is|slots|another shape|contiguous|needs experts"):
            kernel.run(*arguments)
    with pytest.raises(ValueError, match="out is"):
        kernel.combine(torch.empty(3, 32), torch.ones(2, 1))


def test_parts_are_checked_when_they_are_named() -> None:
    spec = ExpertSpec(32, 16, 8, 16)
    parts = random_parts(spec)
    for index, wrong in ((1, parts[1][:-1]), (2, parts[2].int()), (5, parts[5][:-1]), (4, parts[4].to("meta"))):
        with pytest.raises(ValueError, match=r"part (C0|C1|C2|P8) must"):
            Parts(spec, {**parts, index: wrong}, 8)
    for index, tier in ((0, 2), (3, 4), (4, 8), (5, 8)):
        with pytest.raises(ValueError, match=f"{spec.layout.parts[index].name}, which"):
            Parts(spec, {i: p for i, p in parts.items() if i != index}, tier)
    with pytest.raises(ValueError, match="tier 16"):
        Parts(spec, parts, 16)
    four = Parts(spec, {i: parts[i] for i in (1, 2, 3, 5)}, 4)
    assert (sorted(four.parts), four.planes) == ([1, 2, 3], 2)
    assert four.addresses == (*(parts[i].data_ptr() for i in (1, 2)), 0, parts[3].data_ptr())


def test_after_closing_every_call_is_refused_and_closing_again_is_not(native_library: Path) -> None:
    kernel = NativeKernel(1, "portable", native_library)
    weight = torch.ones(3, 16)
    kernel.close()
    kernel.close()
    calls: list[Callable[[], object]] = [
        lambda: kernel.linear(raw_view(weight, None), torch.ones(1, 16)),
        lambda: kernel.combine(torch.ones(2, 16), torch.ones(1, 2)),
        lambda: kernel.run_graph(OpGraph([]), GraphStep(0)),
        lambda: kernel.moe_one(0, 0, 0, 0, 0, 0),
        lambda: kernel.moe_if_resident(0, StepArgs()),
        lambda: kernel.moe_some(0, StepArgs(), 0, 0),
        lambda: kernel.combine_some(StepArgs(), 0, 0),
    ]
    for call in calls:
        with pytest.raises(RuntimeError, match="closed"):
            call()


def test_what_its_threads_computed_is_counted(make_kernel: MakeKernel) -> None:
    data = torch.zeros(32 << 20, dtype=torch.uint8)
    alone, kernel = make_kernel(1), make_kernel(2)  # others have used them
    before, start = kernel.worked, time.perf_counter()
    for _ in range(500):  # the other thread may come late once
        alone.read(data)
        kernel.read(data)
        if kernel.worked > before:
            break
    assert alone.worked == 0
    assert 0 < kernel.worked - before <= time.perf_counter() - start
