"""Experts that keep the codes of their source: every instruction set against float64, all paths against each other."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import pytest
import torch
from torch import Tensor

from engine.experts.execution.requests import slots_by_expert
from engine.kernels.call import Parts, Work
from engine.kernels.native import NativeKernel
from engine.quantization.grouped import GroupedCodes
from engine.quantization.planes import encode
from engine.record.coding import LEVELS, Coding
from engine.record.layout import ExpertSpec
from tests.engine.kernels.calls import SILU, routed, run, run_one
from tests.engine.kernels.oracle import forward_8_bits
from tests.engine.kernels.reference import TorchKernel, moe_forward
from tests.engine.quantization.grouped_codes import KINDS, expert, made

MakeKernel = Callable[..., NativeKernel]
MIXED = "of several codings"


@lru_cache(maxsize=64)
def experts_of(kind: str, count: int, tier: int | None) -> tuple[ExpertSpec, dict[int, Parts]]:
    """tier: None, the experts by turns at 2 bits and at all."""
    found: dict[int, Parts] = {}
    for e in range(count):
        if kind == MIXED:
            codings = (Coding(4, 32, "pair", "plain"), KINDS["Q4_K"][0], KINDS["Q6_K"][0])
            spec = ExpertSpec(256, 272, 4, 32, codings=codings)
            matrices: dict[str, Tensor | GroupedCodes] = {
                "gate": torch.randn(272, 256) * 0.02,
                "up": made(codings[1], 272, 256, e),
                "down": made(codings[2], 256, 272, e),
            }
        else:
            spec, own = expert(KINDS[kind][0], 3 * e, 256, 256)
            matrices = dict(own)
        record = torch.from_numpy(encode(matrices, spec, 0, e).record)
        parts = {p.index: record[p.offset : p.offset + p.nbytes].contiguous() for p in spec.layout.parts}
        found[e] = Parts(spec, parts, tier or (2, 4)[e % 2])
    return spec, found


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
@pytest.mark.parametrize("tier", [2, 4])
def test_within_1e5_of_float64(make_kernel: MakeKernel, kind: str, tier: int) -> None:
    spec, experts = experts_of(kind, 3, tier)
    for tokens in (1, 3, 9):
        x, ids, weights = torch.randn(tokens, spec.hidden), routed(tokens, 2, 3), torch.rand(tokens, 2)
        kernel = make_kernel()
        ours = kernel.combine(run(kernel, spec, experts, x, ids), weights)
        oracle = moe_forward(x.double(), ids, weights, experts, spec, SILU)
        assert (ours.double() - oracle).norm() <= 1e-5 * oracle.norm()
        torch_kernel = TorchKernel()
        theirs = torch_kernel.combine(run(torch_kernel, spec, experts, x, ids), weights)
        assert (ours - theirs).norm() <= 1e-5 * oracle.norm()


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
@pytest.mark.parametrize("tier", [2, 4])
def test_activations_of_8_bits_against_float64(make_kernel: MakeKernel, kind: str, tier: int) -> None:
    spec, experts = experts_of(kind, 2, tier)
    for tokens in (1, 2, 70):
        x, ids = torch.randn(tokens, spec.hidden), routed(tokens, 1, 2)
        ours = run(make_kernel(exact=False), spec, experts, x, ids).double()
        for e, slots in slots_by_expert(ids.flatten().tolist()).items():
            oracle = forward_8_bits(spec, SILU, experts[e], x[torch.tensor(slots)].double())
            assert (ours[slots] - oracle).norm() <= 5e-3 * oracle.norm()


@pytest.mark.parametrize("kind", [*KINDS, MIXED])
@pytest.mark.parametrize("exact", [True, False])
def test_one_token_few_and_many_get_the_same_bits(make_kernel: MakeKernel, kind: str, exact: bool) -> None:
    spec, experts = experts_of(kind, 2, None)
    kernel, ids = make_kernel(exact=exact), torch.tensor([[0, 1]] * 23)
    x, weights = torch.randn(23, spec.hidden), torch.rand(23, 2)
    together = run(kernel, spec, experts, x, ids)
    apart = torch.empty_like(together)
    for slot in range(46):
        kernel.run(spec, SILU, [Work(experts[slot % 2], [slot])], x, 2, apart)
    assert torch.equal(together, apart)
    combined = kernel.combine(together, weights)
    for token in (0, 11, 22):
        alone = run_one(kernel, spec, [experts[0], experts[1]], x[token], weights[token])
        assert torch.equal(alone, combined[token])


def test_levels_have_a_sign_in_8_bits_once_127_is_taken_from_them() -> None:
    """AVX2 turns the sign of a level, and -128 has no opposite in 8 bits."""
    for name, levels in LEVELS.items():
        assert all(0 <= level <= 254 for level in levels.table), name


@pytest.mark.parametrize("kind", ["IQ4_NL", "NF4", "MXFP4", "NVFP4"])
@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_the_signs_of_levels_and_of_activations_meet(make_kernel: MakeKernel, kind: str, tokens: int) -> None:
    """Every code meets activations of either sign and none, alone in its group: what a row gives is one level."""
    coding = KINDS[kind][0]
    spec, there = experts_of(kind, 1, 4)
    for position in (0, 1, 6, 15):
        x = torch.zeros(tokens, spec.hidden)
        x[:, position :: coding.group] = torch.tensor([3.0, -3.0]).repeat(tokens)[:tokens, None]
        ids = torch.zeros(tokens, 1, dtype=torch.int64)
        ours = run(make_kernel(exact=False), spec, there, x, ids).double()
        oracle = forward_8_bits(spec, SILU, there[0], x.double())
        assert (ours - oracle).norm() <= 5e-3 * oracle.norm()


@pytest.mark.parametrize("kind", ["MXFP4", "IQ4_NL", "NF4", "Q6_K", "Q4_0"])
@pytest.mark.parametrize("code", [0, 255])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_largest_levels_meet_the_largest_activations(
    make_kernel: MakeKernel, kind: str, code: int, sign: float
) -> None:
    """Sums of 16 bits would overflow here."""
    coding = KINDS[kind][0]
    for tokens in (1, 7):
        spec, there = experts_of(kind, 1, 4)
        experts = {0: Parts(spec, {i: p.clone() for i, p in there[0].parts.items()}, 4)}
        for part in spec.layout.codes_for(4):
            for name in ("gate", "up"):
                section = part.sections[name]
                experts[0].parts[part.index][section.offset : section.offset + section.nbytes] = code
        x = torch.full((tokens, spec.hidden), sign * 3.0)
        ids = torch.zeros(tokens, 1, dtype=torch.int64)
        ours = run(make_kernel(exact=False), spec, experts, x, ids).double()
        oracle = forward_8_bits(spec, SILU, experts[0], x.double())
        assert (ours - oracle).norm() <= 5e-3 * oracle.norm(), coding
