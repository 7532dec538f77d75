"""What a process and its expert cache take over time: recorded of an open model, replayed, and judged.

python -m tests.engine.session.sizes STORE CEILING_GB OUT.json    # records what sizes.json holds
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from engine.calibration.calibrator import open_calibrated
from engine.generation.messages import Message
from engine.generation.sampling import Sampling
from engine.hardware import probe
from engine.hardware.pressure import IN_PROMPT, PERIOD, Reading
from engine.session import Session
from engine.session.cache_budget import CacheBudget, Share

RECORDED = Path(__file__).with_name("sizes.json")
NEAR, MOMENT = 0.95, 1.0  # a cache that is smaller than this part of what it may be, and longer than this, collapsed
STEP, FILLED = 0.05, 400_000_000  # seconds between two looks of whoever records; bytes a second that come from a disk


@dataclass(frozen=True)
class Size:
    """One moment. Bytes. tokens: computed at once. own: of the process; held, capacity: of the cache; due: what the
    plan gives it in this phase; rows: of the context, with room for more, and written: of these, those written;
    coming: those that the pass under way will write."""

    when: float
    tokens: int
    own: int
    held: int
    capacity: int
    due: int
    rows: int
    written: int
    coming: int = 0


def collapsed(sizes: Sequence[Size], ceiling: int, smallest: int = 0) -> float:
    """Seconds, the most in one go, in which the cache was by more than a twentieth smaller than the ceiling allows.

    That is: what the plan gives it, or where that is less, the ceiling less what the process takes beside it, of which
    the most within a second counts, and with it the rows that the pass under way writes.
    """
    longest, since = 0.0, None
    for at, size in enumerate(sizes):
        last = [s for s in sizes[max(0, at - 200) : at + 1] if size.when - s.when <= MOMENT]
        left = ceiling - max(s.own - s.held + s.coming for s in last)
        if size.capacity >= NEAR * max(smallest, min(size.due, left)):
            since = None
            continue
        since = size.when if since is None else since
        longest = max(longest, size.when - since)
    return longest


def above(sizes: Sequence[Size], ceiling: int) -> float:
    """Seconds, the most in one go, that the process was above its ceiling."""
    longest, since = 0.0, None
    for size in sizes:
        since = None if size.own <= ceiling else size.when if since is None else since
        longest = max(longest, 0.0 if since is None else size.when - since)
    return longest


class Quiet:
    """Listens to an answer and says nothing."""

    def turns_dropped(self, count: int) -> None: ...

    def prompt_read(self, done: int, total: int, reused: int) -> None: ...

    def text(self, text: str, token_ids: Sequence[int]) -> None: ...

    def cancelled(self) -> bool:
        return False


def size_of(session: Session, when: float) -> Size:
    """Of an open model, now."""
    room, cache = session.cache_budget, session.runtime.cache
    due = max(session.plan.smallest_cache, room.wanted() - room.lent)
    return Size(
        when, room.use.tokens, probe.rss(), cache.nbytes, cache.capacity, due,
        session.context.rows or 0, session.context.rows_written,
        max(0, room.due - session.context.rows_written),
    )  # fmt: skip


@contextmanager
def recording(session: Session) -> Iterator[list[Size]]:
    """What the model takes while this lasts."""
    found: list[Size] = []
    over, start = threading.Event(), time.monotonic()

    def look() -> None:
        while not over.wait(STEP):
            found.append(size_of(session, time.monotonic() - start))

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def chat(session: Session, words: int, tokens: int) -> None:
    """A prompt of so many words, and so many tokens of answer."""
    session.context.clear()
    said = " ".join(f"w{7919 * i % 1999}" for i in range(words))
    session.generate((Message("user", said),), Sampling(temperature=0, max_tokens=tokens), (), Quiet())


def replay(
    sizes: Sequence[Size], share: Share, burst: Callable[[float], int] = lambda when: 0, quiet: bool = True
) -> list[Size]:
    """The same process under this share, moment by moment: what it took beside its cache is given, what it has of
    experts follows. burst: bytes more that it takes then."""
    held, now, look, found, said = [0], 0.0, 0.0, [], []
    capacity = [share.planned]
    written = [0]

    def apply(most: int) -> None:
        capacity[0] = most
        held[0] = min(held[0], most)

    room = CacheBudget(share, lambda: held[0], apply, lend=apply, said=said.append, written=lambda: written[0])
    room.computing(1, lambda: 0)
    for size in sizes:
        written[0] = size.written
        room.computing(size.tokens, lambda size=size: size.rows)  # type: ignore[misc]
        held[0] = min(capacity[0], held[0] + int(FILLED * (size.when - now)))
        now = size.when
        beside = size.own - size.held - size.held // 64 + burst(now)
        own = beside + held[0] + held[0] // 64
        if now >= look:
            look = now + (IN_PROMPT if size.tokens > 8 else PERIOD)
            room.see(Reading(10**12, 10**12, own=own), now)
            own = beside + held[0] + held[0] // 64
        due = max(share.smallest, room.wanted() - room.lent)
        coming = max(0, room.due - size.written)
        found.append(Size(now, size.tokens, own, held[0], capacity[0], due, size.rows, size.written, coming))
    return found


def load(file: Path = RECORDED) -> tuple[list[Size], Share]:
    """A record, and what the plan gave the cache then."""
    known = json.loads(file.read_text(encoding="utf-8"))
    return [Size(*row) for row in known["sizes"]], Share(**known["share"])


def main(store: str, ceiling: str, out: str) -> None:
    """Record three chats: two with a long prompt, one with a short one between them."""
    with open_calibrated(store, {"memory_gb": float(ceiling), "context_length": 4096, "dial": "exact"}) as session:
        with recording(session) as sizes:
            for words in (3000, 20, 3000):
                chat(session, words, 120)
                time.sleep(2.0)
        share = asdict(session.cache_budget.share)
    rows = [[round(s.when, 2), *list(asdict(s).values())[1:]] for s in sizes[::2]]
    text = json.dumps({"share": share, "sizes": rows}).replace("], [", "],\n[")
    Path(out).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
