"""How GPTQ, AWQ and compressed-tensors pack matrices of small integers, and the way back to [out, in] floats.

w = (q - zero) * scale, with a zero and a scale for each output and each group of inputs. Float8 is here as well, where
its scales are not for blocks of 128 x 128: those may stay as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.hub.checkpoint import Checkpoint
from engine.hub.sources.extents import Extent
from engine.hub.sources.source import Form

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # which of eight outputs each nibble of an AWQ word holds, lowest nibble first
ROWS = 1024  # outputs decoded at once: bounds the memory of what they are decoded through


@dataclass(frozen=True)
class Packing:
    """One way to pack. main, companions: endings of the names of what stands for one matrix.

    dtype: of the main tensor; others of that name are not packed.
    decode: outputs start..stop of a matrix as float32 [stop - start, in]. shape: [out, in] from the headers alone.
    """

    form: Form
    main: str
    companions: tuple[str, ...]
    decode: Callable[[PackedRows, int, int], Tensor]
    shape: Callable[[PackedRows], tuple[int, int]]
    dtype: str = "I32"


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The outputs of one packed matrix, decoded when they are asked for."""

    checkpoint: Checkpoint
    stem: str
    packing: Packing

    def read(self, start: int, stop: int) -> Tensor:
        """[stop - start, in] float32."""
        parts = [self.packing.decode(self, at, min(at + ROWS, stop)) for at in range(start, stop, ROWS)]
        return torch.cat(parts) if len(parts) != 1 else parts[0]

    def extents(self) -> tuple[Extent, ...]:
        """Where the bytes lie of all tensors that stand for the matrix."""
        here = [e for e in (self.packing.main, *self.packing.companions) if self.has(e)]
        return tuple(extent for e in here for extent in self.checkpoint.extents(f"{self.stem}.{e}"))

    def get(self, ending: str) -> Tensor:
        """One of the tensors that stand for the matrix."""
        return self.checkpoint.tensor(f"{self.stem}.{ending}")

    def has(self, ending: str) -> bool:
        """Whether there is such a tensor."""
        return f"{self.stem}.{ending}" in self.checkpoint.entries

    def dims(self, ending: str) -> tuple[int, int]:
        """The shape of one of them, which must be a matrix of this kind. Raises UnderhillError as Checkpoint.entry."""
        shape = self.checkpoint.entry(f"{self.stem}.{ending}").shape
        if len(shape) != 2:
            raise self.broken(f"{ending} is no matrix")
        return shape[0], shape[1]

    def broken(self, what: str) -> UnderhillError:
        """BROKEN_FILE for this matrix."""
        return UnderhillError(
            Kind.BROKEN_FILE, f"The packed weights of {self.stem} are damaged: {what}.", "Download the model again."
        )

    def groups(self, count: int, inputs: int, listed: str) -> Tensor:
        """The group of each input: as listed, else in equal parts. int64 [inputs]"""
        if self.has(listed):
            found = self.get(listed).long()
            if found.shape != (inputs,) or int(found.min()) < 0 or int(found.max()) >= count:
                raise self.broken(f"{listed} names groups that there are not")
            return found
        if not count or inputs % count:
            raise self.broken("its groups do not divide its inputs")
        return torch.arange(inputs) // (inputs // count)


def unpacked(words: Tensor, bits: int, dim: int) -> Tensor:
    """int32 words along `dim` -> 32 / bits values each, lowest bits first. int32"""
    shape = [1] * (words.dim() + 1)
    shape[dim + 1] = 32 // bits
    shifts = torch.arange(0, 32, bits, dtype=torch.int32).reshape(shape)
    return ((words.unsqueeze(dim + 1) >> shifts) & ((1 << bits) - 1)).flatten(dim, dim + 1)


# ---- GPTQ -------------------------------------------------------------------------------------------------------


