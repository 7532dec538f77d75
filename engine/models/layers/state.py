"""What a sequence leaves behind in each layer: KV rows that can be cut, and recurrent states that can be restored."""

from __future__ import annotations

import sys
from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.native.kv_rows import pack_rows, row_width, unpack_rows
from engine.native.op_graph import STATES, KvRows

FIRST_CHUNK = 256  # rows
LARGEST_CHUNK = 4096  # rows; chunks double the capacity up to here
SNAPSHOTS = 8  # most snapshots of recurrent layers kept
SNAPSHOT_BYTES = 512 << 20  # and the most they may take together


class Taken:
    """Tokens that native code wrote to all rows of a sequence, beyond what each of these counted by itself."""

    def __init__(self) -> None:
        self.count = 0


class ChunkedRows:
    """Rows [heads, length, dim] in chunks that are never moved; each doubles the capacity, up to LARGEST_CHUNK rows.

    dtype: int8 is the format of native/kv_rows.py, in which a row is wider than its numbers.

    most: rows beyond which no room is made before it is needed, so that a sequence takes what was planned for it.
    """

    def __init__(self, heads: int, dim: int, dtype: torch.dtype = torch.float32) -> None:
        self.heads, self.dim, self.dtype = heads, dim, dtype
        self.width = row_width(dim, dtype)  # elements of a row
        self.most = sys.maxsize
        self._taken = Taken()
        self._own = 0  # rows, less those of `_taken`
        self.capacity = 0
        self._chunks: list[Tensor] = []  # each [heads, capacity_i, width]
        self._table: KvRows | None = None

    @property
    def length(self) -> int:
        """Rows that are here."""
        return self._own + self._taken.count

    @length.setter
    def length(self, length: int) -> None:
        self._own = length - self._taken.count

    def count_with(self, taken: Taken) -> None:
        """Count what native code writes together with other rows: one number for a sequence, not one for each layer."""
        length, self._taken = self.length, taken
        self.length = length

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(chunk.nbytes for chunk in self._chunks)

    @property
    def written(self) -> int:
        """Bytes of the rows that are here."""
        return self._row * self.length

    @property
    def _row(self) -> int:
        return self.heads * self.width * self.dtype.itemsize

    def append(self, rows: Tensor) -> None:
        """Add rows [heads, T, dim] at the end, converted to this buffer's dtype."""
        if self.dtype == torch.int8:
            rows = pack_rows(rows)
        count = rows.shape[1]
        done = 0
        while done < count:
            if self.length == self.capacity:
                self._grow(count - done)
            chunk = self._chunks[-1]
            used = chunk.shape[1] - (self.capacity - self.length)
            fits = min(chunk.shape[1] - used, count - done)
            chunk[:, used : used + fits].copy_(rows[:, done : done + fits])
            self.length += fits
            done += fits

    def prepared(self, count: int = 1) -> int:
        """Address of the table (uh_kv_rows) of chunks with room for `count` more rows, for native code to write.

        They count once `length` says so. The address is valid until rows are added or cut.
        """
        if self.length + count > self.capacity:
            self._grow(self.length + count - self.capacity)
        if self._table is None:
            self._table = KvRows(self._chunks, self.dtype)
        return self._table.address

    def bytes_with(self, count: int) -> int:
        """Bytes that are allocated once so many more rows are here."""
        missing = self.length + count - self.capacity
        capacity = self.capacity + (self._step(missing) if missing > 0 else 0)
        return self._row * capacity

    def _step(self, wanted: int) -> int:
        return max(min(max(self.capacity, FIRST_CHUNK), LARGEST_CHUNK, self.most - self.capacity), wanted)

    def _grow(self, wanted: int) -> None:
        size = self._step(wanted)
        self._chunks.append(torch.empty(self.heads, size, self.width, dtype=self.dtype))
        self.capacity += size
        self._table = None

    def truncate(self, length: int) -> None:
        """Keep the first `length` rows; chunks that become empty are released."""
        self.length = min(self.length, length)
        while self._chunks and self.capacity - self._chunks[-1].shape[1] >= self.length:
            self.capacity -= self._chunks.pop().shape[1]
            self._table = None

    def views(self, start: int = 0, stop: int | None = None) -> list[Tensor]:
        """Rows start to stop as views [heads, n_i, width], in order, nothing copied."""
        stop = self.length if stop is None else min(stop, self.length)
        found = []
        at = 0
        for chunk in self._chunks:
            low, high = max(start - at, 0), min(stop - at, chunk.shape[1])
            if low < high:
                found.append(chunk[:, low:high])
            at += chunk.shape[1]
        return found


