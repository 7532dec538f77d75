"""Makes a PNG or JPEG of limited size out of an image of any origin. Runs in a sandboxed process.

What comes out was encoded here: whatever else the file held, such as the place where a photo was taken, is gone.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QSize, Qt
from PySide6.QtGui import QColorSpace, QImage, QImageIOHandler, QImageReader, QImageWriter, QPainter

from engine import regular_file

SIDE = 2048  # pixels of the longer side that are kept; models look at no more
PIXELS = 120_000_000  # of an image that is read; the largest cameras of phones have 108 million
LARGEST = 100 << 20  # bytes of its file
FORMATS = (b"png", b"jpeg", b"webp", b"gif", b"bmp", b"tiff")
DONE, UNREADABLE, TOO_MANY_PIXELS = "done", "unreadable", "pixels"
_LOSSLESS = (b"png", b"gif", b"bmp", b"tiff")
_AS_PNG = 1 << 20  # bytes; of what is larger as PNG and has nothing transparent, a JPEG is kept
_QUALITY = 90  # of JPEG
_DECODED = 640  # MB that Qt may allocate for one image


class UnreadableImage(ValueError):
    """It is damaged, or in none of the formats."""


class TooManyPixels(ValueError):
    """args: width and height."""


def from_file(path: str) -> Iterator[list[Any]]:
    """[DONE, its bytes in base64], [TOO_MANY_PIXELS, width, height] or [UNREADABLE, why]. Raises OSError."""
    file = Path(path)
    with regular_file.open_regular(file, LARGEST) as source:
        data = regular_file.read_at_most(source, LARGEST, file)
    try:
        yield [DONE, base64.b64encode(from_bytes(data)).decode("ascii")]
    except TooManyPixels as error:
        yield [TOO_MANY_PIXELS, *error.args]
    except UnreadableImage as error:
        yield [UNREADABLE, str(error)]


def checked(data: bytes) -> bytes:
    """An image's file as it is, where it is such as `from_bytes` makes; else what that makes of it. Raises as it."""
    made = from_bytes(data)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    size, upright = reader.size(), reader.transformation() == QImageIOHandler.Transformation.TransformationNone
    own = reader.format().data() in (b"png", b"jpeg") and upright and max(size.width(), size.height()) <= SIDE
    buffer.close()
    return data if own else made


def from_bytes(data: bytes) -> bytes:
    """An image's file, upright and no larger than SIDE. Raises UnreadableImage, TooManyPixels."""
    QImageReader.setAllocationLimit(_DECODED)
    buffer = QBuffer()
    buffer.setData(QByteArray(data))
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    reader.setDecideFormatFromContent(True)
    reader.setAutoTransform(True)
    form = reader.format().data()
    if form not in FORMATS:
        raise UnreadableImage(f"format {form!r}")
    size = reader.size()
    if size.width() * size.height() > PIXELS:
        raise TooManyPixels(size.width(), size.height())
    if size.isValid() and max(size.width(), size.height()) > SIDE:
        reader.setScaledSize(_fitted(size))  # while it is decoded: a JPEG of a phone takes a fraction of the memory
    image = reader.read()
    if image.isNull():
        raise UnreadableImage(reader.errorString())
    return encoded(image, form in _LOSSLESS)


def encoded(image: QImage, lossless: bool = True) -> bytes:
    """The file of a decoded image: PNG where it has transparent parts, or was lossless and is small; else JPEG."""
    if image.colorSpace().isValid():
        image = image.convertedToColorSpace(QColorSpace(QColorSpace.NamedColorSpace.SRgb))
    if max(image.width(), image.height()) > SIDE:
        image = image.scaled(
            _fitted(image.size()), Qt.AspectRatioMode.IgnoreAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
    clear = image.hasAlphaChannel()
    plain = QImage(image.size(), QImage.Format.Format_ARGB32 if clear else QImage.Format.Format_RGB32)
    plain.fill(0)
    painter = QPainter(plain)  # the pixels alone: texts that a PNG holds would go along with a copy
    painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
    painter.drawImage(0, 0, image.convertToFormat(plain.format()))
    painter.end()
    if clear or lossless:
        made = _saved(plain, b"PNG", -1)
        if clear or len(made) <= _AS_PNG:
            return made
    return _saved(plain, b"JPEG", _QUALITY)


def _fitted(size: QSize) -> QSize:
    return size.scaled(SIDE, SIDE, Qt.AspectRatioMode.KeepAspectRatio).expandedTo(QSize(1, 1))


def _saved(image: QImage, form: bytes, quality: int) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QImageWriter(buffer, QByteArray(form))
    writer.setQuality(quality)
    if not writer.write(image):
        raise UnreadableImage(f"no {form!r} can be made of it")
    return bytes(buffer.data().data())
