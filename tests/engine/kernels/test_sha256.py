"""SHA-256: hashlib's numbers, also where another process went on with what one began."""

from __future__ import annotations

import hashlib
import random
from pathlib import Path

import pytest

from engine.native.sha256 import WAYS, Sha256, ways

BYTES = random.Random(5).randbytes(200_000)


@pytest.mark.parametrize("way", [None, *WAYS])
def test_native_code_finds_hashlibs_numbers(way: str | None, native_library: Path) -> None:
    if way not in (None, *ways(native_library)):
        pytest.skip(f"this processor cannot compute by {way}")
    pick = random.Random(7)
    for n in [*range(200), 4096, 65_535, 100_001]:
        digest, at = Sha256("", way, native_library), 0
        while at < n:
            step = pick.randint(1, max(1, n // 2))
            digest.update(memoryview(BYTES)[at : min(n, at + step)])
            at += step
        assert digest.hexdigest() == hashlib.sha256(BYTES[:n]).hexdigest()
        assert digest.hexdigest() == hashlib.sha256(BYTES[:n]).hexdigest()  # asking changes nothing


@pytest.mark.parametrize("way", WAYS)
def test_it_goes_on_where_another_one_was(way: str, native_library: Path) -> None:
    if way not in ways(native_library):
        pytest.skip(f"this processor cannot compute by {way}")
    first = Sha256("", way, native_library)
    first.update(memoryview(BYTES)[: 64 * 1000])
    second = Sha256(first.state, WAYS[0], native_library)
    second.update(memoryview(BYTES)[64 * 1000 :])
    assert second.hexdigest() == hashlib.sha256(BYTES).hexdigest()


def test_what_is_no_state_is_refused(native_library: Path) -> None:
    digest = Sha256("", None, native_library)
    digest.update(memoryview(b"abc"))
    with pytest.raises(ValueError, match="whole number of blocks"):
        _ = digest.state
    for state in ("00", "zz", f"{'00' * 32}:3"):
        with pytest.raises(ValueError, match=r"state|hexadecimal"):
            Sha256(state, None, native_library)
