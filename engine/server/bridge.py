"""The engine as a coroutine asks it: commands out, events back on the event loop, a bounded number of answers."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections import deque
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field, replace

from engine import limits, protocol
from engine.errors import Kind, UnderhillError
from engine.translatable import msg

PREFIX = "server:"  # of the ids of its commands
_KNOWN = 32  # answers whose times are remembered
_RECENT = 20  # requests that are over and still told of


class Overloaded(UnderhillError):
    """As many requests wait as may. seconds: after which one is worth another try."""

    def __init__(self, seconds: int) -> None:
        super().__init__(Kind.BUSY, msg("Too many requests wait for an answer."), msg("Ask again later."))
        self.seconds = seconds


@dataclass(kw_only=True)
class Counters:
    """Since the server was started."""

    answered: int = 0
    refused: int = 0
    failed: int = 0
    cancelled: int = 0
    prompt_tokens: int = 0
    reused_tokens: int = 0
    answer_tokens: int = 0
    seconds: float = 0.0


@dataclass
class _Open:
    request: protocol.ServerRequest
    begun: float
    events: asyncio.Queue[protocol.Event] = field(default_factory=asyncio.Queue)


class EngineBridge:
    """Used on one event loop, but for `deliver`. changed: called when a request came, went or is further."""

    def __init__(
        self,
        send: Callable[[protocol.Command], None],
        loop: asyncio.AbstractEventLoop,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        self._send, self._loop, self._changed = send, loop, changed
        self._numbers = itertools.count(1)
        self._results: dict[str, asyncio.Future[protocol.Event]] = {}
        self._answers: dict[str, _Open] = {}
        self._took: deque[float] = deque(maxlen=_KNOWN)
        self._recent: deque[protocol.ServerRequest] = deque(maxlen=_RECENT)
        self.counters = Counters()

    def deliver(self, event: protocol.Event) -> None:
        """An event of the engine for a command of this one's. From any thread."""
        try:
            self._loop.call_soon_threadsafe(self._take, event)
        except RuntimeError:  # the loop has ended: so has whoever asked
            return

    def _take(self, event: protocol.Event) -> None:
        if (answer := self._answers.get(event.id)) is not None:
            answer.events.put_nowait(event)
            return
        future = self._results.get(event.id)
        if future is not None and isinstance(event, protocol.TERMINAL) and not future.done():
            future.set_result(event)

    @property
    def requests(self) -> tuple[protocol.ServerRequest, ...]:
        """Those that wait or are answered, the oldest first."""
        now = time.monotonic()
        return tuple(replace(each.request, seconds=now - each.begun) for each in list(self._answers.values()))

    @property
    def recent(self) -> tuple[protocol.ServerRequest, ...]:
        """The last that are over, the newest first."""
        return tuple(reversed(self._recent))

    async def ask(self, make: Callable[[str], protocol.Command]) -> object:
        """The result of a command that ends soon. make: given its id. Raises UnderhillError."""
        command = make(f"{PREFIX}{next(self._numbers)}")
        future: asyncio.Future[protocol.Event] = self._loop.create_future()
        self._results[command.id] = future
        try:
            self._send(command)
            return _result(await future)
        finally:
            del self._results[command.id]

    async def answer(
        self, make: Callable[[str], protocol.Command], model: str, client: str, way: str
    ) -> AsyncIterator[protocol.Event]:
        """PromptRead and TextDelta as they come, then Done. Whoever stops listening stops the answer.

        make: given the id of the command. model, client, way: as in ServerRequest. Raises UnderhillError: Overloaded,
        and what the engine fails with.
        """
        if len(self._answers) >= limits.WAITING_REQUESTS:
            self.counters.refused += 1
            self._changed()
            raise Overloaded(self._patience())
        command = make(f"{PREFIX}{next(self._numbers)}")
        request = protocol.ServerRequest(
            id=command.id, client=client, way=way, model=model, state="waiting", tokens=0, seconds=0.0
        )
        opened = self._answers[command.id] = _Open(request, time.monotonic())
        self._changed()
        over = False
        try:
            self._send(command)
            while not over:
                event = await opened.events.get()
                over = isinstance(event, protocol.TERMINAL)
                self._note(opened, event)
                if over:
                    _result(event)
                yield event
        finally:
            del self._answers[command.id]
            ended = replace(opened.request, seconds=time.monotonic() - opened.begun)
            if not over:
                self.counters.cancelled += 1
                self._send(protocol.Stop(f"{command.id}:stop", command.id))
                ended = replace(ended, state="stopped")
            self._recent.append(ended)
            self._changed()

    def _patience(self) -> int:
        """Seconds until there may be a place: what an answer took of late."""
        mean = sum(self._took) / len(self._took) if self._took else 1.0
        return max(1, min(60, round(mean)))

    def _note(self, opened: _Open, event: protocol.Event) -> None:
        known, now = opened.request, time.monotonic()
        match event:
            case protocol.PromptRead():
                opened.request = replace(known, state="reading")
            case protocol.TextDelta():
                opened.request = replace(known, state="answering", tokens=known.tokens + len(event.token_ids))
            case protocol.Done(result=protocol.Stats() as stats):
                opened.request = replace(known, state="answered", tokens=len(stats.token_ids))
                self._took.append(now - opened.begun)
                seen = self.counters
                seen.answered += 1
                seen.prompt_tokens += stats.prompt_tokens
                seen.reused_tokens += stats.reused_tokens
                seen.answer_tokens += len(stats.token_ids)
                seen.seconds += now - opened.begun
            case protocol.Done(result=protocol.Embeddings() as embeddings):
                opened.request = replace(known, state="answered", tokens=embeddings.tokens)
                self.counters.answered += 1
                self.counters.prompt_tokens += embeddings.tokens
                self.counters.seconds += now - opened.begun
            case protocol.Failed():
                opened.request = replace(known, state="failed", why=event.sentence)
                self.counters.failed += 1
            case protocol.Cancelled():
                opened.request = replace(known, state="stopped")
        self._changed()


def _result(event: protocol.Event) -> object:
    match event:
        case protocol.Done():
            return event.result
        case protocol.Failed():
            raise UnderhillError(event.kind, event.sentence, event.action)
    raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
