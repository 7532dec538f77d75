"""Looking at a model that a hub has as GGUF: the headers say all."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from engine.formats.gguf_header import GgufHeader, parse_gguf_header
from engine.formats.gguf_source import GgufSource
from engine.hub.client import Hub
from engine.hub.model_outline import Outline, outline_of
from engine.hub.peek import Peek, looked_at
from engine.hub.quantizations import choose
from engine.hub.revision import RemoteFile, Revision

HEADERS_AT_ONCE = 4  # files looked at together
BUFFER = 1 << 16


def gguf_outline(hub: Hub, found: Revision, wanted: str, top: int) -> Outline:
    """See read_outline. Some megabytes are fetched: the vocabulary is part of a header."""
    files = choose(found, wanted, top).files
    with ThreadPoolExecutor(HEADERS_AT_ONCE, "outline") as pool:
        looked = list(pool.map(lambda file: looked_at(lambda: _gguf_header(hub, found, file)), files))
    headers = tuple(header for header, _ in looked)
    source = GgufSource.of(headers[0].path, headers)
    heads = {file.name: bytes(peek.head) for file, (_, peek) in zip(files, looked, strict=True)}
    return outline_of(found, source, files, files, heads, {}, headers)


def _gguf_header(hub: Hub, found: Revision, file: RemoteFile) -> tuple[GgufHeader, Peek]:
    peek = Peek(hub, found.repo, found.commit, file)
    header = parse_gguf_header(Path(found.repo) / file.name, io.BufferedReader(peek, BUFFER))

    def read(_: Path, offset: int, into: memoryview) -> None:
        if offset + len(into) <= len(peek.head):
            into[:] = peek.head[offset : offset + len(into)]
        else:
            into[:] = hub.read(found.repo, found.commit, file.path, offset, offset + len(into))

    tensors = {name: replace(tensor, read=read) for name, tensor in header.tensors.items()}
    return replace(header, tensors=tensors), peek
