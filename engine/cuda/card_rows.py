"""What a sequence keeps (keys and values, or latents) as it lies on a card, and which of it is there."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch

from engine.cuda.layer_runs import kept_shape
from engine.kernels.attending import KeptRows
from engine.native.op_graph import Op


@dataclass
class _Layer:
    """Room for rows of a layer. addresses: of its buffers. heads, width: of a row, and bytes of one head's.

    of, valid: id of whose rows are there, and of how many tokens.
    """

    addresses: list[int]
    heads: int
    width: int
    of: int = 0
    valid: int = 0


class CardRows:
    """Rows of up to `capacity` tokens for each layer, of one sequence at a time: layers know by themselves of which, as
    prompts of several sequences may go through them side by side. Used by the thread that runs the model.
    """

    def __init__(
        self, room: Callable[[int], int], send: Callable[[int, int, int], None], capacity: int, kv_dtype: torch.dtype
    ) -> None:
        """room: makes room on the card that another gives back. send: CardMatrices.send."""
        self._room, self._send, self.capacity, self.kv_dtype = room, send, capacity, kv_dtype
        self._layers: dict[int, _Layer] = {}  # by the number of their first buffer

    def add(self, op: Op) -> None:
        """Make room for what this op keeps. Raises CardError."""
        buffers, heads, dim = kept_shape(op)
        width = dim * self.kv_dtype.itemsize
        addresses = [self._room(heads * self.capacity * width) for _ in range(buffers)]
        self._layers[op.number("state")] = _Layer(addresses, heads, width)

    def __contains__(self, number: int) -> bool:
        """Whether there is room for the layer whose first buffer has this number in its sequence."""
        return number in self._layers

    def addresses(self, number: int) -> list[int]:
        """Where the buffers of a layer lie there."""
        return self._layers[number].addresses

    @property
    def nbytes(self) -> int:
        """That all of them take."""
        return sum(len(own.addresses) * own.heads * self.capacity * own.width for own in self._layers.values())

    def bring(self, rows: KeptRows, stop: int, *, one_more: bool = False) -> None:
        """Have the rows of the first `stop` tokens be there, copying those that are not. one_more: a kernel writes the
        next one, and what was there behind it counts no more. Raises CardError."""
        layer = self._layers[rows.number]
        valid = min(layer.valid, rows.unchanged) if layer.of == id(rows) else 0
        if valid < stop:
            layer.valid = 0  # until all are there
            self._copy(layer, rows, valid, stop)
        layer.of, layer.valid, rows.unchanged = id(rows), stop + 1 if one_more else max(valid, stop), sys.maxsize

    def _copy(self, layer: _Layer, rows: KeptRows, start: int, stop: int) -> None:
        for piece in rows.views(start, stop):
            for address, buffer in zip(layer.addresses, piece):
                for head in range(layer.heads):
                    to = address + (head * self.capacity + start) * layer.width
                    self._send(to, buffer[head].data_ptr(), buffer.shape[1] * layer.width)
            start += piece[0].shape[1]
