"""Single ops of a layer on the card: the commands that compute them, and what they need there beside vectors.

That is their weights, a sequence's rows (card_rows.py), and room for what attention finds in splits.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_float, c_int32, c_int64, c_uint64
from typing import Any

from torch import Tensor

from engine.cuda.card_rows import CardRows
from engine.cuda.commands import CommandList
from engine.cuda.device import CardDevice
from engine.cuda.head_matrices import HeadMatrices
from engine.cuda.layer_runs import KEPT, matrix_bytes
from engine.cuda.matrices import CardMatrices, CardMatrix, supports
from engine.cuda.operands import BLOCK
from engine.cuda.token_frame import TokenFrame
from engine.kernels.activation import Activation
from engine.kernels.native import expert_layout
from engine.native.library import MatrixView
from engine.native.op_graph import KINDS, NORMS, Op
from engine.native.op_slots import OpKind
from engine.record.layout import ExpertSpec

SPLITS = 16  # that the rows of a key head are split into
LATENT_SPLITS = 32  # that latents are: all heads share them, so fewer blocks would be at work
QUERIES = 8  # of a key head, or of those that share latents, that a block takes
_WARPS = 4


class _Finish(ctypes.Structure):
    # As uh_finish.
    _fields_ = (
        *((n, c_int32) for n in ("heads", "kv_heads", "dim", "norm", "norm_last", "half", "interleaved")),
        *((n, c_int32) for n in ("norm_values", "reuse_keys", "clips")),
        ("eps", c_float),
        ("limit", c_float),
    )


def _blocks(n: int) -> int:
    return -(-n // BLOCK)


class LayerOps:
    """What computes ops of one model on one card. Used by the thread that runs the model."""

    def __init__(
        self, device: CardDevice, ptx: bytes, matrices: CardMatrices, frame: TokenFrame, *,
        room: Callable[[int], int], rows: CardRows, exact: bool,
    ) -> None:  # fmt: skip
        """frame: where vectors lie, once it is laid out. room: makes room on the card that another gives back. rows:
        of the sequence, for which `prepare` makes room. exact: activations in float32, not in 8 bits."""
        self._device, self._ptx, self._matrices, self._frame = device, ptx, matrices, frame
        self._room, self._kept, self._exact = room, rows, exact
        self._held: dict[int, CardMatrix] = {}
        self._weights: dict[int, int] = {}
        self._by_head: HeadMatrices | None = None
        self._partial = 0

    def prepare(self, ops: Sequence[Op]) -> None:
        """Make room for these. Raises CardError."""
        for op in ops:
            if op.kind in KEPT:
                self._kept.add(op)
        self._partial = self._room(4 * max(map(_partial_floats, ops)))
        each = [op for op in ops if op.kind is OpKind.EACH and supports(op.view)]
        if each:
            self._by_head = HeadMatrices(
                self._device, self._ptx, each, self._matrices, room=self._room, exact=self._exact
            )

    def _constant(self, tensor: Tensor | None) -> c_uint64:
        """The address of a small weight there; 0 of none."""
        if tensor is None:
            return c_uint64(0)
        return c_uint64(self._bytes(tensor.data_ptr(), tensor.numel() * tensor.element_size()))

    def _bytes(self, address: int, nbytes: int) -> int:
        if address not in self._weights:
            self._weights[address] = self._room(nbytes)
            self._matrices.send(self._weights[address], address, nbytes)
        return self._weights[address]

    def _rows(self, state: int) -> list[c_uint64]:
        return [c_uint64(address) for address in self._kept.addresses(state)]

    @property
    def _bits(self) -> int:
        return 8 * self._kept.kv_dtype.itemsize

    # ---- commands ---------------------------------------------------------------------------------------------------

    def _run(self, commands: CommandList, name: str, grid: Sequence[int], *parameters: Any) -> None:
        commands.launch(self._device.kernel(self._ptx, name), (*grid, 1, 1)[:3], BLOCK, parameters)

    def write(self, commands: CommandList, op: Op) -> None:
        """Have an op computed. Raises CardError, where its weights are brought over."""
        match op.kind:
            case OpKind.NORM:
                own = (*self._places(op, "x", "out"), *self._constants(op, "scale", "bias"))
                shape = c_int32(op.number("width")), c_float(op.factor("eps"))
                self._run(commands, "uh_norm", (op.number("heads"),), *own, *shape)
            case OpKind.LINEAR:
                self._product(commands, op)
            case OpKind.ADD:
                count, by = op.number("count"), c_float(op.factor("by"))
                self._run(commands, "uh_add", (_blocks(count),), *self._places(op, "x", "source"), by, c_int32(count))
            case OpKind.GATE:
                count = op.number("count")
                sizes = c_int32(count), c_int32(op.number("gate_count"))
                self._run(commands, "uh_gate", (_blocks(count),), *self._places(op, "x", "gates"), *sizes)
            case OpKind.ACTIVATE:
                count, places = op.number("count"), self._places(op, "gates", "up", "out")
                self._run(commands, "uh_activate", (_blocks(count), 1), self._activation(op), *places, c_int64(count))
            case OpKind.EACH:
                self._each(commands, op)
            case OpKind.HEADS:
                self._finish_heads(commands, op)
            case OpKind.ATTEND:
                self._attend(commands, op)
            case OpKind.LATENT:
                self._finish_latent(commands, op)
            case OpKind.LATENT_ATTEND:
                self._attend_latents(commands, op)
            case _:
                self._route(commands, op)

    def _places(self, op: Op, *names: str) -> list[c_uint64]:
        """Where these vectors of a token lie there."""
        return [self._frame.place(op.tensor(name)) for name in names]

    def _constants(self, op: Op, *names: str) -> list[c_uint64]:
        """Where these small weights lie there; 0: the op has none."""
        return [self._constant(op.tensor(name)) for name in names]

    def _product(self, commands: CommandList, op: Op) -> None:
        view, (x, y) = op.view, self._places(op, "x", "out")
        if view.kind < 16:
            key = ctypes.addressof(view)
            matrix = self._held.get(key) or self._held.setdefault(key, self._matrices.place(view))
            self._matrices.multiply(commands, view, matrix.block, matrix.layout, int(x.value), int(y.value))
            return
        self._raw(commands, view, x, y, each=view.rows, step=0)

    def _each(self, commands: CommandList, op: Op) -> None:
        view, (x, y) = op.view, self._places(op, "x", "out")
        if view.kind < 16:
            assert self._by_head is not None
            self._by_head.multiply(commands, op, int(x.value), int(y.value))
            return
        self._raw(commands, view, x, y, each=view.rows // op.number("heads"), step=op.number("x_step"))

    def _raw(self, commands: CommandList, view: MatrixView, x: c_uint64, y: c_uint64, *, each: int, step: int) -> None:
        """each: rows that have an x of their own, `step` behind the one before."""
        weights = c_uint64(self._bytes(view.codes[0], matrix_bytes(view)))
        bias = c_uint64(self._bytes(view.bias, 4 * view.rows) if view.bias else 0)
        numbers = map(c_int32, (view.rows, view.cols, view.kind, each, step))
        self._run(commands, "uh_raw", (-(-view.rows // _WARPS),), x, weights, bias, y, *numbers)

    def _activation(self, op: Op) -> ctypes.Structure:
        spec = ExpertSpec(hidden=1, intermediate=op.number("count"), top=8, group=16)
        kind = KINDS[op.number("activation")]
        made = expert_layout(spec, Activation(kind, op.factor("alpha"), op.factor("limit")))
        layout = type(made).from_buffer_copy(made)
        layout.up_limit = 0.0  # as the op has it
        return layout

    def _finish_heads(self, commands: CommandList, op: Op) -> None:
        state, heads, kv_heads, dim = (op.number(name) for name in ("state", "heads", "kv_heads", "dim"))
        x, values = self._places(op, *KEPT[OpKind.HEADS])
        scales = self._constants(op, "q_scale", "k_scale")
        how = _Finish(**{field[0]: op.values[field[0]] for field in _Finish._fields_})
        if NORMS[op.number("norm")] == "full":
            how.norm = 0
            at = int(x.value)
            for width, scale in zip((heads * dim, kv_heads * dim), scales, strict=True):
                shape = c_int32(width), c_float(op.factor("eps"))
                self._run(commands, "uh_norm", (1,), c_uint64(at), c_uint64(at), scale, c_uint64(0), *shape)
                at += 4 * width
        room = c_int64(self._kept.capacity), c_int32(self._bits)
        self._run(
            commands, "uh_heads_finish", (heads + kv_heads,), x, values, how, *scales,
            *self._places(op, "cosines", "sines"), self._frame.position, *self._rows(state), *room,
        )  # fmt: skip

    def _attend(self, commands: CommandList, op: Op) -> None:
        state, heads, kv_heads, dim = (op.number(name) for name in ("state", "heads", "kv_heads", "dim"))
        queries, out = self._places(op, "queries", "out")
        window = c_int32(op.number("window"))
        share, partial = heads // kv_heads, c_uint64(self._partial)
        self._run(
            commands, f"uh_attend_{self._bits}", (SPLITS, kv_heads, -(-share // QUERIES)),
            queries, *self._rows(state), self._frame.position, partial, c_int32(share), c_int32(dim), window,
            c_int64(self._kept.capacity), c_float(op.factor("scale")),
        )  # fmt: skip
        sinks, shape = self._constants(op, "sinks"), (c_int32(dim), window, c_int32(SPLITS))
        self._run(commands, "uh_merge", (heads,), partial, *sinks, self._frame.position, out, *shape)

    def _finish_latent(self, commands: CommandList, op: Op) -> None:
        vectors, (scale,) = self._places(op, "queries", "row"), self._constants(op, "scale")
        numbers = (c_int32(op.number(name)) for name in ("nope", "rope", "rank", "interleaved"))
        self._run(
            commands, "uh_latent", (1 + op.number("heads"),), *vectors, scale, *self._places(op, "cosines", "sines"),
            self._frame.position, *self._rows(op.number("state")), c_int32(self._bits), *numbers,
            c_float(op.factor("eps")),
        )  # fmt: skip

    def _attend_latents(self, commands: CommandList, op: Op) -> None:
        heads, rank = op.number("heads"), op.number("rank")
        latent, rotary, out = self._places(op, "in_latent", "rotary", "out")
        partial, position = c_uint64(self._partial), self._frame.position
        numbers = (c_int32(op.number(name)) for name in ("heads", "rank", "rope", "rotary_step"))
        self._run(
            commands, f"uh_attend_latent_{self._bits}", (LATENT_SPLITS, -(-heads // QUERIES)), latent, rotary,
            *self._rows(op.number("state")), position, partial, *numbers, c_float(op.factor("scale")),
        )  # fmt: skip
        shape = c_int32(rank), c_int32(0), c_int32(LATENT_SPLITS)
        self._run(commands, "uh_merge", (heads,), partial, c_uint64(0), position, out, *shape)

    def _route(self, commands: CommandList, op: Op) -> None:
        vectors = self._places(op, "logits"), self._places(op, "ids", "weights")
        extra = self._constants(op, "choice_bias", "expert_scale")
        numbers = (c_int32(op.number(name)) for name in ("experts", "top_k", "score", "normalize"))
        factors = (c_float(op.factor(name)) for name in ("normalize_eps", "normalize_min", "scale_or_jitter"))
        self._run(commands, "uh_route", (1,), *vectors[0], *extra, *vectors[1], *numbers, *factors)

    def give_back(self) -> None:
        """Give matrices on the card back. Raises CardError."""
        for matrix in self._held.values():
            self._matrices.remove(matrix)
        self._held = {}


def _partial_floats(op: Op) -> int:
    """That the splits of an op's attention leave."""
    match op.kind:
        case OpKind.ATTEND:
            return op.number("heads") * SPLITS * (2 + op.number("dim"))
        case OpKind.LATENT_ATTEND:
            return op.number("heads") * LATENT_SPLITS * (2 + op.number("rank"))
        case _:
            return 0
