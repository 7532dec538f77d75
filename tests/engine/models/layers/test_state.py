"""Sequence state: rows that are never moved, exact cuts, snapshots of recurrent layers, and their bounds."""

from __future__ import annotations

import pytest
import torch

from engine.models.layers import state as module
from engine.models.layers.state import ChunkedRows, RecurrentState, RowsState, SequenceState
from engine.native.kv_rows import pack_rows, unpack_rows
from engine.native.op_graph import STATES


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chunks of 4, 4, 8, 8, ... rows, so that a few tokens cross many of them."""
    monkeypatch.setattr(module, "FIRST_CHUNK", 4)
    monkeypatch.setattr(module, "LARGEST_CHUNK", 8)


def rows(count: int, heads: int = 2, dim: int = 3) -> torch.Tensor:
    return torch.randn(heads, count, dim)


def test_rows_take_what_was_said_before_they_came() -> None:
    state = SequenceState([RowsState([(2, 4), (2, 8)]), RowsState([(1, 4)])], most_tokens=700)
    at = 0
    for count in (1, 255, 1, 200, 100, 300, 1):
        said = state.rows_with(count)
        for layer in state.rows:
            layer.append(*(torch.zeros(b.heads, count, b.dim) for b in layer.buffers))
        at += count
        state.commit(count, at)
        assert state.rows_with(0) == said == state.nbytes
    state.rollback(300)
    assert state.rows_with(0) == state.nbytes


def test_rows_come_back_as_they_went_in_whatever_the_pieces() -> None:
    data, buffer = rows(50), ChunkedRows(2, 3)
    at = 0
    for step in (1, 2, 1, 9, 1, 1, 20, 15):
        buffer.append(data[:, at : at + step])
        at += step
    assert buffer.length == 50
    assert torch.equal(torch.cat(buffer.views(), 1), data)
    for start, stop in ((0, 3), (3, 4), (3, 30), (17, 50), (49, 99)):
        assert torch.equal(torch.cat(buffer.views(start, stop), 1), data[:, start:stop])
    assert buffer.views(50) == []


def test_growing_moves_nothing_and_doubles_only_up_to_the_largest_chunk() -> None:
    buffer = ChunkedRows(2, 3)
    buffer.append(rows(4))
    first = buffer.views()[0].data_ptr()
    for _ in range(40):
        buffer.append(rows(1))
    views = buffer.views()
    assert views[0].data_ptr() == first
    assert [view.shape[1] for view in views] == [4, 4, 8, 8, 8, 8, 4]
    assert buffer.capacity - buffer.length <= module.LARGEST_CHUNK


def test_truncating_gives_memory_back_and_going_on_overwrites() -> None:
    data, buffer = rows(30), ChunkedRows(2, 3)
    for at in range(30):
        buffer.append(data[:, at : at + 1])
    full = buffer.nbytes
    buffer.truncate(9)
    assert buffer.nbytes < full
    other = rows(12)
    buffer.append(other)
    assert torch.equal(torch.cat(buffer.views(), 1), torch.cat((data[:, :9], other), 1))
    buffer.truncate(0)
    assert buffer.nbytes == 0
    assert buffer.views() == []


def test_rows_are_kept_in_the_dtype_asked_for() -> None:
    data = rows(6)
    state = RowsState([(2, 3), (2, 3)], torch.bfloat16)
    state.append(data, -data)
    ((k, v),) = state.views()
    assert k.dtype == v.dtype == torch.bfloat16
    assert torch.equal(k, data.bfloat16())
    assert torch.equal(v, (-data).bfloat16())
    assert state.nbytes == 2 * 2 * 6 * 3 * 2


def sequence(layers: int = 1, **bounds: int) -> SequenceState:
    """Alternating rows and recurrent layers."""
    return SequenceState([part() for _ in range(layers) for part in (_rows, _recurrent)], **bounds)


def _rows() -> RowsState:
    return RowsState([(1, 2)])


def _recurrent() -> RecurrentState:
    return RecurrentState([(3,), (2, 2)])


def feed(state: SequenceState, tokens: int) -> None:
    """What a decoder does; recurrent states become the number of tokens so far."""
    state.begin()
    for layer in state.layers:
        if isinstance(layer, RowsState):
            layer.append(torch.arange(state.length, state.length + tokens).float()[None, :, None].expand(1, -1, 2))
        else:
            assert isinstance(layer, RecurrentState)
            for tensor in layer.tensors:
                tensor.add_(tokens)
    state.commit(tokens, state.length + tokens)


def held(state: SequenceState) -> tuple[int, ...]:
    """Length as every layer sees it."""
    seen = []
    for layer in state.layers:
        if isinstance(layer, RowsState):
            seen.append(layer.length)
        else:
            assert isinstance(layer, RecurrentState)
            seen.extend(int(value) for tensor in layer.tensors for value in set(tensor.flatten().tolist()))
    return tuple(seen)


def test_rows_alone_roll_back_exactly() -> None:
    state = SequenceState([_rows(), _rows()])
    feed(state, 20)
    state.snapshot()
    assert state.snapshot_lengths == ()  # nothing here needs one
    assert state.rollback(13) == state.length == 13
    assert held(state) == (13, 13)
    assert state.rollback(99) == 13


def test_recurrent_layers_take_everything_back_to_the_nearest_snapshot() -> None:
    state = sequence(2)
    for _ in range(3):
        feed(state, 5)
        state.snapshot()
    feed(state, 5)
    assert state.rollback(20) == 20  # nothing to do
    assert state.rollback(12) == state.length == 10
    assert set(held(state)) == {10}
    feed(state, 1)  # a restored snapshot is not written into
    assert state.rollback(10) == 10
    assert set(held(state)) == {10}
    assert state.snapshot_lengths == (5, 10)
    assert state.rollback(4) == state.length == 0
    assert set(held(state)) == {0}


def test_snapshots_are_bounded_in_number_and_bytes_and_the_oldest_leaves() -> None:
    state = sequence(max_snapshots=2)
    for _ in range(4):
        feed(state, 1)
        state.snapshot()
        state.snapshot()  # again at the same length: nothing new
    assert state.snapshot_lengths == (3, 4)
    one = sum(layer.nbytes for layer in state.layers if isinstance(layer, RecurrentState))
    state = sequence(max_snapshot_bytes=one)
    before = state.nbytes
    for _ in range(3):
        feed(state, 1)
        state.snapshot()
    assert state.snapshot_lengths == (3,)
    assert state.nbytes >= before + one
    state = sequence(max_snapshot_bytes=one - 1)
    feed(state, 1)
    state.snapshot()
    assert state.snapshot_lengths == ()


def test_a_pass_that_broke_off_is_undone_by_rollback() -> None:
    state = sequence(2)
    feed(state, 5)
    state.snapshot()
    feed(state, 3)
    state.begin()
    first, second = state.layers[:2]
    assert isinstance(first, RowsState)
    assert isinstance(second, RecurrentState)
    first.append(torch.zeros(1, 4, 2))
    second.tensors[0].add_(100)
    state.snapshot()  # in the middle of things: not taken
    assert state.rollback(8) == 5
    assert set(held(state)) == {5}


def test_horizon_is_forgotten_with_the_tokens() -> None:
    state = SequenceState([_rows()])
    feed(state, 7)
    assert state.horizon == 7
    state.rollback(3)
    assert state.horizon == 7
    state.rollback(0)
    assert state.horizon == 0


def test_rows_of_8_bits_are_as_near_as_their_groups_scales_allow() -> None:
    data = rows(30, dim=40) * torch.logspace(-3, 3, 30)[:, None]
    state = RowsState([(2, 40), (2, 40)], torch.int8)
    for at in range(0, 30, 7):
        state.append(data[:, at : at + 7], -data[:, at : at + 7])
    assert state.nbytes == 2 * 2 * state.buffers[0].capacity * 44
    keys, values = (torch.cat(own, 1) for own in zip(*state.numbers(), strict=True))
    assert torch.equal(values, -keys)
    for group in (slice(0, 32), slice(32, 40)):
        most = data[..., group].abs().amax(-1, keepdim=True)
        # half a step, whose scale is rounded up to bf16, and bf16's own rounding of what comes out
        assert ((keys[..., group] - data[..., group]).abs() <= most * (0.5 / 127 * (1 + 2**-7) + 2**-8)).all()


def test_packed_rows_take_zeros_tiny_numbers_and_what_is_not_finite() -> None:
    x = torch.randn(5, 64)
    x[0] = 0
    x[1] = 1e-38
    x[2, 3], x[3, 40], x[4, 0] = float("nan"), float("inf"), 3e38
    found = unpack_rows(pack_rows(x), 64)
    assert (found[:2] == 0).all()
    assert found[2, :32].isnan().all()
    assert found[3, 32:].isnan().all()
    assert found[2, 32:].isfinite().all()
    assert found[3, :32].isfinite().all()
    assert found[4, 0] == pytest.approx(3e38, rel=0.01)


def native(state: SequenceState, tokens: int) -> list[int]:
    """What a decoder does by native code: the addresses that it is given."""
    addresses = state.prepared(tokens).tolist()
    state.taken(tokens)
    state.commit(tokens, state.length + tokens)
    return addresses


def where(state: SequenceState) -> list[int]:
    """The addresses, layer by layer."""
    found: list[int] = []
    for layer in state.layers:
        own = layer.prepared(0)
        found += own + [0] * (STATES - len(own))
    return found


def test_native_code_is_told_of_other_addresses_where_there_are_others() -> None:
    state = SequenceState([_rows(), _rows(), _recurrent()])
    before: list[int] = []
    for at in range(20):
        addresses = native(state, 1)
        grown = at in (0, 4, 8, 16)
        assert (addresses[:-STATES] != before[:-STATES]) is grown
        assert addresses == where(state)
        assert held(state)[:2] == (at + 1, at + 1)
        assert state.rows_with(0) == sum(rows.nbytes for rows in state.rows)
        before = addresses
    state.layers[2].reset()  # type: ignore[union-attr]
    assert native(state, 1)[-STATES:] != before[-STATES:]


def test_torch_and_native_code_count_the_same_rows() -> None:
    state = SequenceState([_rows(), _rows()])
    native(state, 3)
    feed(state, 3)
    assert held(state) == (6, 6)
    assert native(state, 3) == where(state)
    assert held(state) == (9, 9)
    state.rollback(5)
    assert held(state) == (5, 5)
    assert native(state, 1) == where(state)
    state.prepared(4)  # and breaks off
    state.rollback(6)
    assert held(state) == (6, 6)
    assert [keys.shape[1] for keys, *_ in state.rows[0].views()] == [4, 2]
