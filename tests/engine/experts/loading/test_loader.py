"""The readers: what goes first, sharing, cancelling, failures that stay alone, and a clean end."""

from __future__ import annotations

import ctypes
import errno
import os
import random
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import psutil
import pytest

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey, Urgency
from engine.translatable import system_reason
from tests.engine.experts.loading.loaders import PAGE, Opened, Request
from tests.engine.experts.loading.slow_disk import SlowDisk, key
from tests.waiting import LONGEST

PARTS = (2 * PAGE, 3 * PAGE, PAGE)  # six chunks of a page
ERROR_IO_DEVICE = 1117  # of Windows
Open = Callable[[SlowDisk, int], Opened]


@pytest.fixture
def disk() -> SlowDisk:
    return SlowDisk(12, PARTS)


@pytest.fixture
def opened() -> Iterator[Open]:
    made: list[Opened] = []

    def make(disk: SlowDisk, readers: int) -> Opened:
        made.append(Opened(disk, readers))
        return made[-1]

    yield make
    for one in made:
        one.close()


def order(disk: SlowDisk) -> list[int]:
    """Whose chunks were read, in the order in which they were begun, each run of one expert named once."""
    experts = [disk.expert_at(offset) for offset, _ in disk.file.reads]
    return [e for i, e in enumerate(experts) if not i or experts[i - 1] != e]


def test_parts_arrive_and_are_counted(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 3)
    request = asked.ask(4, parts=(0, 2))
    asked.until(request)
    assert request.error is None
    assert request.nbytes == 3 * PAGE
    assert request.seconds > 0
    assert [bytes(view) for view in request.views] == [disk.stored(4, 0), disk.stored(4, 2)]
    loader = asked.loader
    loader.close()
    assert asked.take(False) == asked.take(True) == []
    loads = loader.io_stats()
    assert loads.by_urgency[Urgency.DEMAND].bytes == 3 * PAGE
    assert loads.by_urgency[Urgency.PREFETCH].bytes == 0
    assert 0 < loads.by_urgency[Urgency.DEMAND].seconds <= loads.busy <= loads.seconds


def test_all_readers_share_one_read(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 4)
    disk.file.gate.clear()
    request = asked.ask(0)
    asked.begun(4)
    assert sorted(disk.file.reads) == [(at * PAGE, PAGE) for at in range(4)]
    assert asked.left(request) == 2 * PAGE
    disk.file.gate.set()
    asked.until(request)
    assert len(disk.file.reads) == 6
    assert asked.left(request) == 0


