"""One matrix of one expert out of a checkpoint, whatever it is stored as, always [out, in]."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.formats.packed_floats import MXFP4_BIAS, MXFP4_GROUP, mxfp4
from engine.formats.source import CodedRows, WeightSource
from engine.quantization.grouped import E2M1_TIMES, GroupedCodes, ordered_e2m1
from engine.quantization.planes import BIAS
from engine.record.coding import Coding
from engine.store.dtypes import FLOATS
from engine.translatable import msg

BLOCKS, SCALES, SCALE_INV = "_blocks", "_scales", "_scale_inv"
COMPANIONS = (BLOCKS, SCALES, SCALE_INV)  # what stands for, or beside, a tensor that is stored quantized
# As in DeepSeek-V3's quantization_config.
FP8_BLOCK = (128, 128)  # rows and columns that share a scale, where the config does not say


@dataclass(frozen=True)
class MatrixPiece:
    """Where one matrix (or bias) of one expert lies in a checkpoint tensor `key`.

    Take row `index` of the tensor (None: all of it), transpose it if `transpose`, then rows start:stop:step.
    """

    key: str
    index: int | None
    transpose: bool = False
    start: int = 0
    stop: int | None = None
    step: int = 1


@dataclass(frozen=True)
class ExpertPieces:
    """One expert. matrices: 'gate' (where there is one) and 'up' [I, H], 'down' [H, I]; biases: same names, [rows]."""

    matrices: dict[str, MatrixPiece]
    biases: dict[str, MatrixPiece] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ExpertPlan:
    """How the routed experts of a checkpoint are read one by one.

    hidden, intermediate: H and I of the experts (H is smaller than the model's where experts work in a latent space).
    layers: model layer index -> its experts in order. dense: the tensors that the rest of the model needs.
    vision: those that it sees pictures with (formats.families.vision_prefixes), which are kept as they are.
    mtp: layers for multi-token prediction, as `layers`; what else they need is in `dense`.
    unused: tensors that nothing here needs (what predicts tokens in other families, and their towers).
    """

    hidden: int
    intermediate: int
    has_gate: bool
    has_bias: bool
    layers: dict[int, tuple[ExpertPieces, ...]]
    dense: tuple[str, ...]
    unused: tuple[str, ...]
    vision: tuple[str, ...] = ()
    mtp: dict[int, tuple[ExpertPieces, ...]] = field(default_factory=dict)

    @property
    def all_layers(self) -> dict[int, tuple[ExpertPieces, ...]]:
        """All layers of experts."""
        return {**self.layers, **self.mtp}


class ExpertMatrices(Mapping[str, Tensor | GroupedCodes]):
    """The matrices and biases of one expert by the names that planes.encode wants, each read when it is asked for.

    kept: those whose codes are to be kept, where there are such.
    """

    def __init__(self, checkpoint: WeightSource, pieces: ExpertPieces, kept: Collection[str] = ()) -> None:
        self._checkpoint, self._kept = checkpoint, kept
        self._pieces = {**pieces.matrices, **{name + BIAS: piece for name, piece in pieces.biases.items()}}

    def __getitem__(self, name: str) -> Tensor | GroupedCodes:
        piece = self._pieces[name]
        coded = coded_piece(self._checkpoint, piece) if name in self._kept else None
        if coded is None:
            return read_piece(self._checkpoint, piece)
        return coded.grouped(0, piece_shape(self._checkpoint, piece)[0])

    def __iter__(self) -> Iterator[str]:
        return iter(self._pieces)

    def __len__(self) -> int:
        return len(self._pieces)


def read_piece(checkpoint: WeightSource, piece: MatrixPiece) -> Tensor:
    """The matrix [out, in] or bias [out], floating; quantized blocks are multiplied out.

    Raises UnderhillError: UNSUPPORTED_MODEL when it is stored as something else, and what Source.part raises.
    """
    index = () if piece.index is None else (piece.index,)
    rows = slice(piece.start, piece.stop, piece.step)
    if piece.key + BLOCKS in checkpoint.entries:  # [.., out, in / 32, 16] bytes: rows are outputs already
        blocks = checkpoint.part(piece.key + BLOCKS, index)[rows]
        return mxfp4(blocks, checkpoint.part(piece.key + SCALES, index)[rows])
    dtype = checkpoint.entry(piece.key).dtype
    if dtype == "F8_E4M3" and piece.key + SCALE_INV in checkpoint.entries:
        scales = checkpoint.part(piece.key + SCALE_INV, index)
        whole = _fp8(checkpoint.part(piece.key, index), scales, _fp8_block(checkpoint))
        return (whole.T if piece.transpose else whole)[rows]
    if dtype not in FLOATS:
        raise UnderhillError(
            Kind.UNSUPPORTED_MODEL,
            msg("{key} has the unsupported type {dtype}.", key=piece.key, dtype=dtype),
            msg("Use the model in its original precision."),
        )
    if piece.transpose or piece.step != 1:
        whole = checkpoint.part(piece.key, index)
        return (whole.T if piece.transpose else whole)[rows]
    count = checkpoint.entry(piece.key).shape[len(index)]
    return checkpoint.part(piece.key, index, (piece.start, count if piece.stop is None else piece.stop))


def piece_shape(checkpoint: WeightSource, piece: MatrixPiece) -> tuple[int, ...]:
    """What read_piece(...).shape will be, from the headers alone."""
    lead = 0 if piece.index is None else 1
    if piece.key + BLOCKS in checkpoint.entries:
        rows, *packed = checkpoint.entry(piece.key + BLOCKS).shape[lead:]
        shape: tuple[int, ...] = (rows, math.prod(packed) * 2)
    else:
        shape = checkpoint.entry(piece.key).shape[lead:]
        shape = shape[::-1] if piece.transpose else shape
    if not shape:
        return ()
    return (len(range(shape[0])[piece.start : piece.stop : piece.step]), *shape[1:])


def coded_piece(checkpoint: WeightSource, piece: MatrixPiece) -> CodedRows | None:
    """The rows of a matrix as the codes that they are, where a record can keep them; from headers alone.

    Row i of what is returned is row i of read_piece.
    """
    if piece.key + BLOCKS in checkpoint.entries:
        whole = checkpoint.entry(piece.key + BLOCKS).shape
        return Mxfp4Codes(checkpoint, piece) if whole[-1] == MXFP4_GROUP // 2 else None
    if piece.transpose or piece.index is not None:
        return None
    coded = checkpoint.coded(piece.key)
    if coded is None or (piece.start, piece.stop, piece.step) == (0, None, 1):
        return coded
    return SomeCodes(coded, range(checkpoint.entry(piece.key).shape[0])[piece.start : piece.stop : piece.step])


@dataclass(frozen=True, eq=False)
class SomeCodes:
    """Some of the rows of others."""

    whole: CodedRows
    chosen: range

    @property
    def coding(self) -> Coding:
        """See CodedRows."""
        return self.whole.coding

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """See CodedRows."""
        found = self.chosen[start:stop]
        return self.whole.grouped(found.start, found[-1] + 1).rows(0, None, found.step)


@dataclass(frozen=True, eq=False)
class Mxfp4Codes:
    """MXFP4 beside its scales: see `mxfp4`."""

    checkpoint: WeightSource
    piece: MatrixPiece

    @property
    def coding(self) -> Coding:
        """See CodedRows."""
        return Coding(4, MXFP4_GROUP, "byte", "e2m1")

    def grouped(self, start: int, stop: int) -> GroupedCodes:
        """See CodedRows."""
        index = () if self.piece.index is None else (self.piece.index,)
        own = slice(self.piece.start, self.piece.stop, self.piece.step)
        blocks, scales = (
            self.checkpoint.part(self.piece.key + end, index)[own][start:stop] for end in (BLOCKS, SCALES)
        )
        codes = ordered_e2m1(torch.stack((blocks & 15, blocks >> 4), dim=-1).flatten(1))
        powers = torch.ldexp(torch.ones(scales.shape), scales.to(torch.int32) - MXFP4_BIAS)
        return GroupedCodes(self.coding, codes, powers / E2M1_TIMES)


def _fp8(tensor: Tensor, scales: Tensor, block: tuple[int, int]) -> Tensor:
    """Block-scaled float8 [R, C] times its scales [ceil(R / block), ceil(C / block)], float32."""
    rows, cols = tensor.shape
    wide = scales.float().repeat_interleave(block[0], 0)[:rows].repeat_interleave(block[1], 1)[:, :cols]
    return tensor.float().mul_(wide)


def _fp8_block(checkpoint: WeightSource) -> tuple[int, int]:
    size = (checkpoint.config.get("quantization_config") or {}).get("weight_block_size")
    return (int(size[0]), int(size[1])) if isinstance(size, list) and len(size) == 2 else FP8_BLOCK
