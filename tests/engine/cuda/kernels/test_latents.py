"""Latent attention on the card: a token's row has the processor's bits, attention is within its rule of float64."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.models.layers.state import RowsState
from engine.native import mixer_ops
from engine.native.mixer_ops import Latent
from tests.engine.cuda.kernels.card import FLAVOURS, Card, argument
from tests.engine.cuda.kernels.test_layers import PRODUCT, address, close, on_processor, same_bits

EPS = 1e-3  # large, so that a wrong one shows


@dataclass
class Latents:
    """Rows of one layer on both sides. rows: that are there before the token."""

    width: int
    rows: int
    dtype: torch.dtype
    capacity: int = 300

    def __post_init__(self) -> None:
        self.state = RowsState([(1, self.width)], self.dtype)
        self.known = torch.randn(self.rows, self.width).to(self.dtype)
        self.state.append(self.known[None])

    @property
    def bits(self) -> int:
        return 8 * self.dtype.itemsize

    def put(self, card: Card) -> int:
        """Their address on the card; what no row has was never written to."""
        at = card.room(self.capacity * self.width * self.dtype.itemsize)
        if self.rows:
            card.memory.write(at, self.known.contiguous().view(torch.uint8).numpy().tobytes())
        return at


def finish(
    card: Card, spec: Latent, sequence: Latents, queries: Tensor, row: Tensor, scale: Tensor,
    angles: tuple[Tensor, Tensor], interleaved: bool,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Queries, the row, and what was written to the rows of the sequence."""
    at, beside, rows = card.put(queries), card.put(row), sequence.put(card)
    card.launch(
        "uh_latent", (1 + spec.heads,), argument(at), argument(beside), address(card, scale),
        *(address(card, own) for own in angles), argument(card.put(struct.pack("<q", sequence.rows))), argument(rows),
        *(argument(n, "i") for n in (sequence.bits, spec.nope, spec.rope, spec.rank, interleaved)), argument(EPS, "f"),
    )  # fmt: skip
    width = sequence.width * sequence.dtype.itemsize
    raw = bytearray(card.memory.read(rows + sequence.rows * width, width))
    return card.floats(at, *queries.shape), card.floats(beside, *row.shape), torch.frombuffer(raw, dtype=sequence.dtype)


@settings(max_examples=25, deadline=None)
@given(
    heads=st.integers(1, 5), nope=st.integers(1, 40), eighths=st.integers(1, 8), rank=st.sampled_from([8, 136, 512]),
    interleaved=st.booleans(), wide=st.booleans(), rows=st.integers(0, 5), seed=st.integers(0, 99),
)  # fmt: skip
def test_a_finished_row_has_the_processors_bits(
    heads: int, nope: int, eighths: int, rank: int, interleaved: bool, wide: bool, rows: int, seed: int
) -> None:
    torch.manual_seed(seed)
    spec, angles = Latent(heads, nope, 8 * eighths, rank), torch.randn(4 * eighths)
    sequence = Latents(rank + spec.rope, rows, torch.float32 if wide else torch.bfloat16)
    queries, row, scale = torch.randn(heads * (nope + spec.rope)), torch.randn(rank + spec.rope), torch.randn(rank)
    turned = angles.cos(), angles.sin()
    card = Card(FLAVOURS[seed % 2], seed=seed)
    ours = finish(card, spec, sequence, queries, row, scale, turned, interleaved)
    op = mixer_ops.latent(spec, queries, row, scale=scale, eps=EPS, angles=turned, interleaved=interleaved, state=0)
    on_processor(op, sequence.state.prepared(), rows)
    sequence.state.buffers[0].length += 1
    assert same_bits(ours[0], queries)
    assert same_bits(ours[1], row)
    theirs = sequence.state.buffers[0].views(rows)[0][0, 0]
    assert torch.equal(ours[2].view(torch.int16), theirs.contiguous().view(torch.int16))


@dataclass(frozen=True)
class Looking:
    """One call of attention."""

    heads: int = 5
    nope: int = 6
    rope: int = 16
    rank: int = 64
    rows: int = 70
    splits: int = 4
    dtype: torch.dtype = torch.bfloat16

    @property
    def spec(self) -> Latent:
        return Latent(self.heads, self.nope, self.rope, self.rank)

    @property
    def scale(self) -> float:
        return float((self.rank + self.rope) ** -0.5)

    def drawn(self) -> tuple[Latents, Tensor, Tensor]:
        """Rows; the queries' latents [heads, rank]; all of the queries [heads, nope + rope]."""
        sequence = Latents(self.rank + self.rope, self.rows, self.dtype)
        return sequence, torch.randn(self.heads, self.rank), torch.randn(self.heads, self.nope + self.rope)


