"""The native kernels: a plain C library, loaded with ctypes, which releases Python's lock during every call."""

from __future__ import annotations

import ctypes
import struct
import threading
from array import array
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.kernels.activation import KINDS, Activation
from engine.kernels.attending import Attending
from engine.kernels.call import Work, check_call
from engine.kernels.scratch_pool import SCRATCH
from engine.native.library import ISAS, MatrixView, default_threads, isas, load_holding_lock, load_library
from engine.native.op_graph import MOST_ROWS, GraphStep, OpGraph
from engine.record.coding import FORMS, Coding
from engine.record.layout import ROWS_PER_TILE, UNITS_AT, ExpertSpec, aligned
from engine.translatable import msg

RAW = {torch.bfloat16: 16, torch.float32: 32}  # kinds of unquantized weights
# As in the C enums: UH_SKIPPED and so on. TAKEN: a graphics card computes it.
SKIPPED, NOT_RESIDENT, NOT_DECIDED, TAKEN = -1, -2, -3, -4
TABLED, WIDE_TABLED, SIX, LOW_LEVEL = 4, 5, 6, 32
_MATRICES = ("gate", "up", "down")
EXPERT = struct.Struct("=QQQQiiii")  # uh_expert: Parts.addresses, Parts.planes, first_slot, count, planes stored


# uh_matrix, uh_layout and the structures below, field by field as in underhill_kernels.h. ctypes checks nothing: a
# change there needs one here and another ABI.
class _Matrix(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_int32 * 4),
        *((name, ctypes.c_int64 * 3) for name in ("codes", "params")),
        *((name, ctypes.c_int64) for name in ("bias", "unit")),
        ("group", ctypes.c_int32),
        ("kind", ctypes.c_int32 * 3),
        ("form", ctypes.c_int32 * 3),
        ("zero", ctypes.c_float * 3),
        ("table", ctypes.c_uint8 * 16),
    )


class _Layout(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("hidden", "intermediate", "top", "has_gate", "activation")),
        *((name, ctypes.c_float) for name in ("alpha", "limit", "up_limit")),
        ("matrix", _Matrix * 3),
    )


class GraphLayer(ctypes.Structure):
    """uh_graph_layer; its maker keeps alive what its addresses point to."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("ops", "experts", "ids", "weights", "x", "y")),
        ("n_ops", ctypes.c_int32),
        ("k", ctypes.c_int32),
        ("route", ctypes.c_void_p),
    )


MOST_CHOSEN = 64  # experts per token that native code takes: UH_MOST_CHOSEN
MOST_ASKED = MOST_CHOSEN * MOST_ROWS  # and by all tokens of a step: UH_MOST_ASKED


class ResidentLayer(ctypes.Structure):
    """A layer's experts by number, uh_resident_layer in underhill_kernels.h; its maker keeps alive what it needs."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("layout", "experts", "uses", "hits", "ran", "notes")),
        ("t1", ctypes.c_double),
        ("t2", ctypes.c_double),
        *((name, ctypes.c_int32) for name in ("n", "high", "low")),
        ("tiers", ctypes.c_int32 * 4),
        ("row", ctypes.c_int32),
        ("policy", ctypes.c_void_p),
        ("ranks", ctypes.c_void_p),
        ("card", ctypes.c_void_p),
        ("taken", ctypes.c_void_p),
        ("substitute", ctypes.c_double),
        ("denied", ctypes.c_void_p),
        ("substituted", ctypes.c_void_p),
    )


class RankShares(ctypes.Structure):
    """uh_ranks."""

    _fields_ = (("n", ctypes.c_int32), ("unused", ctypes.c_int32), ("share", ctypes.c_double * (2 * MOST_CHOSEN)))


