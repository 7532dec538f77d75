"""Norms, heads, attention and routing on the card: the processor's bits, attention within its rule of float64."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.dense import raw_view
from engine.kernels.native import NativeKernel
from engine.models.layers.state import RowsState
from engine.native import op_graph, route_op
from engine.native.op_graph import NORMS, GraphStep, Heads, Op, OpGraph
from engine.native.route_op import SCORES, Routing
from tests.engine.cuda.kernels.card import FLAVOURS, Card, argument

# The stated rule: an output of attention is so close to float64 over the same rows, relative to its norm.
ATTENTION = 2e-6
PRODUCT = 1e-6  # the same of a product of a raw matrix, relative to the sum of the sizes of what is added
FINISH = struct.Struct("<10i2f")
QUIET = [HealthCheck.function_scoped_fixture]


def on_processor(op: Op, states: Sequence[int] = (), position: int = 0) -> None:
    """Run one op for one token."""
    step = GraphStep(1)
    step.set(position, [*states, *[0] * (op_graph.STATES - len(states))])
    kernel = NativeKernel(1)
    kernel.run_graph(OpGraph([op]), step)
    kernel.close()


def same_bits(one: Tensor, other: Tensor) -> bool:
    return torch.equal(one.contiguous().view(torch.int32), other.contiguous().view(torch.int32))


def address(card: Card, tensor: Tensor | None) -> bytes:
    return argument(0 if tensor is None else card.put(tensor))


# ---- norms, sums, gates --------------------------------------------------------------------------------------------


def norm(card: Card, x: Tensor, width: int, eps: float, scale: Tensor | None, bias: Tensor | None) -> Tensor:
    """Of rows of `width`, where they lie."""
    at = card.put(x)
    card.launch(
        "uh_norm", (x.numel() // width,), argument(at), argument(at), address(card, scale), address(card, bias),
        argument(width, "i"), argument(eps, "f"),
    )  # fmt: skip
    return card.floats(at, *x.shape)


@settings(max_examples=30, deadline=None, suppress_health_check=QUIET)
@given(
    heads=st.integers(1, 5), width=st.integers(1, 300) | st.sampled_from([2047, 2048, 2049, 4111]),
    scaled=st.booleans(), bias=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_a_norm_has_the_processors_bits(heads: int, width: int, scaled: bool, bias: bool, seed: int) -> None:
    torch.manual_seed(seed)
    x, out = torch.randn(heads * width), torch.empty(heads * width)
    scale = torch.randn(width) if scaled or bias else None
    shift = torch.randn(width) if bias else None
    on_processor(op_graph.norm(x, out, width, 1e-5, scale, shift))
    assert same_bits(norm(Card(FLAVOURS[seed % 2], seed=seed), x, width, 1e-5, scale, shift), out)


@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_a_norm_of_what_is_not_finite_is_not_finite(poison: float) -> None:
    x = torch.randn(2, 40)
    x[1, 39] = poison
    found = norm(Card(), x, 40, 1e-5, None, None)
    assert found[0].isfinite().all()
    assert not found[1, 39].isfinite()


@pytest.mark.parametrize("n", [1, 127, 128, 129, 300])
def test_sums_and_gates_have_the_processors_bits(n: int) -> None:
    for gates in {1, n}:
        x, other, by = torch.randn(n), torch.randn(n), torch.randn(gates)
        card = Card()
        at = card.put(x)
        grid = (-(-n // 128),)
        card.launch("uh_add", grid, argument(at), address(card, other), argument(0.22, "f"), argument(n, "i"))
        card.launch("uh_gate", grid, argument(at), address(card, by), argument(n, "i"), argument(gates, "i"))
        on_processor(op_graph.add(x, other, 0.22))
        on_processor(op_graph.gate(x, by))
        assert same_bits(card.floats(at, n), x)


@settings(max_examples=20, deadline=None, suppress_health_check=QUIET)
@given(
    rows=st.integers(1, 70), cols=st.integers(1, 200), half=st.booleans(), bias=st.booleans(), seed=st.integers(0, 99)
)
def test_a_product_of_a_raw_matrix_is_close_to_float64(rows: int, cols: int, half: bool, bias: bool, seed: int) -> None:
    torch.manual_seed(seed)
    weights, x = torch.randn(rows, cols), torch.randn(cols)
    weights = weights.bfloat16() if half else weights
    shift = torch.randn(rows) if bias else None
    card = Card(FLAVOURS[seed % 2], seed=seed)
    held = weights.view(torch.int16) if half else weights
    y = card.room(4 * rows)
    card.launch(
        "uh_raw", (-(-rows // 4),), address(card, x), address(card, held), address(card, shift), argument(y),
        *(argument(n, "i") for n in (rows, cols, 16 if half else 32, rows, 0)),
    )  # fmt: skip
    each = weights.double() * x.double()
    expected = each.sum(1) + (0 if shift is None else shift.double())
    room = each.abs().sum(1) + (0 if shift is None else shift.double().abs())
    assert ((card.floats(y, rows).double() - expected).abs() <= PRODUCT * room).all()
    theirs = torch.empty(rows)
    on_processor(op_graph.linear(raw_view(weights, shift), x, theirs))
    assert ((theirs.double() - expected).abs() <= PRODUCT * room).all()  # the processor is held to the same


# ---- routing -------------------------------------------------------------------------------------------------------


def route(
    card: Card, spec: Routing, logits: Tensor, bias: Tensor | None, scale: Tensor | None
) -> tuple[Tensor, Tensor]:
    """ids and weights."""
    ids, weights = card.room(8 * spec.top_k), card.room(4 * spec.top_k)
    card.launch(
        "uh_route", (1,), address(card, logits), address(card, bias), address(card, scale), argument(ids),
        argument(weights),
        *(argument(n, "i") for n in (spec.experts, spec.top_k, SCORES.index(spec.score), spec.normalize)),
        *(argument(f, "f") for f in (spec.normalize_eps, spec.normalize_min, spec.scale)),
    )  # fmt: skip
    return card.floats(ids, spec.top_k, 2).view(torch.int64).view(-1), card.floats(weights, spec.top_k)


def route_here(spec: Routing, logits: Tensor, bias: Tensor | None, scale: Tensor | None) -> tuple[Tensor, Tensor]:
    """The same by the processor."""
    ids, weights = torch.zeros(spec.top_k, dtype=torch.int64), torch.empty(spec.top_k)
    room, groups = torch.empty(route_op.route_room(spec.experts)), torch.zeros(1, dtype=torch.int64)
    on_processor(
        route_op.route(
            spec, logits.clone(), room, ids=ids, weights=weights, groups=groups, choice_bias=bias, expert_scale=scale
        )
    )
    return ids, weights


def same_route(
    card: Card, spec: Routing, logits: Tensor, bias: Tensor | None = None, scale: Tensor | None = None
) -> bool:
    ours, theirs = route(card, spec, logits, bias, scale), route_here(spec, logits, bias, scale)
    return torch.equal(ours[0], theirs[0]) and same_bits(ours[1], theirs[1])


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(
    experts=st.integers(1, 300), k=st.integers(1, 40), score=st.sampled_from(["softmax", "topk_softmax", "sigmoid"]),
    normalize=st.booleans(), biased=st.booleans(), scaled=st.booleans(), coarse=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_the_choice_of_experts_has_the_processors_bits(
    experts: int, k: int, score: str, normalize: bool, biased: bool, scaled: bool, coarse: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    spec = Routing(
        experts=experts,
        top_k=min(k, experts),
        score=score,
        normalize=normalize,
        normalize_eps=1e-20,
        normalize_min=1e-9,
        scale=1.5,
    )
    logits = torch.randn(experts)
    logits = logits.round() if coarse else logits  # many equals
    bias, scale = torch.randn(experts) if biased else None, torch.rand(experts) if scaled else None
    assert same_route(Card(FLAVOURS[seed % 2], seed=seed), spec, logits, bias, scale)


@pytest.mark.parametrize("score", ["softmax", "topk_softmax", "sigmoid"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), 0.0])
def test_scores_that_are_no_numbers_choose_as_on_the_processor(score: str, value: float) -> None:
    logits = torch.full((40,), value)
    assert same_route(Card(), Routing(experts=40, top_k=5, score=score, normalize=True), logits)
    logits[7:] = torch.randn(33)
    assert same_route(Card(), Routing(experts=40, top_k=12, score=score), logits)


def test_as_many_experts_as_there_may_be() -> None:
    assert same_route(Card(), Routing(experts=1024, top_k=64, score="softmax", normalize=True), torch.randn(1024))


# ---- heads and attention -------------------------------------------------------------------------------------------


@dataclass
class Sequence_:
    """Keys and values of one layer on both sides. rows: that are there before the token."""

    kv_heads: int
    dim: int
    rows: int
    dtype: torch.dtype
    capacity: int = 300

    def __post_init__(self) -> None:
        self.state = RowsState([(self.kv_heads, self.dim)] * 2, self.dtype)
        self.known = [torch.randn(self.kv_heads, self.rows, self.dim).to(self.dtype) for _ in range(2)]
        self.state.append(*self.known)

    @property
    def bits(self) -> int:
        return 8 * self.dtype.itemsize

    def put(self, card: Card) -> tuple[int, ...]:
        """Keys and values on the card; what no row has was never written to."""
        width = self.dim * self.dtype.itemsize
        found = []
        for rows in self.known:
            at = card.room(self.kv_heads * self.capacity * width)
            for head, own in enumerate(rows):
                if self.rows:
                    raw = own.contiguous().view(torch.uint8).numpy().tobytes()
                    card.memory.write(at + head * self.capacity * width, raw)
            found.append(at)
        return tuple(found)

    def row(self, card: Card, at: int, position: int) -> Tensor:
        """A row of the card's, [kv_heads, dim]."""
        width = self.dim * self.dtype.itemsize
        raw = b"".join(
            card.memory.read(at + (head * self.capacity + position) * width, width) for head in range(self.kv_heads)
        )
        return torch.frombuffer(bytearray(raw), dtype=self.dtype).view(self.kv_heads, self.dim)


