"""Ids that stand for pieces of pictures in a prompt: numbers below zero, which no vocabulary has.

Each picture has ids of its own, so that prompts with other pictures are other ids, whatever compares them: what is
reused of a sequence, which sequence goes on, where a prompt has changed. A picture is a run of such ids.
"""

from __future__ import annotations

from collections.abc import Sequence

PLACE = -1  # where a picture goes whose ids are still to be put there; those of pictures are less


def has_pictures(ids: Sequence[int]) -> bool:
    """Whether pieces of pictures are among them."""
    return min(ids, default=0) < 0


def spans(ids: Sequence[int]) -> list[tuple[int, int]]:
    """Start and stop of every picture."""
    found = []
    start = None
    for at, one in enumerate([*ids, 0]):
        if one < 0 and start is None:
            start = at
        elif one >= 0 and start is not None:
            found.append((start, at))
            start = None
    return found


def uncut(ids: Sequence[int], start: int, stop: int) -> int:
    """Where the part of `ids` ends that begins at `start` and is to end at `stop`, so that no picture is cut in two.

    Before the picture at `stop`; behind it, if the part begins with it.
    """
    if stop >= len(ids) or ids[stop] >= 0 or ids[stop - 1] >= 0:
        return stop
    first = stop
    while first > start and ids[first - 1] < 0:
        first -= 1
    if first > start:
        return first
    while stop < len(ids) and ids[stop] < 0:
        stop += 1
    return stop
