"""The indexes of all attached files and folders: kept up to date, searched, and deleted once nothing refers to them."""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from engine.documents import index, indexer, search
from engine.documents.index import DocumentIndex
from engine.documents.indexer import Report
from engine.documents.passages import Passage
from engine.documents.passages import tokens as estimated_tokens
from engine.documents.results import Embeddings, IndexedDocuments

if TYPE_CHECKING:
    from engine.documents.encoder import Encoder

KEPT = 60.0  # seconds that the encoder's weights stay in memory after their last use
_log = logging.getLogger(__name__)


class DocumentLibrary:
    """May be used by several threads. folder: where the indexes are kept."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        # Documents are read by one thread at a time: a question that comes meanwhile waits for that, and finds all.
        self._reading = threading.Lock()
        self._encoding = threading.Lock()
        self._encoder: Encoder | None = None
        self._used = 0.0

    def update(self, paths: Sequence[str], report: Report, cancelled: Callable[[], bool]) -> list[IndexedDocuments]:
        """Bring the indexes up to date; what is read is found by its words from then on. Raises UnderhillError."""
        found = []
        with self._reading:
            for path in paths:
                with self._open(path) as opened:
                    begun = time.monotonic()
                    found.append(indexer.update(opened, report, cancelled))
                    now = found[-1]
                    _log.info("Indexed: %d files, %d passages, %d left out, in %.1f s",
                              now.files, now.passages, now.left_out_count, time.monotonic() - begun)  # fmt: skip
        return found

    def encode(
        self, paths: Sequence[str], report: Report, cancelled: Callable[[], bool], pause: Callable[[], object]
    ) -> list[IndexedDocuments]:
        """Give vectors to the passages that have none. pause: called before each batch. Raises UnderhillError."""
        found = []
        for path in paths:
            with self._open(path) as opened:
                if opened.count_unencoded():
                    with self._lent_encoder() as encoder:
                        indexer.encode(opened, encoder, report, cancelled, pause)
                found.append(indexer.summary(opened))
        return found

    def find(
        self, paths: Sequence[str], question: str, budget: int, count: Callable[[str], int] = estimated_tokens
    ) -> tuple[Passage, ...]:
        """The best passages for a question, in so many tokens."""
        with ExitStack() as opening:
            indexes = [opening.enter_context(self._open(path)) for path in paths]
            vector = None
            if search.meaning_weight(question) and any(one.passages() > one.count_unencoded() for one in indexes):
                with self._lent_encoder() as encoder:
                    vector = encoder.encode([question])[0]
            return search.chosen(indexes, search.ranked(indexes, question, vector), budget, count)

    def embed(self, texts: Sequence[str], cancelled: Callable[[], bool], pause: Callable[[], object]) -> Embeddings:
        """See `embedding.embed`."""
        from engine.documents import embedding

        with self._lent_encoder() as encoder:
            return embedding.embed(encoder, texts, cancelled, pause)

    def tidy(self, keep: Sequence[str]) -> int:
        """Delete the indexes of all but these files and folders. Returns how many went."""
        kept = {index.file_of(self._folder, Path(path)) for path in keep}
        gone = [file for file in self._folder.glob("*.db") if file not in kept] if self._folder.is_dir() else []
        with self._reading:
            for file in gone:
                index.remove(file)
        return len(gone)

    def forget_unused(self, days: float) -> None:
        """Delete the indexes that were not changed for so many days; opening one counts as a change."""
        for file in self._folder.glob("*.db") if self._folder.is_dir() else ():
            if time.time() - file.stat().st_mtime > days * 86400:
                index.remove(file)

    def release(self) -> None:
        """Give the encoder's memory back, unless it was used of late."""
        if self._encoder is not None and time.monotonic() - self._used > KEPT and self._encoding.acquire(False):
            self._encoder = None
            self._encoding.release()

    def _open(self, path: str) -> DocumentIndex:
        file = index.file_of(self._folder, Path(path))
        opened = DocumentIndex(file, Path(path))
        with suppress(OSError):
            os.utime(file)
        return opened

    @contextmanager
    def _lent_encoder(self) -> Iterator[Encoder]:
        from engine.documents.encoder import Encoder

        with self._encoding:
            self._encoder = self._encoder or Encoder()
            encoder, self._used = self._encoder, time.monotonic()
        yield encoder
        self._used = time.monotonic()
