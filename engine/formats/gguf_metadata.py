"""The metadata of a GGUF file as typed values; what is missing or of another type is said in a sentence."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

from engine.errors import UnderhillError
from engine.formats.errors import unusable_file
from engine.limits import VOCABULARY, most_of, shown
from engine.translatable import msg


class Metadata:
    """Keys of the file's architecture are asked for without its prefix: 'block_count' is 'qwen3moe.block_count'."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        """Raises UnderhillError(BROKEN_FILE) where the architecture is not named."""
        self._values = values
        self.architecture = str(self.general("general.architecture", str))

    def general(self, key: str, kind: type | tuple[type, ...], default: Any = None) -> Any:
        """A value by its whole key. None as default: it must be there."""
        value = self._values.get(key, default)
        if value is None:
            raise self._broken(msg("it lacks {key}", key=key))
        if not isinstance(value, kind):
            raise self._broken(msg("{key} is {shown}", key=key, shown=shown(value)))
        return value

    def has(self, key: str) -> bool:
        """Whether the architecture's key is there."""
        return f"{self.architecture}.{key}" in self._values

    def integer(self, key: str, default: int | None = None) -> int:
        """A whole number from 0 to what is taken under such a name (limits.most_of).

        Of a list with one entry per layer, the only value in it that is not 0.
        """
        value = self._values.get(f"{self.architecture}.{key}", default)
        if isinstance(value, list) and value:
            different = set(value) - {0}
            value = different.pop() if len(different) == 1 else value
        if value is None:
            raise self._broken(msg("it lacks {architecture}.{key}", architecture=self.architecture, key=key))
        if type(value) is not int or not 0 <= value <= most_of(key):
            raise self._broken(
                msg("{architecture}.{key} is {shown}", architecture=self.architecture, key=key, shown=shown(value))
            )
        return value

    def integers(self, key: str, count: int) -> list[int]:
        """A list of `count` whole numbers, also where one stands for all."""
        value = self._values.get(f"{self.architecture}.{key}")
        if type(value) is int:
            return [value] * count
        if not isinstance(value, list) or len(value) < count or any(type(n) is not int for n in value):
            raise self._broken(
                msg(
                    "{architecture}.{key} is no list of {count} numbers",
                    architecture=self.architecture,
                    key=key,
                    count=count,
                )
            )
        return value[:count]

    def flags(self, key: str, count: int) -> list[bool]:
        """A list of at least `count` flags, kept as such or as 0 and 1."""
        value = self._values.get(f"{self.architecture}.{key}")
        if not isinstance(value, list) or len(value) < count or any(n not in (0, 1) for n in value):
            raise self._broken(
                msg(
                    "{architecture}.{key} is no list of {count} flags",
                    architecture=self.architecture,
                    key=key,
                    count=count,
                )
            )
        return [bool(n) for n in value[:count]]

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        value = self._values.get(f"{self.architecture}.{key}", default)
        if value is None:
            raise self._broken(msg("it lacks {architecture}.{key}", architecture=self.architecture, key=key))
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            raise self._broken(
                msg("{architecture}.{key} is {shown}", architecture=self.architecture, key=key, shown=shown(value))
            )
        return shortest(float(value))

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return bool(self.general(f"{self.architecture}.{key}", bool, default))

    def text(self, key: str, default: str) -> str:
        """A string."""
        return str(self.general(f"{self.architecture}.{key}", str, default))

    def token(self, which: str) -> int | None:
        """The id of a special token ('bos', 'eos', 'unknown', 'padding', 'eot'); None where there is none."""
        value = self._values.get(f"tokenizer.ggml.{which}_token_id")
        return value if type(value) is int and 0 <= value < VOCABULARY else None

    def strings(self, key: str) -> list[str]:
        """A list of texts by its whole key; empty where there is none."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(x, str) for x in value):
            raise self._broken(msg("{key} is no list of texts", key=key))
        return value

    def numbers(self, key: str) -> list[float]:
        """A list of numbers by its whole key; empty where there is none."""
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(x, int | float) for x in value):
            raise self._broken(msg("{key} is no list of numbers", key=key))
        return value

    def _broken(self, what: str) -> UnderhillError:
        return unusable_file(msg("The metadata of this GGUF file is not usable: {what}.", what=what))


def shortest(value: float) -> float:
    """The shortest decimal that is the same float32: metadata keeps 1e-6 as 9.99999997e-07."""
    packed = _float32(value)
    for digits in range(1, 9):
        text = float(f"{value:.{digits}g}")
        if _float32(text) == packed:
            return text
    return value


def _float32(value: float) -> bytes:
    """The four bytes of a float32."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""
