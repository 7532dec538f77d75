"""A Hugging Face checkpoint on the disk: its config, its tensors read one at a time or in parts, and what lies beside.

Beside the weights lie where they were downloaded from, and the small files that a store takes along.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.formats.errors import broken_file, missing, missing_tensor, unreadable, unsupported_file
from engine.formats.safetensors_header import SafetensorsEntry, read_header
from engine.formats.source import CodedRows, FileExtent, Form, Read, read_file
from engine.limits import COMPANION_BYTES
from engine.regular_file import FileTooLarge, is_regular, read_json, read_text
from engine.store import dtypes
from engine.translatable import msg

# Tokenizer, chat template, generation defaults, how pictures are prepared, licence. The rest of a repository is not
# needed to chat.
_SMALL = re.compile(
    r"(config|generation_config|preprocessor_config|processor_config|tokenizer|tokenizer_config|special_tokens_map"
    r"|added_tokens|vocab|chat_template)\.json"
    r"|(merges|vocab)\.txt|\w[\w.-]*\.(model|jinja|tiktoken)|(LICENSE|NOTICE|USE_POLICY)[\w.-]*|README\.md"
)
NOTE = "download.json"  # what our own downloads leave in the directory
_REVISION = re.compile(r"[0-9a-f]{40}")


def is_small(name: str) -> bool:
    """Whether a file of this name belongs to what is taken along."""
    return _SMALL.fullmatch(name) is not None


def small_files(path: Path) -> tuple[Path, ...]:
    """The files to copy into the store, sorted by name."""
    small = [p for p in path.iterdir() if is_small(p.name) and is_regular(p) and p.stat().st_size <= COMPANION_BYTES]
    return tuple(sorted(small, key=lambda p: p.name))  # paths of Windows sort without regard to case


def origin(path: Path) -> tuple[str, str]:
    """(repository, revision) as we or Hugging Face's own tools leave them in the directory; '' where unknown.

    path: of the directory, or of a file in it.
    """
    path = path.absolute() if path.is_dir() else path.absolute().parent
    if (path / NOTE).is_file():
        return _ours(path / NOTE)
    if path.parent.name == "snapshots" and path.parent.parent.name.startswith("models--"):
        return path.parent.parent.name.removeprefix("models--").replace("--", "/", 1), path.name
    note = path / ".cache" / "huggingface" / "download" / "config.json.metadata"
    if note.is_file():
        with suppress(OSError, ValueError):
            revision = read_text(note).split("\n", 1)[0].strip()
            return "", revision if _REVISION.fullmatch(revision) else ""
    return "", ""


def verified(file: Path) -> str | None:
    """The SHA-256 of a file, where our own download found it right and it has not changed since; else None."""
    try:
        found = read_json(file.parent / NOTE)["verified"][file.name]
        stat = file.stat()
        same = (found["size"], found["mtime_ns"]) == (stat.st_size, stat.st_mtime_ns)
        return str(found["sha256"]) if same else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _ours(note: Path) -> tuple[str, str]:
    try:
        match read_json(note):
            case {"repo": str(repo), "commit": str(commit)}:
                return repo, commit
    except (OSError, ValueError):
        pass  # a note more or less does not stop an import
    return "", ""


CONFIG = "config.json"
INDEX = "model.safetensors.index.json"
CHUNK = 8 << 20  # bytes of a tensor held at once while streaming it
LARGE = 1 << 20  # bytes of a tensor that has its own memory


class Checkpoint:
    """Tensors by name. Opening reads every shard's header and no data; files are open only while being read."""

    def __init__(
        self, path: Path, config: dict[str, Any], entries: Mapping[str, SafetensorsEntry], read: Read = read_file
    ) -> None:
        """read: how bytes of the entries' files are come by."""
        self.path = path
        self.config = _whole(config)
        self.entries = entries
        self._read = read

    @classmethod
    def open(cls, path: Path | str) -> Checkpoint:
        """Open the checkpoint directory at `path`.

        Raises UnderhillError: NOT_A_MODEL, UNSUPPORTED_MODEL (weights in another format), MISSING_FILE, BROKEN_FILE
        or DISK_ERROR.
        """
        path = Path(path)
        if not path.is_dir() or not is_regular(path / CONFIG):
            what = msg("{path} is not a model: it has no {config}.", path=path, config=CONFIG)
            if not path.exists():
                what = msg("There is no {path} on this computer.", path=path)
            elif not path.is_dir():
                what = msg("{path} is not a model: it is no GGUF file.", path=path)
            action = msg("Choose the folder that holds config.json and the .safetensors files, or a GGUF file.")
            raise UnderhillError(Kind.NOT_A_MODEL, what, action)
        config = _json_object(path / CONFIG, limits.CONFIG_BYTES)
        if not isinstance(config.get("model_type"), str):
            raise broken_file(msg("{config} in {path} names no model_type.", config=CONFIG, path=path))
        limits.check_config(config)
        return cls(path, config, _entries(path))

    @property
    def files(self) -> tuple[Path, ...]:
        """The shards, sorted by name."""
        return tuple(sorted({e.file for e in self.entries.values()}))

    @property
    def originals(self) -> tuple[Path, ...]:
        """The shards, and the small files."""
        return (*self.files, *small_files(self.path))

    @property
    def form(self) -> Form:
        """Full precision, or one of the quantizations that have scales beside their weights (pieces.py)."""
        types = {e.dtype for e in self.entries.values()}
        if any(name.endswith("_blocks") for name in self.entries):
            return Form("MXFP4 safetensors", 4.25)
        return Form("FP8 safetensors", 8.0) if "F8_E4M3" in types else Form("safetensors", 16.0)

    @contextmanager
    def companions(self) -> Iterator[tuple[Path, ...]]:
        """The small files, as they lie in the folder."""
        yield small_files(self.path)

    def tensor(self, name: str) -> Tensor:
        """A whole tensor in fresh memory, in its stored type. Raises UnderhillError as `part`."""
        return self.part(name, ())

    def part(self, name: str, index: tuple[int, ...], rows: tuple[int, int] | None = None) -> Tensor:
        """tensor[index] (leading dimensions), or tensor[index][rows[0]:rows[1]]; reads only those bytes.

        Raises UnderhillError: MISSING_FILE when there is no such tensor, BROKEN_FILE, DISK_ERROR.
        """
        entry = self.entry(name)
        shape = entry.shape[len(index) :]
        offset, stride = _place(entry, index)
        if rows is not None:
            row = dtypes.nbytes(entry.dtype, shape[1:])
            offset, stride, shape = offset + rows[0] * row, (rows[1] - rows[0]) * row, (rows[1] - rows[0], *shape[1:])
        out = _fresh(stride, dtypes.TORCH[entry.dtype]).reshape(shape)
        if stride:
            self._read(entry.file, offset, memoryview(out.reshape(-1).view(torch.uint8).numpy().data))
        return out

    def coded(self, name: str) -> CodedRows | None:
        """See Source: MXFP4 beside its scales is known to pieces.py, all else are numbers."""
        del name
        return None

    def extents(self, name: str, index: tuple[int, ...] = ()) -> tuple[FileExtent, ...]:
        """See Source."""
        entry = self.entry(name)
        offset, nbytes = _place(entry, index)
        return (FileExtent(entry.file, offset, offset + nbytes),)

    def chunks(self, name: str) -> Iterator[memoryview]:
        """The bytes of a tensor in pieces of at most CHUNK; each is overwritten by the next."""
        entry = self.entry(name)
        memory = memoryview(bytearray(min(CHUNK, entry.nbytes)))
        for at in range(0, entry.nbytes, CHUNK):
            piece = memory[: min(CHUNK, entry.nbytes - at)]
            self._read(entry.file, entry.offset + at, piece)
            yield piece

    def entry(self, name: str) -> SafetensorsEntry:
        """Type, shape and place of a tensor. Raises UnderhillError(MISSING_FILE)."""
        try:
            return self.entries[name]
        except KeyError:
            raise missing_tensor(name) from None


