"""Sizes of the images above a bubble, and how they are laid out in rows."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSizeF, Qt

from app.images.cache import image_cache
from app.storage.records import Attachment
from app.theme import fonts

RADIUS = 12.0  # pixels of an image's corners
GAP = 6.0  # pixels between images, and below them
_ALONE = (340, 260)  # pixels that one image takes at most, beside text of the base size
_HIGH = 128  # pixels of the height of each of several
_SLIMMEST, _WIDEST = 0.6, 1.8  # width of one of several for its height; what is slimmer or wider is cut
_LEAST = 40.0  # pixels of a side of one that stands alone: a line of pixels could not be clicked


def image_rows(images: Sequence[Attachment], column: float) -> list[QRectF]:
    """A rectangle for each, in a column of this width; the first row begins at 0, and rows end at the right."""
    sizes = [_alone(images[0], column)] if len(images) == 1 else [_among(image, column) for image in images]
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


def rows_height(images: Sequence[Attachment], column: float) -> float:
    """Height in pixels, with the gap below; 0 without images."""
    return max((rect.bottom() + GAP for rect in image_rows(images, column)), default=0.0)


def _alone(image: Attachment, column: float) -> QSizeF:
    natural = image_cache().size_of(image).toSizeF()
    most = QSizeF(min(fonts.pixels(_ALONE[0]), column), fonts.pixels(_ALONE[1]))
    size = natural
    if natural.width() > most.width() or natural.height() > most.height():
        size = natural.scaled(most, Qt.AspectRatioMode.KeepAspectRatio)
    return QSizeF(round(max(_LEAST, size.width())), round(max(_LEAST, size.height())))


def _among(image: Attachment, column: float) -> QSizeF:
    natural = image_cache().size_of(image)
    high = fonts.pixels(_HIGH)
    shape = min(_WIDEST, max(_SLIMMEST, natural.width() / natural.height()))
    return QSizeF(round(min(column, high * shape)), high)
