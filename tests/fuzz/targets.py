"""The readers that are fuzzed. Each is given bytes, and may end in a value or in a sentence for a person."""

from __future__ import annotations

import io
import json
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.export import chat_file
from engine import limits, regular_file
from engine.errors import Kind, UnderhillError
from engine.formats import gguf_header, gguf_tokenizer, safetensors_header
from engine.formats.gguf_metadata import Metadata
from engine.formats.gguf_source import GgufSource, glanced_config
from engine.generation import turns
from engine.generation.formats import calls
from engine.library import catalogue
from engine.models.families import read_spec
from engine.process import codec
from engine.sandbox import frames
from engine.store import manifest

SOMEWHERE = Path("folder") / "file"  # the name that sentences are made with


@dataclass(frozen=True)
class Target:
    """read: gives the bytes to a reader. refusals: what it may raise beside UnderhillError, as it says itself."""

    read: Callable[[bytes], object]
    refusals: tuple[type[Exception], ...] = ()

    def __call__(self, data: bytes) -> None:
        """Raises AssertionError for a sentence that says nothing, and whatever else the reader did not foresee."""
        refused: UnderhillError | None = None
        try:
            self.read(data)
        except self.refusals:
            return
        except UnderhillError as error:
            refused = error
        if refused is not None:
            assert refused.kind is not Kind.INTERNAL, refused
            assert refused.sentence, "an error without a sentence"
            assert len(str(refused)) < 3000, "a sentence that nobody reads"


def _safetensors(data: bytes) -> None:
    length = safetensors_header.header_length(SOMEWHERE, len(data), data[:8])
    safetensors_header.parse_header(SOMEWHERE, len(data), data[8 : 8 + length])


class _WithTensors(io.BytesIO):
    """The header of a file that is as long as it has to be: its tensors would make every input a large one."""

    def seek(self, offset: int, whence: int = 0) -> int:
        """Of the end: where it would be."""
        return 1 << 30 if whence == io.SEEK_END else super().seek(offset, whence)


def _gguf(data: bytes) -> None:
    header = gguf_header.parse_gguf_header(SOMEWHERE, _WithTensors(data))
    source = GgufSource.of(SOMEWHERE, (header,), weights=False)
    read_spec(source.config)
    gguf_tokenizer.tokenizer_files(Metadata(header.metadata))


def _config(data: bytes) -> None:
    config = regular_file.parse_json(data)
    if isinstance(config, dict):
        limits.check_config(config)
        read_spec(config)


def _manifest(data: bytes) -> None:
    """With a checksum that is right: one that is wrong is soon refused."""
    body = json.loads(data)
    if isinstance(body, dict):
        body.pop("checksum", None)
        body["checksum"] = manifest.checksum(body)
        data = json.dumps(body).encode()
    manifest.loads(data)


def _chats(data: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:  # Windows opens no file again that is to go when it is closed
        file = Path(folder, "chats.json")
        file.write_bytes(data)
        for _ in chat_file.chats(str(file), "[image]"):
            pass


def _calls(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    for grammar in calls.GRAMMARS:
        calls.parse(grammar, text)
    turns.parted(text)


def _frames(data: bytes) -> None:
    stream = io.BytesIO(data)
    while True:
        frames.read(stream, 1 << 20)


def _json(read: Callable[[Any], object]) -> Callable[[bytes], object]:
    return lambda data: read(regular_file.parse_json(data))


TARGETS = {
    "safetensors": Target(_safetensors),
    "gguf": Target(_gguf),
    "gguf_beginning": Target(lambda data: glanced_config(SOMEWHERE, data)),
    "manifest": Target(_manifest, (json.JSONDecodeError, UnicodeDecodeError, RecursionError)),
    "config": Target(_config, (ValueError,)),
    "catalogue": Target(_json(catalogue.parse), (ValueError,)),
    "chats": Target(_chats),
    "tool_calls": Target(_calls),
    "events": Target(codec.unpack, (ValueError,)),
    "frames": Target(_frames, (ValueError, EOFError)),
}
