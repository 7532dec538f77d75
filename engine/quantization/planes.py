"""Expert records: matrices to the bytes that engine/store/layout.py describes, and back."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.encode import KINDS, Encoded, NativeEncoder, NotFinite
from engine.quantization.encoder import native
from engine.quantization.exact import StoredCodes, pack_matrix
from engine.quantization.grouped import GroupedCodes
from engine.quantization.tiers import quantize_matrix
from engine.quantization.tiles import pack_codes, pack_params, unpack_codes, unpack_params
from engine.quantization.unpacking import levels_of, unpack_scales
from engine.store.layout import (
    HEADER_BYTES,
    MAGIC,
    PLANE_BITS,
    ExpertSpec,
    MatrixSpec,
    Part,
    RecordLayout,
    Section,
)
from engine.translatable import msg

Bytes = NDArray[np.uint8]
Buffer = bytes | bytearray | memoryview | mmap.mmap | Bytes
BIAS = "_bias"  # the bias of matrix "gate" travels as "gate_bias"


@dataclass(frozen=True)
class EncodedExpert:
    """A record, and what it lost: squared_error[tier] and squared_norm are sums over all weights of the expert."""

    record: Bytes
    squared_error: dict[int, float]
    squared_norm: float


def encode_expert(matrices: Mapping[str, Tensor | GroupedCodes], spec: ExpertSpec, layer: int, expert: int) -> Bytes:
    """The record of one expert, uint8 [spec.layout.nbytes]. See `encode`."""
    return encode(matrices, spec, layer, expert).record


def encode(matrices: Mapping[str, Tensor | GroupedCodes], spec: ExpertSpec, layer: int, expert: int) -> EncodedExpert:
    """Quantize and pack one expert.

    matrices: 'gate' (where spec.has_gate), 'up' [I, H] and 'down' [H, I], and with spec.has_bias 'gate_bias',
    'up_bias' and 'down_bias', in any floating dtype. A matrix that is GroupedCodes of the coding that spec says for it
    is kept as it is; any other is quantized. Raises UnderhillError(BROKEN_FILE) when a number is not finite.
    """
    layout, head, encoder = spec.layout, spec.layout.head, native(spec)
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
            put = _put_torch(record, layout, m, w) if encoder is None else _put_native(record, layout, m, w, encoder)
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


def decode_expert(data: Buffer, spec: ExpertSpec, tier: int) -> dict[str, Tensor]:
    """The matrices (and biases) of an expert at `tier`, float32; the oracle of the kernels.

    data: the record, or as much of it as reaches to the end of what the tier needs. Raises UnderhillError(BROKEN_FILE)
    when it is too short or not a record of this shape.
    """
    layout, head = spec.layout, spec.layout.head
    last = layout.parts[layout.parts_for(tier)[-1]]
    record = np.frombuffer(data, np.uint8)
    units = _units(record, spec, last.offset + last.nbytes)
    result: dict[str, Tensor] = {}
    for m, unit in zip(spec.matrices, units, strict=True):
        if spec.raw:
            flat = _get(record, head, head.sections[m.name]).view(_raw_dtype(spec))[: m.rows * m.cols]
            result[m.name] = flat.reshape(m.rows, m.cols).float()
            continue
        rows, cols = spec.padded(m)
        codes = torch.zeros(rows, cols, dtype=torch.uint8)
        for bits, part in zip(spec.plane_bits(m), layout.codes_for(tier)):
            codes = (codes << bits) | unpack_codes(_get(record, part, part.sections[m.name]), rows, cols, bits)
        params, coding = layout.params_for(tier), spec.coding(m)
        if coding is not None:
            section = _get(record, params, params.sections[m.name])
            scale, shift = unpack_scales(section, coding.form_of(tier), rows, cols, coding.group)
            w = levels_of(codes, coding, tier).view(rows, -1, coding.group).mul_(scale.unsqueeze(2))
            w = (w if shift is None else w.add_(shift.unsqueeze(2))).mul_(unit)
            result[m.name] = w.reshape(rows, cols)[: m.rows, : m.cols].contiguous()
            continue
        scale, offset = unpack_params(_get(record, params, params.sections[m.name]), rows, cols // spec.group)
        grouped = codes.reshape(rows, -1, spec.group).float()
        w = torch.addcmul(offset.float().unsqueeze(2), grouped, scale.float().unsqueeze(2)).mul_(unit)
        result[m.name] = w.reshape(rows, cols)[: m.rows, : m.cols].contiguous()
    for m in spec.matrices if spec.has_bias else ():
        result[m.name + BIAS] = _get(record, head, head.biases[m.name]).view(torch.float32)[: m.rows]
    return result


def _raw_dtype(spec: ExpertSpec) -> torch.dtype:
    return torch.bfloat16 if spec.top == 16 else torch.float32


def _put_native(record: Tensor, layout: RecordLayout, m: MatrixSpec, w: Tensor, encoder: NativeEncoder) -> Encoded:
    """Quantize a matrix into its places in the record. Raises NotFinite."""
    spec = layout.spec
    codes = [_section(record, part, part.sections[m.name]) for part in layout.codes_for(spec.top)]
    parts = [layout.params_for(tier) for tier in spec.tiers]
    params = [_section(record, part, part.sections[m.name]) for part in parts]
    return encoder.encode(w if w.dtype in KINDS else w.float(), spec.group_of(m), codes, params)


def _put_torch(record: Tensor, layout: RecordLayout, m: MatrixSpec, w: Tensor) -> Encoded:
    """The same, padded with zeros here."""
    spec = layout.spec
    group = spec.group_of(m)
    quantized = quantize_matrix(w, spec.tiers, group)
    rows, cols = spec.padded(m)
    codes = torch.nn.functional.pad(quantized.codes, (0, cols - m.cols, 0, rows - m.rows))
    for tier, bits, part in zip(spec.tiers, PLANE_BITS, layout.codes_for(spec.top)):
        _put(record, part, part.sections[m.name], pack_codes(codes, spec.top - tier, bits, group))
        fit, params = quantized.fits[tier], layout.params_for(tier)
        scale, offset = (torch.nn.functional.pad(t, (0, 0, 0, rows - m.rows)) for t in (fit.scale, fit.offset))
        _put(record, params, params.sections[m.name], pack_params(scale, offset))
    errors = tuple(fit.squared_error for fit in quantized.fits.values())
    return Encoded(quantized.unit, quantized.squared_norm, errors)


def _section(record: Tensor, part: Part, section: Section) -> Tensor:
    """A section where it lies."""
    start = part.offset + section.offset
    return record[start : start + section.nbytes]


def _put(record: Tensor, part: Part, section: Section, values: Tensor) -> None:
    data = values.reshape(-1).view(torch.uint8)
    start = part.offset + section.offset
    record[start : start + len(data)] = data


def _get(record: Bytes, part: Part, section: Section) -> Tensor:
    """A copy of a section, uint8."""
    start = part.offset + section.offset
    return torch.from_numpy(record[start : start + section.nbytes].copy())


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
    return UnderhillError(
        Kind.BROKEN_FILE,
        msg(
            "Layer {layer}, expert {expert}: {name} holds numbers that are not finite.",
            layer=layer,
            expert=expert,
            name=name.replace("_", " "),
        ),
        msg("The checkpoint is damaged; download it again."),
    )


def _units(record: Bytes, spec: ExpertSpec, needed: int) -> tuple[float, ...]:
    """The units from the header, after checking that the record is one."""
    n, at = len(spec.matrices), spec.layout.head.offset
    if record.nbytes >= needed:
        magic, _, _, count, *units = struct.unpack_from(f"<4I{n}f", record[at : at + HEADER_BYTES].tobytes())
        if magic == MAGIC and count == n:
            return tuple(units)
    raise UnderhillError(
        Kind.BROKEN_FILE,
        msg(
            "This is not an expert record of the expected shape ({nbytes} bytes, {needed} needed).",
            nbytes=record.nbytes,
            needed=needed,
        ),
        msg("Verify the model, and import it again if it is damaged."),
    )
