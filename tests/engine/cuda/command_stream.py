"""The work of a card written down as tokens, and proved to be ordered whatever a card does first.

A run beside a simulated card is recorded once: what each copy and each kernel reads and writes, on the card and in
pinned memory, what of pinned memory the program itself touches, and what waits for what. Two ways tell whether any
legal order of that gives other results, and share no code:

- `fault` goes by what happens before what (vector clocks over streams and the program): two accesses of the same bytes,
  one of them a write, of which neither comes for certain before the other, are a fault. So it speaks of all orders.
- `Orders` draws orders, each stream and the program going on as far as what they wait for allows, and looks for
  accesses that come the other way round than they were recorded.

The recorded order is the laziest there is: work runs only once the program knows that it has, so that what the program
reads or overwrites too early is found while it is recorded (simulated_driver.py).
"""

from __future__ import annotations

import random
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import engine
from tests.engine.cuda.schedule import NOTHING, Clock, Command, Range, Schedule, Touched

PROGRAM = 0  # the stream that stands for the program itself
ENGINE = Path(engine.__file__).parent


@dataclass(eq=False)
class Token:
    """One thing that happens on a stream. needs: the token that it waits for; a wait that tells the program nothing new
    is not written down. place: where the engine waits; None: the driver does by itself, for who gives memory back.
    """

    what: str
    stream: int
    command: Command | None = None
    needs: Token | None = None
    place: str | None = None
    own: Touched = NOTHING

    @property
    def touched(self) -> Touched:
        """What it reads and writes."""
        return self.own if self.command is None else self.command.touched


@dataclass
class CommandStream:
    """All tokens, in the order in which the program asked for them."""

    tokens: list[Token] = field(default_factory=list)

    @property
    def places(self) -> list[str]:
        """Where the engine waits."""
        return sorted({token.place for token in self.tokens if token.place})

    def without(self, left_out: Callable[[Token], bool]) -> CommandStream:
        """The same, but for these waits."""
        return CommandStream([token for token in self.tokens if token.needs is None or not left_out(token)])


class RecordedSchedule(Schedule):
    """Runs what the program waits for and nothing else, and writes all of it down. stream: what was written."""

    def __init__(self, seed: int, likely: float = 0.5) -> None:
        """likely: how often an event that is asked about is found to be reached."""
        super().__init__(seed, 0.0)
        self._drawn, self._likely = random.Random(seed), likely
        self.stream = CommandStream()
        self._tokens: dict[int, Token] = {}  # by id of their command
        self._pinned: dict[int, NDArray[np.uint8]] = {}  # what was in pinned memory when it was looked at last

    def add(self, what: str, stream: int, run: Callable[[], Touched]) -> Command:
        """See Schedule."""
        command = super().add(what, stream, run)
        self._tokens[id(command)] = self._note(Token(what, stream, command))
        return command

    def wait(self, stream: int, event: int) -> None:
        """See Schedule."""
        super().wait(stream, event)
        if (command := self._events[event]) is not None:
            self._note(Token("wait", stream, needs=self._tokens[id(command)], place=_place()))

    def reached(self, event: int) -> bool:
        """See Schedule."""
        command = self._events[event]
        if _place() == "commands.submit":
            return False  # it asks for the driver's sake, and does not hear the answer
        if command is not None and not command.done and self._drawn.random() < self._likely:
            self._learn(command)
        return super().reached(event)

    def finish_event(self, event: int) -> None:
        """See Schedule."""
        command = self._events[event]
        if command is not None and not command.done:
            self._learn(command)
        super().finish_event(event)

    def finish(self, stream: int) -> None:
        """See Schedule."""
        queued = [own if isinstance(own, Command) else own.command for own in self.streams[stream].queue]
        for command in queued[-1:]:
            self._learn(command)
        super().finish(stream)

    def sends(self, address: int, data: NDArray[np.uint8]) -> None:
        """See Schedule."""
        before = self._pinned.get(address)
        if before is None or len(before) < len(data):
            changed = np.ones(len(data), bool)
        else:
            changed = before[: len(data)] != data
        self._pinned[address] = data.copy()
        edges = np.flatnonzero(np.diff(np.concatenate(([False], changed, [False])).astype(np.int8))).reshape(-1, 2)
        if len(edges):
            # One range is enough: a program that writes into a buffer has it as a whole.
            first, end = int(edges[0, 0]), int(edges[-1, 1])
            self._note(Token("the program writes", PROGRAM, own=([], [(address + first, end - first)])))

    def _learn(self, command: Command) -> None:
        """The program knows that this is done: it is, with what it needs, and what came back with it is read."""
        self._note(Token("the program waits", PROGRAM, needs=self._tokens[id(command)], place=_place()))
        came: list[Range] = []
        self._run_to(command, came)
        if came:
            self._note(Token("the program reads", PROGRAM, own=(came, [])))

    def _run_to(self, command: Command, came: list[Range]) -> None:
        queue = self.streams[command.stream].queue
        while not command.done:
            first = queue[0]
            if not isinstance(first, Command):
                self._run_to(first.command, came)
                queue.popleft()
                continue
            self._run(self.streams[command.stream])
            if first.what == "copy from the card":
                came += first.touched[1]

    def _note(self, token: Token) -> Token:
        self.stream.tokens.append(token)
        return token


