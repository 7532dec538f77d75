"""Experts that keep their own 4 bits: what a record makes of them, and what it takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from engine.kernels.call import Parts
from engine.kernels.encode import NotFinite
from engine.quantization.coded import Coded
from engine.quantization.exact import pack_dense, pack_matrix
from engine.quantization.grouped import GroupedCodes
from engine.quantization.planes import encode
from engine.record.coding import Coding
from engine.record.layout import ExpertSpec, Part
from tests.engine.kernels.reference import decode_matrix
from tests.engine.quantization.grouped_codes import KINDS, expert, made
from tests.engine.quantization.reference import decode_expert


def relative(got: Tensor, wanted: Tensor) -> float:
    return float((got - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("kind", KINDS)
def test_a_matrix_beside_the_experts_keeps_all_bits_and_its_rows_can_be_put_in_order(kind: str) -> None:
    coding, _, allowed = KINDS[kind]
    grouped = made(coding, 40, 512)
    data = pack_dense(coding, 40, 512, (grouped.rows(0, 16), grouped.rows(16, 40)))
    held = Coded(data, coding, 40, 512)
    assert relative(held.values(), grouped.values()) <= allowed
    order = torch.randperm(40, generator=torch.Generator().manual_seed(1))[:23]
    assert torch.equal(held.taken(order).values(), held.values()[order])


@pytest.mark.parametrize("kind", KINDS)
def test_all_bits_are_the_source_and_two_are_a_coarse_expert(kind: str) -> None:
    coding, source_bits, allowed = KINDS[kind]
    spec, matrices = expert(coding)
    encoded = encode(matrices, spec, 3, 1)
    for tier, most in ((4, allowed), (2, 0.45)):
        got = decode_expert(encoded.record, spec, tier)
        off = sum(float((got[n] - g.values()).square().sum()) for n, g in matrices.items())
        norm = sum(float(g.values().square().sum()) for g in matrices.values())
        assert (off / norm) ** 0.5 <= most, tier
        assert encoded.squared_error[tier] == pytest.approx(off, rel=0.02, abs=1e-12 * norm)
    assert encoded.squared_norm == pytest.approx(norm, rel=1e-4)
    bits = spec.layout.bits_per_weight(4)
    limit = source_bits + 0.3 if coding.bits == 4 else 7.7
    assert bits <= limit, bits
    assert spec.layout.bits_per_weight(2) < 3.2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tier", [2, 4])
def test_the_reference_decodes_the_same(kind: str, tier: int) -> None:
    spec, matrices = expert(KINDS[kind][0], 7)
    record = torch.from_numpy(encode(matrices, spec, 0, 0).record)
    there = {p.index: _part(record, p) for p in spec.layout.parts}
    wanted = decode_expert(record.numpy(), spec, tier)
    for m in spec.matrices:
        got = decode_matrix(spec, Parts(spec, there, tier), m.name, torch.float64)
        torch.testing.assert_close(got.float(), wanted[m.name], rtol=1e-5, atol=1e-7)


def _part(record: Tensor, part: Part) -> Tensor:
    return record[part.offset : part.offset + part.nbytes].contiguous()


def test_matrices_of_several_codings_in_one_record() -> None:
    """As in a Q4_K_M file: gate quantized anew, up as it was, down of 6 bits in groups of its own."""
    codings = (Coding(4, 32, "pair", "plain"), KINDS["Q4_K"][0], KINDS["Q6_K"][0])
    spec = ExpertSpec(512, 272, 4, 32, codings=codings)
    given: dict[str, Tensor | GroupedCodes] = {
        "gate": torch.randn(272, 512),
        "up": made(codings[1], 272, 512),
        "down": made(codings[2], 512, 272),
    }
    record = encode(given, spec, 0, 0).record
    got = decode_expert(record, spec, 4)
    up, down = given["up"], given["down"]
    assert isinstance(up, GroupedCodes)
    assert isinstance(down, GroupedCodes)
    assert relative(got["up"], up.values()) < 1e-6
    assert relative(got["down"], down.values()) < 1e-3
    assert isinstance(given["gate"], Tensor)
    assert 0.03 < relative(got["gate"], given["gate"]) < 0.09
    low = replace(spec, top=2)
    start = low.layout.nbytes
    assert torch.equal(decode_expert(record[:start], low, 2)["down"], decode_expert(record, spec, 2)["down"])


def test_scales_of_any_size_are_kept() -> None:
    """Far apart within a matrix, and the whole of it very small or large; zeros too."""
    coding = KINDS["MXFP4"][0]
    grouped = made(coding, 32, 256)
    powers = torch.ldexp(torch.ones(32, 8), torch.randint(-90, -64, (32, 8)))
    powers[3] = 0.0
    wide = GroupedCodes(coding, grouped.codes, powers)
    packed = pack_matrix(wide)
    assert torch.equal(packed.scales[1].scale * packed.unit, powers)
    for factor in (1e-30, 1e30):
        other = KINDS["Q4_0"][0]
        small = made(other, 16, 64)
        scaled = GroupedCodes(other, small.codes, small.scale * factor)
        packed = pack_matrix(scaled)
        assert packed.squared_errors[1] <= 1e-7 * packed.squared_norm


def test_scales_that_are_no_numbers_are_refused() -> None:
    grouped = made(KINDS["Q4_0"][0], 16, 64)
    grouped.scale[1, 1] = torch.nan
    with pytest.raises(NotFinite):
        pack_matrix(grouped)
