"""The op graph: the way of a few tokens through what is no expert, as a list of native operations on fixed addresses.

Every function here makes one op and says what it computes for one token; native/op_graph.h is the other side. Where a
vector of a token has one more dimension in front, it has a row for each of several tokens. All vectors are float32 in
ordinary memory, each contiguous, checked here (ValueError); an op keeps what it points to alive.
"""

from __future__ import annotations

import ctypes
import struct
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import torch
from torch import Tensor

from engine.native.kv_rows import BITS
from engine.native.library import MatrixView
from engine.native.op_slots import SLOTS, OpKind

ActivationKind = Literal[
    "silu",
    "gelu",
    "gelu_tanh",
    "relu",
    "relu2",
    "clamped_swiglu",
    "limited_swiglu",
    "softcapped_swiglu",
    "late_limited_swiglu",
]
KINDS: tuple[ActivationKind, ...] = get_args(ActivationKind)  # as in the C enum

STATES = 4  # addresses of state per layer
MOST_QUERIES = 64  # that share a key head
# 8,192 floats (BLOCK_FLOATS of attend_block.h) widened at a time, by rows of 16: a wider head would leave no row.
MOST_HEAD_DIM = 512
SPANS = 16  # pieces that the rows of a head are split into, at most
MOST_ROWS = 16  # tokens that a graph takes at once: UH_MOST_ROWS, the length of arrays on C's stack

# uh_op: its kind, numbers, factors, addresses and strides; "=" is without padding, of which it needs none.
NUMBERS, FACTORS, ADDRESSES = 11, 4, 12
_OP = struct.Struct(f"=i{NUMBERS}i{FACTORS}f{ADDRESSES}Q{ADDRESSES}i")
_ADDRESSES_AT = struct.calcsize(f"=i{NUMBERS}i{FACTORS}f")
_CARD_AT = _ADDRESSES_AT + 8 * SLOTS[OpKind.LINEAR].addresses.index("card")
_RUN_AT = _ADDRESSES_AT + 8 * (ADDRESSES - 1)  # the last, in any op
_ROW = struct.Struct("=qQ")  # uh_row
_STEP = struct.Struct("=Qii")  # uh_step
NORMS = (None, "head", "full")


Value = float | Tensor | MatrixView | None


@dataclass(frozen=True, eq=False)
class Op:
    """One operation. values: by the names of SLOTS, all but `card`; it keeps what addresses point to alive.

    rows: of the tensors that each token has its own row of, or the only token, without the dimension of rows. Raises
    ValueError where they are not of as many tokens, or for other names than those of the kind.
    """

    kind: OpKind
    values: Mapping[str, Value]
    rows: tuple[Rows, ...] = ()

    def __post_init__(self) -> None:
        slots = SLOTS[self.kind]
        wanted = {*slots.numbers, *slots.factors, *slots.addresses} - {"card"}
        if wanted != set(self.values):
            raise ValueError(f"{self.kind.name} takes {sorted(wanted)}, not {sorted(self.values)}")
        if len({rows.count for rows in self.rows}) > 1:
            raise ValueError(f"vectors of {[rows.count for rows in self.rows]} tokens in one op")

    def number(self, name: str) -> int:
        """One of its numbers."""
        assert name in SLOTS[self.kind].numbers, name
        return int(self.values[name])  # type: ignore[arg-type]

    def factor(self, name: str) -> float:
        """One of its factors."""
        assert name in SLOTS[self.kind].factors, name
        return float(self.values[name])  # type: ignore[arg-type]

    def tensor(self, name: str) -> Tensor | None:
        """One of the tensors that it points to; None: it does without."""
        found = self.values[name]
        assert found is None or isinstance(found, Tensor), name
        return found

    @property
    def view(self) -> MatrixView:
        """The matrix that it multiplies with."""
        found = self.values["view"]
        assert isinstance(found, MatrixView)
        return found

    @property
    def tensors(self) -> list[Tensor]:
        """All that it points to but matrices."""
        return [own for own in self.values.values() if isinstance(own, Tensor)]

    def packed(self) -> bytes:
        """uh_op."""
        slots = SLOTS[self.kind]
        n, f = (tuple(map(self.number, slots.numbers)), tuple(map(self.factor, slots.factors)))
        kept = [self.values.get(name) for name in slots.addresses]
        strides = {id(rows.tensor): rows.stride for rows in self.rows}
        p = [_address(own) for own in kept]
        s = [strides.get(id(own), 0) for own in kept]
        return _OP.pack(
            self.kind, *n, *[0] * (NUMBERS - len(n)), *f, *[0.0] * (FACTORS - len(f)),
            *p, *[0] * (ADDRESSES - len(p)), *s, *[0] * (ADDRESSES - len(s)),
        )  # fmt: skip