def gptq(settings: Mapping[str, Any]) -> Packing:
    """qweight [in / 8, out] packed along the inputs, qzeros [groups, out / 8] along the outputs, scales [groups, out].

    The first version stores zeros less one. g_idx [in] says the group of each input where they were reordered.
    """
    bits = _bits(settings.get("bits"), "GPTQ", (2, 4, 8))
    form = str(settings.get("checkpoint_format") or "gptq")
    if form not in ("gptq", "gptq_v2"):
        raise _unknown("GPTQ", f"in the format {form!r}")
    less = 0 if form == "gptq_v2" else 1
    pack = 32 // bits

    def shape(m: PackedRows) -> tuple[int, int]:
        (words, out), (groups, packed) = m.dims("qweight"), m.dims("qzeros")
        if m.dims("scales") != (groups, out) or packed * pack != out:
            raise m.broken("its zeros or scales have another shape")
        m.groups(groups, words * pack, "") if not m.has("g_idx") else None
        return out, words * pack

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        codes = unpacked(m.get("qweight")[:, start:stop], bits, 0)
        zeros = (unpacked(m.get("qzeros"), bits, 1)[:, start:stop] + less) & ((1 << bits) - 1)
        scales = m.get("scales")[:, start:stop].float()
        group = m.groups(len(scales), len(codes), "g_idx")
        return ((codes - zeros[group]) * scales[group]).T.contiguous()

    return Packing(_form("GPTQ", bits, settings), "qweight", ("qzeros", "scales", "g_idx"), decode, shape)


# ---- AWQ --------------------------------------------------------------------------------------------------------


def awq(settings: Mapping[str, Any]) -> Packing:
    """qweight [in, out / 8] and qzeros [groups, out / 8] along the outputs in AWQ_ORDER, scales [groups, out]."""
    bits = _bits(settings.get("bits", settings.get("w_bit")), "AWQ", (4,))
    version = str(settings.get("version", "gemm")).lower()
    if version != "gemm":
        raise _unknown("AWQ", f"for {version!r} kernels")

    def shape(m: PackedRows) -> tuple[int, int]:
        (inputs, words), (groups, packed) = m.dims("qweight"), m.dims("qzeros")
        if m.dims("scales") != (groups, words * 8) or packed != words:
            raise m.broken("its zeros or scales have another shape")
        m.groups(groups, inputs, "")
        return words * 8, inputs

    def in_order(words: Tensor) -> Tensor:
        """[n, out / 8] words -> [n, out] values."""
        nibbles = unpacked(words, 4, 1).reshape(len(words), -1, 8)
        found = torch.empty_like(nibbles)
        found[..., list(AWQ_ORDER)] = nibbles
        return found.flatten(1)

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        first, last = start // 8, -(-stop // 8)
        here = slice(start - first * 8, stop - first * 8)
        codes = in_order(m.get("qweight")[:, first:last])[:, here]
        zeros = in_order(m.get("qzeros")[:, first:last])[:, here]
        scales = m.get("scales")[:, start:stop].float()
        group = m.groups(len(scales), len(codes), "")
        return ((codes - zeros[group]) * scales[group]).T.contiguous()

    return Packing(_form("AWQ", bits, settings), "qweight", ("qzeros", "scales"), decode, shape)


# ---- compressed-tensors -----------------------------------------------------------------------------------------


