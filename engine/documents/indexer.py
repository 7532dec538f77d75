"""Brings an index up to date with its documents: what is new or has changed is read, cut and encoded.

A file counts as unchanged while its time and size are, and its passages are kept while its content is. Each file is one
transaction, and each batch of vectors, so whatever ends the work, the next run goes on from there.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine import limits, regular_file
from engine.documents.index import DocumentIndex, IndexedFile
from engine.documents.passages import cut
from engine.documents.reading import pdf_reader, read_pages
from engine.documents.results import IndexedDocuments, LeftOut
from engine.errors import Kind, UnderhillError
from engine.sandbox import SandboxedFunction, SandboxStopped
from engine.translatable import Translatable, msg

if TYPE_CHECKING:
    from engine.documents.encoder import Encoder

BATCH = 8  # passages that are encoded at once: what begins an answer waits no longer for that than a second
Report = Callable[[Translatable, int, int], None]


@dataclass
class _Walk:
    """Looks through a folder. found: files by name. left_out: what was not looked at, by name."""

    root: Path
    cancelled: Callable[[], bool]

    def __post_init__(self) -> None:
        self.found: dict[str, os.stat_result] = {}
        self.left_out: dict[str, Translatable] = {}
        self.looked_at = 0

    def run(self) -> None:
        """Fill `found` and `left_out`. Raises UnderhillError where there is nothing at the root."""
        try:
            here = self.root.stat()
        except OSError as e:
            raise UnderhillError(
                Kind.MISSING_FILE, msg("{file} can't be found.", file=self.root.name or str(self.root)),
                msg("It was moved or its disk is away. Attach it again."),
            ) from e  # fmt: skip
        if not stat.S_ISDIR(here.st_mode):
            self.found[""] = here
            return
        folders = [("", 0)]
        while folders:
            name, depth = folders.pop()
            folders += reversed(list(self._folder(name, depth)))

    def _folder(self, name: str, depth: int) -> Iterator[tuple[str, int]]:
        """Take the files of a folder; yields the folders in it."""
        _check(self.cancelled)
        try:
            entries = sorted(os.scandir(self.root / name), key=lambda entry: entry.name)
        except OSError:
            self.left_out[name] = msg("No permission to read {file}.", file=name or self.root.name)
            return
        for entry in entries:
            if entry.name.startswith((".", "~$")) or entry.name == "node_modules":
                continue  # of programs, not of people
            self.looked_at += 1
            inner = f"{name}/{entry.name}" if name else entry.name
            if self.looked_at > limits.DOCUMENT_LOOKED_AT or len(self.found) >= limits.DOCUMENT_FILES:
                self.left_out[inner] = msg(
                    "The folder has more than {count} files.", count=f"{limits.DOCUMENT_FILES:,}"
                )
                return
            try:
                if entry.is_dir(follow_symlinks=False):
                    if depth + 1 > limits.DOCUMENT_DEPTH:
                        self.left_out[inner] = msg("{file} is nested too deeply.", file=inner)
                    else:
                        yield inner, depth + 1
                elif entry.is_symlink() and not self._within(entry.path):
                    self.left_out[inner] = msg("{file} is a link out of the folder.", file=inner)
                elif not entry.is_dir():  # a link to a folder could lead round in a circle
                    self.found[inner] = os.stat(entry.path)
            except OSError:
                self.left_out[inner] = msg("Can't read {file}.", file=inner)

    def _within(self, path: str) -> bool:
        """Whether a link leads to something in the folder: whoever made it may have linked to a person's own files."""
        return os.path.realpath(path).startswith(os.path.realpath(self.root) + os.sep)


