"""The readers: who goes first, sharing, cancelling, failures that stay alone, and a clean end."""

from __future__ import annotations

import errno
import random
import threading
import time
from collections.abc import Iterator

import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.loader import Loader
from engine.experts.request import Request, Urgency
from tests.engine.experts.slow_disk import SlowDisk, key

PAGE = 4096
PARTS = (2 * PAGE, 3 * PAGE, PAGE)  # six chunks of a page


@pytest.fixture
def disk() -> SlowDisk:
    return SlowDisk(12, PARTS)


class Opened:
    """Loaders with chunks of a page, closed at the end."""

    def __init__(self) -> None:
        self.loaders: list[tuple[SlowDisk, Loader]] = []

    def __call__(self, disk: SlowDisk, readers: int) -> Loader:
        loader = Loader(disk, readers, PAGE)
        self.loaders.append((disk, loader))
        return loader


@pytest.fixture
def opened() -> Iterator[Opened]:
    opened = Opened()
    yield opened
    for disk, loader in opened.loaders:
        disk.file.before = None
        disk.file.gate.set()
        loader.close()


def ask(loader: Loader, disk: SlowDisk, expert: int, urgency: Urgency = Urgency.DEMAND) -> Request:
    return loader.submit(key(expert), (0, 1, 2), disk.views(), urgency=urgency)


def begun(disk: SlowDisk, chunks: int) -> None:
    """Wait until so many chunks have been begun."""
    for _ in range(chunks):
        assert disk.file.started.acquire(timeout=20)


def order(disk: SlowDisk) -> list[int]:
    """Whose chunks were read, in the order in which they were begun, each run of one expert named once."""
    experts = [disk.expert_at(offset) for offset, _ in disk.file.reads]
    return [e for i, e in enumerate(experts) if not i or experts[i - 1] != e]


def test_parts_arrive_and_are_counted(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 3)
    views = disk.views((0, 2))
    ended: list[Request] = []
    request = loader.submit(key(4), (0, 2), views, ended.append)
    request.wait()
    assert request.error is None
    assert request.nbytes == 3 * PAGE
    assert request.seconds > 0
    assert [bytes(view) for view in views] == [disk.stored(4, 0), disk.stored(4, 2)]
    loader.close()
    assert ended == [request]
    loads = loader.loads()
    assert loads.by_urgency[Urgency.DEMAND].bytes == 3 * PAGE
    assert loads.by_urgency[Urgency.PREFETCH].bytes == 0
    assert 0 < loads.by_urgency[Urgency.DEMAND].seconds <= loads.busy <= loads.seconds
    assert 0 < loads.busy_share <= 1


def test_all_readers_share_one_read(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 4)
    disk.file.gate.clear()
    request = ask(loader, disk, 0)
    begun(disk, 4)
    assert sorted(disk.file.reads) == [(at * PAGE, PAGE) for at in range(4)]
    disk.file.gate.set()
    request.wait()
    assert len(disk.file.reads) == 6


def test_demand_overtakes_repair_and_repair_prefetch_between_chunks(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)
    disk.file.gate.clear()
    requests = [ask(loader, disk, 0, Urgency.PREFETCH)]
    begun(disk, 1)
    requests += [ask(loader, disk, 1, Urgency.PREFETCH), ask(loader, disk, 2, Urgency.REPAIR), ask(loader, disk, 3)]
    disk.file.gate.set()
    for request in requests:
        request.wait()
        assert request.error is None
    assert order(disk) == [0, 3, 2, 0, 1]


def test_a_read_that_turns_out_to_be_needed_overtakes(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)
    disk.file.gate.clear()
    first = ask(loader, disk, 0, Urgency.PREFETCH)
    begun(disk, 1)
    others = [ask(loader, disk, e, Urgency.PREFETCH) for e in (1, 2)]
    loader.demand(others[1])
    loader.demand(others[1])
    assert loader.queued(Urgency.DEMAND) == 6 * PAGE
    assert loader.queued(Urgency.PREFETCH) == (5 + 6) * PAGE
    disk.file.gate.set()
    for request in (first, *others):
        request.wait()
    assert order(disk) == [0, 2, 0, 1]
    loader.demand(first)  # too late to matter
    assert loader.loads().by_urgency[Urgency.DEMAND].bytes == 6 * PAGE


def test_a_demand_finds_a_reader_free_however_much_is_expected(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 3)
    disk.file.gate.clear()
    for e in range(6):
        ask(loader, disk, e, Urgency.PREFETCH)
    begun(disk, 2)
    assert not disk.file.started.acquire(timeout=0.05)  # the third reader takes none of it
    ask(loader, disk, 9)
    begun(disk, 1)
    assert disk.expert_at(disk.file.reads[-1][0]) == 9


