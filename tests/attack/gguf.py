"""GGUF files that lie about how much they hold, and tokenizers in them that no trainer makes."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

from engine.formats.gguf_header import parse_gguf_header, read_gguf_header
from engine.formats.gguf_metadata import Metadata
from engine.formats.gguf_source import GgufSource, glanced_config
from engine.formats.gguf_tokenizer import tokenizer_files
from tests.attack.case import Case
from tests.attack.given import spoiled

U8, U32, F32, STRING, ARRAY, U64 = 0, 4, 6, 8, 9, 10
SIZES = {"block_count": 2, "expert_count": 4, "embedding_length": 64, "expert_used_count": 2, "context_length": 64,
         "expert_feed_forward_length": 32, "attention.head_count": 4, "vocab_size": 32}  # fmt: skip


def cases() -> list[Case]:
    good = _good()
    found = [Case(f"header {kind}", partial(_read, data), True) for kind, data in spoiled(good, 64, seed=2)]
    found += [Case(f"{n:,} tensors are promised", partial(_read, made({}, tensors=n))) for n in (10**6, 2**40, 2**63)]
    found += [Case(f"{n:,} keys are promised", partial(_read, made({}, keys=n))) for n in (10**5, 2**40, 2**63)]
    found += [
        Case(f"{count:,} of type {kind} are promised", partial(_read, made({}, more=array("a", kind, count))))
        for kind in (U8, U32, STRING, U64) for count in (10**8, 2**40, 2**62)
    ]  # fmt: skip
    found += [Case(f"an array of {n} MB of bytes", partial(_full_array, n << 20)) for n in (8, 200)]
    found += [Case(f"{n:,} empty strings", partial(_strings, n)) for n in (10**6, 8 * 10**6)]
    found.append(Case("arrays within arrays", partial(_read, made({}, more=array("a", ARRAY, 3)))))
    found += [Case(f"{key} is {n}", partial(_glance, {key: n})) for key in SIZES for n in (2**24, 2**31, 2**32 - 1)]
    found += [Case(f"{key} is {n} in a whole file", partial(_opened, {key: n}))
              for key in list(SIZES)[:3] for n in (0, 10**6, 2**32 - 1)]  # fmt: skip
    found += [Case(f"tokenizer: {what}", partial(_tokenizer, values), what.startswith("may"))
              for what, values in _tokenizers().items()]  # fmt: skip
    found.append(Case("200,000 tensors", _tensors, True))
    return found


def _text(value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<Q", len(data)) + data


def array(key: str, kind: int, count: int, data: bytes = b"\0" * 64) -> bytes:
    """A key with an array of so many, whatever bytes follow."""
    return _text(key) + struct.pack("<IIQ", ARRAY, kind, count) + data


def made(
    numbers: dict[str, int], *, more: bytes = b"", tensors: int = 0, keys: int | None = None, table: bytes = b""
) -> bytes:
    """A file of Qwen3's architecture with these sizes, `more` as its last key, and a table of tensors."""
    pairs = [_text("general.architecture") + struct.pack("<I", STRING) + _text("qwen3moe")]
    pairs += [_text(f"qwen3moe.{key}") + struct.pack("<II", U32, n) for key, n in {**SIZES, **numbers}.items()]
    pairs += [more] if more else []
    count = len(pairs) if keys is None else keys
    return b"GGUF" + struct.pack("<IQQ", 3, tensors, count) + b"".join(pairs) + table


@cache
def _good() -> bytes:
    table = b"".join(
        _text(f"blk.0.ffn_{name}_exps.weight") + struct.pack("<IQQQIQ", 3, 64, 32, 4, 0, n * 32768)
        for n, name in enumerate(("gate", "up", "down"))
    )
    words = array("tokenizer.ggml.tokens", STRING, 3, _text("a") + _text("bc") + _text("d"))
    head = made({}, more=words, tensors=3, table=table)
    return head + b"\0" * (-len(head) % 32) + b"\1" * 3 * 32768