class Rows:
    """A vector of one token, or a tensor with one of each of several. size: of a vector; stride: bytes between two."""

    def __init__(self, tensor: Tensor, dims: int = 1, dtype: torch.dtype = torch.float32) -> None:
        """dims: of what one token has. Raises ValueError for what native code cannot take."""
        several = tensor.dim() == dims + 1
        one = tensor[0] if several else tensor
        if tensor.dim() not in (dims, dims + 1):
            raise ValueError(f"{tuple(tensor.shape)} is neither a token's vector nor several")
        self.tensor, self.size = tensor, _plain(one, dtype).numel()
        self.count = len(tensor) if several else 1
        self.stride = tensor.stride(0) * tensor.element_size() if several else 0


class OpGraph:
    """Ops to be run one after the other. address, length: for the native call, valid as long as this lives.

    rows: tokens that it takes at once, at most.
    """

    def __init__(self, ops: Sequence[Op]) -> None:
        self.ops = tuple(ops)
        self.length = len(self.ops)
        self.rows = min((rows.count for op in self.ops for rows in op.rows), default=MOST_ROWS)
        # Kept: native code follows `address` into it, and Python would free a buffer that only an int points to.
        self._packed = ctypes.create_string_buffer(b"".join(op.packed() for op in self.ops))
        self.address = ctypes.addressof(self._packed)

    def address_of(self, at: int) -> int:
        """Where one of the ops lies, for as long as this lives."""
        return self.address + at * _OP.size

    def places(self, kind: OpKind) -> list[int]:
        """Of the ops of a kind."""
        return [at for at, op in enumerate(self.ops) if op.kind is kind]

    def linears(self) -> list[tuple[int, MatrixView]]:
        """Places and matrices of the ops that multiply with one matrix."""
        return [(at, op.view) for at, op in enumerate(self.ops) if op.kind is OpKind.LINEAR]

    def put_on_card(self, at: int, matrix: int) -> None:
        """Have a card compute this linear op for single tokens. matrix: address of a uh_card_matrix; 0: no card."""
        struct.pack_into("=Q", self._packed, at * _OP.size + _CARD_AT, matrix)

    def run_on_card(self, at: int, run: int) -> None:
        """Have a card compute the ops from this one on for single tokens. run: address of a uh_card_run; 0: no card."""
        struct.pack_into("=Q", self._packed, at * _OP.size + _RUN_AT, run)


