"""What a model thinks before it answers, told apart from the answer in one way, whichever way the model does it.

In text, a thought stands first, between OPEN and CLOSE; models of the harmony format (gpt-oss) write channels instead,
and some templates open the thought in the prompt. What comes out here is always OPEN, the thought, CLOSE, the answer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from engine.generation.detokenize import Detokenizer

OPEN, CLOSE = "<think>", "</think>"
_BEGIN, _END = f"{OPEN}\n", f"\n{CLOSE}\n\n"


def without_thought(text: str) -> str:
    """The answer alone. A thought that was never ended leaves nothing."""
    if not text.lstrip().startswith(OPEN):
        return text
    return text.partition(CLOSE)[2].lstrip("\n")


class Channels:
    """Ids of the tokens by which a tokenizer marks thoughts; None where it has none of them."""

    def __init__(self, tokenizer: Any) -> None:
        self.start, self.channel, self.message, self.end = (
            tokenizer.token_to_id(token) for token in ("<|start|>", "<|channel|>", "<|message|>", "<|end|>")
        )
        self.harmony = self.channel is not None and self.message is not None
        special = {i for i, t in tokenizer.get_added_tokens_decoder().items() if t.special}
        tags = {tokenizer.token_to_id(tag): tag for tag in (OPEN, CLOSE)}
        self.hidden_tags = {i: tag for i, tag in tags.items() if i is not None and i in special}


class Thoughts:
    """Token by token to text, like the Detokenizer that it wraps. seconds: how long the thought took, so far."""

    def __init__(self, shown: Detokenizer, channels: Channels, begun: bool) -> None:
        """begun: the prompt has opened a thought already."""
        self._shown = shown
        self._channels = channels
        self._lead = _BEGIN if begun else ""
        self._header: list[str] | None = None  # of a harmony message: what stands before its text
        self._inside = False
        self._recent = ""  # the end of the text so far, in which a tag may be growing
        self._text_seen = False
        self._began = self._ended = 0.0

    @property
    def seconds(self) -> float:
        """0 where there was no thought."""
        return (self._ended or time.perf_counter()) - self._began if self._began else 0.0

    def add(self, token: int) -> str:
        """The whole characters that this token completes."""
        lead, self._lead = self._lead, ""
        channels = self._channels
        if channels.harmony and (text := self._harmony(token)) is not None:
            return lead + text
        text = self._shown.add(token)
        if token in channels.hidden_tags:
            text += channels.hidden_tags[token]
        if self._header is not None:
            self._header.append(text)
            text = ""
        return self._watched(lead + text)

    def flush(self) -> str:
        """What an answer cut inside a character leaves over."""
        return self._shown.flush() if self._header is None else ""

    def _harmony(self, token: int) -> str | None:
        """What a control token of the harmony format comes to; None for any other token."""
        channels = self._channels
        if token in (channels.start, channels.end, channels.channel):
            self._header = []
            self._shown.add(token)
            return ""
        if token != channels.message or self._header is None:
            return None
        self._shown.add(token)
        name, self._header = "".join(self._header).strip(), None
        thought = not name.startswith("final") and name != ""
        if thought == self._inside:
            return "\n\n" if thought else ""
        return self._watched(_BEGIN if thought else _END)

    def _watched(self, text: str) -> str:
        """Notes when a thought begins and ends."""
        recent = self._recent + text
        if not self._inside and not self._text_seen and recent.lstrip().startswith(OPEN):
            self._inside, self._began = True, time.perf_counter()
        if self._inside and CLOSE in recent:
            self._inside, self._ended = False, time.perf_counter()
        if len(recent.strip()) >= len(OPEN):
            self._text_seen = True
        self._recent = recent[-len(CLOSE) :] if self._text_seen else recent
        return text


def for_template(content: str, template: str) -> str:
    """An earlier answer as a chat template wants it: with its thought only where the template knows what that is."""
    return content if CLOSE in template else without_thought(content)


def opens_thought(prompt: str) -> bool:
    """Does a rendered prompt end inside a thought?"""
    return prompt.rstrip().endswith(OPEN)


def reader(tokenizer: Any, channels: Channels, prefix: Sequence[int], begun: bool) -> Thoughts:
    """For one answer. prefix: the last tokens of the prompt."""
    return Thoughts(Detokenizer(tokenizer, prefix), channels, begun)
