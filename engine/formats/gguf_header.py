"""GGUF files: which belong together, and their header (versions 2 and 3), every number checked before use.

The format: https://github.com/ggml-org/ggml/blob/master/docs/gguf.md
"""

from __future__ import annotations

import io
import re
import struct
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO

from engine import limits
from engine.errors import Kind, UnderhillError
from engine.formats.errors import broken_file, missing, unreadable
from engine.formats.source import Read, read_file
from engine.regular_file import is_regular, open_regular
from engine.translatable import msg

SUFFIX = ".gguf"
MAGIC = b"GGUF"
_PART = re.compile(r"(.+)-(\d{5})-of-(\d{5})\.gguf", re.IGNORECASE)
_EYES = re.compile(r"(^|[-_.])(mmproj|clip)", re.IGNORECASE)  # a vision tower beside a model


def is_one(path: Path) -> bool:
    """Whether a file is GGUF by its name, or, named by a digest as stores of other apps do, by how it begins."""
    if path.suffix.lower() == SUFFIX:
        return True
    if not path.name.startswith("sha256-") or not is_regular(path):
        return False
    try:
        with open_regular(path) as file:
            return file.read(len(MAGIC)) == MAGIC
    except OSError as cause:
        raise unreadable(path, cause) from cause


def parts(path: Path) -> tuple[Path, ...]:
    """All files of the model that `path` is (a part of), in order. Raises UnderhillError(MISSING_FILE)."""
    names = part_names(path.name)
    if len(names) == 1:
        return (path,)
    found = tuple(path.with_name(name) for name in names)
    for file in found:
        if not is_regular(file):
            raise missing(file)
    return found


def part_names(name: str) -> tuple[str, ...]:
    """The names of all files of the model that a file of this name is (a part of), in order."""
    match = _PART.fullmatch(name)
    if match is None:
        return (name,)
    stem, count, suffix = match.group(1), int(match.group(3)), name[-len(SUFFIX) :]
    return tuple(f"{stem}-{n:05d}-of-{count:05d}{suffix}" for n in range(1, count + 1))


def is_model(name: str) -> bool:
    """Whether a file of this name holds a model, or a part of one, as GGUF: no vision tower."""
    return name.lower().endswith(SUFFIX) and not _EYES.search(name)


def model_name(path: Path) -> str:
    """The file's name without its ending, and without what numbers a part."""
    match = _PART.fullmatch(path.name)
    return match.group(1) if match else path.stem


def only_model(folder: Path) -> Path | None:
    """The model that a folder holds as GGUF (the first part of a split one); None where there is none.

    Raises UnderhillError(BAD_REQUEST) when there are several.
    """
    files = [p for p in sorted(folder.iterdir()) if is_model(p.name)]
    models = {model_name(p): p for p in reversed(files)}
    if len(models) > 1:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("{folder} holds {models} models as GGUF files.", folder=folder, models=len(models)),
            msg("Choose one of the files: {models}.", models=", ".join(sorted(p.name for p in models.values()))),
        )
    return next(iter(models.values()), None)


VERSIONS = (2, 3)  # 1 had counts of 32 bits and was replaced within weeks in 2023
DIMENSIONS = 4  # GGML_MAX_DIMS
ALIGNMENT = 32  # where general.alignment does not say

_SCALARS = {0: "<B", 1: "<b", 2: "<H", 3: "<h", 4: "<I", 5: "<i", 6: "<f", 7: "<?", 10: "<Q", 11: "<q", 12: "<d"}
_LEAST = {kind: struct.calcsize(form) for kind, form in _SCALARS.items()}  # bytes; a string has its length of 8
_STRING, _ARRAY = 8, 9  # types of gguf.h, as the keys of _SCALARS


@dataclass(frozen=True, kw_only=True)
class GgufTensor:
    """One stored tensor. type: ggml's number of it; shape in torch's order; offset from the start of the file.

    read: how bytes of the file are come by.
    """

    name: str
    file: Path
    type: int
    shape: tuple[int, ...]
    offset: int
    nbytes: int
    read: Read = read_file


@dataclass(frozen=True)
class GgufHeader:
    """What one file says before its data."""

    path: Path
    metadata: dict[str, Any]
    tensors: dict[str, GgufTensor]


def read_gguf_header(path: Path, arrays: bool = True) -> GgufHeader:
    """The header of one file. arrays: False leaves arrays out of the metadata (a vocabulary takes a second to make).

    Raises UnderhillError: MISSING_FILE, DISK_ERROR, UNSUPPORTED_MODEL (version, byte order, tensor type), or
    BROKEN_FILE when the file is cut short or contradicts itself.
    """
    try:
        with open_regular(path) as file:
            return parse_gguf_header(path, file, arrays)
    except FileNotFoundError as cause:
        raise missing(path) from cause
    except OSError as cause:
        raise unreadable(path, cause) from cause


