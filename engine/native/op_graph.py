"""The op graph: one token's way through what is no expert, as a list of native operations on fixed addresses.

Every function here makes one op and says what it computes; native/op_graph.h is the other side. All vectors are
contiguous float32 in ordinary memory, checked here (ValueError); an op keeps what it points to alive.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, get_args

import torch
from torch import Tensor

from engine.native.library import MatrixView

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

_OP = struct.Struct("=12i4f12Q")  # uh_op; "=" is without padding, of which it needs none
_STEP = struct.Struct("=qQ")  # uh_step
NORMS = (None, "head", "full")
SCORES = ("softmax", "topk_softmax", "sigmoid", "sparsemixer")


class OpKind(IntEnum):
    """As in the C enum."""

    # Indices into uh_ops_*: the table of functions of each instruction set.
    NORM = 0
    LINEAR = 1
    ADD = 2
    SCALE = 3
    GATE = 4
    ACTIVATE = 5
    SOFTCAP = 6
    ROPE = 7
    HEADS = 8
    ATTEND = 9
    ROUTE = 10
    EACH = 11
    LATENT = 12
    LATENT_ATTEND = 13
    DELTA = 14
    CONV = 15


@dataclass(frozen=True, eq=False)
class Op:
    """One operation. keeps: whatever owns the memory behind the addresses, in their order; None is address 0."""

    kind: OpKind
    n: tuple[int, ...] = ()
    f: tuple[float, ...] = ()
    keeps: tuple[Tensor | MatrixView | None, ...] = ()

    def packed(self) -> bytes:
        """uh_op."""
        n = (*self.n, *[0] * (11 - len(self.n)))
        f = (*self.f, *[0.0] * (4 - len(self.f)))
        p = [_address(kept) for kept in self.keeps]
        return _OP.pack(self.kind, *n, *f, *p, *[0] * (12 - len(p)))


class OpGraph:
    """Ops to be run one after the other. address, length: for the native call, valid as long as this lives."""

    def __init__(self, ops: Sequence[Op]) -> None:
        self.ops = tuple(ops)
        self.length = len(self.ops)
        # Kept: native code follows `address` into it, and Python would free a buffer that only an int points to.
        self._packed = ctypes.create_string_buffer(b"".join(op.packed() for op in self.ops))
        self.address = ctypes.addressof(self._packed)


class GraphStep:
    """What changes from token to token: uh_step, and the addresses of a sequence's states, STATES for every layer."""

    def __init__(self, layers: int) -> None:
        self._count = layers * STATES
        self._states = (ctypes.c_uint64 * self._count)()
        self._step = ctypes.create_string_buffer(_STEP.size)
        # Given to C once per graph run; the buffer is written in place, so the address never changes.
        self.address = ctypes.addressof(self._step)

    def set(self, position: int, states: list[int]) -> None:
        """position: of the token. states: addresses, which must stay valid while graphs run."""
        if len(states) != self._count:
            raise ValueError(f"{len(states)} states; expected {self._count}")
        self._states[:] = list(states)
        _STEP.pack_into(self._step, 0, position, ctypes.addressof(self._states))


class KvRows:
    """uh_kv_rows: where the chunks [heads, rows, dim] of one buffer lie. It holds addresses, not the chunks."""

    def __init__(self, chunks: Sequence[Tensor], dtype: torch.dtype) -> None:
        # What uh_kv_rows calls its types.
        bits = {torch.bfloat16: 16, torch.float32: 32}[dtype]
        packed = struct.pack("=ii", len(chunks), bits)
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
    rows = _same_size(x, out) // width
    if rows * width != x.numel():
        raise ValueError(f"{x.numel()} values do not fall into rows of {width}")
    return Op(OpKind.NORM, (rows, width), (eps,), (x, out, scale, bias))


def linear(view: MatrixView, x: Tensor, out: Tensor) -> Op:
    """out = W x + bias."""
    sized(view.cols, x)
    sized(view.rows, out)
    return Op(OpKind.LINEAR, (), (), (view, x, out))


def add(x: Tensor, source: Tensor, by: float = 1.0) -> Op:
    """x += by * source."""
    return Op(OpKind.ADD, (_same_size(x, source),), (by,), (x, source))


def scale(x: Tensor, by: float) -> Op:
    """x *= by."""
    sized(x.numel(), x)
    return Op(OpKind.SCALE, (x.numel(),), (by,), (x,))


def gate(x: Tensor, gates: Tensor) -> Op:
    """x *= sigmoid(gates): one for each value, or one for all."""
    sized(x.numel(), x)
    sized(gates.numel(), gates)
    if gates.numel() not in (1, x.numel()):
        raise ValueError(f"{gates.numel()} gates for {x.numel()} values")
    return Op(OpKind.GATE, (x.numel(), gates.numel()), (), (x, gates))


def activate(gates: Tensor, up: Tensor, out: Tensor, kind: str, alpha: float = 0.0, limit: float = 0.0) -> Op:
    """out = activation(gates, up): engine.kernels.activation. alpha, limit: of clamped_swiglu."""
    _same_size(gates, up)
    return Op(OpKind.ACTIVATE, (_same_size(up, out), KINDS.index(kind)), (alpha, limit), (gates, up, out))


def softcap(x: Tensor, cap: float) -> Op:
    """x = tanh(x / cap) * cap."""
    sized(x.numel(), x)
    return Op(OpKind.SOFTCAP, (x.numel(),), (cap,), (x,))


def rope(frequencies: Tensor, cosines: Tensor, sines: Tensor) -> Op:
    """Cosines and sines of position * frequency, times the last of `frequencies`, which is one longer than they are."""
    half = _same_size(cosines, sines)
    sized(half + 1, frequencies)
    return Op(OpKind.ROPE, (half,), (), (frequencies, cosines, sines))


