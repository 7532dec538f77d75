"""Vectors of texts of any length, for programs that search by meaning themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from engine.documents.encoder import WIDTH, Encoder
from engine.documents.indexer import BATCH
from engine.documents.results import Embeddings
from engine.errors import Kind, UnderhillError
from engine.translatable import msg


def embed(
    encoder: Encoder, texts: Sequence[str], cancelled: Callable[[], bool], pause: Callable[[], object]
) -> Embeddings:
    """A vector of length 1 for each text. One that is longer than the encoder reads at once is read in pieces, whose
    vectors are averaged by their tokens, so that no end of it is left out.

    pause: called before each batch; it may wait. Raises UnderhillError(CANCELLED).
    """
    read = encoder.read(texts)
    pieces = [(number, piece) for number, found in enumerate(read) for piece in found]
    pieces.sort(key=lambda one: len(one[1]))  # of like length, so that little is padded
    sums = np.zeros((len(texts), WIDTH), np.float32)
    for start in range(0, len(pieces), BATCH):
        pause()
        if cancelled():
            raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
        batch = pieces[start : start + BATCH]
        vectors = encoder.vectors([piece for _, piece in batch])
        for (number, piece), vector in zip(batch, vectors, strict=True):
            sums[number] += vector * len(piece)
    sums /= np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)
    return Embeddings(tuple(row.astype("<f4").tobytes() for row in sums), sum(len(piece) for _, piece in pieces))