@lru_cache(maxsize=64)
def expert_layout(spec: ExpertSpec, activation: Activation) -> _Layout:
    """The shape of experts as the library takes it: made once, and kept alive by whoever passes its address."""
    layout = _Layout(
        spec.hidden, spec.intermediate, spec.top, spec.has_gate, KINDS.index(activation.kind),
        activation.alpha, activation.limit, activation.up_limit,
    )  # fmt: skip
    for index, m in enumerate(spec.matrices):
        at = layout.matrix[_MATRICES.index(m.name)]
        at.size[:] = (m.rows, m.cols, *spec.padded(m))
        for plane, part in enumerate(spec.layout.codes_for(spec.top)):
            at.codes[plane] = part.sections[m.name].offset
        at.group = spec.group_of(m)
        coding = spec.coding(m)
        for planes, tier in enumerate(() if spec.raw else spec.tiers):
            at.params[planes] = spec.layout.params_for(tier).sections[m.name].offset
            at.kind[planes] = planes + 1
            if coding is not None:
                at.form[planes] = FORMS.index(coding.form_of(tier))
                at.zero[planes] = coding.zero_of(tier)
        if coding is not None and spec.top == 4:
            at.kind[1] = kind_of(coding)
            at.table[:] = coding.table_of(spec.top) or (0,) * 16
        bias = spec.layout.head.biases.get(m.name)
        at.bias = -1 if bias is None else bias.offset
        at.unit = UNITS_AT + 4 * index
    return layout


def matrix_layout(view: MatrixView, codes: Sequence[int], params: int, bias: int, unit: int) -> _Layout:
    """A matrix of tiles as the down matrix of an expert, whose parts all begin at one address.

    codes, params, bias, unit: where these lie, in bytes from there; bias -1: none.
    """
    planes, layout = view.planes, _Layout(view.rows, view.cols, 8 if view.planes == 3 else 4)
    at = layout.matrix[_MATRICES.index("down")]
    at.size[:] = (view.rows, view.cols, aligned(view.rows, ROWS_PER_TILE), view.groups * view.group)
    at.codes[:planes], at.params[planes - 1], at.bias, at.unit, at.group = codes, params, bias, unit, view.group
    at.kind[planes - 1], at.form[planes - 1], at.zero[planes - 1] = view.kind, view.form, view.zero
    ctypes.memmove(at.table, view.table, len(at.table) if view.table else 0)
    return layout


def kind_of(coding: Coding) -> int:
    """What all bits of a code are: uh_matrix_view.kind."""
    if coding.bits == 6:
        return SIX
    table = coding.table_of(coding.bits)
    return 2 if not table else TABLED if max(table) <= LOW_LEVEL else WIDE_TABLED


def _no_memory() -> UnderhillError:
    return UnderhillError(Kind.OUT_OF_MEMORY, msg("Not enough memory to compute."), msg("Lower the memory limit."))


class StepArgs:
    """uh_step_args: a few tokens' call of a layer, and what native code lists of it, by index into that list.

    n: different experts. experts: their numbers. to_fetch: planes that each has to be fetched at, 0: it is there, or
    SKIPPED. offsets: slots[offsets[i]] to slots[offsets[i + 1] - 1] chose the one at index i. high: whether one of the
    tokens wants it in full. address: of the structure.
    """

    _GIVEN = struct.Struct("=QQQQQii")  # ids, weights, x, y, out; tokens, k: what changes from call to call
    _LISTS = struct.Struct("=QQQQQiiQ")  # ...; n, unused; route
    _N_AT, _ROUTE_AT = _GIVEN.size + 40, _GIVEN.size + 48

    def __init__(self) -> None:
        # Native code keeps their addresses, so none ever changes its length.
        self.experts = array("q", [0] * MOST_ASKED)
        self.offsets, self.slots, self.to_fetch = (array("i", [0] * (MOST_ASKED + 1)) for _ in range(3))
        self.high = array("B", [0] * MOST_ASKED)
        self._held = ctypes.create_string_buffer(self._GIVEN.size + self._LISTS.size)
        self.address = ctypes.addressof(self._held)
        lists = (self.experts, self.offsets, self.slots, self.to_fetch, self.high)
        self._LISTS.pack_into(self._held, self._GIVEN.size, *(own.buffer_info()[0] for own in lists), 0, 0, 0)
        self._n = ctypes.c_int32.from_address(self.address + self._N_AT)
        self._route = ctypes.c_uint64.from_address(self.address + self._ROUTE_AT)

    def set(self, addresses: tuple[int, int, int, int], tokens: int, k: int, *, out: int = 0, route: int = 0) -> None:
        """addresses: of ids [tokens, k], weights, x, y, as Step has them. out: of [tokens * k, H], for `moe_some`.

        route: of the op that chose ids and weights, which change where an expert stands in for another; 0: none does.
        """
        self._GIVEN.pack_into(self._held, 0, *addresses, out, tokens, k)
        self._route.value = route

    @property
    def n(self) -> int:
        """How many different experts were listed last."""
        return self._n.value