def _read(data: bytes, folder: Path) -> None:
    (folder / "m.gguf").write_bytes(data)
    read_gguf_header(folder / "m.gguf")


def _full_array(count: int, folder: Path) -> None:
    _read(made({}, more=array("a", U8, count, b"\1" * count)), folder)


def _strings(count: int, folder: Path) -> None:
    _read(made({}, more=array("a", STRING, count, b"\0" * 8 * count) if count > 4 << 20 else b"") or b"", folder)
    if count <= 4 << 20:
        _read(made({}, more=array("a", STRING, count, b"\0" * 4 * count)), folder)


def _glance(numbers: dict[str, int], folder: Path) -> None:
    glanced_config(folder / "m.gguf", made(numbers))


def _opened(numbers: dict[str, int], folder: Path) -> None:
    (folder / "m.gguf").write_bytes(made(numbers))
    GgufSource.open(folder / "m.gguf")


def _tensors(folder: Path) -> None:
    count = 100_000
    table = b"".join(_text(f"t{n}") + struct.pack("<IQIQ", 1, 8, 0, n * 32) for n in range(count))
    head = made({}, tensors=count, table=table)
    header = parse_gguf_header(folder / "m.gguf", io.BytesIO(head + b"\0" * (-len(head) % 32) + b"\0" * 32 * count))
    assert len(header.tensors) == count


def _tokenizers() -> dict[str, Callable[[], dict[str, Any]]]:
    def bpe(tokens: list[str], merges: list[str], **more: Any) -> dict[str, Any]:
        return {"tokenizer.ggml.model": "gpt2", "tokenizer.ggml.pre": "qwen2", "tokenizer.ggml.tokens": tokens,
                "tokenizer.ggml.merges": merges, **more}  # fmt: skip

    def pieces(tokens: list[str], scores: list[float], **more: Any) -> dict[str, Any]:
        return {
            "tokenizer.ggml.model": "llama",
            "tokenizer.ggml.tokens": tokens,
            "tokenizer.ggml.scores": scores,
            **more,
        }

    many = [f"t{n}" for n in range(200_000)]
    return {
        "may have 200,000 added tokens": lambda: bpe(many, [], **{"tokenizer.ggml.token_type": [3] * len(many)}),
        "may have 200,000 tokens of users": lambda: bpe(many, [], **{"tokenizer.ggml.token_type": [4] * len(many)}),
        "merges of nothing": lambda: bpe(["a"], ["b c"]),
        "merges of one": lambda: bpe(["a"], ["a"]),
        "no tokens": lambda: bpe([], []),
        "types of others": lambda: bpe(["a"], [], **{"tokenizer.ggml.token_type": [1, 2, 3]}),
        "an unknown kind": lambda: {**bpe(["a"], []), "tokenizer.ggml.model": "x" * 100_000},
        "an unknown splitting": lambda: {**bpe(["a"], []), "tokenizer.ggml.pre": "x" * 100_000},
        "a token of 100,000 letters": lambda: pieces(["a" * 100_000], [0.0]),
        "may all be made of each other": lambda: pieces(["a" * n for n in range(1, 510)] * 8, [0.0] * 509 * 8),
        "may be made of each other": lambda: pieces(["a" * n for n in range(1, 510)], [0.0] * 509),
        "no scores": lambda: pieces(["a", "b"], []),
        "may have scores that are none": lambda: pieces(["a", "b", "ab"], [float("nan")] * 3),
        "tokens that are numbers": lambda: {**bpe(["a"], []), "tokenizer.ggml.tokens": [1, 2]},
        "a template that is a number": lambda: {**bpe(["a"], []), "tokenizer.chat_template": 7},
    }


def _tokenizer(values: Callable[[], dict[str, Any]], folder: Path) -> None:
    tokenizer_files(Metadata({"general.architecture": "qwen3moe", "qwen3moe.context_length": 64, **values()}))
