"""Shows the list of chats and the live panels beside the chat: both where there is room, else one."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QSplitter

from app.chat.header import Header
from app.settings.preferences import Preferences
from app.sidebar.sidebar import Sidebar
from app.telemetry.docks import TelemetryDocks

_CHAT = 52  # characters across that the chat keeps
_NONE, _CHATS, _LIVE = "", "chats", "live"


class SidePanes(QObject):
    """What is wished for is remembered; what is put away for want of room comes back with the room.

    Opening the one by hand puts the other away. Closing one does not bring the other.
    """

    def __init__(
        self, splitter: QSplitter, header: Header, sidebar: Sidebar, live: TelemetryDocks, wishes: Preferences
    ) -> None:
        super().__init__(splitter)
        self._splitter, self._header, self._sidebar, self._live, self._wishes = splitter, header, sidebar, live, wishes
        self.away = _NONE  # the one that is put away
        self._quiet = False  # on a page that the live panels say nothing about
        self._chats_width = splitter.sizes()[0]
        header.sidebar.toggled.connect(partial(self._chosen, _CHATS))
        header.live.toggled.connect(partial(self._chosen, _LIVE))
        live.closed.connect(partial(header.live.setChecked, False))

    @Slot()
    def fit(self) -> None:
        """The width of the window, or what is wished for, is another."""
        window = self._splitter.window()
        if self._sidebar.isVisible():
            self._chats_width = self._sidebar.width()
        chat = _CHAT * self._splitter.fontMetrics().averageCharWidth()
        if window.width() >= chat + self._chats_width + self._live.wide():
            self.away = _NONE
        elif self._wishes.sidebar_open and self._wishes.live_open and not self.away:
            self.away = _LIVE
        chats = self._wishes.sidebar_open and self.away != _CHATS
        live = self._wishes.live_open and self.away != _LIVE and not self._quiet
        self._sidebar.setVisible(chats)
        if not self._wishes.live_open:
            self._live.show_all(False)
        elif not live:
            self._live.put_away()
        elif not self._live.shown:
            self._live.bring_back()
        for button, shown in ((self._header.sidebar, chats), (self._header.live, live)):
            button.blockSignals(True)
            button.setChecked(shown)
            button.blockSignals(False)

    def set_quiet(self, quiet: bool) -> None:
        """Another page: whether it is one without answers, where live panels show only if they are asked for."""
        self._quiet = quiet
        self.fit()

    def _chosen(self, side: str, shown: bool) -> None:
        """The button of one side was clicked, or its key was pressed."""
        if side == _CHATS:
            self._wishes.sidebar_open = shown
        else:
            self._wishes.live_open = shown
        if shown:
            self._quiet = self._quiet and side != _LIVE
            self.away = _CHATS if side == _LIVE else _LIVE  # if there is no room for both
        self.fit()
