"""Which code quantizes: the C library, but for groups wider than it takes; the two agree but for a sum's last bits."""

from __future__ import annotations

from functools import lru_cache

from engine.kernels.encode import MOST_GROUP, NativeEncoder, Rule
from engine.quantization import hqq
from engine.quantization.tiers import LARGEST
from engine.store.layout import ExpertSpec

RULE = Rule(hqq.LP_NORM, hqq.BETA, hqq.KAPPA, hqq.ITERATIONS, hqq.PATIENCE, hqq.FLAT, LARGEST)


def native(spec: ExpertSpec) -> NativeEncoder | None:
    """The native encoder for experts of this spec; None where torch has to do it."""
    return None if spec.raw or spec.group > MOST_GROUP else _encoder()


def name(spec: ExpertSpec) -> str:
    """'native', 'torch' or 'raw': records of one spec by the same name are the same bytes."""
    if spec.raw:
        return "raw"
    return "torch" if native(spec) is None else "native"


@lru_cache(maxsize=1)
def _encoder() -> NativeEncoder:
    return NativeEncoder(RULE)
