"""How GPTQ, AWQ and compressed-tensors pack matrices of small integers, and the way back to [out, in] floats.

w = (q - zero) * scale, with a zero and a scale for each output and each group of inputs. Float8 is here as well, where
its scales are not for blocks of 128 x 128: those may stay as they are. Other packings have files of their own beside
this one, and packed_ways.py says which a checkpoint has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.source import ACT_ORDER, FileExtent, Form
from engine.quantization.grouped import GroupedCodes
from engine.record.coding import Coding
from engine.translatable import msg

AWQ_ORDER = (0, 2, 4, 6, 1, 3, 5, 7)  # which of eight outputs each nibble of an AWQ word holds, lowest nibble first
ROWS = 1024  # outputs decoded at once: bounds the memory of what they are decoded through


@dataclass(frozen=True, kw_only=True)
class Packing:
    """One way to pack. main, companions: endings of the names of what stands for one matrix.

    dtype: of the main tensor; others of that name are not packed. unused: endings of what the weights do not need.
    decode: outputs start..stop of a matrix as float32 [stop - start, in]. shape: [out, in] from the headers alone.
    coding, codes: the same as codes that can be kept; no coding where they cannot, as headers and settings say.
    """

    form: Form
    main: str
    companions: tuple[str, ...]
    decode: Callable[[PackedRows, int, int], Tensor]
    shape: Callable[[PackedRows], tuple[int, int]]
    dtype: str = "I32"
    unused: tuple[str, ...] = ()
    coding: Callable[[PackedRows], Coding | None] = lambda m: None
    codes: Callable[[PackedRows, int, int], GroupedCodes] | None = None


@dataclass(frozen=True, eq=False)
class PackedRows:
    """The outputs of one packed matrix, decoded when they are asked for.

    index: which of the matrices that are stacked in its tensors; None where there is one.
    """

    checkpoint: Checkpoint
    stem: str
    packing: Packing
    index: int | None = None

    def read(self, start: int, stop: int) -> Tensor:
        """[stop - start, in] float32."""
        parts = [self.packing.decode(self, at, min(at + ROWS, stop)) for at in range(start, stop, ROWS)]
        return torch.cat(parts) if len(parts) != 1 else parts[0]

    def coded(self) -> PackedCodes | None:
        """The same as codes that can be kept; None where they cannot."""
        coding = self.packing.coding(self)
        return None if coding is None else PackedCodes(self, coding)

    def extents(self) -> tuple[FileExtent, ...]:
        """Where the bytes lie of all tensors that stand for the matrix."""
        here = [e for e in (self.packing.main, *self.packing.companions) if self.has(e)]
        return tuple(extent for e in here for extent in self.checkpoint.extents(f"{self.stem}.{e}", self._lead))

    def get(self, ending: str, rows: tuple[int, int] | None = None) -> Tensor:
        """One of the tensors that stand for the matrix, or some rows of it."""
        return self.checkpoint.part(f"{self.stem}.{ending}", self._lead, rows)

    def has(self, ending: str) -> bool:
        """Whether there is such a tensor."""
        return f"{self.stem}.{ending}" in self.checkpoint.entries

    def dims(self, ending: str) -> tuple[int, int]:
        """The shape of one of them, which must be a matrix of this kind. Raises UnderhillError as Checkpoint.entry."""
        shape = self.checkpoint.entry(f"{self.stem}.{ending}").shape[len(self._lead) :]
        if len(shape) != 2:
            raise self.broken(msg("{ending} is no matrix", ending=ending))
        return shape[0], shape[1]

    def dtype(self, ending: str) -> str:
        """The type of one of them. Raises UnderhillError as Checkpoint.entry."""
        return self.checkpoint.entry(f"{self.stem}.{ending}").dtype

    @property
    def _lead(self) -> tuple[int, ...]:
        return () if self.index is None else (self.index,)

    def broken(self, what: str) -> UnderhillError:
        """BROKEN_FILE for this matrix."""
        return UnderhillError(
            Kind.BROKEN_FILE,
            msg("The packed weights of {stem} are damaged: {what}.", stem=self.stem, what=what),
            msg("Download the model again."),
        )

    def groups(self, count: int, inputs: int, listed: str) -> Tensor:
        """The group of each input: as listed, else in equal parts. int64 [inputs]"""
        if self.has(listed):
            found = self.get(listed).long()
            if found.shape != (inputs,) or int(found.min()) < 0 or int(found.max()) >= count:
                raise self.broken(msg("{listed} names groups that there are not", listed=listed))
            return found
        if not count or inputs % count:
            raise self.broken(msg("its groups do not divide its inputs"))
        return torch.arange(inputs) // (inputs // count)


@dataclass(frozen=True, eq=False)
class PackedCodes:
    """The outputs of a packed matrix as they are coded. See CodedRows."""

    rows: PackedRows
    coding: Coding

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """See CodedRows."""
        assert self.rows.packing.codes is not None
        return self.rows.packing.codes(self.rows, start, stop)


WIDEST = 256  # inputs per group of a record; wider groups repeat their scales


def run_coding(group: int, form: str, levels: str) -> Coding | None:
    """Of codes of 4 bits in runs of so many inputs; None where no record has such groups."""
    return Coding(4, group, form, levels) if group % 16 == 0 and 16 <= group <= WIDEST else None


def _coding(inputs: int, groups: int, symmetrical: bool = False) -> Coding | None:
    """Of codes of 4 bits in equal runs of inputs. symmetrical: zero is 8 throughout, and there is no offset to keep."""
    group = inputs // groups if groups and inputs % groups == 0 else 0
    width = next((w for w in (group, WIDEST, 128, 64, 32, 16) if 0 < w <= WIDEST and group % w == 0 and w % 16 == 0), 0)
    if not width:
        return None
    return Coding(4, width, "half", "middle8") if symmetrical else Coding(4, width, "pair", "plain")


def _grouped(coding: Coding, codes: Tensor, zeros: Tensor | None, scales: Tensor) -> GroupedCodes:
    """(code - zero) * scale. codes [out, in]; zeros, scales [out, groups]."""
    repeated = codes.shape[1] // coding.group // scales.shape[1]
    scale = scales.float()
    offset = None if zeros is None else (-zeros.float() * scale).repeat_interleave(repeated, 1)
    return GroupedCodes(coding, codes.to(torch.uint8).contiguous(), scale.repeat_interleave(repeated, 1), offset)


def unpacked(words: Tensor, bits: int, dim: int) -> Tensor:
    """int32 words along `dim` -> 32 / bits values each, lowest bits first. int32"""
    shape = [1] * (words.dim() + 1)
    shape[dim + 1] = 32 // bits
    shifts = torch.arange(0, 32, bits, dtype=torch.int32).reshape(shape)
    return ((words.unsqueeze(dim + 1) >> shifts) & ((1 << bits) - 1)).flatten(dim, dim + 1)


# ---- GPTQ -------------------------------------------------------------------------------------------------------


def gptq(settings: Mapping[str, Any]) -> Packing:
    """qweight [in / 8, out] packed along the inputs, qzeros [groups, out / 8] along the outputs, scales [groups, out].

    The first version stores zeros less one. g_idx [in] says the group of each input where they were reordered. Where
    matrices differ in their bits, how many one has follows from the shapes of its zeros and scales.
    """
    usual = known_bits(settings.get("bits"), "GPTQ", (2, 4, 8))
    form = str(settings.get("checkpoint_format") or "gptq")
    if form not in ("gptq", "gptq_v2"):
        raise unknown("GPTQ", msg("in the format {form}", form=repr(form)))
    less = 0 if form == "gptq_v2" else 1
    reordered = bool(settings.get("desc_act")) and not settings.get("static_groups")
    differ = bool(settings.get("dynamic") or settings.get("extra_config"))

    def bits_of(m: PackedRows) -> int:
        if not differ:
            return usual
        (groups, packed), (rows, out) = m.dims("qzeros"), m.dims("scales")
        if rows != groups or not out or packed * 32 % out:
            raise m.broken(msg("its zeros or scales have another shape"))
        return known_bits(packed * 32 // out, "GPTQ", (2, 4, 8))

    def shape(m: PackedRows) -> tuple[int, int]:
        (words, out), (groups, packed), pack = m.dims("qweight"), m.dims("qzeros"), 32 // bits_of(m)
        if m.dims("scales") != (groups, out) or packed * pack != out:
            raise m.broken(msg("its zeros or scales have another shape"))
        m.groups(groups, words * pack, "") if not m.has("g_idx") else None
        return out, words * pack

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        bits = bits_of(m)
        codes = unpacked(m.get("qweight")[:, start:stop], bits, 0)
        zeros = (unpacked(m.get("qzeros"), bits, 1)[:, start:stop] + less) & ((1 << bits) - 1)
        scales = m.get("scales")[:, start:stop].float()
        group = m.groups(len(scales), len(codes), "g_idx")
        return ((codes - zeros[group]) * scales[group]).T.contiguous()

    def coding(m: PackedRows) -> Coding | None:
        return _coding(shape(m)[1], m.dims("qzeros")[0]) if bits_of(m) == 4 and not reordered else None

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        held, inputs = coding(m), shape(m)[1]
        group = m.groups(m.dims("qzeros")[0], inputs, "g_idx")
        if held is None or not torch.equal(group, torch.arange(inputs) // (inputs // len(m.get("scales")))):
            raise m.broken(msg("config.json says that inputs are in order, and g_idx that they are not"))
        codes = unpacked(m.get("qweight")[:, start:stop], 4, 0).T
        zeros = ((unpacked(m.get("qzeros"), 4, 1)[:, start:stop] + less) & 15).T
        return _grouped(held, codes, zeros, m.get("scales")[:, start:stop].T)

    names, how = ("qzeros", "scales", "g_idx"), integer_form("GPTQ", usual, settings, reordered)
    return Packing(form=how, main="qweight", companions=names, decode=decode, shape=shape, coding=coding, codes=grouped)


# ---- AWQ --------------------------------------------------------------------------------------------------------


def awq(settings: Mapping[str, Any]) -> Packing:
    """qweight [in, out / 8] and qzeros [groups, out / 8] along the outputs in AWQ_ORDER, scales [groups, out]."""
    bits = known_bits(settings.get("bits", settings.get("w_bit")), "AWQ", (4,))
    version = str(settings.get("version", "gemm")).lower()
    if version != "gemm":
        raise unknown("AWQ", msg("for {version} kernels", version=repr(version)))

    def shape(m: PackedRows) -> tuple[int, int]:
        (inputs, words), (groups, packed) = m.dims("qweight"), m.dims("qzeros")
        if m.dims("scales") != (groups, words * 8) or packed != words:
            raise m.broken(msg("its zeros or scales have another shape"))
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

    def coding(m: PackedRows) -> Coding | None:
        return _coding(m.dims("qweight")[0], m.dims("qzeros")[0])

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        held, words = coding(m), slice(start // 8, -(-stop // 8))
        assert held is not None
        here = slice(start - words.start * 8, stop - words.start * 8)
        codes, zeros = (in_order(m.get(name)[:, words])[:, here].T for name in ("qweight", "qzeros"))
        return _grouped(held, codes, zeros, m.get("scales")[:, start:stop].T)

    names = ("qzeros", "scales")
    return Packing(
        form=integer_form("AWQ", bits, settings),
        main="qweight",
        companions=names,
        decode=decode,
        shape=shape,
        coding=coding,
        codes=grouped,
    )


# ---- compressed-tensors -----------------------------------------------------------------------------------------


def compressed(settings: Mapping[str, Any]) -> Packing:
    """weight_packed [out, in / 8] along the inputs, weight_scale [out, groups], weight_zero_point [out / 8, groups].

    Values and zeros are stored with half their range added; without zeros, zero is that half.
    """
    form, groups = settings.get("format"), settings.get("config_groups")
    schemes = [g.get("weights") or {} for g in groups.values()] if isinstance(groups, dict) else []
    if form != "pack-quantized" or not schemes or any(s != schemes[0] for s in schemes):
        raise unknown("compressed-tensors", msg("in the format {form}", form=repr(form)))
    if schemes[0].get("type", "int") != "int":
        raise unknown("compressed-tensors", msg("as {schemes}", schemes=repr(schemes[0].get("type"))))
    bits = known_bits(schemes[0].get("num_bits"), "compressed-tensors", (4, 8))
    pack = 32 // bits

    def shape(m: PackedRows) -> tuple[int, int]:
        (out, words), (rows, count) = m.dims("weight_packed"), m.dims("weight_scale")
        if rows != out:
            raise m.broken(msg("its scales have another shape"))
        if m.has("weight_zero_point") and m.dims("weight_zero_point") != (-(-out // pack), count):
            raise m.broken(msg("its zeros have another shape"))
        m.groups(count, words * pack, "") if not m.has("weight_g_idx") else None
        return out, words * pack

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        if m.has("weight_shape") and tuple(m.get("weight_shape").tolist()) != shape(m):
            raise m.broken(msg("it says that it has another shape"))
        codes = unpacked(m.get("weight_packed", (start, stop)), bits, 1)
        scales = m.get("weight_scale")[start:stop].float()
        group = m.groups(scales.shape[1], codes.shape[1], "weight_g_idx")
        if not m.has("weight_zero_point"):
            return (codes - (1 << (bits - 1))) * scales[:, group]
        zeros = unpacked(m.get("weight_zero_point"), bits, 0)[start:stop]
        return (codes - zeros[:, group]) * scales[:, group]

    def coding(m: PackedRows) -> Coding | None:
        if bits != 4 or m.has("weight_g_idx"):
            return None
        return _coding(shape(m)[1], m.dims("weight_scale")[1], symmetrical=not m.has("weight_zero_point"))

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        held = coding(m)
        assert held is not None
        if m.has("weight_shape") and tuple(m.get("weight_shape").tolist()) != shape(m):
            raise m.broken(msg("it says that it has another shape"))
        codes = unpacked(m.get("weight_packed", (start, stop)), 4, 1)
        zeros = unpacked(m.get("weight_zero_point"), 4, 0)[start:stop] if m.has("weight_zero_point") else None
        return _grouped(held, codes, zeros, m.get("weight_scale")[start:stop])

    endings = ("weight_scale", "weight_zero_point", "weight_shape", "weight_g_idx")
    how = integer_form("compressed-tensors", bits, schemes[0], schemes[0].get("actorder") == "group")
    return Packing(
        form=how, main="weight_packed", companions=endings, decode=decode, shape=shape, coding=coding, codes=grouped
    )


# ---- float8 -------------------------------------------------------------------------------------------------------


def float8(settings: Mapping[str, Any]) -> Packing:
    """weight [out, in] in E4M3 beside one scale, one for each output [out, 1], or one for each block."""
    block = settings.get("weight_block_size") or [128, 128]
    if not isinstance(block, list) or len(block) != 2 or any(type(n) is not int or n < 1 for n in block):
        raise unknown("FP8", msg("in blocks of {block}", block=block))
    names = ("weight_scale_inv", "weight_scale", "scale")

    def scale(m: PackedRows) -> str:
        return next((name for name in names if m.has(name)), names[1])

    def shape(m: PackedRows) -> tuple[int, int]:
        out, inputs = m.dims("weight")
        held = m.checkpoint.entry(f"{m.stem}.{scale(m)}").shape
        if held not in ((), (1,), (1, 1), (out,), (out, 1), (-(-out // block[0]), -(-inputs // block[1]))):
            raise m.broken(msg("its scales have the shape {held}", held=list(held)))
        return out, inputs

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        out, inputs = m.dims("weight")
        values = m.get("weight", (start, stop)).float()
        scales = m.get(scale(m)).float()
        if scales.numel() == 1:
            return values.mul_(scales.reshape(()))
        if scales.numel() == out and scales.shape[0] == out:
            return values.mul_(scales.reshape(out, 1)[start:stop])
        rows, columns = torch.arange(start, stop) // block[0], torch.arange(inputs) // block[1]
        return values.mul_(scales[rows][:, columns])

    others = ("input_scale", "activation_scale")
    return Packing(
        form=Form("FP8 safetensors", 8.0),
        main="weight",
        companions=(*names, *others),
        decode=decode,
        shape=shape,
        dtype="F8_E4M3",
    )


def integer_form(name: str, bits: int, settings: Mapping[str, Any], reordered: bool = False) -> Form:
    """A zero and a 16-bit scale for each group, which a group size of -1 or none makes the whole row.

    reordered: act-order puts inputs into groups of their own.
    """
    group = settings.get("group_size", settings.get("q_group_size"))
    extra = (16 + bits) / group if isinstance(group, int) and group > 0 else 0.0
    return Form(f"{name} {bits}-bit" + (ACT_ORDER if reordered else ""), bits + extra)


def known_bits(value: Any, name: str, known: tuple[int, ...]) -> int:
    """That many bits. Raises UnderhillError(UNSUPPORTED_MODEL) where they are none of `known`."""
    if value not in known:
        raise unknown(name, msg("with {value} bits", value=value))
    return int(value)


def unknown(name: str, how: str) -> UnderhillError:
    """UNSUPPORTED_MODEL for a packing that is known by name and not read as it is here."""
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("This quantization isn't supported ({name} {how}).", name=name, how=how),
        msg("Use the model in its original precision."),
    )