def unpacked(kv_dtype: torch.dtype) -> torch.dtype:
    """The dtype of rows that are never held in 8 bits, in a sequence whose others are of this one."""
    return torch.bfloat16 if kv_dtype == torch.int8 else kv_dtype


def _as_numbers(buffer: ChunkedRows, rows: Tensor) -> Tensor:
    return unpack_rows(rows, buffer.dim).bfloat16() if buffer.dtype == torch.int8 else rows


class RowsState:
    """State that is a row per token and buffer (keys and values; or MLA's latent): cutting it is exact.

    number: of its first buffer in its sequence, STATES for each layer. unchanged: for who has a copy of the rows and
    sets it: tokens whose rows are what they were then, or that are new since.
    """

    def __init__(self, shapes: Sequence[tuple[int, int]], dtype: torch.dtype = torch.float32) -> None:
        """shapes: (heads, dim) of each buffer."""
        self.buffers = tuple(ChunkedRows(heads, dim, dtype) for heads, dim in shapes)
        self.number = self.unchanged = 0

    @property
    def length(self) -> int:
        """Tokens held."""
        return self.buffers[0].length

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(buffer.nbytes for buffer in self.buffers)

    def append(self, *rows: Tensor) -> None:
        """Add T tokens: rows [heads, T, dim] for each buffer."""
        for buffer, new in zip(self.buffers, rows, strict=True):
            buffer.append(new)

    def truncate(self, length: int) -> None:
        """Keep the first `length` tokens."""
        self.unchanged = min(self.unchanged, length)
        for buffer in self.buffers:
            buffer.truncate(length)

    def rows_with(self, tokens: int) -> int:
        """Bytes that rows take once so many more tokens are here."""
        return sum(buffer.bytes_with(tokens) for buffer in self.buffers)

    def prepared(self, tokens: int = 1) -> list[int]:
        """Where native code finds the rows and may write so many more: see ChunkedRows.prepared."""
        return [buffer.prepared(tokens) for buffer in self.buffers]

    def views(self, start: int = 0, stop: int | None = None) -> list[tuple[Tensor, ...]]:
        """Tokens start to stop, piece by piece: one view [heads, n_i, width] for each buffer."""
        return list(zip(*(buffer.views(start, stop) for buffer in self.buffers), strict=True))

    def numbers(self, start: int = 0, stop: int | None = None) -> list[tuple[Tensor, ...]]:
        """As `views`, of what torch computes with: rows of 8 bits become bf16 [heads, n_i, dim], copied."""
        return [tuple(map(_as_numbers, self.buffers, piece)) for piece in self.views(start, stop)]


