"""Search of indexes: full-text (BM25) and by meaning (cosine of vectors), fused by reciprocal rank.

Cormack, Clarke and Buettcher, "Reciprocal Rank Fusion outperforms Condorcet and individual rank learning methods",
2009: a passage's score is the sum of weight / (60 + rank) over the lists that have it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from engine.documents import terms
from engine.documents.index import DocumentIndex
from engine.documents.passages import Passage
from engine.documents.passages import tokens as estimated_tokens

if TYPE_CHECKING:
    from engine.documents.encoder import Vectors

LISTED = 50  # passages of each list that are fused
MOST = 8  # passages that are found
_RANK = 60
_NEAR = 0.15  # cosine below which two texts have nothing to do with each other

_Key = tuple[int, int]  # number of the index, id of the passage


def ranked(indexes: Sequence[DocumentIndex], question: str, vector: Vectors | None) -> list[_Key]:
    """Passages for a question, the best first. vector: of the question; None searches by words alone."""
    lists = [(1.0, by_words(indexes, question))]
    if vector is not None:
        lists.append((meaning_weight(question), by_meaning(indexes, vector)))
    scores: dict[_Key, float] = {}
    for weight, found in lists:
        for rank, key in enumerate(found, 1):
            scores[key] = scores.get(key, 0.0) + weight / (_RANK + rank)
    return sorted(scores, key=lambda key: -scores[key])


def by_words(indexes: Sequence[DocumentIndex], question: str) -> list[_Key]:
    """Passages that share words with a question, by BM25."""
    expression = terms.question(question)
    found = [
        (score, (number, i)) for number, index in enumerate(indexes) for score, i in index.matching(expression, LISTED)
    ]
    return [key for _, key in sorted(found, key=lambda one: -one[0])[:LISTED]]


def by_meaning(indexes: Sequence[DocumentIndex], vector: Vectors) -> list[_Key]:
    """Passages that are near a question in meaning. vector: of the question, [WIDTH]."""
    from engine.documents.encoder import unpack

    found: list[tuple[float, _Key]] = []
    for number, index in enumerate(indexes):
        ids, rows = index.vectors()
        near = unpack(rows) @ vector
        best = np.argsort(-near)[:LISTED]
        found += [(float(near[at]), (number, ids[at])) for at in best if near[at] >= _NEAR]
    return [key for _, key in sorted(found, key=lambda one: -one[0])[:LISTED]]


def meaning_weight(question: str) -> float:
    """Weight of meaning against words. The encoder was trained on English, and knows few words of other scripts."""
    letters = sum(map(str.isalpha, question)) or 1
    return max(0.0, 1.0 - 2.0 * sum(c > "\u024f" for c in question if c.isalpha()) / letters)


def chosen(
    indexes: Sequence[DocumentIndex], keys: Sequence[_Key], budget: int, count: Callable[[str], int] = estimated_tokens
) -> tuple[Passage, ...]:
    """The first passages that fit into so many tokens, MOST at most. count: tokens of a text."""
    found: list[Passage] = []
    for number, i in keys:
        passage = indexes[number].passage(i)
        if passage is None:
            continue
        needed = count(f"{passage.name} {passage.heading}\n{passage.text}") + 12  # of the frame around it
        if needed > budget:
            continue
        budget -= needed
        found.append(passage)
        if len(found) == MOST:
            break
    return tuple(found)
