"""Rows that cross to a card in pieces: while one is computed, the next one crosses.

Each set of buffers has a stream of its own, on which a piece is copied there, computed and copied back: it waits for
nothing but these.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Generic, NamedTuple, TypeVar

B = TypeVar("B")


class RowPiece(NamedTuple, Generic[B]):
    """Rows at .. at + n - 1 of a call."""

    buffers: B
    at: int
    n: int


def in_pieces(
    buffers: Sequence[B],
    n: int,
    most: int,
    begin: Callable[[RowPiece[B]], None],
    collect: Callable[[RowPiece[B]], None],
) -> None:
    """Have n rows computed, `most` at a time. begin: all of a piece is on its way when it returns; collect: waits."""
    pieces = [RowPiece(own, at, min(most, n - at)) for own, at in zip(cycle(buffers), range(0, n, most))]
    for number, piece in enumerate(pieces):
        if number >= len(buffers):
            collect(pieces[number - len(buffers)])
        begin(piece)
    for piece in pieces[-len(buffers) :]:
        collect(piece)
