"""Non-expert weights: where they come from, and linear layers that hold them as float32, bf16 or int8."""

from __future__ import annotations

from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.errors import Kind as ErrorKind
from engine.errors import UnderhillError
from engine.kernels.dense import View, raw_view
from engine.models.holding import Holding, Kind

FEW_TOKENS = 16  # up to here the int8 kernel beats expanding the weights to bf16 (measured)
EXPANDED_BYTES = 64 * 2**20  # of int8 weights expanded to bf16 at once
FP8_BLOCK = 128  # block size of float8 checkpoints whose scales lie beside them


class Weights(Protocol):
    """The non-expert tensors of a model, by their names on the hub."""

    def get(self, name: str) -> Tensor:
        """The tensor in its stored dtype, in anonymous memory; UnderhillError(MISSING_FILE) if there is none."""

    def has(self, name: str) -> bool:
        """Whether there is such a tensor."""


def fetch(weights: Weights, name: str) -> Tensor:
    """A tensor ready for arithmetic, float8 blocks multiplied out. Integer tensors are refused."""
    tensor = weights.get(name)
    if tensor.dtype == torch.float8_e4m3fn:
        return _dequantized(tensor, weights.get(f"{name}_scale_inv").float())
    if not tensor.dtype.is_floating_point:
        raise UnderhillError(
            ErrorKind.UNSUPPORTED_MODEL,
            f"The weights of {name} are stored as {tensor.dtype}, a quantization that Underhill does not read.",
            "Get the model in its original precision.",
        )
    return tensor


def vector(weights: Weights, name: str) -> Tensor:
    """A small tensor, flat, as float32."""
    return fetch(weights, name).float().flatten()


def _dequantized(tensor: Tensor, scales: Tensor) -> Tensor:
    """Block-scaled float8 [R, C] times its scales [ceil(R/128), ceil(C/128)], as bf16."""
    rows, cols = tensor.shape
    wide = scales.repeat_interleave(FP8_BLOCK, 0)[:rows].repeat_interleave(FP8_BLOCK, 1)[:, :cols]
    return (tensor.float() * wide).bfloat16()


class Linear:
    """y = x W^T + b for float32 x [T, in], giving float32 [T, out].

    kind f32: exact. bf16: weights and activations in bf16. int8: weights in int8 with one scale per output channel,
    activations in bf16. The bias is added in float32.
    """

    def __init__(self, weight: Tensor, bias: Tensor | None, dense: Holding) -> None:
        """weight: [out, in], any floating dtype. bias: [out]."""
        self.out_features, self.in_features = weight.shape
        self.kind: Kind = dense.kind
        self.bias = None if bias is None else bias.float().contiguous()
        self._scales: Tensor | None = None
        if self.kind == "int8":
            self.weight, self._scales = _to_int8(weight)
        else:
            self.weight = weight.to(torch.float32 if self.kind == "f32" else torch.bfloat16).contiguous()
        self._view = None if self._scales is not None else raw_view(self.weight, self.bias)

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(tensor.nbytes for tensor in (self.weight, self.bias, self._scales) if tensor is not None)

    def view(self) -> View | None:
        """Matrix and bias for native calls, valid as long as this object lives; None where only torch can read it."""
        return self._view

    def __call__(self, x: Tensor) -> Tensor:
        """x: [T, in] float32."""
        if self._scales is not None:
            y = self._int8(x.bfloat16(), self._scales)
        elif self.kind == "bf16":
            y = F.linear(x.bfloat16(), self.weight).float()
        else:
            return F.linear(x, self.weight, self.bias)
        return y if self.bias is None else y.add_(self.bias)

    def _int8(self, x: Tensor, scales: Tensor) -> Tensor:
        # torch's kernel walks columns in steps of 16 and does not look where they end
        if x.shape[0] <= FEW_TOKENS and self.in_features % 16 == 0:
            return torch._weight_int8pack_mm(x.contiguous(), self.weight, scales).float()
        step = max(1, EXPANDED_BYTES // (2 * self.in_features))
        blocks = [F.linear(x, block.bfloat16()) for block in self.weight.split(step)]
        return (blocks[0] if len(blocks) == 1 else torch.cat(blocks, 1)).float().mul_(scales.float())

    def rows(self, ids: Tensor) -> Tensor:
        """Rows of W as float32 [N, in]: the embedding, where the head is tied to it."""
        found = self.weight[ids].float()
        return found if self._scales is None else found.mul_(self._scales[ids].float()[:, None])


def _to_int8(weight: Tensor) -> tuple[Tensor, Tensor]:
    """Round to nearest with one scale per row: (int8 [out, in], bf16 [out]). Done in blocks to keep the peak low."""
    codes = torch.empty(weight.shape, dtype=torch.int8)
    scales = torch.empty(weight.shape[0], dtype=torch.bfloat16)
    step = max(1, EXPANDED_BYTES // (4 * weight.shape[1]))
    for at in range(0, weight.shape[0], step):
        block = weight[at : at + step].float()
        # the scale that is kept is the rounded one, so the codes are made for it; a row of zeros gets any scale
        scale = (block.abs().amax(1) / 127).clamp_(min=1e-20).bfloat16()
        codes[at : at + step] = (block / scale.float()[:, None]).round_().clamp_(-127, 127)
        scales[at : at + step] = scale
    return codes, scales


def load_linear(weights: Weights, *names: str, dense: Holding, bias: bool = False) -> Linear:
    """The linear layer of module `names[0]`; several names are stacked along their outputs, in order."""
    tensors = [fetch(weights, f"{name}.weight") for name in names]
    biases = [fetch(weights, f"{name}.bias") for name in names] if bias else []
    return Linear(
        tensors[0] if len(tensors) == 1 else torch.cat(tensors),
        torch.cat(biases) if biases else None,
        dense,
    )