def finish(
    card: Card, spec: Heads, x: Tensor, values: Tensor, sequence: Sequence_
) -> tuple[Tensor, Tensor, list[Tensor]]:
    """Queries and keys, values, and the rows that were written."""
    cos, sin = spec.rope or (None, None)
    numbers = FINISH.pack(
        spec.heads, spec.kv_heads, spec.dim, NORMS.index(spec.norm), spec.norm_last, 0 if cos is None else cos.numel(),
        spec.interleaved, spec.norm_values, spec.reuse_keys, spec.clip is not None, spec.eps, spec.clip or 0.0,
    )  # fmt: skip
    at, beside = card.put(x), card.put(values)
    rows = sequence.put(card)
    card.launch(
        "uh_heads_finish", (spec.heads + spec.kv_heads,), argument(at), argument(beside), numbers,
        *(address(card, t) for t in (spec.q_scale, spec.k_scale, cos, sin)),
        argument(card.put(struct.pack("<q", sequence.rows))), *map(argument, rows), argument(sequence.capacity, "q"),
        argument(sequence.bits, "i"),
    )  # fmt: skip
    found = [sequence.row(card, own, sequence.rows) for own in rows]
    return card.floats(at, *x.shape), card.floats(beside, *values.shape), found


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(
    heads=st.integers(1, 6), kv=st.integers(1, 3), dim=st.sampled_from([64, 128, 192, 256]), half=st.integers(0, 64),
    interleaved=st.booleans(), norm_kind=st.sampled_from([None, "head"]), last=st.booleans(), clip=st.booleans(),
    values=st.booleans(), reuse=st.booleans(), wide=st.booleans(), rows=st.integers(0, 5), seed=st.integers(0, 99),
)  # fmt: skip
def test_finished_heads_and_their_rows_have_the_processors_bits(
    heads: int, kv: int, dim: int, half: int, interleaved: bool, norm_kind: str | None, last: bool, clip: bool,
    values: bool, reuse: bool, wide: bool, rows: int, seed: int,
) -> None:  # fmt: skip
    torch.manual_seed(seed)
    half = min(half, dim // 2)
    angles = torch.randn(half)
    spec = Heads(
        heads=heads,
        kv_heads=kv,
        dim=dim,
        norm=norm_kind,
        eps=1e-6,
        norm_last=last,
        q_scale=torch.randn(dim) if norm_kind else None,
        k_scale=torch.randn(dim) if norm_kind else None,
        clip=0.9 if clip else None,
        rope=(angles.cos(), angles.sin()) if half else None,
        interleaved=interleaved,
        norm_values=values,
        reuse_keys=reuse,
    )
    sequence = Sequence_(kv, dim, rows, torch.float32 if wide else torch.bfloat16)
    x, own = torch.randn((heads + kv) * dim), torch.randn(kv * dim)
    ours = finish(Card(FLAVOURS[seed % 2], seed=seed), spec, x, own, sequence)
    on_processor(op_graph.heads(spec, x, own, 0), sequence.state.prepared(), rows)
    for buffer in sequence.state.buffers:
        buffer.length += 1
    assert same_bits(ours[0], x)
    assert same_bits(ours[1], own)
    for card_rows, (theirs,) in zip(ours[2], ([b.views(rows)[0][:, 0]] for b in sequence.state.buffers)):
        assert torch.equal(card_rows.view(torch.int16), theirs.contiguous().view(torch.int16))


def test_a_row_of_bf16_keeps_what_is_not_a_number() -> None:
    sequence = Sequence_(1, 64, 0, torch.bfloat16)
    x, own = torch.zeros(128), torch.zeros(64)
    x[64], own[5], own[6] = float("nan"), float("inf"), 3.3e38
    _, _, (keys, values) = finish(Card(), Heads(heads=1, kv_heads=1, dim=64), x, own, sequence)
    assert keys[0, 0].isnan()
    assert values[0, 5] == float("inf")
    assert torch.equal(values[0, 6], own[6].bfloat16())


@dataclass(frozen=True)
class Looking:
    """One call of attention."""

    share: int = 4
    kv_heads: int = 2
    dim: int = 128
    rows: int = 70
    window: int = 0
    sinks: bool = False
    splits: int = 4
    dtype: torch.dtype = torch.bfloat16


def attend(card: Card, call: Looking, sequence: Sequence_, queries: Tensor, sinks: Tensor | None) -> Tensor:
    """[heads, dim]; the last row that is there is the token's own."""
    heads, position = call.share * call.kv_heads, card.put(struct.pack("<q", call.rows - 1))
    partial, out = card.room(4 * heads * call.splits * (2 + call.dim)), card.room(4 * heads * call.dim)
    card.launch(
        f"uh_attend_{sequence.bits}", (call.splits, call.kv_heads, -(-call.share // 8)), address(card, queries),
        *map(argument, sequence.put(card)), argument(position), argument(partial), argument(call.share, "i"),
        argument(call.dim, "i"), argument(call.window, "i"), argument(sequence.capacity, "q"),
        argument(call.dim**-0.5, "f"),
    )  # fmt: skip
    card.launch(
        "uh_merge", (heads,), argument(partial), address(card, sinks), argument(position), argument(out),
        argument(call.dim, "i"), argument(call.window, "i"), argument(call.splits, "i"),
    )  # fmt: skip
    return card.floats(out, heads, call.dim)


def in_float64(call: Looking, sequence: Sequence_, queries: Tensor, sinks: Tensor | None) -> Tensor:
    """What attention is."""
    first = max(0, call.rows - call.window) if call.window else 0
    keys, values = (rows.double()[:, first:].repeat_interleave(call.share, 0) for rows in sequence.known)
    scores = torch.einsum("hd,hrd->hr", queries.double(), keys) * call.dim**-0.5
    if sinks is not None:
        scores = torch.cat((scores, sinks.double()[:, None]), 1)
    weights = scores.softmax(1)[:, : keys.shape[1]]
    return torch.einsum("hr,hrd->hd", weights, values)


def looked(call: Looking, card: Card, seed: int = 0) -> tuple[Tensor, Tensor]:
    """What the card gives, and float64."""
    torch.manual_seed(seed)
    sequence = Sequence_(call.kv_heads, call.dim, call.rows, call.dtype)
    heads = call.share * call.kv_heads
    queries, sinks = torch.randn(heads, call.dim), torch.randn(heads) if call.sinks else None
    return attend(card, call, sequence, queries, sinks), in_float64(call, sequence, queries, sinks)


def close(found: Tensor, expected: Tensor) -> bool:
    return bool(((found - expected).norm(dim=1) <= ATTENTION * expected.norm(dim=1).clamp_min(1e-3)).all())


@settings(max_examples=40, deadline=None, suppress_health_check=QUIET)
@given(
    share=st.integers(1, 17), kv=st.integers(1, 3), dim=st.sampled_from([64, 128, 192, 256]), rows=st.integers(1, 290),
    window=st.integers(0, 150), sinks=st.booleans(), splits=st.sampled_from([1, 3, 16]), wide=st.booleans(),
    seed=st.integers(0, 99),
)  # fmt: skip
def test_attention_is_within_its_rule_of_float64(
    share: int, kv: int, dim: int, rows: int, window: int, sinks: bool, splits: int, wide: bool, seed: int
) -> None:
    call = Looking(share, kv, dim, rows, window, sinks, splits, torch.float32 if wide else torch.bfloat16)
    assert close(*looked(call, Card(FLAVOURS[seed % 2], seed=seed), seed))


def test_the_processor_is_within_its_own_rule_of_the_same_float64() -> None:
    """Where it rounds queries and weights to bf16, to their rounding; else as the card."""
    torch.manual_seed(0)
    call = Looking()
    sequence = Sequence_(2, 128, 70, torch.bfloat16)
    queries, out = torch.randn(8, 128), torch.empty(8, 128)
    room = torch.empty(op_graph.attend_room(8, 128))
    on_processor(
        op_graph.attend(queries, out, room, 0, 2, 128**-0.5), [b.prepared() for b in sequence.state.buffers], 69
    )
    expected = in_float64(call, sequence, queries, None)
    assert (out - expected).norm() <= 1e-2 * expected.norm()


@pytest.mark.parametrize("where", ["keys", "values", "queries"])
@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_what_is_not_finite_is_never_quietly_finite_and_stays_with_its_head(where: str, poison: float) -> None:
    call = Looking(share=2)
    sequence = Sequence_(2, 128, 70, torch.float32)
    queries = torch.randn(4, 128)
    clean = attend(Card(), call, sequence, queries, None) if where == "queries" else None
    sequence = replace(sequence, dtype=torch.float32)
    for rows in sequence.known:
        rows.abs_()
    queries.abs_()
    clean = attend(Card(), replace(call, dtype=torch.float32), sequence, queries, None)
    dirty = {"keys": sequence.known[0][1, 69], "values": sequence.known[1][1, 69], "queries": queries[2]}[where]
    dirty[3] = poison
    found = attend(Card(), replace(call, dtype=torch.float32), sequence, queries, None)
    assert torch.equal(found[:2], clean[:2])
    assert not (found[2:3] if where == "queries" else found[2:]).isfinite().all(1).any()


def test_very_large_scores_do_not_overflow() -> None:
    call = Looking(share=1, rows=200, splits=3)
    sequence = Sequence_(2, 128, 200, torch.bfloat16)
    queries = torch.randn(2, 128) * 1e3
    assert close(attend(Card(), call, sequence, queries, None), in_float64(call, sequence, queries, None))


def test_the_order_of_blocks_and_warps_changes_nothing() -> None:
    call = Looking(share=3, rows=200, window=170, sinks=True)
    first, _ = looked(call, Card(seed=0))
    for seed in range(1, 6):
        assert torch.equal(looked(call, Card(seed=100 * seed))[0], first)
