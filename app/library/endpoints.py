"""Section of the library page: endpoints, servers that answer in the place of a model on this computer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.backend import Models
from app.i18n.translate import sentences, tr
from app.library.endpoint_editor import EndpointEditor
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.widgets.builders import hbox, make_button, make_label, open_dialog
from engine import protocol


class EndpointList(LibrarySection):
    """chosen: key of an endpoint that is to answer. posted: a message, and what its Undo does."""

    chosen = Signal(str)
    used = Signal()  # the chat is wanted with it
    posted = Signal(str, object)

    def __init__(self, known: Models, parent: QWidget | None = None) -> None:
        super().__init__(tr("Endpoints"), parent)
        self._models = known
        about = tr("An endpoint is a server on another computer that answers like a model. Messages are sent there.")
        self.head.addWidget(make_label(about, self, "muted", wrap=True))
        self.add = make_button(tr("Add endpoint…"), self, lambda: self.edit(None))
        self.head.addLayout(hbox(self.add, ...))
        known.endpoints_listed.connect(self._fill)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        self.show_entries([self._entry(card) for card in self._models.endpoints], tr("No endpoints yet"))

    def _entry(self, card: protocol.EndpointCard) -> LibraryEntry:
        actions = [
            Action(tr("Use"), partial(self.use, card.key), primary=True),
            Action(tr("Edit"), partial(self.edit, card)),
            Action(tr("Delete"), partial(self.delete, card), menu=True),
        ]
        facts = "  ·  ".join((card.endpoint.model, card.endpoint.host, tr("Remote server")))
        return LibraryEntry(card.endpoint.name, facts, actions=actions, parent=self)

    def use(self, key: str) -> None:
        """Have the endpoint answer the open chat."""
        self.chosen.emit(key)
        self.used.emit()

    def edit(self, card: protocol.EndpointCard | None) -> EndpointEditor:
        """Open the dialog for an endpoint; None for a new one."""
        dialog, link = EndpointEditor(card, self), self._models.link
        replacing = card.id if card is not None else ""
        tests: list[str] = []
        open_now = [True]

        def refused(event: protocol.Failed) -> None:
            if open_now:
                dialog.refuse(sentences(event.sentence, event.action))

        def save(endpoint: protocol.Endpoint, key: str | None) -> None:
            link.request(saved, refused, protocol.SaveEndpoint, endpoint, replacing, key)

        def saved(_: protocol.EndpointCard) -> None:
            if open_now:
                dialog.accept()
            self._models.refresh_endpoints()
            self._models.refresh_teams()  # some may have missed it

        def test(endpoint: protocol.Endpoint, key: str | None) -> None:
            tests.append(link.request(tested, refused, protocol.CheckEndpoint, endpoint, replacing, key))

        def tested(check: protocol.EndpointCheck) -> None:
            if open_now:
                dialog.show_check(check)

        def closed() -> None:
            open_now.clear()
            for command in tests:
                link.stop(command)

        dialog.saved.connect(save)
        dialog.tested.connect(test)
        dialog.cancelled.connect(closed)
        return open_dialog(dialog)

    def delete(self, card: protocol.EndpointCard) -> None:
        """Delete an endpoint and its key; the toast brings it back without the key."""

        def again(endpoint: protocol.Endpoint) -> None:
            self._models.link.request(changed, self._models.failed.emit, protocol.SaveEndpoint, endpoint)

        def deleted(endpoint: protocol.Endpoint) -> None:
            self.posted.emit(tr("{name} deleted", name=card.endpoint.name), partial(again, endpoint))
            changed(None)

        def changed(_: object) -> None:
            self._models.refresh_endpoints()
            self._models.refresh_teams()

        self._models.link.request(deleted, self._models.failed.emit, protocol.DeleteEndpoint, card.id)
