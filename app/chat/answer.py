"""An answer while it is being made."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass, field
from typing import Any

from app.i18n.translate import plural, tr
from app.storage.records import QueuedMessage, StoredMessage, Style
from app.transcript.notes import duration, rate
from engine import protocol
from engine.translatable import as_json

_WINDOW = 2.0  # seconds over which the speed is told


@dataclass
class RunningAnswer:
    """message: as begun. text and tokens grow. command: id of the Generate, empty until the question is on disk.

    turns: the messages it answers. message.content is not empty where an answer goes on from where it had ended.
    style: how it is answered. waits: another answer has to end first. waited: the question did, before it was sent.
    """

    message: StoredMessage
    question: StoredMessage | None
    turns: list[StoredMessage]
    style: Style
    command: str = ""
    text: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    pending: str = ""  # text that the window has not shown yet
    news: bool = True  # something to show, or to write to disk
    unsaved: bool = False
    saving: bool = False  # being written to disk: a slow disk shall get the latest next, not a queue of older ones
    refused: bool = False  # by the disk, when it was last to be written
    stopped: bool = False
    waits: bool = False
    waited: bool = False
    opening: bool = False  # the model is being opened
    queue: tuple[QueuedMessage, ...] = ()  # messages to send once it has ended
    began: float = field(default_factory=time.monotonic)
    reading: protocol.PromptRead | None = None
    _recent: list[tuple[float, int]] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        """It is the rest of an answer that had ended before."""
        return bool(self.message.content)

    def take(self, delta: protocol.TextDelta) -> None:
        """More text and tokens."""
        self.text.append(delta.text)
        self.tokens.extend(delta.token_ids)
        self.pending += delta.text
        self.news = self.unsaved = True
        now = time.monotonic()
        self._recent.append((now, len(self.tokens)))
        while len(self._recent) > 2 and now - self._recent[0][0] > _WINDOW:
            self._recent.pop(0)

    def status(self) -> str:
        """What to say under the answer now."""
        if self.stopped:
            return tr("Stopping  ·  Esc again leaves it")
        if self.tokens:
            count = plural("1 token", "{count:,} tokens", len(self.tokens), count=len(self.tokens))
            return "  ·  ".join(p for p in (self._speed(), count, tr("Esc stops")) if p)
        waited = duration(time.monotonic() - self.began)
        if self.waits:
            return tr("Waiting for the answer in another chat  ·  Esc stops")
        if self.opening:
            return tr("Waiting for the model to open  ·  {waited}", waited=waited)
        read = self.reading
        if read is not None and read.total and read.done < read.total:
            share, total, reused = 100 * read.done // read.total, f"{read.total:,}", f"{read.reused:,}"
            if read.reused:
                return tr("Reading your message: {share} % of {total} tokens, {reused} already known",
                           share=share, total=total, reused=reused)  # fmt: skip
            return tr("Reading your message: {share} % of {total} tokens", share=share, total=total)
        return tr("Waiting for the first word  ·  {waited}", waited=waited)

    def _speed(self) -> str:
        if len(self._recent) < 2:
            return ""
        (t0, n0), (t1, n1) = self._recent[0], self._recent[-1]
        return tr("{rate} tok/s", rate=rate((n1 - n0) / (t1 - t0))) if t1 > t0 else ""

    def so_far(self) -> StoredMessage:
        """The message to write to disk by now."""
        before = self.message
        return dataclasses.replace(
            before, content=before.content + "".join(self.text), token_ids=(*before.token_ids, *self.tokens)
        )

    def finished(self, finish: str, stats: protocol.Stats | None) -> StoredMessage:
        """The message as it is in the end. The engine's own text and tokens win over what was gathered."""
        message, before = self.so_far(), self.message
        values: dict[str, Any] = before.stats
        if stats is not None:
            values = _together(before.stats, {**dataclasses.asdict(stats), "why": as_json(stats.why)})
            message = dataclasses.replace(
                message, content=before.content + values.pop("text"),
                token_ids=(*before.token_ids, *values.pop("token_ids")),
            )  # fmt: skip
        return dataclasses.replace(message, state="whole", finish=finish, stats=values)

    def late(self, event: protocol.Event) -> StoredMessage | None:
        """As `finished`, by an event that came when nobody waited any more: with its figures, or why it did not end."""
        if isinstance(event, protocol.Cancelled) and isinstance(event.result, protocol.Stats):
            return self.finished(event.result.finish, event.result)
        if isinstance(event, protocol.Failed) and event.kind is protocol.Kind.HELD:
            return self.finished("held", None)
        return None


def _together(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """What an answer took in all, where it went on from where it had ended; the wait is that for its first word."""
    if not before:
        return now
    summed = {k: now[k] + before.get(k, 0) for k in ("decode_seconds", "hits", "misses", "bytes_read")}
    precision = {k: n + before.get("precision", {}).get(k, 0) for k, n in now["precision"].items()}
    question = {k: before.get(k, now[k]) for k in ("prompt_seconds", "prompt_tokens", "reused_tokens")}
    return {**now, **summed, **question, "precision": precision}