class GraphStep:
    """What changes from step to step: uh_step, and the addresses of the sequences' states, STATES for every layer.

    tokens: that the step takes. with_head: whether what follows the last layer runs with it, for all of them.
    """

    def __init__(self, layers: int) -> None:
        self._count = layers * STATES
        self._states: list[array[int]] = []  # native code follows addresses into them
        self._rows = ctypes.create_string_buffer(_ROW.size * MOST_ROWS)
        self._step = ctypes.create_string_buffer(_STEP.size)
        # Given to C once per graph run; the buffers are written in place, so the addresses never change.
        self.address, self._rows_at = ctypes.addressof(self._step), ctypes.addressof(self._rows)
        self.tokens, self.with_head = 0, False

    def set(self, position: int, states: Sequence[int], tokens: int = 1) -> None:
        """position: of the first of some tokens in a row. states: addresses, which must stay valid while graphs run.

        Raises ValueError for too many tokens, or another number of states than the layers have.
        """
        self._set([position + row for row in range(tokens)], [states], [0] * tokens)

    def set_sequences(self, positions: Sequence[int], states: Sequence[Sequence[int]], counts: Sequence[int]) -> None:
        """Tokens of several sequences, so many of each. positions, states: of each, as in `set`; an array of "Q" is
        read where it lies. Raises ValueError."""
        owners = [owner for owner, count in enumerate(counts) for _ in range(count)]
        in_a_row = [at + row for at, count in zip(positions, counts, strict=True) for row in range(count)]
        self._set(in_a_row, states, owners)

    def _set(self, positions: Sequence[int], states: Sequence[Sequence[int]], owners: Sequence[int]) -> None:
        """owners: by row, whose of the states."""
        if any(len(own) != self._count for own in states):
            raise ValueError(f"{[len(own) for own in states]} states; expected {self._count}")
        if not 0 < len(positions) <= MOST_ROWS or len(states) > MOST_ROWS:
            raise ValueError(f"a step takes 1 to {MOST_ROWS} tokens, not {len(positions)}")
        self._states = [own if isinstance(own, array) else array("Q", own) for own in states]
        at = [own.buffer_info()[0] for own in self._states]
        for row, (position, owner) in enumerate(zip(positions, owners, strict=True)):
            _ROW.pack_into(self._rows, _ROW.size * row, position, at[owner])
        self.tokens = len(positions)
        self.run_from(0)

    def run_from(self, first: int) -> None:
        """From now on only the tokens from `first` on go through graphs."""
        _STEP.pack_into(self._step, 0, self._rows_at, first, self.tokens)


class KvRows:
    """uh_kv_rows: where the chunks [heads, rows, width] of one buffer lie. It holds addresses, not the chunks."""

    def __init__(self, chunks: Sequence[Tensor], dtype: torch.dtype) -> None:
        packed = struct.pack("=ii", len(chunks), BITS[dtype])
        # Whoever makes this keeps the chunks: no reference is held here.
        packed += b"".join(struct.pack("=Qq", _plain(chunk, dtype).data_ptr(), chunk.shape[1]) for chunk in chunks)
        self._packed = ctypes.create_string_buffer(packed, max(len(packed), 1))
        self.address = ctypes.addressof(self._packed)


# ---- ops --------------------------------------------------------------------------------------------------------


def norm(x: Tensor, out: Tensor, width: int, eps: float, scale: Tensor | None, bias: Tensor | None = None) -> Op:
    """out = x / sqrt(mean(x^2) + eps) * scale over every `width` values; with a bias LayerNorm. out may be x."""
    if bias is not None and scale is None:
        raise ValueError("a norm with a bias needs a scale")
    sized(width, scale, bias)
    rows = _alike(x, out)
    heads = rows[0].size // width
    if heads * width != rows[0].size:
        raise ValueError(f"{rows[0].size} values do not fall into rows of {width}")
    values: dict[str, Value] = {
        "heads": heads,
        "width": width,
        "eps": eps,
        "x": x,
        "out": out,
        "scale": scale,
        "bias": bias,
    }
    return Op(OpKind.NORM, values, rows)


def linear(view: MatrixView, x: Tensor, out: Tensor) -> Op:
    """out = W x + bias."""
    return Op(OpKind.LINEAR, {"view": view, "x": x, "out": out}, (rows_of(view.cols, x), rows_of(view.rows, out)))