def test_nothing_speculative_is_begun_while_a_demand_is_under_way(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 4)
    disk.file.gate.clear()
    demanded = loader.submit(key(0), (2,), disk.views((2,)))  # a single chunk
    begun(disk, 1)
    expected = ask(loader, disk, 1, Urgency.PREFETCH)
    assert not disk.file.started.acquire(timeout=0.05)
    disk.file.gate.set()
    demanded.wait()
    expected.wait()  # and is begun afterwards without another word
    assert expected.error is None
    assert disk.file.most_at_once <= 3


def test_what_waits_is_cancelled_at_once(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)
    disk.file.gate.clear()
    first = ask(loader, disk, 0)
    begun(disk, 1)
    ended: list[Request] = []
    queued = loader.submit(key(1), (0,), disk.views((0,)), ended.append, Urgency.PREFETCH)
    assert loader.cancel(queued)
    assert ended == [queued]
    assert queued.error is not None
    assert queued.error.kind is Kind.CANCELLED
    assert not loader.cancel(queued)
    disk.file.gate.set()
    first.wait()
    assert first.error is None
    assert order(disk) == [0]


def test_a_cancelled_read_ends_with_the_chunk_under_way_and_reads_no_more(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 2)
    disk.file.gate.clear()
    ended: list[Request] = []
    request = loader.submit(key(3), (0, 1, 2), disk.views(), ended.append)
    begun(disk, 2)
    assert loader.cancel(request)
    assert not loader.cancel(request)
    assert not ended  # the views are still written to
    assert not loader.idle
    disk.file.gate.set()
    request.wait()
    assert request.error is not None
    assert request.error.kind is Kind.CANCELLED
    assert len(disk.file.reads) == 2
    ask(loader, disk, 1).wait()


def test_a_read_whose_last_chunk_is_under_way_is_not_cancelled(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)
    disk.file.gate.clear()
    request = loader.submit(key(0), (2,), disk.views((2,)))
    begun(disk, 1)
    assert not loader.cancel(request)
    disk.file.gate.set()
    request.wait()
    assert request.error is None


def test_idle_and_queued_bytes(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)
    assert loader.idle
    disk.file.gate.clear()
    requests = [ask(loader, disk, e, Urgency(e)) for e in (0, 1, 2)]
    begun(disk, 1)
    assert not loader.idle
    assert [loader.queued(u) for u in Urgency] == [5 * PAGE, 6 * PAGE, 6 * PAGE]
    disk.file.gate.set()
    for request in requests:
        request.wait()
    assert loader.idle
    assert [load.bytes for load in loader.loads().by_urgency.values()] == [6 * PAGE] * 3


# ---- failures -------------------------------------------------------------------------------------------------------


def failing(disk: SlowDisk, expert: int, at: int, failure: BaseException) -> None:
    """The chunk of page `at` of this expert fails."""

    def before(offset: int) -> None:
        if offset == expert * disk.nbytes + at * PAGE:
            raise failure

    disk.file.before = before


@pytest.mark.parametrize(
    ("failure", "kind", "sentence"),
    [
        (OSError(errno.EIO, "Input/output error"), Kind.DISK_ERROR, "could not read expert 1 of layer 0"),
        (ZeroDivisionError("a defect"), Kind.INTERNAL, "expert 1 of layer 0 failed"),
    ],
)
@pytest.mark.parametrize("at", [0, 3, 5])
def test_one_failure_stays_one_failure(
    failure: Exception, kind: Kind, sentence: str, at: int, disk: SlowDisk, opened: Opened
) -> None:
    failing(disk, 1, at, failure)
    loader = opened(disk, 2)
    requests = [ask(loader, disk, e) for e in range(4)]
    for request in requests:
        request.wait()
    assert [r.error is None for r in requests] == [True, False, True, True]
    error = requests[1].error
    assert error is not None
    assert error.kind is kind
    assert sentence in error.sentence
    assert error.__cause__ is failure
    assert loader.idle


def test_what_follows_a_failed_chunk_is_not_read(disk: SlowDisk, opened: Opened) -> None:
    failing(disk, 0, 1, OSError(errno.EIO, "Input/output error"))
    request = ask(opened(disk, 1), disk, 0)
    request.wait()
    assert [offset for offset, _ in disk.file.reads] == [0, PAGE]


def test_a_short_read_is_named(disk: SlowDisk, opened: Opened) -> None:
    disk.file.short = 512
    loader = opened(disk, 2)
    request = ask(loader, disk, 2)
    request.wait()
    assert request.error is not None
    assert request.error.kind is Kind.BROKEN_FILE
    assert "expert 2 of layer 0 is cut short" in request.error.sentence
    disk.file.short = 0
    again = ask(loader, disk, 2)
    again.wait()
    assert again.error is None