def attend(card: Card, call: Looking, sequence: Latents, latent: Tensor, queries: Tensor) -> Tensor:
    """[heads, rank]; the last row that is there is the token's own."""
    position = card.put(struct.pack("<q", call.rows - 1))
    partial = card.room(4 * call.heads * call.splits * (2 + call.rank))
    out, rotary = card.room(4 * call.heads * call.rank), card.put(queries) + 4 * call.nope
    numbers = (call.heads, call.rank, call.rope, call.nope + call.rope)
    card.launch(
        f"uh_attend_latent_{sequence.bits}", (call.splits, -(-call.heads // 8)), address(card, latent),
        argument(rotary), argument(sequence.put(card)), argument(position), argument(partial),
        *(argument(n, "i") for n in numbers), argument(call.scale, "f"),
    )  # fmt: skip
    card.launch(
        "uh_merge", (call.heads,), argument(partial), argument(0), argument(position), argument(out),
        *(argument(n, "i") for n in (call.rank, 0, call.splits)),
    )  # fmt: skip
    return card.floats(out, call.heads, call.rank)


def in_float64(call: Looking, sequence: Latents, latent: Tensor, queries: Tensor) -> Tensor:
    """What attention is."""
    rows = sequence.known.double()
    query = torch.cat((latent, queries[:, call.nope :]), 1).double()
    return (query @ rows.T * call.scale).softmax(1) @ rows[:, : call.rank]


def looked(call: Looking, card: Card, seed: int = 0) -> tuple[Tensor, Tensor]:
    """What the card gives, and float64."""
    torch.manual_seed(seed)
    drawn = call.drawn()
    return attend(card, call, *drawn), in_float64(call, *drawn)


@settings(max_examples=25, deadline=None)
@given(
    heads=st.integers(1, 17), eighths=st.integers(1, 8), rank=st.sampled_from([8, 64, 136, 512]),
    rows=st.integers(1, 290), splits=st.sampled_from([1, 3, 32]), wide=st.booleans(), seed=st.integers(0, 99),
)  # fmt: skip
def test_latent_attention_is_within_its_rule_of_float64(
    heads: int, eighths: int, rank: int, rows: int, splits: int, wide: bool, seed: int
) -> None:
    call = Looking(heads, seed % 9, 8 * eighths, rank, rows, splits, torch.float32 if wide else torch.bfloat16)
    assert close(*looked(call, Card(FLAVOURS[seed % 2], seed=seed), seed))


def test_the_processor_is_within_the_same_rule() -> None:
    torch.manual_seed(0)
    call = Looking(rank=512, rope=64)
    sequence, latent, queries = call.drawn()
    out, room = torch.empty(call.heads * call.rank), torch.empty(mixer_ops.latent_room(call.spec))
    op = mixer_ops.latent_attend(
        call.spec, latent.flatten(), queries.flatten(), out=out, room=room, scale=call.scale, state=0
    )
    on_processor(op, [b.prepared() for b in sequence.state.buffers], call.rows - 1)
    assert close(out.view(call.heads, call.rank).double(), in_float64(call, sequence, latent, queries))


@pytest.mark.parametrize("where", ["latents", "keys", "queries"])
@pytest.mark.parametrize("poison", [float("nan"), float("inf")])
def test_what_is_not_finite_is_never_quietly_finite(where: str, poison: float) -> None:
    call = replace(Looking(), dtype=torch.float32)
    torch.manual_seed(0)
    sequence, latent, queries = call.drawn()
    for own in (sequence.known, latent, queries):
        own.abs_()
    clean = attend(Card(), call, sequence, latent, queries)
    dirty = {"latents": sequence.known[69], "keys": sequence.known[69, call.rank :], "queries": latent[2]}[where]
    dirty[3] = poison
    found = attend(Card(), call, sequence, latent, queries)
    if where == "queries":  # it stays with its head
        assert torch.equal(found[:2], clean[:2])
        assert torch.equal(found[3:], clean[3:])
    assert not (found[2:3] if where == "queries" else found).isfinite().all(1).any()


def test_very_large_scores_do_not_overflow() -> None:
    call = Looking(rows=200, splits=3)
    torch.manual_seed(0)
    sequence, latent, queries = call.drawn()
    latent, queries = latent * 1e3, queries * 1e3
    assert close(attend(Card(), call, sequence, latent, queries), in_float64(call, sequence, latent, queries))


def test_the_order_of_blocks_and_warps_changes_nothing() -> None:
    call = Looking(heads=11, rows=200)
    first, _ = looked(call, Card(seed=0))
    for seed in range(1, 5):
        assert torch.equal(looked(call, Card(seed=100 * seed))[0], first)


def raw_by_head(card: Card, *, half: bool) -> bool:
    """Whether every head's rows of a raw matrix meet its own vector."""
    torch.manual_seed(0)
    heads, rows, cols, step = 3, 7, 37, 50
    weights, x = torch.randn(heads * rows, cols), torch.randn((heads - 1) * step + cols)
    weights = weights.bfloat16() if half else weights
    held, y = weights.view(torch.int16) if half else weights, card.room(4 * heads * rows)
    card.launch(
        "uh_raw", (-(-heads * rows // 4),), address(card, x), address(card, held), argument(0), argument(y),
        *(argument(n, "i") for n in (heads * rows, cols, 16 if half else 32, rows, step)),
    )  # fmt: skip
    each = weights.double().view(heads, rows, cols) * x.double().unfold(0, cols, step)[:, None]
    found = card.floats(y, heads, rows).double()
    return bool(((found - each.sum(2)).abs() <= PRODUCT * each.abs().sum(2)).all())


@pytest.mark.parametrize("half", [True, False])
def test_raw_matrices_of_heads_meet_their_own_vectors(half: bool) -> None:
    assert raw_by_head(Card(), half=half)
