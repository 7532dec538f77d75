"""The native encoder against torch's, on every instruction set: the same codes but where a sum's last bits decide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.encode import RULE, Encoded, NativeEncoder, NotFinite
from engine.native.library import isas
from engine.quantization.tiles import unpack_codes
from engine.record.layout import LINE, PLANE_BITS, ROWS_PER_TILE, TIERS, aligned
from tests.engine.kernels.conftest import ISAS_HERE
from tests.engine.quantization.reference import quantize_matrix, unpack_params


@dataclass
class Result:
    encoded: Encoded
    codes: list[Tensor]
    params: list[Tensor]
    rows: int
    cols: int
    group: int

    @property
    def tiers(self) -> tuple[int, ...]:
        return TIERS[: len(self.codes)]

    def full(self) -> Tensor:
        """The codes, padding included."""
        rows, cols = aligned(self.rows, ROWS_PER_TILE), aligned(self.cols, self.group)
        found = torch.zeros(rows, cols, dtype=torch.uint8)
        for bits, plane in zip(PLANE_BITS, self.codes):
            found = (found << bits) | unpack_codes(plane, rows, cols, bits)
        return found

    def fit(self, index: int) -> tuple[Tensor, Tensor]:
        groups = aligned(self.cols, self.group) // self.group
        return unpack_params(self.params[index], aligned(self.rows, ROWS_PER_TILE), groups)

    def decoded(self, index: int) -> Tensor:
        codes = (self.full() >> (self.tiers[-1] - self.tiers[index])).float()
        scale, offset = (t.float().repeat_interleave(self.group, 1) for t in self.fit(index))
        return ((scale * codes + offset) * self.encoded.unit)[: self.rows, : self.cols]

    def raw(self) -> list[bytes]:
        return [t.numpy().tobytes() for t in (*self.codes, *self.params)]


def sections(rows: int, cols: int, group: int, tiers: int) -> tuple[list[Tensor], list[Tensor]]:
    """Places to encode into, full of what must not be left there."""
    rows, cols = aligned(rows, ROWS_PER_TILE), aligned(cols, group)
    codes = [torch.full((rows * cols * bits // 8,), 0xAA, dtype=torch.uint8) for bits in PLANE_BITS[:tiers]]
    lines = rows // ROWS_PER_TILE * (cols // group)
    return codes, [torch.full((lines * LINE,), 0xAA, dtype=torch.uint8) for _ in range(tiers)]


def encode(encoder: NativeEncoder, w: Tensor, group: int = 64, tiers: int = 3) -> Result:
    rows, cols = w.shape
    codes, params = sections(rows, cols, group, tiers)
    return Result(encoder.encode(w, group, codes, params), codes, params, rows, cols, group)


@pytest.fixture(scope="module")
def make(native_library: Path) -> Callable[[str], NativeEncoder]:
    return lambda isa: NativeEncoder(isa, native_library)


@pytest.fixture(params=ISAS_HERE)
def encoder(request: pytest.FixtureRequest, native_library: Path) -> NativeEncoder:
    if request.param not in isas(native_library):
        pytest.skip(f"this processor has no {request.param}")
    return NativeEncoder(request.param, native_library)


def uneven(rows: int, cols: int, seed: int = 0, size: float = 0.02) -> Tensor:
    """Heavy tails, rows of different size, one zero, one constant, one group far below the rest."""
    generator = torch.Generator().manual_seed(seed)
    w = torch.randn(rows, cols, generator=generator) * torch.randn(rows, cols, generator=generator).abs()
    w *= torch.rand(rows, 1, generator=generator) * size
    w[-1] = 0.0
    w[rows // 2] = size / 3
    w[0, : cols // 2] *= 1e-9
    return w


def check(got: Result, w: Tensor, ties: bool = False) -> None:
    """As torch has it, or no worse, and what it says of itself is so. ties: many weights lie between two codes."""
    wanted = quantize_matrix(w, got.tiers, got.group)
    assert got.encoded.unit == wanted.unit
    assert got.encoded.squared_norm == pytest.approx(wanted.squared_norm, rel=1e-5)
    off = got.full()[: got.rows, : got.cols].int() - wanted.codes.int()
    assert off.abs().max() <= 1
    assert float((off != 0).float().mean()) < (0.05 if ties else 0.002)
    assert not got.full()[got.rows :].any()
    assert not got.full()[:, got.cols :].any()
    for index, tier in enumerate(got.tiers):
        fit = wanted.fits[tier]
        most = fit.squared_error * (1.05 if ties else 1.001) + 1e-12 * wanted.squared_norm
        assert got.encoded.squared_errors[index] <= most
        measured = float((w.double() - got.decoded(index).double()).square().sum())
        assert got.encoded.squared_errors[index] == pytest.approx(measured, rel=1e-3, abs=1e-12 * wanted.squared_norm)
        scale, offset = got.fit(index)
        assert torch.allclose(scale[: got.rows].float(), fit.scale.float(), rtol=0.05 if ties else 4e-3, atol=1e-6)
        assert not scale[got.rows :].any()
        assert not offset[got.rows :].any()


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 50), cols=st.integers(1, 300), group=st.sampled_from([16, 32, 64, 128, 256]),
    tiers=st.sampled_from([2, 3]), size=st.sampled_from([1e-3, 0.02, 1.0]), seed=st.integers(0, 999),
    dtype=st.sampled_from([torch.float32, torch.bfloat16, torch.float16]),
)  # fmt: skip
def test_what_torch_gives_on_any_shape(
    make: Callable[[str], NativeEncoder], rows: int, cols: int, group: int, tiers: int, size: float, seed: int,
    dtype: torch.dtype,
) -> None:  # fmt: skip
    w = uneven(rows, cols, seed, size).to(dtype)
    got = encode(make("portable"), w, group, tiers)
    check(got, w.float(), ties=True)
    for isa in isas():
        assert encode(make(isa), w, group, tiers).raw() == got.raw()


@pytest.mark.parametrize("tiers", [2, 3])
def test_every_instruction_set_gives_the_same_bytes_and_sums(encoder: NativeEncoder, tiers: int) -> None:
    w = uneven(70, 328)
    got, portable = encode(encoder, w, 64, tiers), encode(NativeEncoder("portable"), w, 64, tiers)
    assert got.raw() == portable.raw()
    assert got.encoded == portable.encoded
    check(got, w)


@pytest.mark.parametrize("size", [30.0, 1e3, 1e12, 1e37])
def test_steps_wide_enough_to_be_shrunk(encoder: NativeEncoder, size: float) -> None:
    w = torch.randn(32, 128, generator=torch.Generator().manual_seed(3)) * size
    check(encode(encoder, w, 64, 2), w)


@pytest.mark.parametrize("size", [1e-44, 1e-40, 1e-38, 1e-30])
def test_next_to_nothing(encoder: NativeEncoder, size: float) -> None:
    w = torch.randn(32, 128, generator=torch.Generator().manual_seed(4)) * size
    off = encode(encoder, w).full()[:32].int() - quantize_matrix(w, TIERS, 64).codes.int()
    assert off.abs().max() <= 1
    assert float((off != 0).float().mean()) < 0.05


def test_zeros_and_constants_are_exact(encoder: NativeEncoder) -> None:
    for w in (torch.zeros(17, 70), torch.full((17, 70), -0.75), torch.full((1, 1), 3.0)):
        got = encode(encoder, w)
        assert all(torch.equal(got.decoded(index), w) for index in range(3))
        assert got.encoded.squared_errors == (0.0, 0.0, 0.0)


def test_subnormal_halves_are_read(encoder: NativeEncoder) -> None:
    w = (torch.arange(-512, 512).reshape(16, 64) * 2.0**-24).half()
    assert encode(encoder, w).raw() == encode(encoder, w.float()).raw()


def test_a_view_is_encoded_like_its_copy(encoder: NativeEncoder) -> None:
    w = uneven(128, 96).T
    assert encode(encoder, w).raw() == encode(encoder, w.contiguous()).raw()
    assert encode(encoder, w[:, ::2]).raw() == encode(encoder, w[:, ::2].contiguous()).raw()


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_are_not_finite_are_refused(encoder: NativeEncoder, dtype: torch.dtype, value: float) -> None:
    w = torch.zeros(20, 70, dtype=dtype)
    w[19, 69] = value
    codes, params = sections(20, 70, 64, 3)
    with pytest.raises(NotFinite):
        encoder.encode(w, 64, codes, params)
    assert all(bool((t == 0xAA).all()) for t in (*codes, *params))


def test_what_would_not_fit_is_refused() -> None:
    encoder, w = NativeEncoder("portable"), torch.zeros(16, 64)
    codes, params = sections(16, 64, 64, 3)
    for wrong in (w.double(), w[:0], torch.zeros(17, 64), torch.zeros(16, 65)):
        with pytest.raises(ValueError, match=r"cannot be encoded|a section of"):
            encoder.encode(wrong, 64, codes, params)
    for group in (0, 24, 272):
        with pytest.raises(ValueError, match="groups of"):
            encoder.encode(w, group, codes, params)
    with pytest.raises(ValueError, match="parts of codes"):
        encoder.encode(w, 64, codes, params[:2])
    with pytest.raises(ValueError, match="contiguous"):
        encoder.encode(w, 64, [codes[0].repeat(2)[::2], *codes[1:]], params)


@pytest.mark.parametrize("tiers", [2, 3])
@pytest.mark.parametrize("name", ["gaussian", "heavy-tailed", "uniform"])
def test_no_worse_than_the_hqq_package(encoder: NativeEncoder, name: str, tiers: int) -> None:
    quantizer = pytest.importorskip("hqq.core.quantize").Quantizer
    torch.manual_seed(0)
    heavy = torch.distributions.StudentT(3.0).sample((128, 512))
    w = {"gaussian": torch.randn(128, 512) * 0.02, "heavy-tailed": heavy * 0.02, "uniform": torch.rand(128, 512)}[name]
    got = encode(encoder, w, 64, tiers)
    theirs, meta = quantizer.quantize(
        w, nbits=got.tiers[-1], group_size=64, axis=1, device="cpu", bitpack=False, compute_dtype=torch.float32
    )
    their_off = w - ((theirs.float() - meta["zero"]) * meta["scale"]).reshape(w.shape)
    off = w - got.decoded(tiers - 1)
    assert off.norm() <= their_off.norm()
    assert off.abs().pow(RULE.lp_norm).mean() <= their_off.abs().pow(RULE.lp_norm).mean()
