"""How visible it is that a widget has the keyboard: what changes of its picture when the keyboard comes to it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QScrollArea, QWidget

from tests.app import palette
from tests.app.walking import reachable, told

CONTRAST = 3.0  # to what was there before; WCAG 2.2, 2.4.13
_AROUND = 20  # pixels: the ring may be of what holds a widget
_LEAST = 40  # pixels: the ring of a small cell


def unseen(root: QWidget) -> Iterator[str]:
    """Widgets that look the same with the keyboard and without."""
    for widget in reachable(root):
        for area in _areas(widget):
            area.ensureWidgetVisible(widget)
        place = QRect(widget.mapTo(root, QPoint()), widget.size())
        place = place.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND) & root.rect()
        widget.setFocus(Qt.FocusReason.TabFocusReason)
        with_it = _luminance(root, place)
        widget.clearFocus()
        without = _luminance(root, place)
        light, dark = np.maximum(with_it, without), np.minimum(with_it, without)
        changed = int(((light + 0.05) / (dark + 0.05) >= CONTRAST).sum())
        if changed < _LEAST:
            yield f"{told(widget)} does not show that it has the keyboard: {changed} pixels"


def _areas(widget: QWidget) -> Iterator[QScrollArea]:
    holder = widget.parentWidget()
    while holder is not None:
        if isinstance(holder, QScrollArea):
            yield holder
        holder = holder.parentWidget()


def _luminance(root: QWidget, place: QRect) -> npt.NDArray[np.float64]:
    """Relative luminance of each pixel, as WCAG has it."""
    colours = palette.channels(root.grab(place).toImage()) / 255
    linear = np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
    return np.asarray(linear @ np.array([0.2126, 0.7152, 0.0722]))
