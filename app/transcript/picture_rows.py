"""Sizes of the pictures above a bubble, and how they are laid out in rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSizeF, Qt

from app.pictures.cache import picture_cache
from app.storage.records import Attachment
from app.theme import fonts

RADIUS = 12.0  # pixels of a picture's corners
GAP = 6.0  # pixels between pictures, and below them
_ALONE = (340, 260)  # pixels that one picture takes at most, beside text of the base size
_HIGH = 128  # pixels of the height of each of several
_SLIMMEST, _WIDEST = 0.6, 1.8  # width of one of several for its height; what is slimmer or wider is cut
_LEAST = 40.0  # pixels of a side of one that stands alone: a line of pixels could not be clicked


def picture_rows(pictures: Sequence[Attachment], column: float) -> list[QRectF]:
    """A rectangle for each, in a column of this width; the first row begins at 0, and rows end at the right."""
    sizes = [_alone(pictures[0], column)] if len(pictures) == 1 else [_among(picture, column) for picture in pictures]
    rows: list[list[QSizeF]] = []
    for size in sizes:
        if rows and sum(s.width() + GAP for s in rows[-1]) + size.width() <= column:
            rows[-1].append(size)
        else:
            rows.append([size])
    found: list[QRectF] = []
    top = 0.0
    for row in rows:
        left = column - sum(s.width() + GAP for s in row) + GAP
        for size in row:
            found.append(QRectF(left, top, size.width(), size.height()))
            left += size.width() + GAP
        top += max(s.height() for s in row) + GAP
    return found


def rows_height(pictures: Sequence[Attachment], column: float) -> float:
    """Height in pixels, with the gap below; 0 without pictures."""
    return max((rect.bottom() + GAP for rect in picture_rows(pictures, column)), default=0.0)


def _alone(picture: Attachment, column: float) -> QSizeF:
    natural = picture_cache().size_of(picture).toSizeF()
    most = QSizeF(min(fonts.pixels(_ALONE[0]), column), fonts.pixels(_ALONE[1]))
    size = natural
    if natural.width() > most.width() or natural.height() > most.height():
        size = natural.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
    return QSizeF(round(max(_LEAST, size.width())), round(max(_LEAST, size.height())))


def _among(picture: Attachment, column: float) -> QSizeF:
    natural = picture_cache().size_of(picture)
    high = fonts.pixels(_HIGH)
    shape = min(_WIDEST, max(_SLIMMEST, natural.width() / natural.height()))
    return QSizeF(round(min(column, high * shape)), high)
