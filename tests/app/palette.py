"""Pictures as numbers, and small PNG files of a window: at most 256 colours, chosen by how much they make up."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PySide6.QtGui import QImage

_COLOURS = 256
_ROUNDS = 6  # of moving each colour to the mean of what it stands for


def channels(image: QImage) -> np.ndarray:
    """[height, width, 3], uint8: red, green and blue."""
    image = image.convertToFormat(QImage.Format.Format_RGB888)
    rows = np.frombuffer(image.constBits(), np.uint8).reshape(image.height(), image.bytesPerLine())
    return rows[:, : 3 * image.width()].reshape(image.height(), image.width(), 3).copy()  # the image goes


def save(image: QImage, path: Path) -> None:
    """Write a picture with a palette. Raises OSError."""
    image = image.convertToFormat(QImage.Format.Format_RGB32)
    wide, high = image.width(), image.height()
    pixels = np.frombuffer(image.constBits(), np.uint32).reshape(high, -1)[:, :wide] & 0xFFFFFF
    exact, where, counts = np.unique(pixels, return_inverse=True, return_counts=True)
    colours = np.stack([exact >> 16, exact >> 8 & 255, exact & 255], axis=1).astype(np.float32)  # [unique, 3]
    table, nearest = _chosen(colours, counts.astype(np.float32))
    indexed = QImage(wide, high, QImage.Format.Format_Indexed8)
    rows = np.frombuffer(indexed.bits(), np.uint8).reshape(high, indexed.bytesPerLine())
    rows[:, :wide] = nearest[where].reshape(high, wide)
    reds, greens, blues = table.round().astype(int).T.tolist()
    indexed.setColorTable([0xFF000000 | r << 16 | g << 8 | b for r, g, b in zip(reds, greens, blues)])
    if not indexed.save(str(path), "PNG", 0):  # type: ignore[call-overload]
        raise OSError(f"{path} could not be written")


def _chosen(colours: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A table of colours, and for each exact colour the row of the table that stands for it."""
    weights = np.sqrt(counts)  # so that text is not given up for the ground it stands on
    table = colours[:1] if len(colours) == 1 else _far_apart(colours, weights)
    for _ in range(_ROUNDS):
        nearest = _nearest(colours, table)
        mass = np.bincount(nearest, weights, len(table))
        for channel in range(3):
            mean = np.bincount(nearest, weights * colours[:, channel], len(table)) / np.maximum(mass, 1e-9)
            table[:, channel] = np.where(mass > 0, mean, table[:, channel])
    often = np.argsort(counts)[::-1][: _COLOURS // 8]  # grounds and ink are kept exactly
    table[nearest[often]] = colours[often]
    return table, _nearest(colours, table).astype(np.uint8)


def _far_apart(colours: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Colours to begin with: each time the one that the table so far misses most."""
    chosen = [int(weights.argmax())]
    missed = np.full(len(colours), np.inf, np.float32)
    while len(chosen) < min(_COLOURS, len(colours)):
        missed = np.minimum(missed, ((colours - colours[chosen[-1]]) ** 2).sum(axis=1))
        chosen.append(int((missed * weights).argmax()))
    return colours[chosen].copy()


def _nearest(colours: np.ndarray, table: np.ndarray) -> np.ndarray:
    distances = (table**2).sum(axis=1) - 2 * colours @ table.T  # [unique, table], less what is the same in a row
    return distances.argmin(axis=1)
