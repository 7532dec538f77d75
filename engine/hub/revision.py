"""One state of a model on a hub: its commit, and its files with their sizes and checksums."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import Any, Protocol

from engine.formats.gguf_files import is_model
from engine.hub import errors
from engine.hub.client import Hub, checked
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


@dataclass(frozen=True)
class Revision:
    """files: those at the top of the repository, by name; what lies in folders is never needed to chat, but for GGUF.

    ggufs: files of this kind, also those one folder down, by path.
    """

    repo: str
    commit: str
    files: dict[str, RemoteFile]
    licence: str
    gated: bool
    ggufs: dict[str, RemoteFile] = field(default_factory=dict)


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
        repo, commit, {file.name: file for file in files}, licence, bool(info.gated), {f.path: f for f in ggufs}
    )


def is_gguf(path: str) -> bool:
    """Whether this file of a repository is a GGUF model, or a part of one, where Underhill looks for them."""
    found = _GGUF.fullmatch(path)
    return found is not None and found["folder"] not in (".", "..") and is_model(found["name"])


def _file(sibling: Any) -> RemoteFile:
    """Raises ValueError where the hub's answer makes no sense."""
    lfs = sibling.lfs
    size = sibling.size if lfs is None else lfs.size
    if type(size) is not int or not 0 <= size <= FILE_BYTES:
        raise ValueError(sibling.rfilename)
    folder, _, name = sibling.rfilename.rpartition("/")
    return RemoteFile(name, size, "" if lfs is None else str(lfs.sha256), str(sibling.blob_id or ""), folder)