def test_bytes_that_are_not_what_was_written_are_named(disk: SlowDisk, opened: Opened) -> None:
    disk.file.content[5 * disk.nbytes + 3 * PAGE] ^= 1
    loader = opened(disk, 2)
    requests = [ask(loader, disk, e) for e in (4, 5, 6)]
    for request in requests:
        request.wait()
    assert [r.error is None for r in requests] == [True, False, True]
    assert isinstance(requests[1].error, UnderhillError)
    assert requests[1].error.kind is Kind.BROKEN_FILE
    assert "expert 5 of layer 0 (part 1) does not match" in requests[1].error.sentence


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
@pytest.mark.parametrize("readers", [1, 2])
def test_a_reader_that_dies_fails_its_read_and_is_replaced(readers: int, disk: SlowDisk, opened: Opened) -> None:
    killed = KeyboardInterrupt("killed")
    failing(disk, 0, 2, killed)
    loader = opened(disk, readers)
    requests = [ask(loader, disk, e) for e in range(3)]
    for request in requests:
        request.wait()
    assert [r.error is None for r in requests] == [False, True, True]
    assert requests[0].error is not None
    assert requests[0].error.kind is Kind.INTERNAL
    assert requests[0].error.__cause__ is killed
    disk.file.before = None
    again = ask(loader, disk, 0)
    again.wait()
    assert again.error is None


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_reader_killed_by_whoever_listens_is_replaced(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 1)

    def raises(request: Request) -> None:
        raise RuntimeError("of the listener")

    first = loader.submit(key(0), (0,), disk.views((0,)), raises)
    first.wait()
    second = ask(loader, disk, 1)
    second.wait()
    assert (first.error, second.error) == (None, None)


# ---- the end --------------------------------------------------------------------------------------------------------


def test_closing_while_busy_ends_every_request_and_every_thread(disk: SlowDisk) -> None:
    before = threading.active_count()
    loader = Loader(disk, 2, PAGE)
    disk.file.gate.clear()
    single = loader.submit(key(0), (2,), disk.views((2,)))
    begun(disk, 1)
    requests = [ask(loader, disk, e, Urgency(e % 3)) for e in range(1, 7)]
    begun(disk, 1)
    closing = threading.Thread(target=loader.close)
    closing.start()
    time.sleep(0.02)
    disk.file.gate.set()
    closing.join(20)
    assert not closing.is_alive()
    loader.close()
    assert single.error is None  # it was under way to its end
    assert all(r.error is not None and r.error.kind is Kind.CANCELLED for r in requests)
    assert len(disk.file.reads) == 2
    with pytest.raises(RuntimeError, match="closed"):
        ask(loader, disk, 0)
    assert threading.active_count() == before


def test_every_chunk_is_told_to_the_listener(disk: SlowDisk, opened: Opened) -> None:
    loader = opened(disk, 2)
    heard: list[tuple[int, int, Urgency, int]] = []

    def listener(reader: int, request: Request, urgency: Urgency, nbytes: int, start: float, end: float) -> None:
        assert start <= end
        heard.append((reader, request.key.expert, urgency, nbytes))

    loader.listener = listener
    ask(loader, disk, 1, Urgency.REPAIR).wait()
    assert [told[1:] for told in heard] == [(1, Urgency.REPAIR, PAGE)] * 6
    assert {told[0] for told in heard} <= {0, 1}


def test_many_requests_from_many_threads_with_cancels_and_demands(opened: Opened) -> None:
    """Whatever is said to it in whatever order, every request ends once, and those without error hold their bytes."""
    disk = SlowDisk(40, PARTS)
    loader = opened(disk, 3)
    failing(disk, 7, 4, OSError(errno.EIO, "Input/output error"))
    ended: list[Request] = []
    made: list[Request] = []

    def talk(seed: int) -> None:
        pick = random.Random(seed)
        mine: list[Request] = []
        for _ in range(150):
            request = loader.submit(
                key(pick.randrange(40)), (0, 1, 2), disk.views(), ended.append, Urgency(pick.randrange(3))
            )
            mine.append(request)
            pick.choice([loader.cancel, loader.demand, lambda r: None])(pick.choice(mine))
        made.extend(mine)

    talkers = [threading.Thread(target=talk, args=(seed,)) for seed in range(3)]
    for talker in talkers:
        talker.start()
    for talker in talkers:
        talker.join()
    for request in made:
        request.wait()
    loader.close()
    assert sorted(map(id, ended)) == sorted(map(id, made))
    for request in made:
        if request.error is None:
            assert [bytes(v) for v in request.views] == [disk.stored(request.key.expert, part) for part in range(3)]
        else:
            assert request.error.kind is Kind.CANCELLED or request.key.expert == 7
    assert loader.idle
    assert [loader.queued(u) for u in Urgency] == [0, 0, 0]
