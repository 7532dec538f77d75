"""Fingers on the window: areas that scroll under them, and controls that are large enough once somebody touches."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QObject, QTimer
from PySide6.QtGui import QInputDevice, QWindow
from PySide6.QtWidgets import QAbstractScrollArea, QScroller, QScrollerProperties

from app.theme import motion
from app.theme.theme import Theme

_PROPERTIES = QScrollerProperties.ScrollMetric
_NEVER = QScrollerProperties.OvershootPolicy.OvershootAlwaysOff
_FASTEST = 0.5  # metres per second, as Qt has it


def scroll_by_touch(area: QAbstractScrollArea) -> None:
    """Have an area move with a finger, and glide on where motion is not reduced. The mouse does as before.

    Where there is no touch screen nothing is done: Qt gives each area a gesture type of its own, and Python keeps them.
    """
    if not has_touch_screen():
        return
    QScroller.grabGesture(area.viewport(), QScroller.ScrollerGestureType.TouchGesture)
    scroller = QScroller.scroller(area.viewport())
    scroller.stateChanged.connect(partial(_set_gliding, scroller))


def has_touch_screen() -> bool:
    """Whether there is a screen to be touched now."""
    return any(device.type() == QInputDevice.DeviceType.TouchScreen for device in QInputDevice.devices())


def _set_gliding(scroller: QScroller, state: QScroller.State) -> None:
    if state == QScroller.State.Pressed:
        properties = scroller.scrollerProperties()
        properties.setScrollMetric(_PROPERTIES.MaximumVelocity, 0.0 if motion.is_reduced() else _FASTEST)
        for direction in (_PROPERTIES.HorizontalOvershootPolicy, _PROPERTIES.VerticalOvershootPolicy):
            properties.setScrollMetric(direction, _NEVER)
        scroller.setScrollerProperties(properties)


class FirstTouch(QObject):
    """Enlarges controls after the first touch of a window. Looks at nothing where there is no touch screen."""

    def __init__(self, window: QWindow, theme: Theme) -> None:
        super().__init__(window)
        self._theme = theme
        if has_touch_screen():
            window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Only looks on."""
        if event.type() in (QEvent.Type.TouchEnd, QEvent.Type.TouchCancel):  # so that nothing moves under the finger
            watched.removeEventFilter(self)
            QTimer.singleShot(0, self, self._theme.enlarge_for_touch)
        return False
