"""The loader against the rules, played step by step: whose chunk is begun when, whatever is asked for in between."""

from __future__ import annotations

import random
import threading
from collections import deque

import pytest

from engine.errors import Kind
from engine.experts.keys import Urgency
from tests.engine.experts.loading.loaders import PAGE, Opened, Request
from tests.engine.experts.loading.slow_disk import SlowDisk
from tests.waiting import LONGEST

PARTS = (2 * PAGE, PAGE, 2 * PAGE)
PAGES = sum(PARTS) // PAGE
EXPERTS = 400


class Rules:
    """What a loader is to do. under_way: chunks in the readers' hands, with what they were begun as; by page."""

    def __init__(self, readers: int) -> None:
        self.readers = readers
        self.under_way: dict[int, int] = {}
        self.left: dict[int, list[int]] = {}  # pages to be begun, by expert
        self.urgency: dict[int, int] = {}
        self.cancelled: set[int] = set()
        self._queue: deque[int] = deque()  # experts, in the order in which they came to their urgency

    def ask(self, expert: int, urgency: int) -> None:
        self.left[expert] = list(range(expert * PAGES, (expert + 1) * PAGES))
        self.urgency[expert] = urgency
        self._queue.append(expert)

    def demand(self, expert: int) -> None:
        if self.urgency[expert]:
            self.urgency[expert] = 0
            if expert in self._queue:
                self._queue.remove(expert)
                self._queue.append(expert)

    def cancel(self, expert: int) -> bool:
        if expert not in self._queue:
            return False
        self._queue.remove(expert)
        self.left[expert].clear()
        self.cancelled.add(expert)
        return True

    def open(self, expert: int) -> bool:
        return bool(self.left[expert]) or any(page // PAGES == expert for page in self.under_way)

    def begin(self) -> set[int]:
        """The pages that are begun now."""
        begun = set()
        while len(self.under_way) < self.readers and self._queue:
            expert = min(self._queue, key=self.urgency.__getitem__)  # the first of the most urgent
            urgency = self.urgency[expert]
            if urgency and (0 in self.under_way.values() or len(self.under_way) >= max(1, self.readers - 1)):
                break
            page = self.left[expert].pop(0)
            if not self.left[expert]:
                self._queue.remove(expert)
            self.under_way[page] = urgency
            begun.add(page)
        return begun


class Turnstile:
    """Lets one read after another end, by page."""

    def __init__(self, disk: SlowDisk) -> None:
        self._go = {page: threading.Event() for page in range(EXPERTS * PAGES)}
        disk.file.before = lambda offset: self._go[offset // PAGE].wait(LONGEST)

    def let(self, page: int) -> None:
        self._go[page].set()

    def open(self) -> None:
        for event in self._go.values():
            event.set()


@pytest.mark.parametrize("readers", [1, 2, 4])
def test_chunks_are_begun_as_the_rules_say(readers: int) -> None:
    disk = SlowDisk(EXPERTS, PARTS)
    asked, rules, turnstile, pick = Opened(disk, readers), Rules(readers), Turnstile(disk), random.Random(8)
    requests: list[Request] = []
    seen = 0

    def follow() -> None:
        nonlocal seen
        begun = rules.begin()
        asked.begun(len(begun))
        assert {offset // PAGE for offset, _ in disk.file.reads[seen:]} == begun
        seen += len(begun)

    try:
        for _ in range(400):
            what = pick.random()
            if what < 0.3 and len(requests) < EXPERTS:
                urgency = Urgency(pick.choice((0, 1, 2, 2)))
                rules.ask(len(requests), urgency)
                requests.append(asked.ask(len(requests), urgency))
            elif what < 0.45 and requests:
                expert = pick.randrange(max(0, len(requests) - 6), len(requests))
                assert asked.cancel(requests[expert]) == rules.cancel(expert)
            elif what < 0.6 and requests:
                expert = pick.randrange(max(0, len(requests) - 6), len(requests))
                asked.demand(requests[expert])
                rules.demand(expert)
            elif rules.under_way:
                page = pick.choice(sorted(rules.under_way))
                del rules.under_way[page]
                turnstile.let(page)
            follow()
            for urgency in Urgency:
                queued = sum(len(rules.left[e]) for e in rules.left if rules.urgency[e] == urgency)
                assert asked.queued(urgency) == queued * PAGE
        turnstile.open()
        asked.until(*requests)
        assert len(asked.handed) == len(requests)
        for expert, request in enumerate(requests):
            if expert in rules.cancelled:
                assert request.error is not None
                assert request.error.kind is Kind.CANCELLED
            else:
                assert request.error is None
                assert [bytes(view) for view in request.views] == [disk.stored(expert, part) for part in range(3)]
    finally:
        turnstile.open()
        asked.close()
