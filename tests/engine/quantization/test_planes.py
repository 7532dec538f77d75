"""Expert records: parts of them are coarser experts, and nothing that is not a record is decoded."""

from __future__ import annotations

import struct

import numpy as np
import pytest
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.quantization.planes import encode
from engine.record.layout import MAGIC, ExpertSpec
from tests.engine.quantization.reference import decode_expert

SPECS = [
    ExpertSpec(128, 64, 8),
    ExpertSpec(128, 64, 4),
    ExpertSpec(64, 96, 8, group=32),
    ExpertSpec(40, 24, 8, group=16, has_bias=True),
    ExpertSpec(100, 70, 8, group=64),  # rows and columns that need padding
    ExpertSpec(64, 64, 8, has_gate=False),
    ExpertSpec(30, 20, 16, has_bias=True),
    ExpertSpec(30, 20, 32),
]
BOUNDS = {2: 0.4, 4: 0.1, 8: 0.007, 16: 0.003, 32: 0.0}


def random_expert(spec: ExpertSpec, seed: int = 0) -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(seed)
    expert = {m.name: torch.randn(m.rows, m.cols, generator=generator) * 0.05 for m in spec.matrices}
    if spec.has_bias:
        expert |= {f"{m.name}_bias": torch.randn(m.rows, generator=generator) for m in spec.matrices}
    return expert


def end_of(spec: ExpertSpec, tier: int) -> int:
    """How much of a record reaches to the end of what a tier needs."""
    last = spec.layout.parts[spec.layout.parts_for(tier)[-1]]
    return last.offset + last.nbytes


@pytest.mark.parametrize("spec", SPECS, ids=str)
def test_every_tier_decodes_from_its_parts(spec: ExpertSpec) -> None:
    expert = random_expert(spec)
    encoded = encode(expert, spec, layer=3, expert=7)
    assert encoded.record.nbytes == spec.layout.nbytes
    for tier in spec.tiers:
        got = decode_expert(encoded.record[: end_of(spec, tier)].tobytes(), spec, tier)
        assert set(got) == set(expert)
        error = 0.0
        for name, want in expert.items():
            assert got[name].dtype == torch.float32
            if name.endswith("_bias"):
                assert torch.equal(got[name], want)
            else:
                assert float((got[name] - want).norm() / want.norm()) <= BOUNDS[tier]
                error += float((got[name] - want).double().square().sum())
        assert encoded.squared_error[tier] == pytest.approx(error, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("spec", SPECS[:5], ids=str)
def test_other_parts_do_not_matter(spec: ExpertSpec) -> None:
    record = encode(random_expert(spec), spec, 0, 0).record
    for tier in spec.tiers:
        other = record.copy()
        for part in spec.layout.parts:
            if part.index not in spec.layout.parts_for(tier):
                other[part.offset : part.offset + part.nbytes] ^= 255
        for name, want in decode_expert(record, spec, tier).items():
            assert torch.equal(decode_expert(other, spec, tier)[name], want)


def test_the_header_names_the_expert() -> None:
    record = encode(random_expert(SPECS[0]), SPECS[0], layer=3, expert=7).record
    at = SPECS[0].layout.head.offset
    assert struct.unpack_from("<4I", record, at) == (MAGIC, 3, 7, 3)
    units = struct.unpack_from("<3f", record, at + 16)
    assert all(np.log2(u) == round(np.log2(u)) for u in units)


def test_padding_rows_compute_to_zero() -> None:
    spec = SPECS[4]
    record = encode(random_expert(spec), spec, 0, 0).record
    tall = ExpertSpec(112, 80, 8)  # the same padded sizes, with the padding taken for content
    assert tall.layout.nbytes == spec.layout.nbytes
    for tier in spec.tiers:
        assert not decode_expert(record, tall, tier)["up"][70:].any()


def test_records_are_the_same_every_time() -> None:
    expert = random_expert(SPECS[0])
    assert (encode(expert, SPECS[0], 1, 2).record == encode(expert, SPECS[0], 1, 2).record).all()


@pytest.mark.parametrize("spec", [SPECS[0], SPECS[6], SPECS[7]], ids=str)
@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_what_is_not_finite_is_named(value: float, spec: ExpertSpec) -> None:
    expert = random_expert(spec)
    expert["down"][1, 2] = value
    with pytest.raises(UnderhillError, match="Layer 4, expert 9: down") as caught:
        encode(expert, spec, 4, 9)
    assert caught.value.kind is Kind.BROKEN_FILE


def test_a_matrix_of_another_shape_is_refused() -> None:
    expert = random_expert(SPECS[0])
    expert["up"] = expert["up"].T
    with pytest.raises(ValueError, match="up of expert 2"):
        encode(expert, SPECS[0], 1, 2)


@pytest.mark.parametrize("damage", ["short", "magic", "count"])
def test_what_is_not_a_record_is_not_decoded(damage: str) -> None:
    spec = SPECS[0]
    record = encode(random_expert(spec), spec, 0, 0).record
    if damage == "short":
        record = record[: end_of(spec, 4) - 1]
    else:
        record[spec.layout.head.offset + (0 if damage == "magic" else 12)] ^= 1
    with pytest.raises(UnderhillError) as caught:
        decode_expert(record, spec, 4)
    assert caught.value.kind is Kind.BROKEN_FILE