def test_demand_overtakes_repair_and_repair_prefetch_between_chunks(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    disk.file.gate.clear()
    requests = [asked.ask(0, Urgency.PREFETCH)]
    asked.begun(1)
    requests += [asked.ask(1, Urgency.PREFETCH), asked.ask(2, Urgency.UPGRADE), asked.ask(3)]
    disk.file.gate.set()
    asked.until(*requests)
    assert not any(request.error for request in requests)
    assert order(disk) == [0, 3, 2, 0, 1]
    assert [request.key.expert for request in asked.handed] == [3, 2, 0, 1]


def test_a_read_that_turns_out_to_be_needed_overtakes(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    loader = asked.loader
    disk.file.gate.clear()
    first = asked.ask(0, Urgency.PREFETCH)
    asked.begun(1)
    others = [asked.ask(e, Urgency.PREFETCH) for e in (1, 2)]
    asked.demand(others[1])
    asked.demand(others[1])
    assert asked.queued(Urgency.DEMAND) == 6 * PAGE
    assert asked.queued(Urgency.PREFETCH) == (5 + 6) * PAGE
    disk.file.gate.set()
    asked.until(first, *others)
    assert order(disk) == [0, 2, 0, 1]
    asked.demand(first)  # too late to matter
    assert loader.io_stats().by_urgency[Urgency.DEMAND].bytes == 6 * PAGE


def test_a_demand_finds_a_reader_free_however_much_is_expected(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 3)
    disk.file.gate.clear()
    for e in range(6):
        asked.ask(e, Urgency.PREFETCH)
    asked.begun(2)
    assert not disk.file.started.acquire(timeout=0.05)  # the third reader takes none of it
    asked.ask(9)
    asked.begun(1)
    assert disk.expert_at(disk.file.reads[-1][0]) == 9


def test_nothing_speculative_is_begun_while_a_demand_is_under_way(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 4)
    disk.file.gate.clear()
    demanded = asked.ask(0, parts=(2,))  # a single chunk
    asked.begun(1)
    expected = asked.ask(1, Urgency.PREFETCH)
    assert not disk.file.started.acquire(timeout=0.05)
    disk.file.gate.set()
    asked.until(demanded, expected)  # and is begun afterwards without another word
    assert expected.error is None
    assert disk.file.most_at_once <= 3


def test_what_waits_is_cancelled_at_once(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    disk.file.gate.clear()
    first = asked.ask(0)
    asked.begun(1)
    queued = asked.ask(1, Urgency.PREFETCH, (0,))
    assert asked.cancel(queued)
    assert not asked.cancel(queued)
    assert asked.take(False) == [queued]
    assert queued.error is not None
    assert queued.error.kind is Kind.CANCELLED
    assert not asked.cancel(queued)
    disk.file.gate.set()
    asked.until(first)
    assert first.error is None
    assert order(disk) == [0]


def test_a_cancelled_read_ends_with_the_chunk_under_way_and_reads_no_more(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 2)
    loader = asked.loader
    disk.file.gate.clear()
    request = asked.ask(3)
    asked.begun(2)
    assert asked.cancel(request)
    assert not asked.cancel(request)
    assert not asked.take(False)  # the views are still written to
    assert not loader.idle
    disk.file.gate.set()
    asked.until(request)
    assert request.error is not None
    assert request.error.kind is Kind.CANCELLED
    assert len(disk.file.reads) == 2
    asked.until(asked.ask(1))


def test_a_read_whose_last_chunk_is_under_way_is_not_cancelled(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    disk.file.gate.clear()
    request = asked.ask(0, parts=(2,))
    asked.begun(1)
    assert not asked.cancel(request)
    disk.file.gate.set()
    asked.until(request)
    assert request.error is None


def test_idle_and_queued_bytes(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    loader = asked.loader
    assert loader.idle
    disk.file.gate.clear()
    requests = [asked.ask(e, Urgency(e)) for e in (0, 1, 2)]
    asked.begun(1)
    assert not loader.idle
    assert [asked.queued(u) for u in Urgency] == [5 * PAGE, 6 * PAGE, 6 * PAGE]
    disk.file.gate.set()
    asked.until(*requests)
    assert loader.idle
    assert [load.bytes for load in loader.io_stats().by_urgency.values()] == [6 * PAGE] * 3


def test_many_are_handed_out_at_once(opened: Open) -> None:
    disk = SlowDisk(200, (PAGE,))
    asked = opened(disk, 3)
    requests = [asked.ask(e, parts=(0,)) for e in range(200)]
    while not asked.loader.idle:
        time.sleep(0.001)
    assert sorted(r.key.expert for r in asked.take(False)) == list(range(200))
    assert all(bytes(r.views[0]) == disk.stored(r.key.expert, 0) for r in requests)


# ---- failures -------------------------------------------------------------------------------------------------------


def refusal() -> OSError:
    """What the system says of a disk that fails."""
    if sys.platform == "win32":
        return ctypes.WinError(ERROR_IO_DEVICE)
    return OSError(errno.EIO, os.strerror(errno.EIO))


def failing(disk: SlowDisk, expert: int, at: int, failure: BaseException) -> None:
    """The chunk of page `at` of this expert fails."""

    def before(offset: int) -> None:
        if offset == expert * disk.nbytes + at * PAGE:
            raise failure

    disk.file.before = before


def fails_alone(asked: Opened) -> UnderhillError:
    """That of expert 1."""
    requests = [asked.ask(e) for e in range(4)]
    asked.until(*requests)
    assert [r.error is None for r in requests] == [True, False, True, True]
    assert asked.loader.idle
    error = requests[1].error
    assert error is not None
    return error


@pytest.mark.parametrize("at", [0, 3, 5])
def test_one_failure_stays_one_failure(at: int, disk: SlowDisk, opened: Open) -> None:
    failing(disk, 1, at, refusal())
    error = fails_alone(opened(disk, 2))
    assert error.kind is Kind.DISK_ERROR
    assert f"could not read expert 1 of layer 0 ({system_reason(refusal())})" in error.sentence
    assert isinstance(error.__cause__, OSError)
    assert error.__cause__.args == refusal().args


def test_what_follows_a_failed_chunk_is_not_read(disk: SlowDisk, opened: Open) -> None:
    failing(disk, 0, 1, refusal())
    asked = opened(disk, 1)
    asked.until(asked.ask(0))
    assert [offset for offset, _ in disk.file.reads] == [0, PAGE]


def test_a_short_read_is_named(disk: SlowDisk, opened: Open) -> None:
    disk.file.short = 512
    asked = opened(disk, 2)
    request = asked.ask(2)
    asked.until(request)
    assert request.error is not None
    assert request.error.kind is Kind.BROKEN_FILE
    assert "expert 2 of layer 0 is cut short" in request.error.sentence
    disk.file.short = 0
    again = asked.ask(2)
    asked.until(again)
    assert again.error is None


def test_bytes_that_are_not_what_was_written_are_named(disk: SlowDisk, opened: Open) -> None:
    disk.file.content[5 * disk.nbytes + 3 * PAGE] ^= 1
    asked = opened(disk, 2)
    requests = [asked.ask(e) for e in (4, 5, 6)]
    asked.until(*requests)
    assert [r.error is None for r in requests] == [True, False, True]
    assert requests[1].error is not None
    assert requests[1].error.kind is Kind.BROKEN_FILE
    assert "expert 5 of layer 0 (part C0) does not match its checksum" in requests[1].error.sentence


def test_views_of_other_lengths_are_refused(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    with pytest.raises(ValueError, match="bytes for"):
        asked.submit(Request(key(0), (0, 1), disk.views((0, 2))))
    assert asked.loader.idle


# ---- the end --------------------------------------------------------------------------------------------------------


def close_meanwhile(asked: Opened) -> threading.Thread:
    """Closes it, and is back once what was queued is cancelled: what is under way has still to end."""
    closing = threading.Thread(target=asked.loader.close)
    closing.start()
    while any(asked.queued(urgency) for urgency in Urgency):
        time.sleep(0.001)
    return closing


def test_closing_while_busy_ends_every_request_and_every_thread(disk: SlowDisk) -> None:
    before = psutil.Process().num_threads()
    asked = Opened(disk, 2)
    loader = asked.loader
    disk.file.gate.clear()
    single = asked.ask(0, parts=(2,))
    asked.begun(1)
    requests = [asked.ask(e, Urgency(e % 3)) for e in range(1, 7)]
    asked.begun(1)
    closing = close_meanwhile(asked)
    disk.file.gate.set()
    closing.join(LONGEST)
    assert not closing.is_alive()
    loader.close()
    asked.until(single, *requests)
    assert asked.take(False) == asked.take(True) == []
    assert single.error is None  # it was under way to its end
    assert all(r.error is not None and r.error.kind is Kind.CANCELLED for r in requests)
    assert len(disk.file.reads) == 2
    assert loader.idle
    with pytest.raises(RuntimeError, match="closed"):
        asked.ask(0)
    end = time.monotonic() + LONGEST
    while psutil.Process().num_threads() > before:
        assert time.monotonic() < end
        time.sleep(0.001)


def test_whoever_waits_hears_of_the_end(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 1)
    disk.file.gate.clear()
    requests = [asked.ask(e) for e in range(3)]
    waiting = threading.Thread(target=asked.until, args=requests)
    waiting.start()
    asked.begun(1)
    closing = close_meanwhile(asked)
    disk.file.gate.set()
    for thread in (waiting, closing):
        thread.join(LONGEST)
        assert not thread.is_alive()
    assert all(r.error is not None and r.error.kind is Kind.CANCELLED for r in requests)


def test_every_chunk_is_told_to_the_listener(disk: SlowDisk, opened: Open) -> None:
    asked = opened(disk, 2)
    heard: list[tuple[int, int, Urgency, int]] = []
    now = time.perf_counter()

    def listener(
        reader: int, key: ExpertKey, parts: Sequence[int], urgency: Urgency, nbytes: int, when: tuple[float, float]
    ) -> None:
        assert now <= when[0] <= when[1] <= time.perf_counter()
        assert parts == (0, 1, 2)
        heard.append((reader, key.expert, urgency, nbytes))

    asked.loader.listener = listener
    asked.until(asked.ask(1, Urgency.UPGRADE))
    assert [told[1:] for told in heard] == [(1, Urgency.UPGRADE, PAGE)] * 6
    assert {told[0] for told in heard} <= {0, 1}
    asked.loader.listener = None
    asked.until(asked.ask(2))
    assert len(heard) == 6


def test_many_requests_from_many_threads_with_cancels_and_demands(opened: Open) -> None:
    """Whatever is said to it in whatever order, every request ends once, and those without error hold their bytes."""
    disk = SlowDisk(40, PARTS)
    asked = opened(disk, 3)
    loader = asked.loader
    failing(disk, 7, 4, refusal())
    made: list[Request] = []
    done = threading.Event()

    def talk(seed: int) -> None:
        pick = random.Random(seed)
        mine: list[Request] = []
        for _ in range(150):
            mine.append(asked.ask(pick.randrange(40), Urgency(pick.randrange(3))))
            pick.choice([asked.cancel, asked.demand, asked.left])(pick.choice(mine))
        made.extend(mine)

    def take() -> None:
        while not done.is_set() or not loader.idle:
            asked.handed += asked.take(True)

    taker = threading.Thread(target=take)
    talkers = [threading.Thread(target=talk, args=(seed,)) for seed in range(3)]
    for thread in (taker, *talkers):
        thread.start()
    for talker in talkers:
        talker.join()
    done.set()
    taker.join(LONGEST)
    asked.handed += asked.take(False)
    loader.close()
    assert sorted(map(id, asked.handed)) == sorted(map(id, made))
    for request in made:
        if request.error is None:
            assert [bytes(v) for v in request.views] == [disk.stored(request.key.expert, part) for part in range(3)]
        else:
            assert request.error.kind is Kind.CANCELLED or request.key.expert == 7
    assert loader.idle
    assert [asked.queued(u) for u in Urgency] == [0, 0, 0]
