"""A slider beside the field of a number, with a mark at the recommended value."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QRect, QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import QSlider, QStyle, QStyleOptionSlider, QWidget

from app.i18n.translate import tr
from app.widgets.builders import set_level
from app.widgets.text import number
from engine import protocol

Setting = protocol.settings.Setting
_STEPS = 200  # positions
_MARK = 2  # pixels across
# From where to where by setting, which is less than its declaration allows: the field takes the rest.
RANGES: Mapping[str, tuple[float, float]] = {
    "temperature": (0.0, 2.0),
    "top_p": (0.0, 1.0),
    "min_p": (0.0, 1.0),
    "repetition_penalty": (1.0, 2.0),
    "max_tokens": (64, 32_768),
    "t1": (0.0, 1.0),
    "t2": (0.0, 1.0),
    "cache_fraction": (0.0, 1.0),
    "memory_gb": (1.0, 64.0),
    "context_length": (512, 131_072),
}
_WIDE = 32  # times the low end from which on each step is a factor and no sum


def number_text(setting: Setting, value: float) -> str:
    """A value to be read: '1,048,576' or '0.7'; of a share that people see in percent, '62%'."""
    return tr("{number}%", number=number(100 * value)) if setting.percent else number(value)


class NumberSlider(QSlider):
    """moved: the value while it is dragged. chosen: the value it was let go at, or that a key moved it to.

    While the setting is automatic the handle is hollow, at the recommended value. Where none is known there is no place
    for it: whoever lays the slider out hides it then.
    """

    moved = Signal(float)
    chosen = Signal(float)

    def __init__(self, setting: Setting, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self._setting = setting
        self.low, self.high = RANGES[setting.name]
        self.recommended: float | None = None
        self.automatic = False
        self.setRange(0, _STEPS)
        self.setPageStep(_STEPS // 10)
        self.setTracking(False)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.sliderMoved.connect(lambda position: self.moved.emit(self.value_at(position)))
        self.valueChanged.connect(self._chosen)

    def set_high(self, high: float) -> None:
        """Set the upper end, such as the memory of this computer."""
        if high > self.low and high != self.high:
            shown = self.value_at(self.value())
            self.high = high
            self._place(min(shown, high))

    def recommend(self, value: float | None) -> None:
        """Mark a value; None for no mark."""
        self.recommended = value
        self.setToolTip("" if value is None else tr("Recommended: {value}", value=number_text(self._setting, value)))
        self.update()

    def show_value(self, value: float) -> None:
        """Show a value without emitting; one beyond an end stands at the end."""
        self._set_automatic(False)
        self._place(value)

    def show_automatic(self) -> None:
        """Show that no value is chosen."""
        self._set_automatic(True)
        self._place(self.low if self.recommended is None else self.recommended)

    def _place(self, value: float) -> None:
        with QSignalBlocker(self):
            self.setValue(round(_STEPS * self._part(value)))
        self.update()

    def _set_automatic(self, automatic: bool) -> None:
        self.automatic = automatic
        look = "hollow" if automatic else ""
        if self.property("automatic") != look:
            set_level(self, look, "automatic")
            self.setAccessibleDescription(tr("Automatic") if automatic else "")

    def value_at(self, position: int) -> float:
        """The value at a position: round, as a person would type it; at the upper end, that end."""
        if position == _STEPS:
            return float(self.high)
        part = position / _STEPS
        if self._is_log:
            exact = self.low * (self.high / self.low) ** part
            unit = 10.0 ** max(0, math.floor(math.log10(exact)) - 1)
            return float(min(self.high, max(self.low, round(exact / unit) * unit)))
        exact = self.low + part * (self.high - self.low)
        return float(round(exact)) if self._setting.kind == "int" else round(exact, 2)

    def knob(self, value: float) -> QRect:
        """Rectangle of the knob where it stands at a value."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        option.sliderPosition = option.sliderValue = round(_STEPS * self._part(value))
        parts = QStyle.ComplexControl.CC_Slider, QStyle.SubControl.SC_SliderHandle
        return self.style().subControlRect(parts[0], option, parts[1], self)

    def mark(self, value: float) -> QRect:
        """Rectangle of a mark at a value, in the middle of the knob that stands there."""
        knob = self.knob(value)
        return QRect(knob.x() + knob.width() // 2 - _MARK // 2, 0, _MARK, self.height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """The wheel scrolls the page; it would change what lies under the mouse on the way."""
        event.ignore()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self.recommended is not None:
            painter = QPainter(self)
            painter.fillRect(self.mark(self.recommended), self.palette().placeholderText())
            painter.end()
        super().paintEvent(event)
        if self.hasFocus():
            painter = QPainter(self)
            painter.setPen(self.palette().accent().color())
            painter.drawRoundedRect(self.rect().adjusted(0, 0, -1, -1), 4, 4)
            painter.end()

    @property
    def _is_log(self) -> bool:
        return self.low > 0 and self.high > _WIDE * self.low

    def _part(self, value: float) -> float:
        if self._is_log:
            part = math.log(max(value, self.low) / self.low) / math.log(self.high / self.low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return min(1.0, max(0.0, part))

    @Slot(int)
    def _chosen(self, position: int) -> None:
        self.chosen.emit(self.value_at(position))