@lru_cache(maxsize=4)
def _functions(path: Path | None) -> tuple[ctypes.CDLL, ctypes.PyDLL]:
    """The library with the signatures of what computes set, and those functions of it that keep Python's lock."""
    library, quick = load_library(path), load_holding_lock(path)
    pointer, i32, view = ctypes.c_void_p, ctypes.c_int32, ctypes.POINTER(MatrixView)
    # These let go of the interpreter's lock: the window's queue, the importer and all else go on meanwhile.
    library.uh_open.argtypes, library.uh_open.restype = (ctypes.c_int,) * 3, pointer
    library.uh_close.argtypes, library.uh_close.restype = (pointer,), None
    library.uh_worked.argtypes, library.uh_worked.restype = (pointer,), ctypes.c_int64
    library.uh_moe_forward.argtypes = (
        pointer, ctypes.POINTER(_Layout), ctypes.c_char_p, i32, pointer, i32, i32, pointer, i32, pointer,
    )  # fmt: skip
    library.uh_moe_one.argtypes = (pointer, pointer, pointer, i32, pointer, pointer, pointer)
    library.uh_moe_if_resident.argtypes = (pointer,) * 3
    library.uh_moe_some.argtypes = (pointer, pointer, pointer, pointer, i32)
    library.uh_compute_and_wait.argtypes = (pointer, pointer, pointer, pointer, i32, pointer, pointer, i32, pointer)
    library.uh_linear.argtypes = (pointer, view, pointer, i32, pointer)
    library.uh_peak.argtypes, library.uh_peak.restype = (pointer, pointer, i32, ctypes.c_int64), ctypes.c_float
    library.uh_pack.argtypes, library.uh_pack.restype = (pointer, view, i32, i32, pointer, i32), None
    library.uh_rows.argtypes, library.uh_rows.restype = (view, pointer, i32, pointer), None
    library.uh_attend_many.argtypes = (pointer, pointer)
    library.uh_heads_many.argtypes, library.uh_heads_many.restype = (pointer, pointer), None
    library.uh_run_graph.argtypes = (pointer, pointer, i32, pointer)
    library.uh_run_stretch.argtypes = (pointer, pointer, pointer)
    library.uh_run_layers.argtypes = (pointer, pointer, i32, i32, pointer, pointer, ctypes.c_int64)
    library.uh_combine.argtypes, library.uh_combine.restype = (pointer, *[pointer] * 3, i32, i32, i32), None
    library.uh_combine_some.argtypes, library.uh_combine_some.restype = (pointer, pointer, pointer, i32), None
    library.uh_read.argtypes, library.uh_read.restype = (pointer, pointer, ctypes.c_int64), ctypes.c_uint64
    # These keep it: a predictor's product and a look at a layer take a few microseconds.
    quick.uh_linear.argtypes = library.uh_linear.argtypes
    quick.uh_look_up.argtypes = (pointer, pointer)
    return library, quick


