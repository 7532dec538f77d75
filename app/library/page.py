"""Library page: six sections behind tabs, and the way back to the chat."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QButtonGroup, QStackedWidget, QToolButton, QWidget

from app.backend import Models
from app.i18n.translate import sentences, tr
from app.library import model_text
from app.library.dialogs import ModelDetailsDialog
from app.library.discover import DiscoverModels, ExternalModels
from app.library.endpoints import EndpointList
from app.library.entries import WIDEST, Action, LibraryEntry, LibrarySection
from app.library.installed import InstalledModels
from app.library.teams import TeamList
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.theme import sizes
from app.widgets import keyboard
from app.widgets.builders import (
    BAR,
    FlowLayout,
    confirm,
    hbox,
    make_button,
    make_label,
    open_dialog,
    set_progress,
    vbox,
)
from app.widgets.text import size
from engine import protocol

_MUCH = 100_000_000  # bytes


class DownloadList(LibrarySection):
    """Downloads. opened: a finished model's name. setting_requested: a setting that is in a download's way, by name.
    discover_requested: there is none, and models to download were asked for.
    """

    opened = Signal(str)
    setting_requested = Signal(str)
    discover_requested = Signal()

    def __init__(self, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(tr("Downloads"), parent)
        self._view_model = view_model
        self._by_id: dict[str, LibraryEntry] = {}
        self.discover = self.way_on(tr("Discover models"), self.discover_requested)
        view_model.transfers_changed.connect(self._changed)
        view_model.catalogue_changed.connect(self._name)
        self._changed(None)

    @Slot()
    def _name(self) -> None:
        """The list of models may say what those are called that are downloaded."""
        transfers, title_of = self._view_model.transfers, self._view_model.title_of
        if any(id in transfers and entry.title != title_of(transfers[id]) for id, entry in self._by_id.items()):
            self._changed(None)

    @Slot(object)
    def _changed(self, transfer: protocol.Transfer | None) -> None:
        """Update an entry; of one that is shown only text and bar change, five times a second."""
        if transfer is None or transfer.id not in self._by_id:
            self._by_id = {
                t.id: LibraryEntry(self._view_model.title_of(t), "", progress=True)
                for t in self._view_model.transfers.values()
            }
            self.show_entries(list(self._by_id.values()), tr("No downloads yet"))
            self.discover.setVisible(not self._by_id)
            for each in self._view_model.transfers.values():
                self._fill(each)
        else:
            self._fill(transfer)

    def _fill(self, t: protocol.Transfer) -> None:
        entry = self._by_id[t.id]
        show_progress(entry, t)
        entry.facts.show()
        entry.show_problem(sentences(t.problem, t.action))
        entry.bar.setVisible(t.state != protocol.FINISHED)
        s = self._view_model
        actions = []
        if t.state in (protocol.QUEUED, protocol.RUNNING):
            actions.append(Action(tr("Pause"), partial(s.pause, t.id)))
        elif t.state in (protocol.PAUSED, protocol.FAILED):
            actions.append(
                Action(
                    tr("Resume") if t.state == protocol.PAUSED else tr("Try again"),
                    partial(s.resume, t.id),
                    primary=True,
                )
            )
        if t.problem and t.kind in model_text.SETTINGS:
            actions.append(
                Action(tr("Open settings"), partial(self.setting_requested.emit, model_text.SETTINGS[t.kind]))
            )
        if t.state == protocol.FINISHED:
            actions.append(Action(tr("Use"), partial(self.opened.emit, t.name), primary=True))
        actions.append(
            Action(
                tr("Remove", about="a download that is done") if t.state == protocol.FINISHED else tr("Cancel"),
                partial(self._cancel, t.id),
            )
        )
        entry.set_actions(actions)

    def _cancel(self, transfer: str) -> None:
        """Cancel a download; one that took long is confirmed first."""
        t = self._view_model.transfers[transfer]
        if t.state == protocol.FINISHED or t.done < _MUCH:
            self._view_model.cancel(transfer)
            return
        confirm(
            self, tr("Cancel the download of {model}?", model=self._view_model.title_of(t)),
            tr("The {amount} downloaded so far will be deleted.", amount=size(t.done)),
            tr("Cancel download"), partial(self._view_model.cancel, transfer),
        )  # fmt: skip


def show_progress(entry: LibraryEntry, t: protocol.Transfer) -> None:
    """Show the progress of a transfer, as text and on the bar."""
    if t.state == protocol.FINISHED:
        entry.facts.setText(model_text.joined(tr(model_text.STATES[t.state]), t.repo))
        return
    doing = t.text if t.state == protocol.RUNNING and t.text else tr(model_text.STATES[t.state])
    entry.show_facts(model_text.joined(doing, model_text.progress(t.done, t.total, "bytes", t.rate, t.left)))
    set_progress(entry.bar, t.done, t.total if t.total or t.state == protocol.RUNNING else 1)


class LibraryPage(QWidget):
    """The page. closed: back to the chat. opened: a model's name."""

    closed = Signal()
    opened = Signal(str)

    def __init__(
        self, view_model: LibraryViewModel, known: Models, network: Network, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._view_model, self._network = view_model, network
        self.yours = InstalledModels(view_model, known, self)
        self.discover = DiscoverModels(view_model, network, self)
        self.elsewhere = ExternalModels(view_model, self)
        self.downloads = DownloadList(view_model, self)
        self.teams = TeamList(known, self)
        self.endpoints = EndpointList(known, self)
        title = make_label(tr("Models"), self, heading=1.5)
        back = make_button(tr("Back to chat"), self, self.closed.emit, "quiet")
        top = hbox((title, 1), back, margins=(24, 14, 24, 4))
        bar = FlowLayout()
        bar.setContentsMargins(24, 0, 24, 4)
        self.pages = QStackedWidget(self)
        self._tabs = QButtonGroup(self)
        self._tabs.setExclusive(True)
        sections: tuple[tuple[str, LibrarySection], ...] = (
            (tr("My models"), self.yours),
            (tr("Discover"), self.discover),
            (tr("From other apps"), self.elsewhere),
            (tr("Downloads"), self.downloads),
            (tr("Teams"), self.teams),
            (tr("Endpoints"), self.endpoints),
        )
        for number, (name, section) in enumerate(sections):
            tab = QToolButton(self)
            tab.setObjectName("segment")
            tab.setText(name)
            tab.setCheckable(True)
            self._tabs.addButton(tab, number)
            self.pages.addWidget(section)
            section.left.connect(tab.setFocus)
            bar.addWidget(tab)
        head = QWidget(self)
        sizes.set_widest(head, WIDEST)
        vbox(top, bar, parent=head, margins=0, spacing=0)
        beside_bar = QWidget(self)  # for which each section leaves room, so that the head stands above what is in it
        beside_bar.setFixedWidth(BAR)
        middle = hbox(..., (head, 1000), ..., beside_bar)
        self.bottom_spacer = QWidget(self)  # as high as a toast that would cover entries otherwise
        self.bottom_spacer.setFixedHeight(0)
        vbox(middle, (self.pages, 1), self.bottom_spacer, parent=self, margins=0, spacing=0)
        self._tabs.idClicked.connect(self.show_section)
        self.yours.opened.connect(self.opened)
        self.discover.opened.connect(self.opened)
        self.downloads.opened.connect(self.opened)
        self.yours.discover_requested.connect(partial(self.show_section, 1))
        self.downloads.discover_requested.connect(partial(self.show_section, 1))
        view_model.described.connect(self._describe)
        view_model.transfers_changed.connect(self._count)
        self._count(None)
        self.show_section(0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not keyboard.press_focused(self, event):
            super().keyPressEvent(event)

    @Slot(int)
    def show_section(self, number: int) -> None:
        """Show a section: 0 installed, 1 to download, 2 of other apps, 3 downloads, 4 teams, 5 endpoints."""
        tab, before = self._tabs.button(number), self._tabs.checkedButton()
        now, section = self.window().focusWidget(), self.pages.currentWidget()
        inside = now is not None and section is not None and section.isAncestorOf(now)
        hidden = inside and number != self.pages.currentIndex()
        tab.setChecked(True)
        self.pages.setCurrentIndex(number)
        if hidden or (before is not None and before.hasFocus()):  # or two would look chosen, or Qt would go to New chat
            tab.setFocus()

    def begin(self) -> None:
        """Refresh everything as the page comes up."""
        self._view_model.refresh()
        self._tabs.button(self.pages.currentIndex()).setFocus()

    @Slot(object)
    def _describe(self, details: protocol.ModelDetails) -> None:
        dialog = ModelDetailsDialog(details, self, model_text.why_offline(self._network.offline))
        dialog.download_requested.connect(self._get)
        dialog.details_requested.connect(self._view_model.describe)
        open_dialog(dialog)

    @Slot(object, int)
    def _get(self, model: protocol.HubModel, top: int) -> None:
        self._view_model.pull(model, top)
        self.show_section(3)

    @Slot(object)
    def _count(self, _: object) -> None:
        running, _share = self._view_model.under_way()
        failed = len(self._view_model.failed_transfers())
        words = tr("Downloads ({count})", count=running) if running else tr("Downloads")
        self._tabs.button(3).setText(tr("Downloads ({count} failed)", count=failed) if failed else words)