def add(x: Tensor, source: Tensor, by: float = 1.0) -> Op:
    """x += by * source."""
    rows = _alike(x, source)
    return Op(OpKind.ADD, {"count": rows[0].size, "by": by, "x": x, "source": source}, rows)


def scale(x: Tensor, by: float) -> Op:
    """x *= by."""
    rows = Rows(x)
    return Op(OpKind.SCALE, {"count": rows.size, "by": by, "x": x}, (rows,))


def gate(x: Tensor, gates: Tensor) -> Op:
    """x *= sigmoid(gates): one for each value, or one for all."""
    rows, by = Rows(x), Rows(gates)
    if by.size not in (1, rows.size):
        raise ValueError(f"{by.size} gates for {rows.size} values")
    return Op(OpKind.GATE, {"count": rows.size, "gate_count": by.size, "x": x, "gates": gates}, (rows, by))


def activate(gates: Tensor, up: Tensor, out: Tensor, kind: str, alpha: float = 0.0, limit: float = 0.0) -> Op:
    """out = activation(gates, up): engine.kernels.activation. alpha, limit: of clamped_swiglu."""
    rows = _alike(gates, up, out)
    values: dict[str, Value] = {
        "count": rows[0].size, "activation": KINDS.index(kind), "alpha": alpha, "limit": limit,
        "gates": gates, "up": up, "out": out,
    }  # fmt: skip
    return Op(OpKind.ACTIVATE, values, rows)


def softcap(x: Tensor, cap: float) -> Op:
    """x = tanh(x / cap) * cap."""
    rows = Rows(x)
    return Op(OpKind.SOFTCAP, {"count": rows.size, "cap": cap, "x": x}, (rows,))


def rope(frequencies: Tensor, cosines: Tensor, sines: Tensor) -> Op:
    """Cosines and sines of position * frequency, times the last of `frequencies`, which is one longer than they are."""
    rows = _alike(cosines, sines)
    sized(rows[0].size + 1, frequencies)
    values: dict[str, Value] = {"count": rows[0].size, "frequencies": frequencies, "cosines": cosines, "sines": sines}
    return Op(OpKind.ROPE, values, rows)


@dataclass(frozen=True, eq=False, kw_only=True)
class Heads:
    """What is done to queries, keys and values, in this order; normalizing also after the turning if `norm_last`.

    norm: 'head' over every head, 'full' over all queries and over all keys; None: none. clip: at +- clip.
    rope: cosines and sines [rotary dim / 2], of many tokens [T, rotary dim / 2]. norm_values: every value head by its
    RMS. reuse_keys: the values are the keys as they come out of their projection.
    """

    heads: int
    kv_heads: int
    dim: int
    norm: str | None = None
    eps: float = 0.0
    norm_last: bool = False
    q_scale: Tensor | None = None
    k_scale: Tensor | None = None
    clip: float | None = None
    rope: tuple[Tensor, Tensor] | None = None
    interleaved: bool = False
    norm_values: bool = False
    reuse_keys: bool = False


def heads(spec: Heads, projected: Tensor, values: Tensor, state: int) -> Op:
    """Finish queries and keys where they lie, [heads + kv_heads, dim] from the start of `projected`, and the values
    [kv_heads, dim]; then write keys and values to row `position` of the buffers `state` and `state + 1`."""
    rows: tuple[Rows, ...] = (Rows(projected), rows_of(spec.kv_heads * spec.dim, values))
    if rows[0].size < (spec.heads + spec.kv_heads) * spec.dim:
        raise ValueError(f"{rows[0].size} values are too few for the heads")
    by_head = spec.norm == "head"
    sized(spec.dim if by_head else spec.heads * spec.dim, spec.q_scale)
    sized(spec.dim if by_head else spec.kv_heads * spec.dim, spec.k_scale)
    cosines, sines = spec.rope or (None, None)
    half = 0
    if cosines is not None and sines is not None:
        angles = _alike(cosines, sines)
        rows, half = (*rows, *angles), angles[0].size
    if 2 * half > spec.dim:
        raise ValueError(f"a head of {spec.dim} cannot be turned in {2 * half} dimensions")
    return Op(
        OpKind.HEADS,
        {
            "state": state, "heads": spec.heads, "kv_heads": spec.kv_heads, "dim": spec.dim,
            "norm": NORMS.index(spec.norm), "norm_last": spec.norm_last, "half": half,
            "interleaved": spec.interleaved, "norm_values": spec.norm_values, "reuse_keys": spec.reuse_keys,
            "clips": spec.clip is not None, "eps": spec.eps, "limit": spec.clip or 0.0, "projected": projected,
            "q_scale": spec.q_scale, "k_scale": spec.k_scale, "cosines": cosines, "sines": sines, "values": values,
        },
        rows,
    )  # fmt: skip