class NativeKernel:
    """The C library's kernels on their own threads. Calls from several Python threads take turns.

    threads: None takes the physical cores. isa: None takes the best that the processor has. exact: quantized matrices
    meet activations in float32 (1e-5 of float64) instead of 8 bits (1 % a matrix), which is slower, most of all at 2
    bits (docs/benchmarks.md). Raises UnderhillError(OUT_OF_MEMORY) when the threads cannot be had.
    After `close` every call that computes raises RuntimeError.
    """

    def __init__(
        self, threads: int | None = None, isa: str | None = None, path: Path | None = None, exact: bool = False
    ) -> None:
        self._library, self._quick = _functions(path)
        self.isa = isas(path)[-1] if isa is None else isa
        if self.isa not in isas(path):
            raise ValueError(f"this processor has no {isa} instructions")
        self.exact, self.name = exact, f"native ({self.isa}{', exact' if exact else ''})"
        self.threads = default_threads() if threads is None else threads
        self._opened: int | None = self._library.uh_open(self.threads, ISAS.index(self.isa), exact)
        if self._opened is None:
            raise UnderhillError(Kind.OUT_OF_MEMORY, msg("Can't start the CPU threads."), msg("Use fewer threads."))
        # What another device computes of many tokens (False: it has not): products, by a matrix's codes; attention.
        self.elsewhere: dict[int, Callable[[Tensor, Tensor], bool]] = {}
        self.attends: Callable[[Attending], bool] | None = None
        # One context has one pool of threads and one scratch. Taken last, under the cache's lock or none, and held over
        # the wait for a read in `compute_and_wait`.
        self._lock = threading.Lock()

    @property
    def _context(self) -> int:
        """The open context, under the lock. RuntimeError after close: the library would follow a null address."""
        if self._opened is None:
            raise RuntimeError("the native kernels were closed")
        return self._opened

    def run(
        self, spec: ExpertSpec, activation: Activation, work: Sequence[Work], x: Tensor, k: int, out: Tensor
    ) -> None:
        """out[slot] = expert(x[slot // k]) for every slot of the work; other slots are left as they are.

        x: [T, H] and out: [T * k, H], float32, contiguous, in ordinary memory. The bits of a slot depend on its
        expert, tier and x alone. Raises ValueError for anything else, UnderhillError(OUT_OF_MEMORY) when there is no
        room for scratch.
        """
        check_call(spec, activation, work, x, k, out)
        if x.dtype != torch.float32:
            raise ValueError(f"x is {x.dtype}; the native kernels take float32")
        slots = array("i")
        experts = bytearray()
        for item in work:
            # `addresses` are good as long as item.expert (Parts) is, which the caller's leases keep pinned until this
            # call returns.
            experts += EXPERT.pack(*item.expert.addresses, item.expert.planes, len(slots), len(item.slots), 0)
            slots.extend(item.slots)
        if not work:
            return
        with self._lock:
            failed = self._library.uh_moe_forward(
                # `slots`, and the copy of `experts` that c_char_p needs, are of this frame: alive until then.
                self._context, expert_layout(spec, activation), bytes(experts), len(work), slots.buffer_info()[0],
                len(slots), k, x.data_ptr(), x.shape[0], out.data_ptr(),
            )  # fmt: skip
        if failed:
            raise _no_memory()

    def moe_one(self, layout: int, experts: int, n: int, x: int, weights: int, y: int) -> None:
        """One token through one layer's experts, all in one call: what the runtime calls when every expert is there.

        y [H] = sum over the n experts, in the order listed, of weights[first_slot] * expert(x [H]); the same bits as
        `run` and `combine` give, as long as that is the order of the choices. All arguments are addresses (float32 x,
        weights and y), and nothing is checked here: the caller vouches for shapes and lifetimes.

        layout: ctypes.addressof(expert_layout(spec, activation)). experts: of n records packed by EXPERT, `first_slot`
        being the index of its weight; a weight of exactly 0 leaves its expert unread. A bytearray that lives as long
        as the model, filled with EXPERT.pack_into and entered by its address, costs no allocation. Raises
        UnderhillError(OUT_OF_MEMORY).
        """
        with self._lock:
            failed = self._library.uh_moe_one(self._context, layout, experts, n, x, weights, y)
        if failed:
            raise _no_memory()

    def moe_if_resident(self, layer: int, step: StepArgs) -> int:
        """y [H] of every token = sum of weights[i] * experts[ids[i]](x), if no expert has to be fetched: then how
        many different ones are there. A token has the bits that `moe_one` gives it.

        Else nothing is computed: NOT_RESIDENT has them listed in `step`; NOT_DECIDED is a call for the long way. In all
        other cases the choice is counted; what an expert runs at is when it does. layer: the address of a
        ResidentLayer. Raises UnderhillError(OUT_OF_MEMORY).
        """
        with self._lock:
            ran: int = self._library.uh_moe_if_resident(self._context, layer, step.address)
        if ran == -1:
            raise _no_memory()
        return ran

    def look_up(self, layer: int, step: StepArgs) -> int:
        """List a step's experts, decide how precisely each is wanted, and say how many lack that; or NOT_DECIDED.

        Nothing is counted.
        """
        return int(self._quick.uh_look_up(layer, step.address))

    def moe_some(self, layer: int, step: StepArgs, indices: int, n: int) -> None:
        """Some of a listed step's experts, all of them there: out[slot] = expert(x) for their slots.

        indices: the address of their n indices into the list, int32. Raises UnderhillError(OUT_OF_MEMORY), and
        RuntimeError when one is not there.
        """
        with self._lock:
            failed: int = self._library.uh_moe_some(self._context, layer, step.address, indices, n)
        if failed == -1:
            raise _no_memory()
        if failed:
            raise RuntimeError("an expert that was to run is not in memory")

    def compute_and_wait(
        self, layer: int, step: StepArgs, indices: int, *, n: int, reads: int | None, ends: int, most: int, times: int
    ) -> int:
        """`moe_some` of n experts, and then wait for a read to end; without reads, `combine_some`: uh_compute_and_wait.

        All but step, n and most are addresses, of a ResidentLayer, and as expert_cache.h says. Other calls that compute
        wait meanwhile. Returns how many reads have ended. Raises as `moe_some` does.
        """
        with self._lock:
            ended: int = self._library.uh_compute_and_wait(
                self._context, layer, step.address, indices, n, reads, ends, most, times
            )
        if ended == -1:
            raise _no_memory()
        if ended < 0:
            raise RuntimeError("an expert that was to run is not in memory")
        return ended

    def combine_some(self, step: StepArgs, out: int, hidden: int) -> None:
        """`combine` of a listed step's out [tokens * k, hidden], an address: what is SKIPPED is left out unread."""
        with self._lock:
            self._library.uh_combine_some(self._context, step.address, out, hidden)

    def linear(self, view: MatrixView, x: Tensor, y: Tensor | None = None) -> Tensor:
        """y [T, rows] = x [T, cols] W^T + bias, float32. y: written and returned; None takes one of SCRATCH.

        What the view points to is not checked; x and y are. Raises ValueError, UnderhillError(OUT_OF_MEMORY).
        """
        if y is None:
            y = SCRATCH.floats(x.shape[0], view.rows)
        for name, tensor, width in (("x", x, view.cols), ("y", y, view.rows)):
            if tensor.dtype != torch.float32 or tensor.shape != (x.shape[0], width):
                raise ValueError(f"{name} is {tensor.dtype} {tuple(tensor.shape)}; expected float32 [*, {width}]")
            if not tensor.is_contiguous() or tensor.device.type != "cpu":
                raise ValueError(f"{name} must be contiguous and in ordinary memory")
        if (elsewhere := self.elsewhere.get(view.codes[0])) is not None and elsewhere(x, y):
            return y
        with self._lock:
            failed = self._library.uh_linear(self._context, view, x.data_ptr(), x.shape[0], y.data_ptr())
        if failed:
            raise _no_memory()
        return y

    def glance(self, view: MatrixView, x: int, y: int) -> None:
        """`linear` for one token, between addresses, in some microseconds and without giving up Python's lock.

        Other threads would take the lock, and to have it back may take longer than the product. Nothing is checked.
        Raises UnderhillError(OUT_OF_MEMORY).
        """
        with self._lock:
            failed = self._quick.uh_linear(self._context, view, x, 1, y)
        if failed:
            raise _no_memory()

    def peak(self, weights: Tensor) -> float:
        """The largest magnitude among contiguous bf16 or float32 weights; NaN if one of them is not finite."""
        with self._lock:
            return self._library.uh_peak(self._context, weights.data_ptr(), RAW[weights.dtype], weights.numel())

    def pack(self, view: MatrixView, first: int, weights: Tensor) -> None:
        """Quantize weights [N, cols], contiguous bf16 or float32, into rows first .. of a matrix of 4 or 8 bits."""
        with self._lock:
            # Addresses here and below are of arguments and of this frame: alive until the call returns.
            self._library.uh_pack(self._context, view, first, weights.shape[0], weights.data_ptr(), RAW[weights.dtype])

    def rows(self, view: MatrixView, ids: Sequence[int], out: Tensor) -> None:
        """Rows of a matrix of 4 or 8 bits, to out [N, cols], contiguous float32; IndexError for one beyond its end."""
        if ids and not 0 <= min(ids) <= max(ids) < view.rows:
            raise IndexError(f"ids reach from {min(ids)} to {max(ids)}; there are {view.rows} rows")
        wanted = array("q", ids)
        # No context and so no lock: it reads packed codes and nothing that another call writes.
        self._library.uh_rows(view, wanted.buffer_info()[0], len(ids), out.data_ptr())

    def combine(self, out: Tensor, weights: Tensor) -> Tensor:
        """[T, H] float32: sum over k, in order, of weights[t, k] * out[t * K + k].

        out: [T * K, H], weights: [T, K]. A weight of exactly 0 drops its slot unread: so a skipped expert is left out.
        Raises ValueError.
        """
        tokens, k = weights.shape
        weights = weights.to(torch.float32).contiguous()
        if out.dtype != torch.float32 or not out.is_contiguous() or out.dim() != 2 or out.shape[0] != tokens * k:
            raise ValueError(f"out is {out.dtype} {tuple(out.shape)}; expected float32 with {tokens * k} rows")
        y = SCRATCH.floats(tokens, out.shape[1])
        with self._lock:
            self._library.uh_combine(
                self._context, weights.data_ptr(), out.data_ptr(), y.data_ptr(), tokens, k, out.shape[1]
            )
        return y

    def run_graph(self, graph: OpGraph, step: GraphStep) -> None:
        """Run an op graph for the tokens of a step.

        Raises UnderhillError(OUT_OF_MEMORY) when there is no room for scratch, ValueError for more tokens than its
        memory has rows.
        """
        if step.tokens > graph.rows:  # C would write behind the memory
            raise ValueError(f"{step.tokens} tokens in a graph of {graph.rows} rows")
        with self._lock:
            failed = self._library.uh_run_graph(self._context, graph.address, graph.length, step.address)
        if failed:
            raise _no_memory()

    def run_layers(
        self, layers: ctypes.Array[GraphLayer], first: int, n: int, *, step: GraphStep, asked: StepArgs, patience: int
    ) -> int:
        """Run the ops of layer `first` of n, and go on as long as all experts are there, for `patience` nanoseconds.

        The caller vouches that their memory has a row for each of the step's tokens. Returns the layer whose ops ran
        last; what its experts are asked has not been answered. Raises UnderhillError(OUT_OF_MEMORY).
        """
        with self._lock:
            ran: int = self._library.uh_run_layers(
                self._context, layers, first, n, step.address, asked.address, patience
            )
        if ran < 0:
            raise _no_memory()
        return ran

    def run_stretch(self, stretch: int, step: GraphStep) -> int:
        """Have a card compute layers of a single token (engine/cuda/stretches.py). stretch: address of a
        uh_card_stretch. Returns the layer whose experts come next; -1: the card failed, and nothing was changed here.
        """
        with self._lock:
            return int(self._library.uh_run_stretch(self._context, stretch, step.address))

    def heads_many(self, heads: ctypes.Structure) -> None:
        """See engine/kernels/prefill_attention.py, which makes these."""
        with self._lock:
            self._library.uh_heads_many(self._context, ctypes.addressof(heads))

    def prefill_attention(self, span: ctypes.Structure) -> None:
        """See engine/kernels/prefill_attention.py, which makes the span. Raises UnderhillError(OUT_OF_MEMORY)."""
        with self._lock:
            failed = self._library.uh_attend_many(self._context, ctypes.addressof(span))
        if failed:
            raise _no_memory()

    def read(self, data: Tensor) -> int:
        """Read a contiguous uint8 tensor once with all threads, but for a few last bytes, to measure the roof."""
        if data.dtype != torch.uint8 or not data.is_contiguous() or data.device.type != "cpu":
            raise ValueError("only contiguous bytes in ordinary memory can be read")
        with self._lock:
            return self._library.uh_read(self._context, data.data_ptr(), data.numel())

    @property
    def worked(self) -> float:
        """Seconds that its threads, but for the callers', have computed so far."""
        with self._lock:
            return 1e-9 * self._library.uh_worked(self._context)

    def close(self) -> None:
        """Release threads and scratch memory. Safe to call twice."""
        with self._lock:
            # Under the lock, so no call is inside it; whoever comes later finds None. It is closed outside: joining
            # threads may take a piece of work long.
            context, self._opened = self._opened, None
        if context is not None:
            self._library.uh_close(context)
