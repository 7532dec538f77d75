"""The tray icon with progress, and notifications of long answers and downloads while another program is in front."""

from __future__ import annotations

import time
from collections.abc import Callable

from PySide6.QtCore import QObject, QRectF, Qt, Slot
from PySide6.QtGui import QColor, QIcon, QPainter, QPen
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from app import backend
from app.backend import Models
from app.chat.conversation import Conversation
from app.controllers.chat_navigator import ChatNavigator
from app.i18n.translate import tr
from app.library.view_model import LibraryViewModel
from app.platform.notifications import Notifications, available
from app.shell import Shell
from app.storage.records import StoredMessage
from app.theme.icons import icon, pixmap
from app.theme.theme import Theme
from app.widgets.builders import raise_window
from app.widgets.text import percent
from engine import protocol

NOTIFY_AFTER = 10.0  # seconds; after a shorter wait the user is hardly in another program
_SIDE = 64  # pixels of the icon with progress
_STEPS = 20  # icons of a ring that fills
_SHOWN = 120  # characters of an answer in a notification


class TrayController(QObject):
    """tray: the icon, or None where the system has no tray. notices: notifications of a Linux desktop.

    Where there are neither, the window's entry in the task bar blinks.
    """

    def __init__(
        self, shell: Shell, navigator: ChatNavigator, conversation: Conversation, *, known: Models,
        view_model: LibraryViewModel, theme: Theme, clock: Callable[[], float] = time.monotonic,
    ) -> None:  # fmt: skip
        super().__init__(shell)
        self._shell, self._navigator, self._conversation, self._theme = shell, navigator, conversation, theme
        self._models, self._view_model = known, view_model
        self._clock = clock
        self._begun = 0.0
        self._shown = (-1, "")  # the tray's ring and words
        self.tray: QSystemTrayIcon | None = None
        self.notices = Notifications(self) if available() else None
        if self.notices is not None:
            self.notices.clicked.connect(self._raise)
            self.notices.missed.connect(self._notify_otherwise)
        if QSystemTrayIcon.isSystemTrayAvailable():
            self.tray = QSystemTrayIcon(self)
            self._menu = QMenu()
            self._menu.addAction(tr("Open Underhill"), self._raise)
            self._menu.addAction(tr("New chat"), self._new_chat)
            self._menu.addSeparator()
            self._menu.addAction(tr("Quit"), shell.close)
            self.tray.setContextMenu(self._menu)
            self.tray.activated.connect(self._activated)
            self.tray.messageClicked.connect(self._raise)
        conversation.busy_changed.connect(self._busy_changed)
        conversation.finished.connect(self._finished)
        known.changed.connect(self._update_icon)
        known.import_changed.connect(self._update_icon)
        known.imported.connect(self._imported)
        view_model.transfers_changed.connect(self._update_icon)
        view_model.message_posted.connect(self._notify_done)
        self._update_icon()
        if self.tray is not None:
            self.tray.show()

    def end(self) -> None:
        """Take the icon away."""
        if self.tray is not None:
            self.tray.hide()
        if self.notices is not None:
            self.notices.close()

    @Slot()
    def _busy_changed(self) -> None:
        if not self._conversation.working:
            self._begun = 0.0
        elif not self._begun:
            self._begun = self._clock()
        self._update_icon()

    @Slot(object)
    def _finished(self, message: StoredMessage) -> None:
        waited = self._clock() - self._begun if self._begun else 0.0
        if waited >= NOTIFY_AFTER:
            words = " ".join(message.content.split())
            words = words if len(words) <= _SHOWN else words[: _SHOWN - 1].rstrip() + "…"
            self._notify(tr("Answer ready"), words)

    @Slot(object)
    def _imported(self, card: protocol.ModelCard) -> None:
        self._notify_done(tr("{model} imported", model=card.title))

    @Slot(str)
    def _notify_done(self, sentence: str) -> None:
        """Something with a model of the library that takes long."""
        self._notify("Underhill", sentence)

    def _notify(self, title: str, words: str) -> None:
        """Notify the user, unless the window is in front."""
        if QApplication.activeWindow() is not None:
            return
        if self.notices is not None:
            self.notices.show(title, words, tr("Open Underhill"))
        else:
            self._notify_otherwise(title, words)

    @Slot(str, str)
    def _notify_otherwise(self, title: str, words: str) -> None:
        if self.tray is not None and QSystemTrayIcon.supportsMessages():
            self.tray.showMessage(title, words, icon("underhill", ""))
        else:
            QApplication.alert(self._shell)

    @Slot()
    def _update_icon(self) -> None:
        """The tray's icon and words."""
        if self.tray is None:
            return
        m = self._models
        progress = m.progress if m.state == backend.LOADING else m.importing
        moving, here = self._view_model.under_way()
        if progress is not None:
            ring = _STEPS * progress.done // progress.total if progress.total else 0
            share = f", {percent(100 * progress.done // progress.total / 100)}" if progress.total else ""
            words = f"{progress.text}{share}"
        elif moving:
            ring, words = int(_STEPS * here), tr("downloading, {share}", share=percent(int(100 * here) / 100))
        else:
            ring, words = -1, tr("generating") if self._conversation.working else ""
        if (ring, words) != self._shown or not self.tray.toolTip():
            self._shown = (ring, words)
            self.tray.setIcon(icon("underhill", "") if ring < 0 else self._ring(ring / _STEPS))
            self.tray.setToolTip(f"Underhill – {words}" if words else "Underhill")

    def _ring(self, share: float) -> QIcon:
        made = pixmap("underhill", "", _SIDE)
        painter = QPainter(made)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        around = QRectF(5, 5, _SIDE - 10, _SIDE - 10)
        p = self._theme.palette
        painter.setPen(QPen(QColor(p.window), 10))
        painter.drawEllipse(around)
        painter.setPen(QPen(QColor(p.accent), 10, Qt.PenStyle.SolidLine, Qt.PenCapStyle.RoundCap))
        painter.drawArc(around, 90 * 16, -round(360 * 16 * share))
        painter.end()
        return QIcon(made)

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason in (QSystemTrayIcon.ActivationReason.Trigger, QSystemTrayIcon.ActivationReason.DoubleClick):
            self._raise()

    @Slot()
    def _raise(self) -> None:
        raise_window(self._shell)

    @Slot()
    def _new_chat(self) -> None:
        self._raise()
        self._navigator.new_chat()
