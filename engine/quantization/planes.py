"""Expert records: matrices to the bytes that engine/record/layout.py describes, and back."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import UnderhillError, damaged_checkpoint
from engine.kernels.encode import KINDS, Encoded, NativeEncoder, NotFinite
from engine.quantization.exact import StoredCodes, pack_matrix
from engine.quantization.grouped import GroupedCodes
from engine.quantization.tiles import pack_codes
from engine.record.layout import (
    MAGIC,
    ExpertSpec,
    MatrixSpec,
    Part,
    RecordLayout,
    Section,
)
from engine.translatable import msg

Bytes = NDArray[np.uint8]
BIAS = "_bias"  # the bias of matrix "gate" travels as "gate_bias"


@dataclass(frozen=True)
class EncodedExpert:
    """A record, uint8 [spec.layout.nbytes], and what it lost.

    squared_error[tier] and squared_norm are sums over all weights of the expert.
    """

    record: Bytes
    squared_error: dict[int, float]
    squared_norm: float


def encode(matrices: Mapping[str, Tensor | GroupedCodes], spec: ExpertSpec, layer: int, expert: int) -> EncodedExpert:
    """Quantize and pack one expert.

    matrices: 'gate' (where spec.has_gate), 'up' [I, H] and 'down' [H, I], and with spec.has_bias 'gate_bias',
    'up_bias' and 'down_bias', in any floating dtype. A matrix that is GroupedCodes of the coding that spec says for it
    is kept as it is; any other is quantized. Raises UnderhillError(BROKEN_FILE) when a number is not finite.
    """
    layout, head = spec.layout, spec.layout.head
    record = torch.from_numpy(np.frombuffer(mmap.mmap(-1, layout.nbytes), np.uint8))  # zero; given back at once
    errors = dict.fromkeys(spec.tiers, 0.0)
    norm = 0.0
    units: list[float] = []
    for m in spec.matrices:
        found = matrices[m.name]
        if isinstance(found, GroupedCodes):
            _check_shape(found.shape, m.name, (m.rows, m.cols), layer, expert)
            if found.coding == spec.coding(m):
                try:
                    kept = pack_matrix(found)
                except NotFinite as cause:
                    raise _not_finite(m.name, layer, expert) from cause
                _put_kept(record, layout, m, kept)
                units.append(kept.unit)
                norm += kept.squared_norm
                for tier, error in zip(spec.tiers, kept.squared_errors):
                    errors[tier] += error
                continue
            found = found.values()
        w = _shaped(found, m.name, (m.rows, m.cols), layer, expert)
        if spec.raw:
            _refuse_infinite(w, m.name, layer, expert)
            stored = w.to(torch.bfloat16 if spec.top == 16 else torch.float32).contiguous()
            _put(record, head, head.sections[m.name], stored)
            errors[spec.top] += float((stored.float() - w.float()).square().sum(dtype=torch.float64))
            norm += float(w.float().square().sum(dtype=torch.float64))
            units.append(1.0)
            continue
        try:
            put = _put_quantized(record, layout, m, w)
        except NotFinite as cause:
            raise _not_finite(m.name, layer, expert) from cause
        units.append(put.unit)
        norm += put.squared_norm
        for tier, error in zip(spec.tiers, put.squared_errors):
            errors[tier] += error
    for name, section in head.biases.items():
        rows = next(m.rows for m in spec.matrices if m.name == name)
        given = matrices[name + BIAS]
        assert isinstance(given, Tensor)
        bias = _shaped(given, name + BIAS, (rows,), layer, expert).to(torch.float32).contiguous()
        _refuse_infinite(bias, name + BIAS, layer, expert)
        _put(record, head, section, bias)
    header = struct.pack(f"<4I{len(units)}f", MAGIC, layer, expert, len(units), *units)
    record[head.offset : head.offset + len(header)] = torch.frombuffer(bytearray(header), dtype=torch.uint8)
    return EncodedExpert(record.numpy(), errors, norm)


@lru_cache(maxsize=1)
def _encoder() -> NativeEncoder:
    return NativeEncoder()


def _put_quantized(record: Tensor, layout: RecordLayout, m: MatrixSpec, w: Tensor) -> Encoded:
    """Quantize a matrix into its places in the record. Raises NotFinite."""
    spec = layout.spec
    codes = [_section(record, part, part.sections[m.name]) for part in layout.codes_for(spec.top)]
    parts = [layout.params_for(tier) for tier in spec.tiers]
    params = [_section(record, part, part.sections[m.name]) for part in parts]
    return _encoder().encode(w if w.dtype in KINDS else w.float(), spec.group_of(m), codes, params)


def _section(record: Tensor, part: Part, section: Section) -> Tensor:
    """A section where it lies."""
    start = part.offset + section.offset
    return record[start : start + section.nbytes]


def _put(record: Tensor, part: Part, section: Section, values: Tensor) -> None:
    data = values.reshape(-1).view(torch.uint8)
    start = part.offset + section.offset
    record[start : start + len(data)] = data


def _shaped(w: Tensor, name: str, shape: tuple[int, ...], layer: int, expert: int) -> Tensor:
    _check_shape(tuple(w.shape), name, shape, layer, expert)
    return w


def _check_shape(found: tuple[int, ...], name: str, shape: tuple[int, ...], layer: int, expert: int) -> None:
    if found != shape:
        raise ValueError(f"{name} of expert {expert} in layer {layer} is {found}, expected {shape}")


def _put_kept(record: Tensor, layout: RecordLayout, m: MatrixSpec, kept: StoredCodes) -> None:
    """A matrix that keeps its codes into its places in the record; of a record of 2 bits, the coarse ones."""
    spec, (first, second) = layout.spec, layout.spec.plane_bits(m)[:2]
    group = spec.group_of(m)
    for tier, scales in zip(spec.tiers, kept.scales):
        params = layout.params_for(tier)
        _put(record, params, params.sections[m.name], scales.data)
    places = layout.codes_for(spec.top)
    _put(record, places[0], places[0].sections[m.name], pack_codes(kept.codes, second, first, group))
    _put(record, places[1], places[1].sections[m.name], pack_codes(kept.codes, 0, second, group))


def _refuse_infinite(w: Tensor, name: str, layer: int, expert: int) -> None:
    if not all(bool(x.isfinite()) for x in torch.aminmax(w)):  # NaN comes through; no copies of a large matrix
        raise _not_finite(name, layer, expert)


def _not_finite(name: str, layer: int, expert: int) -> UnderhillError:
    return damaged_checkpoint(
        msg(
            "Layer {layer}, expert {expert}: {name} holds numbers that are not finite.",
            layer=layer,
            expert=expert,
            name=name.replace("_", " "),
        )
    )
