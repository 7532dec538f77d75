"""A turn of a chat, and what answering it took. Imports nothing heavy: the window uses these too."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Message:
    """One turn of a chat. role: 'system', 'user' or 'assistant'.

    token_ids: of an assistant turn, the tokens as generated, so that they need not be encoded again.
    """

    role: str
    content: str
    token_ids: tuple[int, ...] = ()


@dataclass(frozen=True)
class Stats:
    """What an answer took. Times in seconds, bytes in bytes.

    precision: expert uses by what they ran at: keys '32', '16', '8', '4', '2', 'skipped'.
    finish: 'stop' (the model ended), 'length' (max_tokens), 'context' (no room left), 'stop_text', 'cancelled'.
    """

    text: str
    token_ids: tuple[int, ...]
    finish: str
    prompt_tokens: int
    reused_tokens: int
    dropped_turns: int
    prompt_seconds: float
    decode_seconds: float
    hits: int
    misses: int
    bytes_read: int
    precision: dict[str, int]
    peak_rss: int

    @property
    def decode_tokens_per_second(self) -> float:
        """Decode speed; the first token belongs to the prompt."""
        n = len(self.token_ids) - 1
        return n / self.decode_seconds if n > 0 and self.decode_seconds > 0 else 0.0

    @property
    def prompt_tokens_per_second(self) -> float:
        """Prompt speed over the tokens really computed."""
        n = self.prompt_tokens - self.reused_tokens
        return n / self.prompt_seconds if n > 0 and self.prompt_seconds > 0 else 0.0