def _place() -> str | None:
    """The function of the engine that waits; None: the driver does, for whoever gives memory back."""
    frame = sys._getframe(1)
    while frame is not None:
        file = Path(frame.f_code.co_filename)
        if ENGINE in file.parents and file.name not in ("driver.py", "device.py"):
            own = frame.f_code.co_name
            return None if own in ("_grow", "_drop", "_give", "_forget", "_clear", "close") else f"{file.stem}.{own}"
        frame = frame.f_back
    return None


# ---- of all orders ---------------------------------------------------------------------------------------------------


def clocks(stream: CommandStream) -> Iterator[tuple[Token, Clock]]:
    """Of each token, by stream how many of that stream's come before it for certain, itself included."""
    heads: dict[int, Clock] = {PROGRAM: {}}
    after: dict[int, Clock] = {}  # by id of a token
    for token in stream.tokens:
        head = heads.setdefault(token.stream, {})
        for other in (heads[PROGRAM], after[id(token.needs)] if token.needs is not None else {}):
            for name, count in other.items():
                head[name] = max(head.get(name, 0), count)
        head[token.stream] = head.get(token.stream, 0) + 1
        after[id(token)] = dict(head)
        yield token, after[id(token)]


def fault(stream: CommandStream) -> str | None:
    """Two accesses that some legal order has the other way round; None: there are none, in no order."""
    there: dict[int, list[Token]] = {}  # by stream
    for token, clock in clocks(stream):
        for other_stream, others in there.items():
            if other_stream == token.stream:
                continue
            for other in others[clock.get(other_stream, 0) :]:
                if _meet(token.touched, other.touched):
                    return f"'{token.what}' and '{other.what}'"
        there.setdefault(token.stream, []).append(token)
    return None


def _meet(mine: Touched, theirs: Touched) -> bool:
    (reads, writes), (their_reads, their_writes) = mine, theirs
    pairs = ((writes, their_writes), (writes, their_reads), (reads, their_writes))
    return any(a < c + d and c < a + b for ours, others in pairs for a, b in ours for c, d in others)


# ---- of some orders --------------------------------------------------------------------------------------------------


