"""Non-expert weights: where they come from, and the linear layers made of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import torch
from torch import Tensor

from engine.errors import Kind as ErrorKind
from engine.errors import UnderhillError, damaged_checkpoint
from engine.models.layers.linear import Linear
from engine.models.layers.weight_format import WeightFormat
from engine.quantization.coded import Coded
from engine.translatable import msg

FP8_BLOCK = 128  # block size of float8 checkpoints whose scales lie beside them


class CheckpointWeights(Protocol):
    """The non-expert tensors of a model, by their names on the hub."""

    def get(self, name: str) -> Tensor:
        """The tensor in its stored dtype, in anonymous memory; UnderhillError(MISSING_FILE) if there is none."""

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""


class LookupTable(Protocol):
    """A matrix of which rows are looked up."""

    def rows(self, ids: Tensor) -> Tensor:
        """float32 [N, cols]. ids: [N]."""

    def write(self, ids: Sequence[int], out: Tensor) -> None:
        """The same, of a few, to out [N, cols], contiguous float32."""


class StoredLookupTable(LookupTable, Protocol):
    """The same, where it lies elsewhere than in memory."""

    @property
    def shape(self) -> tuple[int, ...]: ...


@runtime_checkable
class Tables(Protocol):
    """Weights of which some matrices can be looked up where they lie."""

    def table(self, name: str) -> StoredLookupTable | None:
        """The rows of a matrix, as they are stored; None where it must be held."""


@runtime_checkable
class Codes(Protocol):
    """Weights of which some matrices are stored as the codes of their source."""

    def coded(self, name: str) -> Coded | None:
        """The matrix as these, freshly read; None where it is stored in another way. Raises as `get`."""


def matrix(weights: CheckpointWeights, name: str) -> Tensor | Coded:
    """A matrix as a Linear takes it: its own codes where it has such, else as `fetch`."""
    found = weights.coded(name) if isinstance(weights, Codes) else None
    return fetch(weights, name) if found is None else found


def ordered(held: Tensor | Coded, order: Tensor) -> Tensor | Coded:
    """Rows of a matrix, in this order. order: int64 [N]."""
    return held.taken(order) if isinstance(held, Coded) else held[order]


def fetch(weights: CheckpointWeights, name: str) -> Tensor:
    """A tensor ready for arithmetic, float8 blocks multiplied out. Integer tensors are refused."""
    tensor = weights.get(name)
    if tensor.dtype == torch.float8_e4m3fn:
        return _dequantized(tensor, weights.get(f"{name}_scale_inv").float())
    if not tensor.dtype.is_floating_point:
        raise UnderhillError(
            ErrorKind.UNSUPPORTED_MODEL,
            msg(
                "The weights of {name} are stored as {dtype}, a quantization that Underhill does not read.",
                name=name,
                dtype=tensor.dtype,
            ),
            msg("Use the model in its original precision."),
        )
    return tensor


def vector(weights: CheckpointWeights, name: str) -> Tensor:
    """A small tensor, flat, as float32. Raises UnderhillError(BROKEN_FILE) where it holds what is no number."""
    found = fetch(weights, name).float().flatten()
    if not bool(found.isfinite().all()):
        raise damaged_checkpoint(msg("{name} holds numbers that are not finite.", name=name))
    return found


def _dequantized(tensor: Tensor, scales: Tensor) -> Tensor:
    """Block-scaled float8 [R, C] times its scales [ceil(R/128), ceil(C/128)], as bf16."""
    rows, cols = tensor.shape
    wide = scales.repeat_interleave(FP8_BLOCK, 0)[:rows].repeat_interleave(FP8_BLOCK, 1)[:, :cols]
    return (tensor.float() * wide).bfloat16()


def looked_up(weights: CheckpointWeights, name: str, dense: WeightFormat) -> LookupTable:
    """A matrix of which rows are looked up and nothing else: left on the disk where it is large, or held."""
    table = weights.table(name) if isinstance(weights, Tables) else None
    return Linear(matrix(weights, name), None, dense.for_table) if table is None else table


def load_linear(weights: CheckpointWeights, *names: str, dense: WeightFormat, bias: bool = False) -> Linear:
    """The linear layer of module `names[0]`; several names are stacked along their outputs, in order."""
    tensors = [matrix(weights, f"{name}.weight") for name in names]
    biases = [fetch(weights, f"{name}.bias") for name in names] if bias else []
    return Linear(tensors, torch.cat(biases) if biases else None, dense)
