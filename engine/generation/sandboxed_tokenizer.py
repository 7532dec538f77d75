"""A tokenizer in another process, asked as one of tokenizers.Tokenizer is."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_answers = itertools.count(1)  # next() is atomic in CPython: several threads ask


@dataclass(frozen=True)
class AddedToken:
    """As tokenizers.AddedToken, as far as it is asked for."""

    content: str
    special: bool


@dataclass(frozen=True)
class Encoding:
    """As tokenizers.Encoding."""

    ids: list[int]


class SandboxedTokenizer:
    """What is asked of a tokenizers.Tokenizer. What takes or gives text or a number raises UnderhillError."""

    def __init__(self, ask: Callable[..., Any], facts: dict[str, Any]) -> None:
        """ask(what, *arguments), as ModelFiles.ask. facts: as that process has told them."""
        self.ask = ask
        self._added = {int(i): AddedToken(str(content), bool(special)) for i, content, special in facts["added"]}
        self._size = int(facts["size"])
        self.encode_special_tokens = False

    def encode(self, text: str, add_special_tokens: bool = False) -> Encoding:
        """Text to ids. add_special_tokens: is not done."""
        return Encoding(list(self.ask("encode", text, self.encode_special_tokens, characters=len(text))))

    def decode(self, ids: Sequence[int], skip_special_tokens: bool = True) -> str:
        """Ids to text."""
        return str(self.ask("decode", list(ids), skip_special_tokens))

    def token_to_id(self, token: str) -> int | None:
        """None for what is no token."""
        found = self.ask("number", token)
        return None if found is None else int(found)

    def pieces(self) -> SandboxedPieces:
        """For the tokens of one answer."""
        return SandboxedPieces(self.ask, next(_answers))

    def get_added_tokens_decoder(self) -> dict[int, AddedToken]:
        """By id."""
        return self._added

    def get_vocab_size(self) -> int:
        """Added ones included."""
        return self._size


class SandboxedPieces:
    """One answer's tokens to text, as Detokenizer. Every call raises UnderhillError."""

    def __init__(self, ask: Callable[..., Any], number: int) -> None:
        self._ask, self._number = ask, number

    def begin(self, prefix: Sequence[int]) -> None:
        """Detokenizer's `prefix`."""
        self._ask("begin", self._number, list(prefix))

    def add(self, token: int) -> str:
        """As Detokenizer."""
        return str(self._ask("add", self._number, token))

    def flush(self) -> str:
        """As Detokenizer."""
        return str(self._ask("flush", self._number))
