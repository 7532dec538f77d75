"""Models on their way here."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.i18n.translate import sentences, tr
from app.library import words
from app.library.entry import Deed, Entry
from app.library.section import Section
from app.library.shelf import Shelf
from app.widgets.format import size
from app.widgets.sure import ask_first
from engine import api

_MUCH = 100_000_000  # bytes


class Downloads(Section):
    """opened: a model that has arrived, by name. setting_wanted: a setting that is in a download's way, by name."""

    opened = Signal(str)
    setting_wanted = Signal(str)

    def __init__(self, shelf: Shelf, parent: QWidget | None = None) -> None:
        super().__init__(tr("Downloads"), parent)
        self._shelf = shelf
        self._by_id: dict[str, Entry] = {}
        shelf.transfers_changed.connect(self._changed)
        self._changed(None)

    @Slot(object)
    def _changed(self, transfer: api.Transfer | None) -> None:
        """Of one that is shown already only the words and the bar change, five times a second."""
        if transfer is None or transfer.id not in self._by_id:
            self._by_id = {t.id: Entry(t.name or t.repo, "", progress=True) for t in self._shelf.transfers.values()}
            self.show_entries(list(self._by_id.values()), tr("Nothing is on its way. Models are under “Get models”."))
            for each in self._shelf.transfers.values():
                self._fill(each)
        else:
            self._fill(transfer)

    def _fill(self, t: api.Transfer) -> None:
        entry = self._by_id[t.id]
        tell_progress(entry, t)
        entry.facts.show()
        entry.complain(sentences(t.problem, t.action))
        entry.bar.setVisible(t.state != api.FINISHED)
        s = self._shelf
        deeds = []
        if t.state in (api.QUEUED, api.RUNNING):
            deeds.append(Deed(tr("Pause"), partial(s.pause, t.id)))
        elif t.state in (api.PAUSED, api.FAILED):
            deeds.append(
                Deed(tr("Go on") if t.state == api.PAUSED else tr("Try again"), partial(s.go_on, t.id), primary=True)
            )
        if t.problem and t.kind in words.SETTINGS:
            deeds.append(Deed(tr("Open the settings"), partial(self.setting_wanted.emit, words.SETTINGS[t.kind])))
        if t.state == api.FINISHED:
            deeds.append(Deed(tr("Open"), partial(self.opened.emit, t.name), primary=True))
        deeds.append(
            Deed(
                tr("Dismiss", about="a download that is done") if t.state == api.FINISHED else tr("Cancel"),
                partial(self._cancel, t.id),
            )
        )
        entry.set_deeds(deeds)

    def _cancel(self, transfer: str) -> None:
        """What took long to arrive is not thrown away by a slip of the mouse."""
        t = self._shelf.transfers[transfer]
        if t.state == api.FINISHED or t.done < _MUCH:
            self._shelf.cancel(transfer)
            return
        ask_first(
            self, tr("Cancel the download of {model}?", model=t.name),
            tr("The {amount} that have arrived are removed.", amount=size(t.done)),
            tr("Cancel the download"), partial(self._shelf.cancel, transfer),
        )  # fmt: skip


def tell_progress(entry: Entry, t: api.Transfer) -> None:
    """How far a transfer is, in words and on the bar."""
    if t.state == api.FINISHED:
        entry.facts.setText(words.joined(tr(words.STATES[t.state]), t.repo))
        return
    doing = t.text if t.state == api.RUNNING and t.text else tr(words.STATES[t.state])
    entry.facts.setText(words.joined(doing, words.progress(t.done, t.total, "bytes", t.rate, t.left)))
    entry.set_progress(t.done, t.total if t.total or t.state == api.RUNNING else 1)
