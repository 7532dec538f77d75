"""Where the vectors of a token lie on the card: what op graphs pass between their ops, and its position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import c_uint64
from dataclasses import dataclass, field

from torch import Tensor

from engine.cuda.layer_runs import range_of, storage_of

_LINE = 64
ENDING = 16  # bytes behind the vectors: the position, int64, and which layer lacks an expert, int32


@dataclass
class TokenFrame:
    """Vectors of a token, each storage of ordinary memory in one piece. spans: from, to; at: of each storage, from the
    start. nbytes: of all vectors, behind which ENDING bytes follow. address: on the card, once it has its room there.
    """

    spans: dict[int, list[int]] = field(default_factory=dict)
    at: dict[int, int] = field(default_factory=dict)
    nbytes: int = 0
    address: int = 0

    def note(self, tensor: Tensor) -> None:
        """This one has a place."""
        start, end = range_of(tensor)
        span = self.spans.setdefault(storage_of(tensor), [start, end])
        span[0], span[1] = min(span[0], start), max(span[1], end)

    def lay_out(self, order: Iterable[int]) -> None:
        """Give each storage its place, in this order."""
        for storage in order:
            start, end = self.spans[storage]
            self.at[storage] = self.nbytes
            self.nbytes += -(-(end - start) // _LINE) * _LINE

    def offset(self, tensor: Tensor) -> int:
        """From the start of the frame."""
        storage = storage_of(tensor)
        return self.at[storage] + tensor.data_ptr() - self.spans[storage][0]

    def end(self, storages: Sequence[int]) -> int:
        """Behind the last of these."""
        return max(self.at[storage] + self.spans[storage][1] - self.spans[storage][0] for storage in storages)

    def place(self, tensor: Tensor | None) -> c_uint64:
        """The address on the card, as kernels are told; 0 of none."""
        return c_uint64(0 if tensor is None else self.address + self.offset(tensor))

    @property
    def position(self) -> c_uint64:
        """The address on the card of the token's position."""
        return c_uint64(self.address + self.nbytes)

    @property
    def lacking(self) -> int:
        """The address on the card of which layer lacks an expert; -1 when runs begin."""
        return self.address + self.nbytes + 8
