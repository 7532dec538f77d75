"""Matrices packed as one row of numbers, whatever their shape: bitsandbytes in 4 bits, and HQQ.

Their shapes are written in tensors, and so are not known from headers: they are taken from how many weights there are
and from which way round a layer of this name lies, and compared with what is written when weights are read.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.formats.families import text_config
from engine.formats.packed_integers import PackedRows, Packing, run_coding, unknown
from engine.formats.source import Form
from engine.quantization.grouped import NF4_SCALE, GroupedCodes
from engine.record.coding import Coding
from engine.regular_file import parse_json
from engine.translatable import msg

_INWARD = re.compile(
    r"\.(o_proj|out_proj|down_proj|w2|dense|c_proj|fc2|output_linear)$"
)  # whose outputs are the hidden size
_RANKS = ((re.compile(r"\.q_b_proj$"), "q_lora_rank"), (re.compile(r"\.kv_b_proj$"), "kv_lora_rank"))  # whose inputs


def _oriented(m: PackedRows, weights: int) -> tuple[int, int]:
    """[out, in] of so many weights."""
    config = text_config(m.checkpoint.config)
    key = next((rank for name, rank in _RANKS if name.search(m.stem)), "hidden_size")
    known = config.get(key)
    if type(known) is not int or known < 1 or weights % known:
        raise m.broken(
            msg(
                "they are {weights} numbers, which is no multiple of the {key} of config.json", weights=weights, key=key
            )
        )
    return (known, weights // known) if _INWARD.search(m.stem) else (weights // known, known)


# ---- bitsandbytes -------------------------------------------------------------------------------------------------

_BLOCK = 64  # numbers that share a factor, where nothing else is said
_MAIN, _STATE = "weight", "weight.quant_state.bitsandbytes__"


def bitsandbytes(settings: Mapping[str, Any]) -> Packing:
    """weight: bytes of two codes, the higher nibble first; weight.quant_map: what the 16 codes mean.

    weight.absmax: a factor for each block, itself in 8 bits where that is nested: nested_quant_map[absmax] times
    nested_absmax of its own block, plus an offset. quant_state: JSON with the sizes.
    Raises UnderhillError(UNSUPPORTED_MODEL) for 8 bits.
    """
    if settings.get("load_in_8bit") or not (settings.get("load_in_4bit") or settings.get("_load_in_4bit")):
        raise unknown("bitsandbytes", msg("with 8 bits"))
    kind = str(settings.get("bnb_4bit_quant_type") or "fp4").lower()
    if kind not in ("nf4", "fp4"):
        raise unknown("bitsandbytes", msg("as {kind}", kind=repr(kind)))
    nested, block = bool(settings.get("bnb_4bit_use_double_quant")), settings.get("bnb_4bit_blocksize") or _BLOCK
    state_name = _STATE + kind

    def shape(m: PackedRows) -> tuple[int, int]:
        return _oriented(m, 2 * math.prod(m.checkpoint.entry(f"{m.stem}.{_MAIN}").shape))

    def read(m: PackedRows, start: int, stop: int) -> tuple[Tensor, Tensor]:
        """(nibbles of outputs start..stop one after the other, the factors of all blocks)"""
        state, (_, inputs) = _state(m, state_name, shape(m)), shape(m)
        first, last = start * inputs // 2, -(-stop * inputs // 2)
        codes = m.get(_MAIN, (first, last)).flatten()
        nibbles = torch.stack((codes >> 4, codes & 15), -1).flatten()
        if _whole(m, state, "blocksize") != block:
            raise m.broken(msg("its blocks are not of {block} numbers", block=block))
        return nibbles[start * inputs - first * 2 :][: (stop - start) * inputs], _factors(m, state)

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        (nibbles, factors), (_, inputs) = read(m, start, stop), shape(m)
        values = m.get("weight.quant_map").float()
        if len(values) != 16:
            raise m.broken(msg("its code has not 16 values"))
        each = torch.arange(start * inputs, stop * inputs) // block
        return (values[nibbles.int()] * factors[each]).reshape(stop - start, inputs)

    def coding(m: PackedRows) -> Coding | None:
        """NF4's, of blocks that end with a row."""
        return run_coding(block, "half", "nf4") if kind == "nf4" and shape(m)[1] % block == 0 else None

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        (nibbles, factors), (_, inputs), held = read(m, start, stop), shape(m), coding(m)
        assert held is not None
        scales = factors.reshape(-1, inputs // block)[start:stop] * NF4_SCALE
        return GroupedCodes(held, nibbles.reshape(stop - start, inputs).to(torch.uint8), scales)

    companions = ("absmax", "quant_map", "nested_absmax", "nested_quant_map")
    endings = (*(f"{_MAIN}.{name}" for name in companions), state_name)
    bits = 4 + (8 + 32 / 256 if nested else 32) / block
    form = Form(msg("bitsandbytes {upper}", upper=kind.upper()), bits)
    return Packing(
        form=form, main=_MAIN, companions=endings, decode=decode, shape=shape, dtype="U8", coding=coding, codes=grouped
    )


def _state(m: PackedRows, name: str, shape: tuple[int, int]) -> Mapping[str, Any]:
    try:
        found = parse_json(m.get(name).numpy().tobytes())
    except ValueError as cause:
        raise m.broken(msg("its description is not readable")) from cause
    if not isinstance(found, dict) or tuple(found.get("shape") or ()) != shape:
        raise m.broken(
            msg("its description does not say that it is {shape} by {shape2}", shape=shape[0], shape2=shape[1])
        )
    return found


def _factors(m: PackedRows, state: Mapping[str, Any]) -> Tensor:
    """Of all blocks, float32."""
    factors = m.get("weight.absmax")
    if not m.has("weight.nested_absmax"):
        return factors.float()
    outer = torch.arange(len(factors)) // _whole(m, state, "nested_blocksize")
    inner = m.get("weight.nested_quant_map").float()[factors.int()]
    return inner * m.get("weight.nested_absmax").float()[outer] + float(state.get("nested_offset") or 0.0)


def _whole(m: PackedRows, state: Mapping[str, Any], name: str) -> int:
    value = state.get(name)
    if type(value) is not int or value < 1:
        raise m.broken(msg("its description names no {name}", name=name))
    return value


# ---- HQQ ------------------------------------------------------------------------------------------------------------

_THREES = 10  # codes of 3 bits in a word of 32
_ABOUT = (
    "nbits", "group_size", "shape", "axis", "packing", "unpack_view_dtype", "view_as_float", "quant_scale",
    "quant_zero", "compute_dtype", "offload_meta", "encoded_state_dict", "stores_quant_config", "channel_wise",
    "optimize", "round_zero",
)  # fmt: skip


def hqq(settings: Mapping[str, Any]) -> Packing:
    """W_q, scale, zero: groups are rows (axis 1) or columns (axis 0) of a table that holds the matrix row by row.

    w = (code - zero) * scale. A byte holds codes of 1, 2, 4 or 8 rows that lie as far apart as there are bytes in a
    column, the first in the highest bits; 3 bits are ten to a word likewise.
    """
    params = settings.get("quant_config")
    params = params if isinstance(params, Mapping) else {}
    usual = params.get("weight_quant_params") or next(iter(params.values()), None) or {}
    usual = usual.get("weight_quant_params", usual) if isinstance(usual, Mapping) else {}
    bits, group = usual.get("nbits"), usual.get("group_size")
    if type(bits) is not int or bits not in (1, 2, 3, 4, 5, 6, 8):
        raise unknown("HQQ", msg("with {bits} bits", bits=bits))

    way = _Hqq(group)
    extra = 32 / group if type(group) is int and group > 0 else 0.0
    form = Form(f"HQQ {bits}-bit", (32 / _THREES if bits == 3 else bits) + extra)
    return Packing(
        form=form,
        main="W_q",
        companions=("scale", "zero", *_ABOUT),
        decode=way.decode,
        shape=way.shape,
        dtype="I32" if bits == 3 else "U8",
        coding=way.coding,
        codes=way.grouped,
    )


@dataclass(frozen=True)
class _Hqq:
    """How to read matrices of HQQ. group: weights that share a scale, as config.json has it."""

    group: Any

    def table(self, m: PackedRows) -> tuple[int, int, int]:
        """(rows and columns of the table, codes that a number of it holds)"""
        (held, columns), scales = m.dims("W_q"), m.dims("scale")
        if m.dims("zero") != scales or 1 not in scales:
            raise m.broken(msg("its zeros or scales have another shape"))
        if m.dtype("W_q") == "I32":
            rows = scales[0] if scales[1] == 1 else self._group(m)
            if -(-rows // _THREES) != held:
                raise m.broken(msg("its scales have another shape"))
            return rows, columns, _THREES
        if m.dtype("W_q") != "U8":
            raise unknown("HQQ", msg("with codes that are seen as floats"))
        pack = scales[0] // held if scales[1] == 1 else self._group(m) // held
        rows = held * pack
        if pack not in (1, 2, 4, 8) or scales not in ((rows, 1), (1, columns)):
            raise m.broken(msg("its scales have another shape"))
        return rows, columns, pack

    def shape(self, m: PackedRows) -> tuple[int, int]:
        """[out, in]"""
        rows, columns, _ = self.table(m)
        return _oriented(m, rows * columns)

    def read(self, m: PackedRows, start: int, stop: int) -> tuple[Tensor, Tensor, Tensor]:
        """(codes, zeros, scales) of the rows of the table that hold outputs start..stop"""
        (_, columns, pack), (out, inputs) = self.table(m), self.shape(m)
        if m.has("shape") and tuple(m.get("shape").tolist()) != (out, inputs):
            raise m.broken(msg("it says that it has another shape"))
        first, last = start * inputs // columns, -(-stop * inputs // columns)
        held, which = m.get("W_q"), torch.arange(first, last)
        width = 3 if pack == _THREES else 8 // pack
        shift = width * (pack - 1 - which // len(held))
        codes = (held[which % len(held)].int() >> shift.int().unsqueeze(1)) & ((1 << width) - 1)
        scale, zero = m.get("scale").float(), m.get("zero").float()
        if len(scale) != 1:
            scale, zero = scale[first:last], zero[first:last]
        return codes, zero, scale

    def decode(self, m: PackedRows, start: int, stop: int) -> Tensor:
        """Outputs start..stop as float32 [stop - start, in]."""
        (_, columns, _), (_, inputs), (codes, zero, scale) = self.table(m), self.shape(m), self.read(m, start, stop)
        first, found = start * inputs // columns, ((codes - zero) * scale).flatten()
        return found[start * inputs - first * columns :][: (stop - start) * inputs].reshape(stop - start, inputs)

    def coding(self, m: PackedRows) -> Coding | None:
        """Of 4 bits in groups along the rows, which end with a row."""
        (rows, columns, pack), inputs = self.table(m), self.shape(m)[1]
        along = pack == 2 and inputs % columns == 0 and m.dims("scale") == (rows, 1)
        return run_coding(columns, "pair", "plain") if along else None

    def grouped(self, m: PackedRows, start: int, stop: int) -> GroupedCodes:
        """Outputs start..stop as codes that can be kept."""
        (codes, zero, scale), held, outputs = self.read(m, start, stop), self.coding(m), stop - start
        assert held is not None
        offset = (-zero * scale).reshape(outputs, -1)
        return GroupedCodes(held, codes.reshape(outputs, -1).to(torch.uint8), scale.reshape(outputs, -1), offset)

    def _group(self, m: PackedRows) -> int:
        if type(self.group) is not int or self.group < 1:
            raise m.broken(msg("config.json does not say how large its groups are"))
        return self.group
