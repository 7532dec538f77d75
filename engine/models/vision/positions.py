"""Positions of a prompt with pictures, in models that count a picture by its longer side (Qwen's MRoPE)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from engine.models.vision.tokens import spans


def positions(
    ids: Sequence[int], start: int, saved: int, grid: Callable[[int], tuple[int, int]]
) -> tuple[Tensor, list[tuple[int, int]]]:
    """What tokens are turned by: ([3, T] int64: in time, rows and columns; see SequenceState.saved).

    ids: tokens from number `start` on, pictures whole. saved: positions fewer than tokens before them. grid: rows and
    columns of the picture with this first id. All tokens of a picture have the time at which it begins, and the next
    one comes as far behind that as its longer side is; a token of text has three times the same.
    """
    found = torch.arange(start, start + len(ids)).repeat(3, 1)
    marks: list[tuple[int, int]] = []
    done = 0
    for first, stop in spans(ids):
        found[:, done:first] -= saved
        high, wide = grid(ids[first])
        begin = start + first - saved
        rows, columns = torch.meshgrid(torch.arange(high), torch.arange(wide), indexing="ij")
        found[0, first:stop] = begin
        found[1, first:stop] = begin + rows.flatten()
        found[2, first:stop] = begin + columns.flatten()
        saved += high * wide - max(high, wide)
        marks.append((start + stop, saved))
        done = stop
    found[:, done:] -= saved
    return found, marks
