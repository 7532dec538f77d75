"""Images for tests and screenshots, drawn here: a hill under a sky, in any size and format."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF
from PySide6.QtGui import QColor, QImage, QImageWriter, QLinearGradient, QPainter, QPolygonF

from app.storage.records import Attachment


def hill(width: int = 320, height: int = 200, sky: str = "#86b7e8") -> QImage:
    """A green hill, a sun at the upper left."""
    image = QImage(width, height, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    ground = QLinearGradient(0, 0, 0, height)
    ground.setColorAt(0, QColor(sky))
    ground.setColorAt(1, QColor("#f4efe2"))
    painter.fillRect(image.rect(), ground)
    painter.setPen(QColor(0, 0, 0, 0))
    painter.setBrush(QColor("#f6d365"))
    painter.drawEllipse(QPointF(width * 0.22, height * 0.28), height * 0.12, height * 0.12)
    for left, colour in ((-0.3, "#7fa66a"), (0.25, "#5a8650")):
        painter.setBrush(QColor(colour))
        points = [QPointF(width * (left + 0.02 * n), height * (1 - 0.55 * (1 - (n / 25 - 1) ** 2))) for n in range(51)]
        painter.drawPolygon(QPolygonF(points))
    painter.end()
    return image


def encoded(image: QImage, form: bytes = b"PNG") -> bytes:
    """The bytes of its file."""
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    assert QImageWriter(buffer, QByteArray(form)).write(image)
    return bytes(buffer.data().data())


def sample_image(name: str = "hill.png", width: int = 320, height: int = 200, sky: str = "#86b7e8") -> Attachment:
    """One that is attached."""
    return Attachment(name, "", encoded(hill(width, height, sky)))


def turned(jpeg: bytes, orientation: int) -> bytes:
    """A JPEG with a note of EXIF on how it is to be turned, and where it was taken: 'Hobbiton'."""
    place = b"Hobbiton\0"
    entries = (
        b"\x02\x00"
        + (0x0112).to_bytes(2, "little") + b"\x03\x00\x01\x00\x00\x00" + orientation.to_bytes(4, "little")
        + (0x010E).to_bytes(2, "little") + b"\x02\x00" + len(place).to_bytes(4, "little") + (38).to_bytes(4, "little")
        + b"\0\0\0\0"
    )  # fmt: skip
    exif = b"Exif\0\0II*\0\x08\0\0\0" + entries + place
    return jpeg[:2] + b"\xff\xe1" + (len(exif) + 2).to_bytes(2, "big") + exif + jpeg[2:]
