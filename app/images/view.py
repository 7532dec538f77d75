"""Shows images: painted with round corners, as a thumbnail that can be pressed, and as large as there is room."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFocusEvent, QPainter, QPainterPath, QPaintEvent, QPen, QPixmap
from PySide6.QtWidgets import QAbstractButton, QSizePolicy, QWidget

from app.images.cache import image_cache
from app.storage.records import Attachment
from app.theme import fonts, sizes
from app.theme.icons import pixmap
from app.theme.theme import Palette, Theme

_BROKEN = 20  # pixels of the sign for one that cannot be decoded


def paint_image(painter: QPainter, rect: QRectF, attachment: Attachment, palette: Palette, radius: float) -> None:
    """Fill a rectangle with an image, whose longer sides may be cut off; a plain ground until it is decoded."""
    ratio = painter.device().devicePixelRatioF()
    made = image_cache().pixmap(attachment, QSize(round(rect.width() * ratio), round(rect.height() * ratio)))
    shape = QPainterPath()
    shape.addRoundedRect(rect, radius, radius)
    painter.save()
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    if made is None or made.isNull():
        painter.fillPath(shape, QColor(palette.hover))
    else:
        painter.setClipPath(shape, Qt.ClipOperation.IntersectClip)
        if made.hasAlphaChannel():
            painter.fillPath(shape, QColor("white"))  # what is transparent was drawn for paper, mostly
        painter.drawPixmap(rect, made, _covered(made, rect))
    if made is not None and made.isNull():  # damaged
        side = fonts.pixels(_BROKEN)
        sign = pixmap("alert", palette.muted, side, ratio)
        painter.drawPixmap(rect.center() - QPointF(side / 2, side / 2), sign)
    painter.restore()
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(QColor(palette.border), 1))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRoundedRect(rect.adjusted(0.5, 0.5, -0.5, -0.5), radius, radius)
    painter.restore()


def _covered(made: QPixmap, rect: QRectF) -> QRectF:
    """The middle part of an image that has the shape of a rectangle."""
    size = rect.size().scaled(made.size().toSizeF(), Qt.AspectRatioMode.KeepAspectRatio)
    part = QRectF(0, 0, size.width(), size.height())
    part.moveCenter(QRectF(made.rect()).center())
    return part


class Thumbnail(QAbstractButton):
    """A square button that shows an image."""

    def __init__(self, theme: Theme, attachment: Attachment, side: int, parent: QWidget | None = None) -> None:
        """side: in pixels, beside text of the base size."""
        super().__init__(parent)
        self._theme, self._attachment = theme, attachment
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        sizes.set_square(self, side)
        image_cache().ready.connect(self.update)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, palette = QPainter(self), self._theme.palette
        inside = QRectF(self.rect()).adjusted(2, 2, -2, -2)
        paint_image(painter, inside, self._attachment, palette, 8)
        if self.hasFocus():
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(palette.accent), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 9, 9)
        painter.end()

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.update()


class ImageView(QWidget):
    """One image as large as there is room, and no larger than it is."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._attachment: Attachment | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(120, 90)
        image_cache().ready.connect(self.update)
        theme.changed.connect(self.update)

    def show_image(self, attachment: Attachment) -> None:
        """Show this one; screen readers say its name."""
        self._attachment = attachment
        self.setAccessibleName(attachment.name)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._attachment is None:
            return
        ratio = self.devicePixelRatioF()
        natural = image_cache().size_of(self._attachment).toSizeF() / ratio
        size = natural
        if size.width() > self.width() or size.height() > self.height():
            size = natural.scaled(self.size().toSizeF(), Qt.AspectRatioMode.KeepAspectRatio)
        rect = QRectF(0, 0, max(1, round(size.width())), max(1, round(size.height())))
        rect.moveCenter(QRectF(self.rect()).center())
        painter = QPainter(self)
        paint_image(painter, QRectF(rect.toRect()), self._attachment, self._theme.palette, 6)
        painter.end()
