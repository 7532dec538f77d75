"""What there is in indexes of documents, and what was found in them for a question.

The window knows these too, without numpy and what else an index is searched with.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.documents.passages import Passage
from engine.translatable import Translatable


@dataclass(frozen=True)
class LeftOut:
    """A file that is not in the index. name: from the folder that was attached."""

    name: str
    sentence: Translatable


@dataclass(frozen=True, kw_only=True)
class IndexedDocuments:
    """What there is in the index of an attached file or folder. folder: it is one. files: without those left out.

    left_out: the first ones; left_out_count: all. unencoded: passages that are found by their words alone so far.
    """

    path: str
    folder: bool
    files: int
    passages: int
    left_out: tuple[LeftOut, ...]
    left_out_count: int
    unencoded: int


@dataclass(frozen=True)
class FoundPassages:
    """passages: for a question, the best first. documents: what was searched."""

    passages: tuple[Passage, ...]
    documents: tuple[IndexedDocuments, ...]


@dataclass(frozen=True)
class Embeddings:
    """What texts are to the encoder. vectors: of each one of length 1, 32-bit floats, little-endian. tokens: read."""

    vectors: tuple[bytes, ...]
    tokens: int
