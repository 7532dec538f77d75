"""A folder as a hub sees it: a commit, files with their checksums, and what its config says."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import safe_open

from engine.formats.gguf_header import read_gguf_header

STORED_APART = (".safetensors", ".gguf", ".bin")  # in large file storage


@dataclass
class Repo:
    """A model. gated: '' or 'auto'; people: tokens of those who accepted its licence."""

    name: str
    folder: Path
    gated: str = ""
    private: bool = False
    people: set[str] = field(default_factory=set)
    downloads: int = 0
    tags: tuple[str, ...] = ("license:apache-2.0",)
    sizes: dict[str, int] = field(default_factory=dict)  # lies about the sizes of files

    @property
    def files(self) -> dict[str, Path]:
        return {p.relative_to(self.folder).as_posix(): p for p in sorted(self.folder.rglob("*")) if p.is_file()}

    @property
    def commit(self) -> str:
        """Another one whenever a file is another."""
        return _sha1("".join(f"{name} {etag(path)}\n" for name, path in self.files.items()).encode())

    @property
    def config(self) -> dict[str, Any]:
        path = self.folder / "config.json"
        return dict(json.loads(path.read_text())) if path.is_file() else {}

    def known(self, revision: str) -> bool:
        return revision in ("main", self.commit)

    def size(self, name: str) -> int:
        """As the hub's lists have it."""
        return self.sizes.get(name, self.files[name].stat().st_size)

    def info(self, blobs: bool) -> dict[str, Any]:
        """What /api/models/NAME answers."""
        return {
            **self.entry(),
            "sha": self.commit,
            "siblings": [
                {"rfilename": name} | (self._blob(name, path) if blobs else {}) for name, path in self.files.items()
            ],
        }

    def entry(self) -> dict[str, Any]:
        """What every list says of it."""
        kind = {kind for kind in ("safetensors", "gguf") if any(name.endswith(f".{kind}") for name in self.files)}
        return {
            "id": self.name,
            "modelId": self.name,
            "private": self.private,
            "gated": self.gated or False,
            "downloads": self.downloads,
            "likes": 1,
            "lastModified": "2026-10-01T12:00:00.000Z",
            "tags": [*kind, str(self.config.get("model_type")), *self.tags],
            "config": self.config,
        }

    def found(self) -> dict[str, Any]:
        """What a search lists, everything expanded."""
        return self.entry() | {
            "safetensors": self._parameters(),
            "gguf": self._gguf(),
            "siblings": [{"rfilename": name} for name in self.files],
            "sha": self.commit,
        }

    def _gguf(self) -> dict[str, Any] | None:
        """What a hub says of the first GGUF file."""
        first = next((path for name, path in self.files.items() if name.endswith(".gguf")), None)
        if first is None:
            return None
        header = read_gguf_header(first)
        total = sum(math.prod(tensor.shape) for tensor in header.tensors.values())
        return {"total": total, "architecture": header.metadata["general.architecture"], "context_length": 512}

    def tree(self) -> list[dict[str, Any]]:
        """What /api/models/NAME/tree answers."""
        result = []
        for name, path in self.files.items():
            blob = self._blob(name, path)
            row = {"type": "file", "path": name, "size": blob["size"], "oid": blob["blobId"]}
            if "lfs" in blob:
                row["lfs"] = {"oid": blob["lfs"]["sha256"], "size": blob["size"], "pointerSize": 134}
            result.append(row)
        return result

    def _blob(self, name: str, path: Path) -> dict[str, Any]:
        size = self.size(name)
        if name.endswith(STORED_APART):
            pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{etag(path)}\nsize {size}\n"
            lfs = {"sha256": etag(path), "size": size, "pointerSize": len(pointer)}
            return {"size": size, "blobId": git_sha1(pointer.encode()), "lfs": lfs}
        return {"size": size, "blobId": etag(path)}

    def _parameters(self) -> dict[str, Any] | None:
        counts: dict[str, int] = {}
        for name, path in self.files.items():
            if name.endswith(".safetensors"):
                with safe_open(path, "pt") as file:
                    for key in file.keys():  # noqa: SIM118
                        part = file.get_slice(key)
                        n = 1
                        for dimension in part.get_shape():
                            n *= dimension
                        counts[part.get_dtype()] = counts.get(part.get_dtype(), 0) + n
        return {"parameters": counts, "total": sum(counts.values())} if counts else None


_etags: dict[tuple[Path, int, int], str] = {}


def etag(path: Path) -> str:
    """sha256 of what is stored apart, git's checksum of the rest."""
    stat = path.stat()
    key = (path, stat.st_size, stat.st_mtime_ns)
    if key not in _etags:
        data = path.read_bytes()
        apart = path.name.endswith(STORED_APART)
        _etags[key] = hashlib.sha256(data).hexdigest() if apart else git_sha1(data)
    return _etags[key]


def git_sha1(data: bytes) -> str:
    return _sha1(b"blob %d\0" % len(data) + data)


def _sha1(data: bytes) -> str:
    return hashlib.sha1(data, usedforsecurity=False).hexdigest()