def compressed(settings: Mapping[str, Any]) -> Packing:
    """weight_packed [out, in / 8] along the inputs, weight_scale [out, groups], weight_zero_point [out / 8, groups].

    Values and zeros are stored with half their range added; without zeros, zero is that half.
    """
    form = settings.get("format")
    if form in ("float-quantized", "naive-quantized"):
        return float8(settings)
    groups = settings.get("config_groups")
    schemes = [g.get("weights") or {} for g in groups.values()] if isinstance(groups, dict) else []
    if form != "pack-quantized" or not schemes or any(s != schemes[0] for s in schemes):
        raise _unknown("compressed-tensors", f"in the format {form!r}")
    if schemes[0].get("type", "int") != "int":
        raise _unknown("compressed-tensors", f"as {schemes[0].get('type')!r}")
    bits = _bits(schemes[0].get("num_bits"), "compressed-tensors", (4, 8))
    pack = 32 // bits

    def shape(m: PackedRows) -> tuple[int, int]:
        (out, words), (rows, count) = m.dims("weight_packed"), m.dims("weight_scale")
        if rows != out:
            raise m.broken("its scales have another shape")
        if m.has("weight_zero_point") and m.dims("weight_zero_point") != (-(-out // pack), count):
            raise m.broken("its zeros have another shape")
        m.groups(count, words * pack, "") if not m.has("weight_g_idx") else None
        return out, words * pack

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        if m.has("weight_shape") and tuple(m.get("weight_shape").tolist()) != shape(m):
            raise m.broken("it says that it has another shape")
        codes = unpacked(m.checkpoint.part(f"{m.stem}.weight_packed", (), (start, stop)), bits, 1)
        scales = m.get("weight_scale")[start:stop].float()
        group = m.groups(scales.shape[1], codes.shape[1], "weight_g_idx")
        if not m.has("weight_zero_point"):
            return (codes - (1 << (bits - 1))) * scales[:, group]
        zeros = unpacked(m.get("weight_zero_point"), bits, 0)[start:stop]
        return (codes - zeros[:, group]) * scales[:, group]

    endings = ("weight_scale", "weight_zero_point", "weight_shape", "weight_g_idx")
    return Packing(_form("compressed-tensors", bits, schemes[0]), "weight_packed", endings, decode, shape)


# ---- float8 -------------------------------------------------------------------------------------------------------


def float8(settings: Mapping[str, Any]) -> Packing:
    """weight [out, in] in E4M3 beside one scale, one for each output [out, 1], or one for each block."""
    block = settings.get("weight_block_size") or [128, 128]
    if not isinstance(block, list) or len(block) != 2 or any(type(n) is not int or n < 1 for n in block):
        raise _unknown("FP8", f"in blocks of {block}")
    names = ("weight_scale_inv", "weight_scale")

    def scale(m: PackedRows) -> str:
        return next((name for name in names if m.has(name)), names[1])

    def shape(m: PackedRows) -> tuple[int, int]:
        out, inputs = m.dims("weight")
        held = m.checkpoint.entry(f"{m.stem}.{scale(m)}").shape
        if held not in ((), (1,), (1, 1), (out,), (out, 1), (-(-out // block[0]), -(-inputs // block[1]))):
            raise m.broken(f"its scales have the shape {list(held)}")
        return out, inputs

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        out, inputs = m.dims("weight")
        values = m.checkpoint.part(f"{m.stem}.weight", (), (start, stop)).float()
        scales = m.get(scale(m)).float()
        if scales.numel() == 1:
            return values.mul_(scales.reshape(()))
        if scales.numel() == out and scales.shape[0] == out:
            return values.mul_(scales.reshape(out, 1)[start:stop])
        rows, columns = torch.arange(start, stop) // block[0], torch.arange(inputs) // block[1]
        return values.mul_(scales[rows][:, columns])

    others = ("input_scale", "activation_scale")
    return Packing(Form("FP8 safetensors", 8.0), "weight", (*names, *others), decode, shape, "F8_E4M3")


def is_packed(settings: Any) -> bool:
    """Whether a config's quantization_config is one of those here; the usual float8 is not."""
    method = settings.get("quant_method") if isinstance(settings, Mapping) else None
    return method in PACKINGS and not (method == "fp8" and settings.get("weight_block_size") == [128, 128])


PACKINGS: dict[str, Callable[[Mapping[str, Any]], Packing]] = {
    "awq": awq,
    "compressed-tensors": compressed,
    "fp8": float8,
    "gptq": gptq,
}


def _form(name: str, bits: int, settings: Mapping[str, Any]) -> Form:
    """A zero and a 16-bit scale for each group, which a group size of -1 or none makes the whole row."""
    group = settings.get("group_size", settings.get("q_group_size"))
    extra = (16 + bits) / group if isinstance(group, int) and group > 0 else 0.0
    return Form(f"{name} {bits}-bit", bits + extra)


def _bits(value: Any, name: str, known: tuple[int, ...]) -> int:
    if value not in known:
        raise _unknown(name, f"with {value} bits")
    return int(value)


def _unknown(name: str, how: str) -> UnderhillError:
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        f"This model is already quantized ({name} {how}), in a way that Underhill does not read.",
        "Get the model in its original precision.",
    )
