"""One state of a model on a hub: its commit, its files with sizes and checksums, and the GGUF models among them."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from engine.errors import Kind, UnderhillError
from engine.formats.gguf_header import is_model, model_name, part_names
from engine.hardware.machine import size
from engine.hub import errors
from engine.hub.client import Hub, checked
from engine.hub.uses import stated_uses
from engine.limits import FILE_BYTES
from engine.translatable import msg

_NAME = re.compile(r"[\w.-][\w. ()+-]*")  # of a file: nothing that leads out of a folder
_GGUF = re.compile(r"(?:(?P<folder>[\w.-]+)/)?(?P<name>[\w.-][\w. ()+-]*\.gguf)")  # quantizations may have folders
_COMMIT = re.compile(r"[0-9a-f]{40}")


class Digest(Protocol):
    """Of hashlib."""

    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


@dataclass(frozen=True)
class RemoteFile:
    """A file. sha256: of files in large file storage, else ''. blob: git's own checksum of the others.

    folder: where it lies in its repository, '' at the top.
    """

    name: str
    size: int
    sha256: str = ""
    blob: str = ""
    folder: str = ""

    @property
    def path(self) -> str:
        """In its repository."""
        return f"{self.folder}/{self.name}" if self.folder else self.name

    @property
    def checksum(self) -> str:
        """What the hub says of its bytes; '' where it says nothing."""
        return self.sha256 or self.blob

    def digest(self) -> Digest:
        """A new one, which ends in `checksum` when it has had all bytes."""
        if self.sha256:
            return hashlib.sha256()
        return hashlib.sha1(b"blob %d\0" % self.size, usedforsecurity=False)  # git's checksum of a file


@dataclass(frozen=True, kw_only=True)
class Revision:
    """files: those at the top of the repository, by name; what lies in folders is never needed to chat, but for GGUF.

    ggufs: files of this kind, also those one folder down, by path. good_at: as its page says, see stated_uses.
    """

    repo: str
    commit: str
    files: dict[str, RemoteFile]
    licence: str
    gated: bool
    ggufs: dict[str, RemoteFile] = field(default_factory=dict)
    good_at: tuple[str, ...] = ()


def read_revision(hub: Hub, repo: str, revision: str = "main") -> Revision:
    """What a branch, tag or commit is right now. Raises UnderhillError."""
    with hub.asking(checked(repo)) as api:
        info = api.model_info(repo, revision=revision, files_metadata=True)
        commit = info.sha or ""
        files = [_file(sibling) for sibling in info.siblings or () if _NAME.fullmatch(sibling.rfilename)]
        ggufs = [_file(sibling) for sibling in info.siblings or () if is_gguf(sibling.rfilename)]
        licence = next((tag.removeprefix("license:") for tag in info.tags or () if tag.startswith("license:")), "")
    if not isinstance(commit, str) or not _COMMIT.fullmatch(commit):
        raise errors.nonsense(hub.endpoint, msg("no commit, where a model's should be"))
    return Revision(
        repo=repo,
        commit=commit,
        files={file.name: file for file in files},
        licence=licence,
        gated=bool(info.gated),
        ggufs={f.path: f for f in ggufs},
        good_at=stated_uses(info),
    )


def is_gguf(path: str) -> bool:
    """Whether this file of a repository is a GGUF model, or a part of one, where Underhill looks for them."""
    found = _GGUF.fullmatch(path)
    return found is not None and found["folder"] not in (".", "..") and is_model(found["name"])


def _file(sibling: Any) -> RemoteFile:
    """Raises ValueError where the hub's answer makes no sense."""
    lfs = sibling.lfs
    size = sibling.size if lfs is None else lfs.size
    # bool is an int to isinstance, and JSON knows true.
    if type(size) is not int or not 0 <= size <= FILE_BYTES:
        raise ValueError(sibling.rfilename)
    folder, _, name = sibling.rfilename.rpartition("/")
    return RemoteFile(name, size, "" if lfs is None else str(lfs.sha256), str(sibling.blob_id or ""), folder)


# What is fetched for a store of 8 bits or more, and for one of 4: the first that there is. No finer than what is kept.
_FINE = ("Q8_0", "Q6_K", "Q5_K_M", "Q5_K_S", "Q4_K_M", "BF16", "F16")
_COARSE = ("Q4_K_M", "Q5_K_M", "Q5_K_S", "Q6_K", "Q4_K_S", "Q4_0", "Q8_0")
LISTED = 30  # names of an error


@dataclass(frozen=True)
class Quantization:
    """One model as GGUF. name: without what numbers a part; files: its parts in order."""

    name: str
    files: tuple[RemoteFile, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all parts."""
        return sum(file.size for file in self.files)


def quantizations(found: Revision) -> tuple[Quantization, ...]:
    """All that are complete, smallest first."""
    models: dict[tuple[str, str], Quantization] = {}
    for file in found.ggufs.values():
        names = part_names(file.name)
        parts = [found.ggufs.get(f"{file.folder}/{name}" if file.folder else name) for name in names]
        whole = tuple(part for part in parts if part is not None)
        if len(whole) == len(names):
            name = model_name(Path(file.name))
            models[file.folder, name] = Quantization(name, whole)
    return tuple(sorted(models.values(), key=lambda q: (q.nbytes, q.name)))


def choose(found: Revision, wanted: str, top: int) -> Quantization:
    """The one whose name has `wanted` in it; with '', what suits a store of `top` bits.

    Raises UnderhillError: BAD_REQUEST where none or several are meant, with their names and sizes; MISSING_FILE.
    """
    models = quantizations(found)
    if not models:
        raise UnderhillError(
            Kind.MISSING_FILE,
            msg("{repo} lacks parts of its GGUF files.", repo=found.repo),
            msg("Choose another copy of it."),
        )
    if wanted:
        exact = [q for q in models if _has(q, wanted)]
        meant = exact or [q for q in models if wanted.lower() in q.name.lower()]
    else:
        order = _COARSE if top == 4 else _FINE
        meant = next((m for kind in order if (m := [q for q in models if _has(q, kind)])), list(models))
    if len(meant) == 1 or (meant and not wanted):
        return meant[0]
    listed = ", ".join(f"{q.name} ({size(q.nbytes)})" for q in (meant or models)[:LISTED])
    several = msg("{repo} has {meant} GGUF models called {wanted}.", repo=found.repo, meant=len(meant), wanted=wanted)
    none = msg("{repo} has no GGUF model called {wanted}.", repo=found.repo, wanted=wanted)
    raise UnderhillError(Kind.BAD_REQUEST, several if meant else none, msg("Available: {listed}.", listed=listed))


def _has(model: Quantization, kind: str) -> bool:
    """Whether this is the kind that its name ends in: of Q4_K and Q4_K_M one must not be taken for the other."""
    return model.name.lower().endswith(kind.lower()) and not model.name[: -len(kind)][-1:].isalnum()
