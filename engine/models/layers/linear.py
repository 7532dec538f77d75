"""Linear layers whose weights are held as float32, bf16, or 8 or 4 bits."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import torch
import torch.nn.functional as F
from torch import Tensor

from engine.kernels.dense import PackedMatrix, raw_view, set_bias
from engine.kernels.native import NativeKernel
from engine.models.layers.weight_format import BITS, Kind, WeightFormat
from engine.native.library import MatrixView
from engine.native.memory import Arena
from engine.quantization.coded import Coded

Matrix = Tensor | Coded


class Linear:
    """y = x W^T + b for float32 x [T, in], giving float32 [T, out].

    int8 and int4 are native tiles with a scale and an offset per group, and a matrix that keeps codes of its source
    stays as it is. One token meets f32 and bf16 weights with activations as they are; several meet bf16 weights in
    bf16, which is torch's product, as is that of f32. The bias is added in float32.
    """

    def __init__(self, weight: Matrix | Sequence[Matrix], bias: Tensor | None, dense: WeightFormat) -> None:
        """weight: [out, in], any floating dtype or codes; several are stacked along their outputs. bias: [out]."""
        parts = [weight] if isinstance(weight, Tensor | Coded) else list(weight)
        self.out_features, self.in_features = sum(part.shape[0] for part in parts), parts[0].shape[1]
        self.kind: Kind = dense.kind
        self.bias = None if bias is None else bias.float().contiguous()
        self.weight: Tensor
        self._kernel = dense.kernel
        self._tiles: list[PackedMatrix | Coded] = []
        bits = BITS.get(self.kind)
        if bits is not None:
            self._tiles = _tiled(parts, bits, dense.kernel, dense.arena)
            self._held = [tiles.data for tiles in self._tiles]
            self.weight = self._held[0]
            self._views = self._biased()
            return
        plain = [part.values() if isinstance(part, Coded) else part for part in parts]
        self.weight = _raw(plain, torch.float32 if self.kind == "f32" else torch.bfloat16, dense)
        self._held = [self.weight]
        self._views = (raw_view(self.weight, self.bias),)

    def _biased(self) -> tuple[MatrixView, ...]:
        """Of all tiles, each with its part of the bias."""
        views = tuple(tiles.view for tiles in self._tiles)
        for view, at in zip(views, self._starts(views), strict=True):
            set_bias(view, None if self.bias is None else self.bias[at : at + view.rows])
        return views

    @staticmethod
    def _starts(views: Sequence[MatrixView]) -> list[int]:
        """The first output of each."""
        return [sum(view.rows for view in views[:i]) for i in range(len(views))]

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(tensor.nbytes for tensor in (*self._held, self.bias) if tensor is not None)

    def views(self) -> tuple[MatrixView, ...]:
        """Matrix and bias for native calls, one below the other, valid as long as this object lives.

        Several where parts are coded in several ways.
        """
        return self._views

    def __call__(self, x: Tensor, own: bool = False) -> Tensor:
        """x: [T, in] float32. own: the result is kept, and does not lie in the rooms that layers share."""
        if self._tiles or x.shape[0] == 1:
            return self._native(x.contiguous(), own)
        if self.kind == "f32":
            return F.linear(x, self.weight, self.bias)
        y = F.linear(x.bfloat16(), self.weight).float()
        return y if self.bias is None else y.add_(self.bias)

    def _native(self, x: Tensor, own: bool) -> Tensor:
        shape = (x.shape[0], self.out_features)
        if len(self._views) == 1:
            return self._kernel.linear(self._views[0], x, torch.empty(shape) if own else None)
        y = torch.empty(shape)
        for view, at in zip(self._views, self._starts(self._views), strict=True):
            here = y[:, at : at + view.rows]
            if here.is_contiguous():
                self._kernel.linear(view, x, here)
            else:
                here.copy_(self._kernel.linear(view, x))
        return y

    def rows(self, ids: Tensor) -> Tensor:
        """Rows of W as float32 [N, in]: the embedding, where the head is tied to it."""
        out = torch.empty(len(ids), self.in_features)
        self.write(ids.tolist(), out)
        return out

    def write(self, ids: Sequence[int], out: Tensor) -> None:
        """The same, to out [N, in], contiguous float32. Raises IndexError for a row that is not there."""
        if self._tiles:
            (view,) = self._views
            self._kernel.rows(view, ids, out)
        else:
            out.copy_(self.weight[torch.tensor(ids, dtype=torch.int64)])


def _tiled(parts: Sequence[Matrix], bits: int, kernel: NativeKernel, arena: Arena) -> list[PackedMatrix | Coded]:
    """Codes as they are; what lies between them packed together."""
    found: list[PackedMatrix | Coded] = []
    for kept, some in groupby(parts, lambda part: isinstance(part, Coded)):
        if kept:
            found += [part for part in some if isinstance(part, Coded)]
        else:
            found.append(PackedMatrix([part for part in some if isinstance(part, Tensor)], bits, kernel, arena))
    return found


def _raw(parts: Sequence[Tensor], dtype: torch.dtype, dense: WeightFormat) -> Tensor:
    """One contiguous tensor, in huge pages."""
    rows, cols = sum(part.shape[0] for part in parts), parts[0].shape[1]
    made = dense.arena.take(rows * cols * dtype.itemsize).view(dtype).view(rows, cols)
    at = 0
    for part in parts:
        made[at : at + part.shape[0]] = part
        at += part.shape[0]
    return made
