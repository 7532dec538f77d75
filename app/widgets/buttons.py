"""Buttons: with an icon, with an elided text, and chips, each with a name to press and a cross to remove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import QRect, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontMetrics, QIcon, QPainter, QPaintEvent, QTextOption
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QToolButton,
    QWidget,
)

from app.images.view import Thumbnail
from app.storage.records import Attachment, numbered
from app.theme import fonts, sizes
from app.theme.icons import icon
from app.theme.theme import Palette, Theme
from app.widgets.builders import FlowLayout, empty, hbox

_LEAST = 8  # average letters of a button
_LONGEST = 44  # characters on the chip
_TOLD = 240  # and in its tooltip, where it is longer
_THUMBNAIL = 56  # pixels of the side of an image on a chip, beside text of the base size


class IconButton(QToolButton):
    """name: of the icon. label: accessible name and tooltip. shortcut: written into the tooltip.

    size: in pixels, beside text of the base size.
    """

    def __init__(
        self, theme: Theme, name: str, label: str, parent: QWidget | None = None, shortcut: str = "", size: int = 18
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._name = name
        sizes.follow(self, lambda button: button.setIconSize(QSize(fonts.pixels(size), fonts.pixels(size))))
        sizes.follow(self, lambda button: button.setMinimumSize(fonts.touchable(0), fonts.touchable(0)))
        self.set_label(label, shortcut)
        self._tint()
        theme.changed.connect(self._tint)

    def set_label(self, label: str, shortcut: str = "") -> None:
        """Set the accessible name and the tooltip."""
        self.setAccessibleName(label)
        self.setToolTip(f"{label}  ({shortcut})" if shortcut else label)

    def set_count(self, count: int) -> None:
        """Show a number beside the icon; 0 for none."""
        self.setText(f"{count}" if count else "")
        beside = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if count else Qt.ToolButtonStyle.ToolButtonIconOnly
        self.setToolButtonStyle(beside)

    def set_icon(self, name: str) -> None:
        """Set another icon."""
        self._name = name
        self._tint()

    @Slot()
    def _tint(self) -> None:
        palette = self._theme.palette
        made = QIcon(icon(self._name, palette.on_accent if self.objectName() == "send" else palette.muted))
        # Qt's own would not be seen on the pale ground of a disabled send button, and on a dark one look as if enabled.
        unusable = icon(self._name, palette.muted if self.objectName() == "send" else _faint(palette))
        for ratio in (1.0, 2.0):
            made.addPixmap(unusable.pixmap(self.iconSize(), ratio), QIcon.Mode.Disabled)
        self.setIcon(made)


def _faint(palette: Palette) -> str:
    """Half way between the colour of icons and the ground."""
    a, b = QColor(palette.muted), QColor(palette.window)
    return QColor((a.red() + b.red()) // 2, (a.green() + b.green()) // 2, (a.blue() + b.blue()) // 2).name()


def elided_title(title: str, metrics: QFontMetrics, width: int) -> str:
    """A chat's title in so many pixels: 'A long ti… (2)' keeps the number that tells it from the one it came from."""
    words, number = numbered(title)
    space = width - metrics.horizontalAdvance(number)
    if not number or metrics.horizontalAdvance(title) <= width or space <= 0:
        return metrics.elidedText(title, Qt.TextElideMode.ElideRight, width)
    return metrics.elidedText(words, Qt.TextElideMode.ElideRight, space) + number


def draw_line(painter: QPainter, space: QRect, words: str, alignment: Qt.AlignmentFlag) -> None:
    """Draw words on one line in their own direction: a question in Hebrew ends at its left in any window."""
    option = QTextOption(alignment)
    option.setTextDirection(Qt.LayoutDirection.LayoutDirectionAuto)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    painter.drawText(QRectF(space), words, option)


class ElidedButton(QPushButton):
    """Button that elides its text before others are pushed out."""

    def __init__(self, text: str = "", parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def minimumSizeHint(self) -> QSize:
        """Room for some letters."""
        hint, metrics = self.sizeHint(), self.fontMetrics()
        spare = metrics.horizontalAdvance(self.text()) - _LEAST * metrics.averageCharWidth()
        return QSize(hint.width() - max(0, spare), hint.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionButton()
        self.initStyleOption(option)
        lacking = self.sizeHint().width() - self.width()
        if lacking > 0:
            wide = self.fontMetrics().horizontalAdvance(self.text()) - lacking
            option.text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, wide)
        painter.drawControl(QStyle.ControlElement.CE_PushButton, option)


class ElidedLabel(QLabel):
    """Label that takes what room is left, and is hidden where only some letters would fit."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)

    def paintEvent(self, event: QPaintEvent) -> None:
        space, metrics = self.contentsRect(), self.fontMetrics()
        if space.width() < min(metrics.horizontalAdvance(self.text()), _LEAST * metrics.averageCharWidth()):
            return
        painter = QPainter(self)
        painter.setFont(self.font())
        painter.setPen(self.palette().windowText().color())
        words = metrics.elidedText(self.text(), Qt.TextElideMode.ElideRight, space.width())
        draw_line(painter, space, words, self.alignment())


@dataclass(frozen=True)
class Chip:
    """text: shown. tooltip: all of it. icon: a name, or ''. image: shown instead of the text."""

    text: str
    tooltip: str = ""
    icon: str = ""
    image: Attachment | None = None


class Chips(QWidget):
    """Row of chips, hidden while there is none. Signals carry the number of the chip."""

    pressed = Signal(int)
    removed = Signal(int)

    def __init__(self, theme: Theme, name: str, remove: str, parent: QWidget | None = None) -> None:
        """name: of all of them, for screen readers. remove: what the cross does, such as 'Remove'."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._theme = theme
        self._remove = remove
        self._flow = FlowLayout(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.chips: tuple[Chip, ...] = ()
        self.hide()
        theme.changed.connect(self._rebuild)

    def fill(self, chips: Sequence[Chip]) -> None:
        """Replace the chips."""
        if tuple(chips) != self.chips:
            self.chips = tuple(chips)
            self._rebuild()

    @Slot()
    def _rebuild(self) -> None:
        empty(self._flow)
        for number, chip in enumerate(self.chips):
            self._flow.addWidget(self._make_chip(number, chip))
        self.setVisible(bool(self.chips))
        self.updateGeometry()

    def _make_chip(self, number: int, chip: Chip) -> QFrame:
        frame = QFrame(self)
        frame.setObjectName("chip")
        text = " ".join(chip.text.split())
        short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        button: QAbstractButton
        if chip.image is not None:
            button = Thumbnail(self._theme, chip.image, _THUMBNAIL, frame)
        else:
            button = QPushButton(short, frame)
            button.setObjectName("chip")
            if chip.icon:
                button.setIcon(icon(chip.icon, self._theme.palette.muted))
        shown = short == text and chip.image is None
        button.setToolTip(chip.tooltip if shown else f"{text[:_TOLD]}\n{chip.tooltip}".strip())
        button.setAccessibleName(f"{text}. {chip.tooltip}".strip())
        button.clicked.connect(partial(self.pressed.emit, number))
        cross = IconButton(self._theme, "close", f"{self._remove} {text}", frame, size=15)
        cross.setObjectName("cross")
        cross.clicked.connect(partial(self.removed.emit, number))
        place = Qt.AlignmentFlag.AlignTop if chip.image is not None else Qt.AlignmentFlag.AlignVCenter
        hbox(button, (cross, 0, place), parent=frame, margins=(4, 1, 2, 1), spacing=0)
        frame.show()
        return frame