class Orders:
    """Orders of a recorded stream, by queues alone. waits: left out are those that are not in there."""

    def __init__(self, stream: CommandStream, accesses: NDArray[np.int64] | None = None) -> None:
        """accesses: see there; of the same tokens."""
        kept = {id(token) for token in stream.tokens}
        names = list(dict.fromkeys([PROGRAM, *(token.stream for token in stream.tokens)]))
        self._queues: list[list[tuple[int, list[tuple[int, int]]]]] = [[] for _ in names]
        place: dict[int, tuple[int, int]] = {}  # by token, its queue, and how many of that are through with it
        for number, token in enumerate(stream.tokens):
            own = names.index(token.stream)
            # Work is begun once the program has come to where it asks for it.
            needs = [(0, len(self._queues[0]))] if own else []
            if token.needs is not None and id(token.needs) in kept:
                needs.append(place[id(token.needs)])
            self._queues[own].append((number, needs))
            place[id(token)] = own, len(self._queues[own])
        self._all = range(len(names))
        self._accesses = accesses_of(stream) if accesses is None else accesses

    def wrong(self, draw: random.Random) -> bool:
        """Whether an order that is drawn now has two accesses the other way round."""
        at, order = [0] * len(self._queues), np.empty(sum(map(len, self._queues)), np.int64)
        often, time = draw.choices((0.01, 0.3, 1.0), k=len(at)), 0
        while time < len(order):
            own = draw.choices(self._all, often)[0]
            for _ in range(draw.choice((1, 2, 5, 40))):
                own = self._free(own, at)
                queue = self._queues[own]
                if at[own] == len(queue):
                    break
                order[queue[at[own]][0]], time = time, time + 1
                at[own] += 1
        first, second = self._accesses
        return bool((order[first] > order[second]).any())

    def _free(self, own: int, at: Sequence[int]) -> int:
        """This queue, or if it has to wait, the one that it waits for, in the end."""
        while at[own] < len(self._queues[own]):
            for other, n in self._queues[own][at[own]][1]:
                if at[other] < n:
                    own = other
                    break
            else:
                break
        return own


def accesses_of(stream: CommandStream) -> NDArray[np.int64]:
    """[2, n]: numbers of tokens of different streams that use the same bytes, one of them to write; the first first."""
    touching = [(number, token) for number, token in enumerate(stream.tokens) if any(token.touched)]
    kinds = [
        (number, token.stream, *own, kind)
        for number, token in touching
        for kind in (0, 1)
        for own in token.touched[kind]
    ]
    table = np.array(sorted(kinds, key=itemgetter(2)), np.int64)  # number, stream, address, bytes, whether written
    begins, ends = table[:, 2], table[:, 2] + table[:, 3]
    written = np.flatnonzero(table[:, 4])
    # Of what begins before the end of each written, none before `low` ends behind its beginning.
    low = np.searchsorted(np.maximum.accumulate(ends), begins[written], side="right")
    high = np.searchsorted(begins, ends[written], side="left")
    found: list[NDArray[np.int64]] = []
    for row, start, stop in zip(table[written], low, high, strict=True):
        near = table[start:stop]
        others = near[(ends[start:stop] > row[2]) & (near[:, 1] != row[1]), 0]
        found.append(np.minimum(others, row[0]) * len(stream.tokens) + np.maximum(others, row[0]))
    return np.stack(np.divmod(np.unique(np.concatenate(found)), len(stream.tokens)))


# ---- what every recording has to show --------------------------------------------------------------------------------


def check_orders(recorded: Sequence[CommandStream], orders: int, seed: int = 0) -> None:
    """No legal order of these is wrong, and so many of them that are drawn are not."""
    for stream in recorded:
        assert fault(stream) is None
    draw, ready = random.Random(seed), [Orders(stream) for stream in recorded]
    for number in range(orders):
        assert not ready[number % len(ready)].wrong(draw)


def check_waits(recorded: Sequence[CommandStream], orders: int, unneeded: Collection[str] = (), seed: int = 0) -> None:
    """Each place where the engine waits is missed by both ways when it is left out, in one of these at least.

    orders: drawn at most for each; the rarest fault shows itself in one of five. unneeded: those whose wait others make
    up for.
    """
    draw = random.Random(seed)
    for place in sorted({place for stream in recorded for place in stream.places}):
        cut = [
            stream.without(lambda token, place=place: token.place == place)
            for stream in recorded
            if place in stream.places
        ]
        found = [stream for stream in cut if fault(stream) is not None]
        assert bool(found) != (place in unneeded), place
        if found:
            ready = [Orders(stream) for stream in found]
            assert any(ready[number % len(ready)].wrong(draw) for number in range(orders)), place


def check_single_waits(stream: CommandStream, orders: int, seed: int = 0) -> int:
    """Of single waits that are left out, one after the other, what orders show the analysis knows; how many it does."""
    draw, known = random.Random(seed), 0
    for left_out in [token for token in stream.tokens if token.place]:
        cut = stream.without(lambda token, left_out=left_out: token is left_out)
        missed = fault(cut) is not None
        known += missed
        ready = Orders(cut)
        assert missed or not any(ready.wrong(draw) for _ in range(orders)), left_out.place
    return known