class RecurrentState:
    """State of fixed size that every token overwrites (DeltaNet, convolutions): only a snapshot brings it back.

    tensors: zeros at the start of a sequence; the mixer may write into them or replace them. before: as many more,
    where a pass was to leave what it began with; room for the next such pass once another one has run.
    """

    buffers: tuple[ChunkedRows, ...] = ()

    def __init__(self, shapes: Sequence[tuple[int, ...]], dtype: torch.dtype = torch.float32) -> None:
        self._shapes, self._dtype = tuple(shapes), dtype
        self.before: list[Tensor] = []
        self.reset()

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return sum(tensor.nbytes for tensor in (*self.tensors, *self.before))

    def reset(self) -> None:
        """Back to the start of a sequence."""
        self.tensors = [torch.zeros(shape, dtype=self._dtype) for shape in self._shapes]

    def prepared(self, tokens: int = 1) -> list[int]:
        """Where native code writes the tensors and reads them from, which is the same, until a mixer replaces them."""
        del tokens
        # `self.tensors` keeps them: `reset` and a mixer make new ones, so addresses are taken before each token.
        return 2 * [tensor.data_ptr() for tensor in self.tensors]

    def prepared_apart(self) -> list[int]:
        """The same of tokens whose pass is to leave what it began with in `before`."""
        self.before, self.tensors = self.tensors, self.before or [torch.empty_like(own) for own in self.tensors]
        return self.prepared_again()

    def prepared_again(self) -> list[int]:
        """The same of some of these tokens once more, from where that pass began."""
        return [tensor.data_ptr() for tensor in (*self.tensors, *self.before)]

    def step_back(self) -> None:
        """To where that pass began."""
        self.before, self.tensors = self.tensors, self.before

    def snapshot(self) -> tuple[Tensor, ...]:
        """A copy of the tensors."""
        return tuple(tensor.clone() for tensor in self.tensors)

    def restore(self, snapshot: tuple[Tensor, ...]) -> None:
        """Put a copy back; the snapshot stays usable."""
        self.tensors = [tensor.clone() for tensor in snapshot]

    def rows_with(self, tokens: int) -> int:
        """Bytes that rows take once so many more tokens are here: none."""
        del tokens
        return 0