def update(index: DocumentIndex, report: Report, cancelled: Callable[[], bool]) -> IndexedDocuments:
    """Read what is new or has changed, and forget what is there no more. Raises UnderhillError; CANCELLED."""
    walk = _Walk(index.root, cancelled)
    walk.run()
    known = index.files()
    if gone := [name for name in known if name not in walk.found]:
        index.drop(gone)
    fresh = [name for name, at in walk.found.items() if name not in known or not _same(known[name], at)]
    passages = index.passages()
    with closing(pdf_reader()) as pdfs:
        for number, name in enumerate(fresh):
            _check(cancelled)
            report(msg("Reading {file}", file=name or index.root.name), number, len(fresh))
            if passages > limits.DOCUMENT_PASSAGES:
                walk.left_out[name] = msg("The folder has more text than can be searched.")
                continue
            _read(index, name, walk.found[name], known.get(name), pdfs)
            passages = index.passages() if number % 16 == 15 else passages
    return summary(index, walk.left_out)


def summary(index: DocumentIndex, left_out: dict[str, Translatable] | None = None) -> IndexedDocuments:
    """What is in an index now."""
    files = index.files()
    bad = {name: file.problem for name, file in files.items() if file.problem} | (left_out or {})
    named = sorted(bad.items())[: limits.DOCUMENT_LEFT_OUT]
    return IndexedDocuments(
        path=str(index.root), folder="" not in files, files=sum(not file.problem for file in files.values()),
        passages=index.passages(),
        left_out=tuple(LeftOut(name or index.root.name, why) for name, why in named),
        left_out_count=len(bad), unencoded=index.count_unencoded(),
    )  # fmt: skip


def encode(
    index: DocumentIndex, encoder: Encoder, report: Report, cancelled: Callable[[], bool], pause: Callable[[], object]
) -> None:
    """Give a vector to each passage that has none. pause: called before each batch; it may wait. Raises CANCELLED."""
    from engine.documents.encoder import pack

    total = index.passages()
    left = index.count_unencoded()
    while waiting := index.unencoded(16 * BATCH):
        waiting.sort(key=lambda passage: len(passage[1]))  # of like length, so that little is padded
        for start in range(0, len(waiting), BATCH):
            pause()
            _check(cancelled)
            report(msg("Indexing {file}", file=index.root.name), total - left, total)
            batch = waiting[start : start + BATCH]
            vectors = encoder.encode([text for _, text in batch])
            index.keep_vectors([(number, pack(vector)) for (number, _), vector in zip(batch, vectors)])
            left -= len(batch)


def _same(known: IndexedFile, found: os.stat_result) -> bool:
    return (known.modified, known.size) == (_modified(found), found.st_size)


def _modified(found: os.stat_result) -> int:
    """When a file, or (on Linux) who may read it, was last changed, in nanoseconds."""
    return max(found.st_mtime_ns, found.st_ctime_ns)


def _read(
    index: DocumentIndex, name: str, found: os.stat_result, known: IndexedFile | None, pdfs: SandboxedFunction
) -> None:
    """Read one file and put it into the index; one that cannot be read is noted with the reason."""
    path = index.root / name if name else index.root
    state = IndexedFile(_modified(found), found.st_size)
    try:
        mark = _hash(path) if stat.S_ISREG(found.st_mode) and found.st_size <= limits.DOCUMENT_PDF_BYTES else b""
        if known is not None and mark and mark == known.hash:
            index.touch(name, state)
            return
        pages = read_pages(path, pdfs, limits.DOCUMENT_TEXT_BYTES, limits.DOCUMENT_PDF_SECONDS)
        index.put(name, IndexedFile(state.modified, state.size, mark), cut(pages, path.name))
    except SandboxStopped as e:
        raise UnderhillError(Kind.CANCELLED, msg("Stopped.")) from e
    except UnderhillError as e:
        index.put(name, IndexedFile(state.modified, state.size, b"", e.sentence))
    except OSError:
        index.put(name, IndexedFile(state.modified, state.size, b"", msg("Can't read {file}.", file=path.name)))


def _hash(path: Path) -> bytes:
    digest = hashlib.sha256()
    with regular_file.open_regular(path, limits.DOCUMENT_PDF_BYTES) as file:
        while data := file.read(regular_file.READ_AT_ONCE):
            digest.update(data)
    return digest.digest()


def _check(cancelled: Callable[[], bool]) -> None:
    if cancelled():
        raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
