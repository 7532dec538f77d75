"""Models on their way, wherever one is in the window: a word at the top, and what was left half-way the last time."""

from __future__ import annotations

from PySide6.QtCore import QObject, Slot

from app.i18n.translate import plural, tr
from app.library.view_model import LibraryViewModel
from app.main_window import MainWindow
from app.widgets.text import size
from engine import protocol

_SECTION = 3  # of the library page


class DownloadsController(QObject):
    """Asks for the list once, at the start; later the engine tells."""

    def __init__(self, window: MainWindow, view_model: LibraryViewModel) -> None:
        super().__init__(window)
        self._window, self._view_model = window, view_model
        self._new = True
        view_model.transfers_changed.connect(self._tell)
        window.header.downloads_wanted.connect(self.show)

    def begin(self) -> None:
        """At the start."""
        self._view_model.refresh_transfers()

    @Slot()
    def show(self) -> None:
        """The library, where it lists them."""
        self._window.library.show().show_section(_SECTION)

    @Slot(object)
    def _tell(self, _: object) -> None:
        self._window.header.show_downloads(*self._view_model.under_way())
        if self._new:
            self._new = False
            self._remind()

    def _remind(self) -> None:
        """Of those that were paused, or halted when Underhill was closed: nothing fetches them until one says so."""
        halted = [t for t in self._view_model.transfers.values() if t.state == protocol.PAUSED]
        if not halted:
            return
        first = halted[0]
        so_far = tr("{done} of {total}", done=size(first.done), total=size(first.total)) if first.total else ""
        sentence = (
            plural("1 model is only partly here.", "%n models are only partly here.", len(halted))
            if len(halted) > 1 or not so_far
            else tr("{model} is only partly here: {so_far}.", model=first.name, so_far=so_far)
        )

        def go_on() -> None:
            for transfer in halted:
                self._view_model.resume(transfer.id)

        action = tr("The download was paused, or halted when Underhill was closed.")
        self._window.banners.show_banner(
            "info", sentence, action, "", (tr("Go on"), go_on), (tr("Downloads"), self.show)
        )