def attend_room(heads: int, dim: int) -> int:
    """Floats of `room` in `attend`."""
    # What attend.h lays out for every span and head; too little would be written beyond.
    return SPANS * heads * (2 * (dim + 17) + (dim + 16) // 2)


def attend(
    queries: Tensor, out: Tensor, room: Tensor, state: int, kv_heads: int, scale: float,
    *, window: int | None = None, sinks: Tensor | None = None,
) -> Op:  # fmt: skip
    """Softmax attention over the rows up to `position` of the buffers `state` (keys) and `state + 1` (values).

    queries, out: [heads, dim]. window: sees so many rows, the last ones. sinks: [heads] extra logits.
    """
    number, dim = queries.shape[-2:]
    rows = (Rows(queries, 2), Rows(out, 2), Rows(room))
    if queries.shape[-2:] != out.shape[-2:]:
        raise ValueError(f"queries are {tuple(queries.shape)}, and what is found {tuple(out.shape)}")
    sized(number, sinks)
    if number % kv_heads or number // kv_heads > MOST_QUERIES or dim > MOST_HEAD_DIM:
        raise ValueError(f"{number} queries of {dim} on {kv_heads} key heads are not provided for")
    if rows[2].size < attend_room(number, dim):
        raise ValueError("there is too little room for attention")
    values: dict[str, Value] = {
        "state": state, "heads": number, "kv_heads": kv_heads, "dim": dim, "window": window or 0, "scale": scale,
        "queries": queries, "sinks": sinks, "out": out, "room": room,
    }  # fmt: skip
    return Op(OpKind.ATTEND, values, rows)


# ---- checks -----------------------------------------------------------------------------------------------------


def _address(own: Value) -> int:
    if own is None:
        return 0
    # Op.values owns it, and OpGraph its ops: the address holds while the graph lives.
    if isinstance(own, Tensor):
        return own.data_ptr()
    assert isinstance(own, MatrixView)
    return ctypes.addressof(own)


def _plain(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    if tensor.dtype != dtype or not tensor.is_contiguous() or tensor.device.type != "cpu":
        raise ValueError(f"an op graph works on contiguous {dtype} in ordinary memory, not on {tensor.dtype}")
    return tensor


def sized(size: int, *tensors: Tensor | None) -> None:
    """Refuse what is not contiguous float32 of so many values; None passes. Raises ValueError."""
    for tensor in tensors:
        if tensor is not None and _plain(tensor).numel() != size:
            raise ValueError(f"{tensor.numel()} values; expected {size}")


def rows_of(size: int, tensor: Tensor, dtype: torch.dtype = torch.float32) -> Rows:
    """The rows of what has so many values for each token. Raises ValueError for others."""
    rows = Rows(tensor, dtype=dtype)
    if rows.size != size:
        raise ValueError(f"{rows.size} values; expected {size}")
    return rows


def _alike(x: Tensor, *others: Tensor) -> tuple[Rows, ...]:
    first = Rows(x)
    return first, *(rows_of(first.size, other) for other in others)
