"""Checkpoints as MLX writes them: its packing, its names and its layouts, seen as the hub's.

Affine: w = scale * code + bias, with a scale and a bias for each group of inputs; codes lie one after the other in the
bits of a row, the lowest first. MXFP4 is as everywhere. All experts of a layer are one tensor.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.errors import broken_file
from engine.formats.families import FAMILIES, PARTS, ExpertNames, counts_experts, dense_model, text_config
from engine.formats.packed_floats import MXFP4_GROUP, MXFP4_VALUES, powers_of_two
from engine.formats.packed_integers import PackedRows, Packing, run_coding
from engine.formats.source import DecodedEntry, DecodedRows, FileExtent, Form, TensorInfo
from engine.limits import EXPERTS
from engine.quantization.grouped import E2M1_TIMES, GroupedCodes, ordered_e2m1
from engine.translatable import msg

BITS = (2, 3, 4, 5, 6, 8)  # of mlx.core.quantize
# Families whose weights MLX stacks by experts and leaves as they are otherwise; those with more to undo are below.
_STACKED = frozenset({
    "deepseek_v2", "dots1", "glm4_moe", "hunyuan_v1_moe", "minimax_m2", "mixtral", "olmoe", "phimoe", "qwen2_moe",
    "qwen3_moe",
})  # fmt: skip
_LATENT = frozenset({"deepseek_v3", "glm4_moe_lite", "kimi_k2"})  # keys and values of the latent apart
_SHIFTED = frozenset(
    {"qwen3_5_moe", "qwen3_5_moe_text", "qwen3_next"}
)  # norms around 1 instead of 0; convolutions turned
_NORMS = re.compile(r"(\.(input_layernorm|post_attention_layernorm|q_norm|k_norm)|(^|\.)model\.norm)\.weight$")
_EXPERTS = re.compile(r"(.*\blayers\.\d{1,6})\..*\b(?:switch_mlp|experts)\.(gate_proj|up_proj|down_proj)\.weight")
_KEYS, _VALUES = "embed_q.weight", "unembed_out.weight"


def is_mlx(config: Mapping[str, Any], names: Mapping[str, Any]) -> bool:
    """Whether MLX wrote a checkpoint with this config and these tensors."""
    said = config.get("quantization")
    return (isinstance(said, Mapping) and "bits" in said) or any(".switch_mlp." in name for name in names)


def reads_mlx(model_type: str) -> bool:
    """Whether models of this kind are read as MLX writes them."""
    return model_type in _STACKED | _LATENT | _SHIFTED and model_type in FAMILIES


def mlx_entries(checkpoint: Checkpoint) -> tuple[Form, dict[str, TensorInfo]]:
    """Its form, and its tensors under the hub's names.

    Raises UnderhillError: UNSUPPORTED_MODEL for families and modes that are not known, MISSING_FILE or BROKEN_FILE
    where what decodes a matrix is not there or does not fit it.
    """
    config = checkpoint.config
    said = config.get("quantization")
    found = _Mlx(checkpoint, said if isinstance(said, Mapping) else {})
    return found.form(), {entry.name: entry for entry in found.entries()}


class _Mlx:
    def __init__(self, checkpoint: Checkpoint, settings: Mapping[str, Any]) -> None:
        self._checkpoint, self._settings = checkpoint, settings
        self._family = str(checkpoint.config["model_type"])
        names = FAMILIES.get(self._family)
        if not counts_experts(checkpoint.config):
            raise dense_model(self._family)
        if names is None or not reads_mlx(self._family):
            raise _refused(
                msg("stores {family} models in a way of its own, which Underhill does not read", family=self._family)
            )
        self._names: ExpertNames = names
        self._said: dict[tuple[str, int, int], Packing] = {}

    def form(self) -> Form:
        """Of most matrices."""
        if not self._settings:
            return Form("MLX", 16.0)
        mode, bits, group = self._how(self._settings)
        return Form(f"MLX {bits}-bit", bits + (8 if mode == "mxfp4" else 32) / group)

    def entries(self) -> Iterator[DecodedEntry]:
        for name, entry in self._checkpoint.entries.items():
            stem, _, ending = name.rpartition(".")
            if ending in ("scales", "biases") and f"{stem}.weight" in self._checkpoint.entries:
                continue
            experts = _EXPERTS.fullmatch(name)
            if experts is not None and len(entry.shape) == 3:
                yield from self._experts(name, experts.group(1), experts.group(2))
            elif self._family in _LATENT and name.endswith(_KEYS):
                yield self._latent(name.removesuffix(_KEYS))
            elif self._family not in _LATENT or not name.endswith(_VALUES):
                yield self._dense(name)

    def _experts(self, name: str, layer: str, part: str) -> Iterator[DecodedEntry]:
        """One entry for each of the matrices that are stacked in a tensor."""
        count, root = self._checkpoint.entry(name).shape[0], self._renamed(layer)
        if count > EXPERTS:
            raise broken_file(msg("{name} holds {count} experts.", name=name, count=count))
        single = self._names.single[PARTS.index(part.removesuffix("_proj"))]
        for expert in range(count):
            kind, shape, rows = self._rows(name, expert)
            coded = rows.coded() if isinstance(rows, PackedRows) else None
            stem = f"{root}.{self._names.module}.{expert}.{single}"
            yield DecodedEntry(f"{stem}.weight", kind or "F32", shape, rows, coded)

    def _latent(self, prefix: str) -> DecodedEntry:
        """kv_b_proj [heads * (nope + v), rank], of keys [heads, rank, nope] and values [heads, v, rank]."""
        heads = self._checkpoint.entry(prefix + _KEYS).shape[0]
        keys = [self._rows(prefix + _KEYS, head) for head in range(heads)]
        values = [self._rows(prefix + _VALUES, head) for head in range(heads)]
        (rank, nope), (v, inputs) = keys[0][1], values[0][1]
        if rank != inputs or self._checkpoint.entry(prefix + _VALUES).shape[0] != heads:
            raise broken_file(
                msg("{prefix}{keys} and {values} do not fit each other.", prefix=prefix, keys=_KEYS, values=_VALUES)
            )
        both = MlxLatentRows(tuple((k[2], x[2]) for k, x in zip(keys, values, strict=True)), rank, nope, v)
        kind = keys[0][0] if keys[0][0] == values[0][0] else None
        return DecodedEntry(
            f"{self._renamed(prefix)}kv_b_proj.weight", kind or "BF16", (heads * (nope + v), rank), both
        )

    def _dense(self, name: str) -> DecodedEntry:
        kind, shape, rows = self._rows(name, None)
        if self._family in _SHIFTED and kind is not None:
            if _NORMS.search(name) and len(shape) == 1:
                rows = MlxChangedRows(rows, lambda x: x.float() - 1)
                kind = "F32"
            elif name.endswith("conv1d.weight") and len(shape) == 3:
                shape = (shape[0], shape[2], shape[1])  # one of the two is 1, so nothing moves
        coded = rows.coded() if isinstance(rows, PackedRows) else None
        return DecodedEntry(self._renamed(name), kind or "BF16", shape, rows, coded)

    def _rows(self, name: str, index: int | None) -> tuple[str | None, tuple[int, ...], DecodedRows]:
        """(type where it is not packed, shape, rows) of a tensor, or of one of the matrices stacked in it."""
        entry, stem = self._checkpoint.entry(name), name.removesuffix(".weight")
        if entry.dtype == "U32" and f"{stem}.scales" in self._checkpoint.entries:
            rows = PackedRows(self._checkpoint, stem, self._packing(stem), index)
            return None, rows.packing.shape(rows), rows
        shape = entry.shape if index is None else entry.shape[1:]
        return entry.dtype, shape, MlxPlainRows(self._checkpoint, name, index)

    def _packing(self, stem: str) -> Packing:
        own = self._settings.get(stem)
        how = self._how(own if isinstance(own, Mapping) else self._settings)
        if how not in self._said:
            self._said[how] = _packing(*how)
        return self._said[how]

    @staticmethod
    def _how(settings: Mapping[str, Any]) -> tuple[str, int, int]:
        mode, bits, group = settings.get("mode") or "affine", settings.get("bits"), settings.get("group_size")
        if mode not in ("affine", "mxfp4"):
            raise _refused(msg("keeps its weights as {mode}, which Underhill does not read", mode=mode))
        if mode == "mxfp4":
            return mode, 4, MXFP4_GROUP
        if bits not in BITS or type(group) is not int or group < 1:
            raise _refused(
                msg(
                    "keeps its weights in groups of {group} with {bits} bits, which Underhill does not read",
                    group=group,
                    bits=bits,
                )
            )
        return mode, bits, group

    def _renamed(self, name: str) -> str:
        """Of models that also see, the text model lies the other way round."""
        if not name.startswith("language_model."):
            return name
        rest = name.removeprefix("language_model.")
        inner = "text_config" in self._checkpoint.config and text_config(self._checkpoint.config)
        return rest.replace("model.", "model.language_model.", 1) if inner and rest.startswith("model.") else rest


def _packing(mode: str, bits: int, group: int) -> Packing:
    def shape(m: PackedRows) -> tuple[int, int]:
        out, words = m.dims("weight")
        inputs = words * 32 // bits
        if inputs % group or m.dims("scales") != (out, inputs // group):
            raise m.broken(msg("its scales have another shape"))
        if mode == "affine" and m.dims("biases") != (out, inputs // group):
            raise m.broken(msg("its biases have another shape"))
        return out, inputs

    def decode(m: PackedRows, start: int, stop: int) -> Tensor:
        codes = bit_stream(m.get("weight", (start, stop)), bits)
        scales = m.get("scales", (start, stop))
        if mode == "mxfp4":
            return torch.tensor(MXFP4_VALUES)[codes].mul_(powers_of_two(scales).repeat_interleave(group, 1))
        biases = m.get("biases", (start, stop)).float().repeat_interleave(group, 1)
        return codes.float().mul_(scales.float().repeat_interleave(group, 1)).add_(biases)

    def grouped(m: PackedRows, start: int, stop: int) -> GroupedCodes:
        assert coding is not None
        codes, scales = bit_stream(m.get("weight", (start, stop)), bits), m.get("scales", (start, stop))
        if mode == "mxfp4":
            each = 1 / E2M1_TIMES
            return GroupedCodes(coding, ordered_e2m1(codes), powers_of_two(scales) * each, None, each)
        biases = m.get("biases", (start, stop)).float()
        return GroupedCodes(coding, codes.to(torch.uint8), scales.float(), biases)

    known = ("byte", "e2m1") if mode == "mxfp4" else ("pair", "plain")
    coding = run_coding(group, *known) if bits == 4 else None
    form = Form(f"MLX {bits}-bit", float(bits))
    return Packing(
        form=form,
        main="weight",
        companions=("scales", "biases"),
        decode=decode,
        shape=shape,
        dtype="U32",
        coding=lambda m: coding,
        codes=grouped,
    )


def bit_stream(words: Tensor, bits: int) -> Tensor:
    """uint32 words [rows, n] -> the n * 32 / bits codes of each row, which lie in its bits from the lowest on. int32"""
    data = words.contiguous().view(torch.uint8).int()
    data = torch.nn.functional.pad(data, (0, 1))
    at = torch.arange(words.shape[1] * 32 // bits) * bits
    first = at // 8
    return ((data[:, first] | data[:, first + 1] << 8) >> (at % 8).int()) & ((1 << bits) - 1)


@dataclass(frozen=True, eq=False)
class MlxPlainRows:
    """A tensor that is not packed, or one of those stacked in it, as it lies in its file."""

    checkpoint: Checkpoint
    name: str
    index: int | None

    def read(self, start: int, stop: int) -> Tensor:
        """See Rows."""
        lead = () if self.index is None else (self.index,)
        shape = self.checkpoint.entry(self.name).shape[len(lead) :]
        if len(shape) < 2:
            return self.checkpoint.part(self.name, lead).reshape(1, -1)
        return self.checkpoint.part(self.name, lead, (start, stop)).flatten(1)

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.checkpoint.extents(self.name, () if self.index is None else (self.index,))


@dataclass(frozen=True, eq=False)
class MlxChangedRows:
    """Rows of which something is made."""

    rows: DecodedRows
    change: Callable[[Tensor], Tensor]

    def read(self, start: int, stop: int) -> Tensor:
        """See Rows."""
        return self.change(self.rows.read(start, stop))

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return self.rows.extents()


@dataclass(frozen=True, eq=False)
class MlxLatentRows:
    """heads: of each, keys [rank, nope], which must be turned, and values [v, rank]."""

    heads: tuple[tuple[DecodedRows, DecodedRows], ...]
    rank: int
    nope: int
    v: int

    def read(self, start: int, stop: int) -> Tensor:
        """See Rows."""
        of_head = self.nope + self.v
        first, last = start // of_head, -(-stop // of_head)
        blocks = [part for k, v in self.heads[first:last] for part in (k.read(0, self.rank).T, v.read(0, self.v))]
        return torch.cat(blocks)[start - first * of_head : stop - first * of_head]

    def extents(self) -> tuple[FileExtent, ...]:
        """See Rows."""
        return tuple(extent for both in self.heads for rows in both for extent in rows.extents())


def _refused(what: str) -> UnderhillError:
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("This model was quantized by MLX, which {what}.", what=what),
        msg("Use the original precision, a GGUF, GPTQ or AWQ version."),
    )
