"""The readers: demand first, one failure stays one failure, cancelling, and a clean end."""

from __future__ import annotations

import threading

import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey
from engine.experts.loader import Loader, Request
from engine.store.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(32, 16, 8, 16)


WHOLE = SPEC.layout.parts_for(8)


def views(parts: tuple[int, ...] = WHOLE) -> list[memoryview]:
    return [memoryview(bytearray(SPEC.layout.parts[index].nbytes)) for index in parts]


@pytest.fixture
def source() -> MemorySource:
    return MemorySource(SPEC)


def blocked(source: MemorySource) -> tuple[Loader, Request]:
    """A loader whose only reader is held up in a first read."""
    source.gate.clear()
    loader = Loader(source, 1)
    first = loader.submit(ExpertKey(0, 5), WHOLE, views())
    assert source.started.acquire(timeout=10)
    return loader, first


def test_parts_arrive(source: MemorySource) -> None:
    loader, into = Loader(source, 2), views((2, 3))
    request = loader.submit(ExpertKey(2, 3), (2, 3), into)
    request.wait()
    assert request.error is None
    assert request.nbytes == SPEC.layout.bytes_for(4, (0, 1))
    assert bytes(into[1]) == source.records[ExpertKey(2, 3)][3].numpy().tobytes()
    loader.close()


def test_demand_overtakes_what_is_only_expected(source: MemorySource) -> None:
    loader, _ = blocked(source)
    expected = [loader.submit(ExpertKey(2, e), WHOLE, views(), speculative=True) for e in range(3)]
    loader.submit(ExpertKey(0, 1), WHOLE, views())
    loader.demand(expected[2])
    source.gate.set()
    expected[1].wait()
    assert [key for key, _ in source.reads] == [
        ExpertKey(0, 5), ExpertKey(0, 1), ExpertKey(2, 2), ExpertKey(2, 0), ExpertKey(2, 1),
    ]  # fmt: skip
    loader.close()


def test_one_failure_stays_one_failure(source: MemorySource) -> None:
    source.failing[ExpertKey(0, 0)] = UnderhillError(Kind.DISK_ERROR, "The disk said no.")
    source.failing[ExpertKey(0, 1)] = ZeroDivisionError("a defect")
    loader = Loader(source, 1)
    requests = [loader.submit(ExpertKey(0, e), WHOLE, views()) for e in range(3)]
    for request in requests:
        request.wait()
    assert [r.error.kind if r.error else None for r in requests] == [Kind.DISK_ERROR, Kind.INTERNAL, None]
    assert isinstance(requests[1].error.__cause__, ZeroDivisionError)  # type: ignore[union-attr]
    loader.close()


def test_a_queued_read_is_cancelled_and_a_begun_one_is_not(source: MemorySource) -> None:
    loader, first = blocked(source)
    ended: list[Request] = []
    queued = loader.submit(ExpertKey(0, 1), WHOLE, views(), ended.append)
    assert loader.cancel(queued)
    assert not loader.cancel(queued)
    assert not loader.cancel(first)
    assert ended == [queued]
    assert queued.error is not None
    assert queued.error.kind is Kind.CANCELLED
    source.gate.set()
    first.wait()
    assert first.error is None
    loader.close()
    assert [key for key, _ in source.reads] == [ExpertKey(0, 5)]


def test_closing_ends_every_request_and_every_thread(source: MemorySource) -> None:
    before = threading.active_count()
    loader, first = blocked(source)
    queued = [loader.submit(ExpertKey(0, e), WHOLE, views(), speculative=bool(e % 2)) for e in range(4)]
    threading.Timer(0.05, source.gate.set).start()
    loader.close()
    loader.close()
    assert first.error is None
    assert all(r.error is not None and r.error.kind is Kind.CANCELLED for r in queued)
    with pytest.raises(RuntimeError, match="closed"):
        loader.submit(ExpertKey(0, 0), WHOLE, views())
    assert threading.active_count() <= before + 1  # the timer may still be on its way out