@dataclass(frozen=True, eq=False)
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
    if projected.numel() < (spec.heads + spec.kv_heads) * spec.dim:
        raise ValueError(f"{projected.numel()} values are too few for the heads")
    sized(projected.numel(), projected)
    sized(spec.kv_heads * spec.dim, values)
    by_head = spec.norm == "head"
    sized(spec.dim if by_head else spec.heads * spec.dim, spec.q_scale)
    sized(spec.dim if by_head else spec.kv_heads * spec.dim, spec.k_scale)
    cosines, sines = spec.rope or (None, None)
    half = 0 if cosines is None or sines is None else _same_size(cosines, sines)
    if 2 * half > spec.dim:
        raise ValueError(f"a head of {spec.dim} cannot be turned in {2 * half} dimensions")
    numbers = (
        state, spec.heads, spec.kv_heads, spec.dim, NORMS.index(spec.norm), spec.norm_last, half, spec.interleaved,
        spec.norm_values, spec.reuse_keys, spec.clip is not None,
    )  # fmt: skip
    kept = (projected, spec.q_scale, spec.k_scale, cosines, sines, values)
    return Op(OpKind.HEADS, numbers, (spec.eps, spec.clip or 0.0), kept)


def attend_room(heads: int, dim: int) -> int:
    """Floats of `room` in `attend`."""
    # What attend.h lays out for every span and head; too little would be written beyond.
    return SPANS * heads * (2 * (dim + 17) + (dim + 16) // 2)


def attend(
    queries: Tensor, out: Tensor, room: Tensor, state: int, kv_heads: int, scale: float,
    window: int | None = None, sinks: Tensor | None = None,
) -> Op:  # fmt: skip
    """Softmax attention over the rows up to `position` of the buffers `state` (keys) and `state + 1` (values).

    queries, out: [heads, dim]. window: sees so many rows, the last ones. sinks: [heads] extra logits.
    """
    (number, dim) = queries.shape
    _same_size(queries, out)
    sized(number, sinks)
    sized(room.numel(), room)
    if number % kv_heads or number // kv_heads > MOST_QUERIES or dim > MOST_HEAD_DIM:
        raise ValueError(f"{number} queries of {dim} on {kv_heads} key heads are not provided for")
    if room.numel() < attend_room(number, dim):
        raise ValueError("there is too little room for attention")
    return Op(OpKind.ATTEND, (state, number, kv_heads, dim, window or 0), (scale,), (queries, sinks, out, room))


@dataclass(frozen=True)
class Routing:
    """How experts are chosen and weighed: see engine.models.spec.RouterSpec."""

    experts: int
    top_k: int
    score: str
    groups: int = 1
    top_groups: int = 1
    top_two: bool = True
    masked_score: float = 0.0
    normalize: bool = False
    normalize_eps: float = 0.0
    normalize_min: float = 0.0
    scale: float = 1.0
    jitter: float = 0.0


def route_room(experts: int) -> int:
    """Floats of `room` in `route`."""
    return 2 * experts


def route(
    spec: Routing, logits: Tensor, room: Tensor, *, ids: Tensor, weights: Tensor,
    choice_bias: Tensor | None = None, expert_scale: Tensor | None = None,
) -> Op:  # fmt: skip
    """ids [top_k] int64 and weights [top_k] from router logits, which are written over; the first of equals wins.

    ids must have room for top_k + top_groups.
    """
    sized(spec.experts, logits, choice_bias, expert_scale)
    sized(route_room(spec.experts), room)
    sized(spec.top_k, weights)
    if ids.dtype != torch.int64 or not ids.is_contiguous() or ids.numel() < spec.top_k + spec.top_groups:
        raise ValueError("ids must be contiguous int64, with room for experts and groups")
    if not 0 < spec.top_k <= spec.experts or spec.experts % spec.groups or spec.top_groups > spec.groups:
        raise ValueError(f"{spec} cannot be")
    numbers = (
        spec.experts, spec.top_k, SCORES.index(spec.score), spec.groups, spec.top_groups, spec.top_two, spec.normalize
    )  # fmt: skip
    last = spec.jitter if spec.score == "sparsemixer" else spec.scale
    factors = (spec.masked_score, spec.normalize_eps, spec.normalize_min, last)
    return Op(OpKind.ROUTE, numbers, factors, (logits, choice_bias, expert_scale, room, ids, weights))


# ---- checks -----------------------------------------------------------------------------------------------------


def _address(kept: Tensor | MatrixView | None) -> int:
    if kept is None:
        return 0
    # Op.keeps owns it, and OpGraph its ops: the address holds while the graph lives.
    return kept.data_ptr() if isinstance(kept, Tensor) else ctypes.addressof(kept)


def _plain(tensor: Tensor, dtype: torch.dtype = torch.float32) -> Tensor:
    if tensor.dtype != dtype or not tensor.is_contiguous() or tensor.device.type != "cpu":
        raise ValueError(f"an op graph works on contiguous {dtype} in ordinary memory, not on {tensor.dtype}")
    return tensor


def sized(size: int, *tensors: Tensor | None) -> None:
    """Refuse what is not contiguous float32 of so many values; None passes. Raises ValueError."""
    for tensor in tensors:
        if tensor is not None and _plain(tensor).numel() != size:
            raise ValueError(f"{tensor.numel()} values; expected {size}")


def _same_size(x: Tensor, other: Tensor) -> int:
    sized(_plain(x).numel(), other)
    return x.numel()
