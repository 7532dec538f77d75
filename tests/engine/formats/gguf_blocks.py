"""Blocks of GGUF's types, packed here: the package encodes few of them, and decodes all."""

from __future__ import annotations

from typing import Any

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from numpy.typing import NDArray

from engine.formats.gguf_header import type_sizes

Array = NDArray[Any]

# Where a block's own float16 numbers stand: the scale and, where the type has one, the offset. All else of a block are
# codes and small integer scales, of which every pattern of bits is a valid one.
HALVES = {
    Type.Q2_K: (80, 82), Type.Q3_K: (108,), Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q6_K: (208,),
    Type.Q4_1: (0, 2), Type.Q5_1: (0, 2),
}  # fmt: skip
USUAL = {
    Type.Q2_K: 2e-3, Type.Q3_K: 6e-4, Type.Q4_K: 1e-4, Type.Q5_K: 5e-5, Type.Q6_K: 2e-5, Type.Q8_0: 5e-4,
    Type.IQ4_NL: 5e-4, Type.IQ4_XS: 2e-5, Type.IQ2_XXS: 6e-4,
}  # fmt: skip
EXPONENT = 120  # of MXFP4: 2^-7


def random_blocks(kind: Type, shape: tuple[int, ...], seed: int = 0) -> Array:
    """Bytes [..., row] of this type: any codes, and another scale in every block. Weights of some hundredths."""
    random = np.random.default_rng([kind, seed])
    if kind in (Type.F32, Type.BF16, Type.F16):
        values = (random.standard_normal(shape) * 0.05).astype(np.float32)
        return gguf.quantize(values, kind).view(np.uint8)
    block, size = type_sizes()[kind]
    data = random.integers(0, 256, (*shape[:-1], shape[-1] // block, size), np.uint8)
    if kind == Type.MXFP4:
        data[..., 0] = EXPONENT + random.integers(-2, 3, data.shape[:-1])
    else:
        for at in HALVES.get(kind, (0,)):
            scales = random.uniform(0.5, 2, data.shape[:-1]) * USUAL.get(kind, 4e-3)
            data[..., at : at + 2] = scales.astype(np.float16)[..., None].view(np.uint8)
    return data.reshape(*shape[:-1], -1)


def decoded(kind: Type, data: Array, shape: tuple[int, ...]) -> Array:
    """What the package makes of them: float32 of this shape."""
    return np.asarray(gguf.dequantize(data, kind), np.float32).reshape(shape)