def _whole(config: dict[str, Any]) -> dict[str, Any]:
    """The config, how its weights are packed said at its top, even where only the language model inside it says so."""
    inner = config.get("text_config")
    packed = inner.get("quantization_config") if isinstance(inner, dict) else None
    return config if packed is None else {"quantization_config": packed, **config}


def _place(entry: SafetensorsEntry, index: tuple[int, ...]) -> tuple[int, int]:
    """(offset from the start of the file, bytes) of tensor[index]."""
    offset = entry.offset
    for depth, i in enumerate(index):
        offset += i * dtypes.nbytes(entry.dtype, entry.shape[depth + 1 :])
    return offset, dtypes.nbytes(entry.dtype, entry.shape[len(index) :])


def _fresh(nbytes: int, dtype: torch.dtype) -> Tensor:
    """A flat tensor of so many bytes. Large ones are mapped by themselves, and so go back to the system.

    On the heaps of several threads that quantize one after the other, they would leave ever more holes.
    """
    if nbytes < LARGE:
        return torch.empty(nbytes, dtype=torch.uint8).view(dtype)
    return torch.frombuffer(mmap.mmap(-1, nbytes), dtype=dtype)


def _entries(path: Path) -> dict[str, SafetensorsEntry]:
    if is_regular(path / INDEX):
        return _indexed(path)
    shards = sorted(path.glob("*.safetensors"))
    if not shards:
        other = next((p.name for p in sorted(path.iterdir()) if p.suffix in (".bin", ".pt", ".pth", ".gguf")), None)
        if other is not None:
            raise unsupported_file(
                msg("{path} stores weights as {other}. Only safetensors is supported.", path=path, other=other)
            )
        raise missing(path / "model.safetensors")
    entries: dict[str, SafetensorsEntry] = {}
    for shard in shards:
        entries.update(read_header(shard))
    return entries


def _indexed(path: Path) -> dict[str, SafetensorsEntry]:
    """The tensors that the index names, each in the shard it names."""
    weight_map = _json_object(path / INDEX, limits.INDEX_BYTES).get("weight_map")
    if not isinstance(weight_map, dict):
        raise broken_file(msg("{index} in {path} is damaged.", index=INDEX, path=path))
    shards: dict[str, dict[str, SafetensorsEntry]] = {}
    for shard in sorted(set(map(str, weight_map.values()))):
        if not shard.endswith(".safetensors") or any(c in shard for c in "/\\:\0"):
            raise broken_file(msg("{index} names the file {shard}.", index=INDEX, shard=repr(shard)))
        shards[shard] = read_header(path / shard)
    entries = {}
    for name, shard in weight_map.items():
        if name not in shards[shard]:
            raise broken_file(
                msg("{shard} lacks the tensor {name} that {index} promises.", shard=shard, name=name, index=INDEX)
            )
        entries[name] = shards[shard][name]
    return entries


def _json_object(path: Path, max_bytes: int) -> dict[str, Any]:
    try:
        value = read_json(path, max_bytes)
    except FileTooLarge as cause:
        raise broken_file(msg("{name} is impossibly long.", name=path.name)) from cause
    except ValueError as cause:
        raise broken_file(msg("{name} in {parent} is not readable.", name=path.name, parent=path.parent)) from cause
    except OSError as cause:
        raise unreadable(path, cause) from cause
    if not isinstance(value, dict):
        raise broken_file(msg("{name} in {parent} is not a JSON object.", name=path.name, parent=path.parent))
    return value
