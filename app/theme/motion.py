"""Reduced motion: whether the system asks for it, and what the window leaves out then."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from contextlib import suppress
from typing import Any

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.platform.notifications import BUS

CHOICES = ("system", "on", "off")
_CLIENT_ANIMATION = 0x1042  # SPI_GETCLIENTAREAANIMATION
_ANSWER = 2.0  # seconds within which the desktop answers, and within which its thread ends
_PORTAL = ("/org/freedesktop/portal/desktop", "org.freedesktop.portal.Desktop", "org.freedesktop.portal.Settings")
# Where desktops say so, and the value that asks for less motion; the first that is there counts.
_SETTINGS = (
    ("org.freedesktop.appearance", "reduced-motion", 1),
    ("org.gnome.desktop.interface", "enable-animations", False),
    ("org.kde.kdeglobals.KDE", "AnimationDurationFactor", "0"),
)
_EFFECTS = (
    Qt.UIEffect.UI_AnimateMenu, Qt.UIEffect.UI_FadeMenu, Qt.UIEffect.UI_AnimateCombo, Qt.UIEffect.UI_AnimateTooltip,
    Qt.UIEffect.UI_FadeTooltip, Qt.UIEffect.UI_AnimateToolBox,
)  # fmt: skip
_still = False


def is_reduced() -> bool:
    """Whether nothing is to move or blink by itself."""
    return _still


class Motion(QObject):
    """Stills the text cursor and Qt's effects where motion is reduced. changed: whether it is, now."""

    changed = Signal(bool)
    _told = Signal(bool)

    def __init__(self, application: QApplication, choice: str) -> None:
        """choice: one of CHOICES."""
        super().__init__(application)
        self._flash = QGuiApplication.styleHints().cursorFlashTime()
        self._effects = [effect for effect in _EFFECTS if QApplication.isEffectEnabled(effect)]
        self._choice, self._system = choice, False
        self._thread: threading.Thread | None = None
        self._told.connect(self._take)
        application.applicationStateChanged.connect(self._ask)
        self._ask(Qt.ApplicationState.ApplicationActive)
        self._apply()

    def set_choice(self, choice: str) -> None:
        """Reduce motion or not, or as the system has it. choice: one of CHOICES."""
        self._choice = choice
        self._apply()

    def close(self) -> None:
        """End what asks the desktop, and let things move again as they did."""
        if self._thread is not None:
            self._thread.join(_ANSWER)
        self._set(False)
        self.deleteLater()

    @Slot(object)
    def _ask(self, state: Qt.ApplicationState) -> None:
        """Ask the system, each time that somebody comes to the window: they may have changed it elsewhere."""
        if state != Qt.ApplicationState.ApplicationActive:
            return
        if sys.platform == "win32":
            self._take(_windows_reduces())
        elif BUS in os.environ and (self._thread is None or not self._thread.is_alive()):
            self._thread = threading.Thread(target=self._ask_desktop, name="underhill-motion", daemon=True)
            self._thread.start()

    def _ask_desktop(self) -> None:
        with suppress(RuntimeError):  # the window is gone before the desktop has answered
            self._told.emit(desktop_reduces())

    @Slot(bool)
    def _take(self, reduces: bool) -> None:
        self._system = reduces
        self._apply()

    def _apply(self) -> None:
        self._set(self._system if self._choice == "system" else self._choice == "on")

    def _set(self, still: bool) -> None:
        global _still
        if still == _still:
            return
        _still = still
        QGuiApplication.styleHints().setCursorFlashTime(0 if still else self._flash)
        for effect in self._effects:
            QApplication.setEffectEnabled(effect, not still)
        self.changed.emit(still)


def _windows_reduces() -> bool:
    animates = ctypes.c_int(1)
    user: Any = ctypes.WinDLL("user32")  # type: ignore[attr-defined,unused-ignore]
    user.SystemParametersInfoW(_CLIENT_ANIMATION, 0, ctypes.byref(animates), 0)
    return not animates.value


def desktop_reduces() -> bool:
    """Whether the desktop asks for less motion, by its settings portal. False where nothing answers."""
    from jeepney import DBusAddress, new_method_call
    from jeepney.io.blocking import open_dbus_connection
    from jeepney.wrappers import DBusErrorResponse, unwrap_msg

    path, name, interface = _PORTAL
    try:
        with open_dbus_connection("SESSION") as bus:
            for namespace, key, asks in _SETTINGS:
                call = new_method_call(DBusAddress(path, name, interface), "ReadOne", "ss", (namespace, key))
                try:
                    ((_, value),) = unwrap_msg(bus.send_and_get_reply(call, timeout=_ANSWER))
                except DBusErrorResponse:
                    continue  # this desktop has no such setting
                return bool(value == asks)
    except Exception:  # no bus, or one that hangs or ends
        pass
    return False
