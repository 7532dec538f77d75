"""Answers that are held whole: only so long, only so slow, whatever the other side sends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import httpx2

from engine import limits
from engine.hub import errors
from engine.translatable import msg


class AnswerBudget:
    """Limits of one answer: its bytes, its time, its least rate.

    arrived: called with the number of bytes of each piece, it raises HubError where it is enough.
    """

    def __init__(self, url: str, max_bytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._url, self._left, self._clock = url, max_bytes, clock
        self._begun = clock()
        self._had = 0

    def arrived(self, count: int) -> None:
        """SERVER_ERROR: it goes on and on. NO_NETWORK: it comes so slowly that its end is not to be waited for."""
        self._left -= count
        self._had += count
        if self._left < 0:
            raise errors.nonsense(self._url, msg("an answer without end"))
        took = self._clock() - self._begun
        if took > limits.ANSWER_SECONDS or (took > limits.SILENCE_SECONDS and self._had < limits.LEAST_PACE * took):
            raise errors.slow(self._url)


class BoundedBody(httpx2.SyncByteStream):
    """The body of a response, as it comes: read by the library itself, which would read it without end."""

    def __init__(self, body: httpx2.SyncByteStream, pace: AnswerBudget) -> None:
        self._body, self._pace = body, pace

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._body:
            self._pace.arrived(len(piece))
            yield piece

    def close(self) -> None:
        self._body.close()


def bound_redirection(response: httpx2.Response) -> None:
    """A hook: what comes with a redirection, and is read before that is followed, is as short as any other answer."""
    if response.has_redirect_location and isinstance(response.stream, httpx2.SyncByteStream):
        response.stream = BoundedBody(response.stream, AnswerBudget(str(response.url), limits.ANSWER_BYTES))


def whole(response: httpx2.Response) -> httpx2.Response:
    """The same answer, its body read and unpacked. Raises HubError; httpx2.RequestError as reading it does."""
    url = str(response.url)
    pace, data = AnswerBudget(url, limits.ANSWER_BYTES), bytearray()
    try:
        for piece in response.iter_bytes():
            pace.arrived(len(piece))
            data += piece
    except httpx2.DecodingError as cause:
        raise errors.nonsense(url, msg("bytes that cannot be unpacked")) from cause
    finally:
        response.close()
    headers = [(k, v) for k, v in response.headers.multi_items() if k.lower() not in _OF_THE_WAY]
    return httpx2.Response(
        response.status_code,
        headers=headers,
        content=bytes(data),
        request=response.request,
        extensions=response.extensions,
        history=response.history,
        default_encoding="utf-8",
    )


_OF_THE_WAY = ("content-encoding", "content-length", "transfer-encoding")  # true of the bytes that came, not of these