class CompressedState(RecurrentState):
    """Rows of the last tokens, and entries that stand for `ratio` tokens each: those are cut where a snapshot says."""

    def __init__(self, shapes: Sequence[tuple[int, ...]], dims: Sequence[int], ratio: int, dtype: torch.dtype) -> None:
        """dims, dtype: of the entries, buffer by buffer. The rows are float32."""
        self.buffers = tuple(ChunkedRows(1, dim, dtype) for dim in dims)
        self.ratio, self.dtype = ratio, dtype
        super().__init__(shapes)

    @property
    def nbytes(self) -> int:
        """Bytes allocated."""
        return super().nbytes + sum(buffer.nbytes for buffer in self.buffers)

    def reset(self) -> None:
        """Back to the start of a sequence."""
        super().reset()
        self._cut(0)

    def snapshot(self) -> tuple[Tensor, ...]:
        """A copy of the rows, and how many entries there are."""
        return (*super().snapshot(), torch.tensor(self.buffers[0].length if self.buffers else 0))

    def restore(self, snapshot: tuple[Tensor, ...]) -> None:
        """Put a copy back, and leave only as many entries."""
        *rows, entries = snapshot
        super().restore(tuple(rows))
        self._cut(int(entries))

    def _cut(self, entries: int) -> None:
        for buffer in self.buffers:
            buffer.truncate(entries)

    def rows_with(self, tokens: int) -> int:
        """Bytes that entries take once so many more tokens are here."""
        return sum(buffer.bytes_with(-(-tokens // self.ratio)) for buffer in self.buffers)


LayerState = RowsState | RecurrentState  # what one layer keeps of a sequence


@dataclass(frozen=True)
class _Prepared:
    """Where native code finds a sequence of up to `until` tokens, STATES addresses a layer; and bytes of its rows."""

    addresses: array[int]
    until: int
    nbytes: int


@dataclass(frozen=True)
class _Snapshot:
    length: int
    layers: dict[int, tuple[Tensor, ...]]  # position among the layers -> tensors
    nbytes: int


class SequenceState:
    """All a decoder keeps of one sequence. length: tokens whose state every layer holds. horizon: see Span.

    A forward pass runs between begin() and commit(); one that does not come to its end must be followed by rollback().
    Snapshots (only taken where a layer is recurrent) are bounded in number and bytes; the oldest leaves first.
    keeps_start: set for the next pass by native code, which has no other sequence then, so that rollback reaches each
    of its tokens; kept_start: where the last pass began, if it was such a one; feed_again: takes recurrent layers once
    more through so many of its tokens, from there; False where it cannot any more.
    saved: of a model that counts the positions of a picture by its longer side: behind how many tokens, and how many
    positions fewer than tokens there are from there on.
    kv_dtype: that was asked for (see Decoder). most_tokens: see ChunkedRows.most.
    """

    def __init__(
        self,
        layers: Sequence[LayerState],
        max_snapshots: int = SNAPSHOTS,
        max_snapshot_bytes: int = SNAPSHOT_BYTES,
        most_tokens: int = sys.maxsize,
        kv_dtype: torch.dtype = torch.float32,
    ) -> None:
        self.layers = tuple(layers)
        self.kv_dtype = kv_dtype
        self.length = 0
        self.horizon = 0
        self.max_snapshots = max_snapshots
        self.max_snapshot_bytes = max_snapshot_bytes
        self.rows = [layer for layer in self.layers if isinstance(layer, RowsState)]
        self._taken = Taken()
        for layer in self.layers:
            for buffer in layer.buffers:
                buffer.most = most_tokens
        for rows in self.rows:
            rows.number = STATES * self.layers.index(rows)
            for buffer in rows.buffers:
                buffer.count_with(self._taken)
        self._recurrent = {at: layer for at, layer in enumerate(self.layers) if isinstance(layer, RecurrentState)}
        self._snapshots: list[_Snapshot] = []  # in order of length
        self._partial = False
        self.keeps_start = False
        self.kept_start: int | None = None
        self.feed_again: Callable[[SequenceState, int], bool] | None = None
        self._prepared: _Prepared | None = None
        self.saved: list[tuple[int, int]] = []

    @property
    def nbytes(self) -> int:
        """Bytes allocated, snapshots included."""
        return sum(layer.nbytes for layer in self.layers) + sum(snapshot.nbytes for snapshot in self._snapshots)

    @property
    def snapshot_lengths(self) -> tuple[int, ...]:
        """The lengths at which there are snapshots, ascending."""
        return tuple(snapshot.length for snapshot in self._snapshots)

    @property
    def cuts_anywhere(self) -> bool:
        """Whether rollback reaches every length: no layer is recurrent."""
        return not self._recurrent

    @property
    def takes_back(self) -> bool:
        """Whether rollback reaches every token of a pass over a few that `keeps_start`.

        Behind pictures they go through torch, and what is compressed has no native code.
        """
        recurrent = self._recurrent.values()
        return not recurrent or not (self.saved or any(layer.buffers for layer in recurrent))

    def forget_start(self) -> None:
        """Give back what a pass needed that was to be taken back."""
        self.keeps_start, self.kept_start, self.feed_again = False, None, None
        for layer in self._recurrent.values():
            layer.before = []

    def begin(self) -> None:
        """A forward pass through torch starts: the layers will run ahead of `length` one by one."""
        self._prepared = None
        self._partial = True
        self.keeps_start, self.kept_start = False, None

    def commit(self, tokens: int, horizon: int) -> None:
        """The forward pass over `tokens` tokens, in a sequence that reaches `horizon`, went through every layer."""
        self.length += tokens
        self.horizon = max(self.horizon, horizon)
        self._partial = False

    def rows_with(self, tokens: int) -> int:
        """Bytes that rows take once so many more tokens are here: what does not grow with them is not counted."""
        known = self._prepared  # asked for every token: hundreds of rows need not be looked at
        if known is not None and self.length + tokens <= known.until:
            return known.nbytes
        return sum(layer.rows_with(tokens) for layer in self.layers)

    @property
    def rows_written(self) -> int:
        """Bytes of the rows that are there: of those allocated, the ones that were written to."""
        return sum(buffer.written for layer in self.layers for buffer in layer.buffers)

    def prepared(self, tokens: int = 1) -> array[int]:
        """A pass by native code starts, over so many tokens: STATES addresses per layer, valid until the next one."""
        self._partial = True
        known = self._prepared
        if known is None or self.length + tokens > known.until:
            known = self._prepared = self._prepare(tokens)
        apart, self.keeps_start, self.feed_again = self.keeps_start, False, None
        self.kept_start = self.length if apart else None
        # Their tensors may be others than before.
        own = (layer.prepared_apart() if apart else layer.prepared(tokens) for layer in self._recurrent.values())
        return self._with_recurrent(known.addresses, own)

    def prepared_again(self) -> array[int]:
        """As `prepared`, of tokens of the last pass, in recurrent layers alone, from where it began."""
        assert self._prepared is not None
        assert self.kept_start is not None
        own = (layer.prepared_again() for layer in self._recurrent.values())
        return self._with_recurrent(self._prepared.addresses, own)

    def _with_recurrent(self, addresses: array[int], own: Iterable[list[int]]) -> array[int]:
        for at, each in zip(self._recurrent, own, strict=True):
            addresses[at * STATES : at * STATES + len(each)] = array("Q", each)
        return addresses

    def _prepare(self, tokens: int) -> _Prepared:
        addresses = array("Q", bytes(8 * STATES * len(self.layers)))
        for at, layer in enumerate(self.layers):
            own = layer.prepared(tokens)
            addresses[at * STATES : at * STATES + len(own)] = array("Q", own)
        until = min((buffer.capacity for rows in self.rows for buffer in rows.buffers), default=sys.maxsize)
        return _Prepared(addresses, until, sum(layer.rows_with(0) for layer in self.layers))

    def taken(self, tokens: int = 1) -> None:
        """Native code took every layer so many tokens further."""
        self._taken.count += tokens

    def snapshot(self) -> None:
        """Remember the recurrent states at this length, so that rollback can come back here."""
        if not self._recurrent or self._partial or self.length == 0 or self.length in self.snapshot_lengths:
            return
        layers = {at: layer.snapshot() for at, layer in self._recurrent.items()}
        nbytes = sum(tensor.nbytes for tensors in layers.values() for tensor in tensors)
        self._snapshots.append(_Snapshot(self.length, layers, nbytes))
        while len(self._snapshots) > self.max_snapshots or (
            sum(snapshot.nbytes for snapshot in self._snapshots) > self.max_snapshot_bytes
        ):
            del self._snapshots[0]

    def rollback(self, length: int) -> int:
        """Forget what came after the first `length` tokens; returns the length really reached (at most `length`).

        Exact where every layer keeps rows, and within a pass that kept its start. Else, with recurrent layers, it is
        the nearest snapshot at or below `length`, or 0; the caller feeds the tokens in between again.
        """
        reached = min(length, self.length)
        if self._recurrent and (reached < self.length or self._partial):
            reached = reached if self._stepped_back(reached) else self._restore(reached)
        self._prepared, self.kept_start, self.feed_again = None, None, None
        for rows in self.rows:
            rows.truncate(reached)
        self.length = reached
        self.saved = [one for one in self.saved if one[0] <= reached]
        self.horizon = self.horizon if reached else 0
        self._partial = False
        return reached

    def _stepped_back(self, length: int) -> bool:
        """Whether recurrent layers are as they were behind so many tokens, since the last pass kept its start."""
        start = self.kept_start
        if start is None or length < start:
            return False
        if length == start:
            for layer in self._recurrent.values():
                layer.step_back()
        elif self._partial or self.feed_again is None or not self.feed_again(self, length - start):
            return False
        self._snapshots = [snapshot for snapshot in self._snapshots if snapshot.length <= length]
        return True

    def _restore(self, length: int) -> int:
        self._snapshots = [snapshot for snapshot in self._snapshots if snapshot.length <= length]
        if not self._snapshots:
            for layer in self._recurrent.values():
                layer.reset()
            return 0
        last = self._snapshots[-1]
        for at, layer in self._recurrent.items():
            layer.restore(last.layers[at])
        return last.length
