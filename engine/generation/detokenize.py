"""Tokens to text as they come, never showing half a character, and stopping at stop texts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tokenizers.decoders import DecodeStream

from engine.generation.messages import ToolCall
from engine.generation.sandboxed_tokenizer import SandboxedPieces, SandboxedTokenizer


class Detokenizer:
    """Incremental decoding of one answer."""

    def __init__(self, tokenizer: Any, prefix: Sequence[int] = ()) -> None:
        """tokenizer: as ModelFiles has it. prefix: tokens before the first new one, decoded but not returned (their
        spacing matters to some).
        """
        own = isinstance(tokenizer, SandboxedTokenizer)
        self._pieces: _Pieces | SandboxedPieces = tokenizer.pieces() if own else _Pieces(tokenizer)
        self._pieces.begin(prefix)

    def add(self, token: int) -> str:
        """The whole characters that this token completes; empty while a character is unfinished."""
        return self._pieces.add(token)

    def flush(self) -> str:
        """What an answer cut inside a character leaves over, with the unfinished bytes as U+FFFD."""
        return self._pieces.flush()


class PlainReader(Detokenizer):
    """Reads an answer as text alone, whatever marks are in it; otherwise like formats.reader.Reader."""

    state = "answer"
    seconds = 0.0
    ended = False
    calls: tuple[ToolCall, ...] = ()


class _Pieces:
    """The same by a tokenizers.Tokenizer in this process."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        self._stream = DecodeStream(skip_special_tokens=True)
        self._pending: list[int] = []

    def begin(self, prefix: Sequence[int]) -> None:
        for token in prefix:
            self.add(token)
        self._pending.clear()

    def add(self, token: int) -> str:
        self._pending.append(token)
        try:
            text = self._stream.step(self._tokenizer, token)
        except Exception:  # bytes that are no UTF-8 changed what they decode to: the library gives the stream up
            self._stream = DecodeStream(skip_special_tokens=True)
            self._stream.step(self._tokenizer, token)
            return self.flush()
        if text is None:
            return ""
        self._pending.clear()
        return str(text)

    def flush(self) -> str:
        tail = self._tokenizer.decode(self._pending, skip_special_tokens=True) if self._pending else ""
        self._pending.clear()
        return str(tail)


class StopTexts:
    """Watches text for stop strings; holds back what may become one."""

    def __init__(self, stops: Sequence[str]) -> None:
        self._stops = [s for s in stops if s]
        self._held = ""
        self.hit = False

    def add(self, text: str) -> str:
        """Text that is safe to show. After a stop string is complete `hit` is set and nothing more comes out."""
        if self.hit or not self._stops:
            return "" if self.hit else text
        self._held += text
        at = [i for i in (self._held.find(s) for s in self._stops) if i >= 0]
        if at:
            self.hit = True
            safe, self._held = self._held[: min(at)], ""
            return safe
        keep = max(self._overlap(s) for s in self._stops)
        safe = self._held[: len(self._held) - keep]
        self._held = self._held[len(self._held) - keep :]
        return safe

    def flush(self) -> str:
        """What was held back and did not become a stop string."""
        text, self._held = self._held, ""
        return text

    def _overlap(self, stop: str) -> int:
        """Length of the longest end of the held text that begins `stop`."""
        most = min(len(stop) - 1, len(self._held))
        return next((n for n in range(most, 0, -1) if self._held.endswith(stop[:n])), 0)