def parse_gguf_header(path: Path, file: BinaryIO, arrays: bool = True) -> GgufHeader:
    """The same of an open file, wherever it lies. path: what it is called."""
    return _Reader(path, file, arrays).read()


def parse_gguf_beginning(path: Path, data: bytes) -> tuple[dict[str, Any], dict[str, int]]:
    """Of the first bytes of a file: metadata that they hold whole, and the lengths of the arrays that begin in them.

    Raises UnderhillError as read_gguf_header where this is no beginning of a GGUF file.
    """
    return _Reader(path, io.BytesIO(data), True).beginning()


class _Reader:
    """Takes values off a file from its start; nothing is allocated that the file has not the bytes for."""

    def __init__(self, path: Path, file: BinaryIO, arrays: bool) -> None:
        self._path = path
        self._file = file
        self._arrays = arrays
        self._size = file.seek(0, 2)
        self._left = min(self._size, limits.GGUF_HEADER_BYTES)
        self._values = limits.GGUF_VALUES
        self._at = 0
        file.seek(0)

    def read(self) -> GgufHeader:
        tensors, keys = self._counts()
        metadata = {}
        for _ in range(keys):
            key = self._text()
            kind: int = self._scalar("<I")
            value = self._value(kind)
            if kind != _ARRAY or self._arrays:
                metadata[key] = value
        table = [self._tensor() for _ in range(tensors)]
        return GgufHeader(self._path, metadata, self._placed(table, metadata.get("general.alignment", ALIGNMENT)))

    def beginning(self) -> tuple[dict[str, Any], dict[str, int]]:
        """See parse_gguf_beginning."""
        _, keys = self._counts()
        metadata: dict[str, Any] = {}
        lengths: dict[str, int] = {}
        try:
            for _ in range(keys):
                key = self._text()
                kind: int = self._scalar("<I")
                if kind == _ARRAY:
                    inner, lengths[key] = self._scalar("<I"), self._scalar("<Q")
                    metadata[key] = self._array(inner, lengths[key])
                else:
                    metadata[key] = self._value(kind)
        except UnderhillError:  # the bytes end here
            pass
        return metadata, lengths

    def _counts(self) -> tuple[int, int]:
        """Tensors and keys of metadata, after magic and version."""
        if self._size < 24 or self._take(4) != MAGIC:
            raise self._broken(msg("it does not begin like a GGUF file"))
        version: int = self._scalar("<I")
        if version not in VERSIONS:
            swapped = int.from_bytes(version.to_bytes(4, "little"), "big") in VERSIONS
            raise UnderhillError(
                Kind.UNSUPPORTED_MODEL,
                msg("{name} is a GGUF file for big-endian computers.", name=self._path.name)
                if swapped
                else msg(
                    "{name} is GGUF version {version}, which isn't supported.",
                    name=self._path.name,
                    version=version,
                ),
                msg("Use another version of the model."),
            )
        tensors: int = self._scalar("<Q")
        keys: int = self._scalar("<Q")
        if tensors > limits.GGUF_TENSORS or keys > limits.GGUF_KEYS:
            raise self._broken(msg("it claims an impossible number of tensors"))
        return tensors, keys

    def _tensor(self) -> tuple[str, tuple[int, ...], int, int]:
        """(name, shape, type, offset within the data) as the table says it."""
        name = self._text()
        dimensions: int = self._scalar("<I")
        if not 0 < dimensions <= DIMENSIONS:
            raise self._broken(msg("{name} has {dimensions} dimensions", name=name, dimensions=dimensions))
        shape = tuple(reversed(struct.unpack(f"<{dimensions}Q", self._take(8 * dimensions))))
        if any(not 0 < n <= 2**40 for n in shape):
            raise self._broken(msg("the shape of {name} is impossible", name=name))
        kind: int = self._scalar("<I")
        offset: int = self._scalar("<Q")
        return name, shape, kind, offset

    def _placed(self, table: list[tuple[str, tuple[int, ...], int, int]], alignment: Any) -> dict[str, GgufTensor]:
        """The tensors at their places in the file, after checking that they fit and do not overlap."""
        if type(alignment) is not int or not 0 < alignment <= 1 << 20:
            raise self._broken(msg("its alignment is impossible"))
        start = -(-self._at // alignment) * alignment
        found: dict[str, GgufTensor] = {}
        end, before = start, ""
        last = max((offset + self._nbytes(name, shape, kind) for name, shape, kind, offset in table), default=0)
        for name, shape, kind, offset in sorted(table, key=lambda row: row[3]):
            size = self._nbytes(name, shape, kind)
            if name in found or start + offset < end:
                raise self._broken(
                    msg("{name} overlaps {before}", name=name, before=before or msg("the header"))
                    if name not in found
                    else msg("two {name}", name=name)
                )
            if start + offset + size > self._size:
                raise broken_file(
                    msg(
                        "{name} is cut short: it should have {start} bytes and has {size}.",
                        name=self._path.name,
                        start=start + last,
                        size=self._size,
                    )
                )
            found[name] = GgufTensor(
                name=name, file=self._path, type=kind, shape=shape, offset=start + offset, nbytes=size
            )
            end, before = start + offset + size, name
        return {name: found[name] for name, *_ in table}

    def _nbytes(self, name: str, shape: tuple[int, ...], kind: int) -> int:
        if kind not in type_sizes():
            raise UnderhillError(
                Kind.UNSUPPORTED_MODEL,
                msg(
                    "{name} in {name2} has the unsupported type {type_name}.",
                    name=name,
                    name2=self._path.name,
                    type_name=type_name(kind),
                ),
                msg("Use another quantization, such as Q4_K_M or Q8_0."),
            )
        block, size = type_sizes()[kind]
        if shape[-1] % block:
            raise self._broken(msg("the rows of {name} are no whole number of blocks", name=name))
        rows = shape[-1] // block * size
        for n in shape[:-1]:
            rows *= n
        return rows

    def _value(self, kind: int) -> Any:
        if kind in _SCALARS:
            return self._scalar(_SCALARS[kind])
        if kind == _STRING:
            return self._text()
        if kind != _ARRAY:
            raise self._broken(msg("its metadata has the unknown type {kind}", kind=kind))
        inner: int = self._scalar("<I")
        count: int = self._scalar("<Q")
        return self._array(inner, count)

    def _array(self, inner: int, count: int) -> Any:
        if count * _LEAST.get(inner, 8) > self._left:
            raise self._broken(msg("it ends within its metadata"))
        if count > self._values:
            raise self._broken(
                msg("its metadata lists more than {gguf_values} values", gguf_values=f"{limits.GGUF_VALUES:,}")
            )
        self._values -= count
        if inner in _SCALARS:
            form = _SCALARS[inner]
            data = self._take(count * struct.calcsize(form))
            return list(struct.unpack(f"<{count}{form[1]}", data)) if self._arrays else None
        if inner != _STRING:
            raise self._broken(msg("its metadata holds an array of arrays"))
        return [self._text() for _ in range(count)] if self._arrays else self._pass_over(count)

    def _pass_over(self, strings: int) -> None:
        for _ in range(strings):
            length: int = self._scalar("<Q")
            self._take(length)

    def _scalar(self, form: str) -> Any:
        return struct.unpack(form, self._take(struct.calcsize(form)))[0]

    def _text(self) -> str:
        """A string; bytes that are not UTF-8 become U+FFFD."""
        length: int = self._scalar("<Q")
        return self._take(length).decode("utf-8", "replace")

    def _take(self, count: int) -> bytes:
        if count > self._left:
            raise self._broken(
                msg("it ends within its header")
                if self._size < limits.GGUF_HEADER_BYTES
                else msg("its header is impossibly long")
            )
        data = self._file.read(count)
        if len(data) < count:
            raise self._broken(msg("it ends within its header"))
        self._left -= count
        self._at += count
        return data

    def _broken(self, what: str) -> UnderhillError:
        return broken_file(msg("{name} is damaged: {what}.", name=self._path.name, what=what))


# Types that llama.cpp once had, and those of ik_llama.cpp, by the numbers in their ggml.h.
_FOREIGN = {
    4: "Q4_2", 5: "Q4_3", 31: "Q4_0_4_4", 32: "Q4_0_4_8", 33: "Q4_0_8_8", 36: "I2_S", 37: "IQ4_NL_4_8",
    38: "IQ4_NL_8_8", 133: "Q6_0", 134: "IQ1_BN", 135: "IQ2_BN", 136: "Q8_K64", 137: "IQ2_K", 138: "IQ3_K",
    139: "IQ4_K", 140: "IQ5_K", 141: "IQ6_K", 144: "IQ4_KS", 145: "IQ2_KS", 146: "IQ4_KSS", 152: "IQ5_KS",
    153: "IQ2_KT", 154: "IQ3_KT", 155: "IQ4_KT", 156: "IQ3_KS", 157: "IQ2_KL", 158: "IQ1_KT",
}  # fmt: skip


def type_name(kind: int) -> str:
    """What a tensor type is called, as far as anybody has named its number."""
    from gguf import GGMLQuantizationType

    if kind in _FOREIGN:
        return msg("{foreign} (of ik_llama.cpp)", foreign=_FOREIGN[kind]) if kind >= 133 else _FOREIGN[kind]
    known = {int(one): one.name for one in GGMLQuantizationType}
    return known.get(kind, msg("a type without a name (number {kind})", kind=kind))


@cache
def type_sizes() -> dict[int, tuple[int, int]]:
    """ggml's number of a tensor type -> (weights of a block, bytes of it)."""
    from gguf.constants import GGML_QUANT_SIZES

    return {int(kind): sizes for kind, sizes in GGML_QUANT_SIZES.items()}
