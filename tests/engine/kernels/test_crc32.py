"""Checksums: zlib's numbers, whoever computes them."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.native import crc32 as module
from engine.native.crc32 import WAYS, crc32, native, ways

BYTES = random.Random(5).randbytes(300_000)


@pytest.mark.parametrize("way", [None, *WAYS])
def test_native_code_finds_zlibs_numbers(way: str | None, native_library: Path) -> None:
    if way not in (None, *ways(native_library)):
        pytest.skip(f"this processor cannot compute by {way}")
    compute, pick = native(way, native_library), random.Random(7)
    for n in [*range(300), 4096, 65536, 100_001, 250_000]:
        at = pick.randrange(500)
        data = memoryview(BYTES)[at : at + n]
        assert compute(data, 0) == zlib.crc32(data)
        cut, before = pick.randint(0, n), pick.getrandbits(32)
        assert compute(data[cut:], compute(data[:cut], before)) == zlib.crc32(data, before)


@given(st.binary(max_size=2000), st.integers(0, 2**32 - 1))
def test_whatever_is_installed_finds_them_too(data: bytes, before: int) -> None:
    assert crc32(memoryview(data), before) == zlib.crc32(data, before)
    assert crc32(memoryview(bytearray(data)), before) == zlib.crc32(data, before)


def test_numbers_of_any_type_are_their_bytes() -> None:
    values = np.arange(1000, dtype=np.float32)
    assert crc32(values.data) == zlib.crc32(values.tobytes())


def test_bytes_that_do_not_lie_in_a_row_are_refused(native_library: Path) -> None:
    with pytest.raises(BufferError, match="contiguous"):
        native(None, native_library)(memoryview(BYTES)[::2], 0)


def test_a_way_that_the_processor_lacks_is_refused(native_library: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "ways", lambda path=None: ("table",))
    with pytest.raises(ValueError, match="vclmul"):
        native("vclmul", native_library)
