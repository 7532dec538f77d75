"""The element types of safetensors files."""

from __future__ import annotations

import torch

TORCH = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "F8_E8M0": torch.float8_e8m0fnu,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U64": torch.uint64,
    "U32": torch.uint32,
    "U16": torch.uint16,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}
FLOATS = ("F64", "F32", "F16", "BF16")  # what weights may be stored as


def nbytes(dtype: str, shape: tuple[int, ...]) -> int:
    """Bytes of a tensor. Plain integers, so that no malicious shape overflows."""
    size = TORCH[dtype].itemsize
    for n in shape:
        size *= n
    return size
