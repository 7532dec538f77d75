"""Section of downloads and their progress."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.i18n.translate import sentences, tr
from app.library import model_text
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.library.view_model import LibraryViewModel
from app.widgets.dialogs import confirm
from app.widgets.text import size
from engine import protocol

_MUCH = 100_000_000  # bytes


class DownloadList(LibrarySection):
    """Downloads. opened: a finished model's name. setting_wanted: a setting that is in a download's way, by name."""

    opened = Signal(str)
    setting_wanted = Signal(str)

    def __init__(self, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(tr("Downloads"), parent)
        self._view_model = view_model
        self._by_id: dict[str, LibraryEntry] = {}
        view_model.transfers_changed.connect(self._changed)
        self._changed(None)

    @Slot(object)
    def _changed(self, transfer: protocol.Transfer | None) -> None:
        """Update an entry; of one that is shown only text and bar change, five times a second."""
        if transfer is None or transfer.id not in self._by_id:
            self._by_id = {
                t.id: LibraryEntry(t.name or t.repo, "", progress=True) for t in self._view_model.transfers.values()
            }
            self.show_entries(list(self._by_id.values()), tr("Nothing is on its way. Models are under “Get models”."))
            for each in self._view_model.transfers.values():
                self._fill(each)
        else:
            self._fill(transfer)

    def _fill(self, t: protocol.Transfer) -> None:
        entry = self._by_id[t.id]
        tell_progress(entry, t)
        entry.facts.show()
        entry.complain(sentences(t.problem, t.action))
        entry.bar.setVisible(t.state != protocol.FINISHED)
        s = self._view_model
        actions = []
        if t.state in (protocol.QUEUED, protocol.RUNNING):
            actions.append(Action(tr("Pause"), partial(s.pause, t.id)))
        elif t.state in (protocol.PAUSED, protocol.FAILED):
            actions.append(
                Action(
                    tr("Go on") if t.state == protocol.PAUSED else tr("Try again"),
                    partial(s.resume, t.id),
                    primary=True,
                )
            )
        if t.problem and t.kind in model_text.SETTINGS:
            actions.append(
                Action(tr("Open the settings"), partial(self.setting_wanted.emit, model_text.SETTINGS[t.kind]))
            )
        if t.state == protocol.FINISHED:
            actions.append(Action(tr("Open"), partial(self.opened.emit, t.name), primary=True))
        actions.append(
            Action(
                tr("Dismiss", about="a download that is done") if t.state == protocol.FINISHED else tr("Cancel"),
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
            self, tr("Cancel the download of {model}?", model=t.name),
            tr("The {amount} that have arrived are removed.", amount=size(t.done)),
            tr("Cancel the download"), partial(self._view_model.cancel, transfer),
        )  # fmt: skip


def tell_progress(entry: LibraryEntry, t: protocol.Transfer) -> None:
    """Show the progress of a transfer, as text and on the bar."""
    if t.state == protocol.FINISHED:
        entry.facts.setText(model_text.joined(tr(model_text.STATES[t.state]), t.repo))
        return
    doing = t.text if t.state == protocol.RUNNING and t.text else tr(model_text.STATES[t.state])
    entry.facts.setText(model_text.joined(doing, model_text.progress(t.done, t.total, "bytes", t.rate, t.left)))
    entry.set_progress(t.done, t.total if t.total or t.state == protocol.RUNNING else 1)
