"""The third step of the tour: a model that suits this computer, or the one that is built in."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QVBoxLayout, QWidget

from app.backend.models import Models
from app.backend.network import Network
from app.i18n.translate import sentences, tr
from app.library import model_text
from app.library.downloads import tell_progress
from app.library.entries import Action, LibraryEntry, import_buttons
from app.library.recommendations import Recommendation, recommend, time_to_fetch
from app.library.view_model import LibraryViewModel
from app.onboarding.steps import TourStep
from app.widgets.builders import hbox, make_button
from app.widgets.layouts import empty
from app.widgets.text import size
from engine import protocol

_BUILTIN = "builtin"


class ModelStep(TourStep):
    """wanted: fetch this protocol.HubModel. opened: open the model of this name, and chat."""

    wanted = Signal(object)
    opened = Signal(str)
    offline_wanted = Signal()
    import_folder = Signal()
    import_file = Signal()

    def __init__(
        self, view_model: LibraryViewModel, known: Models, network: Network, parent: QWidget | None = None
    ) -> None:
        super().__init__(tr("A model for this computer"), parent)
        self._view_model, self._models, self._network = view_model, known, network
        self.notice = self.words("", muted=True)
        self.setting = make_button(tr("Open that setting"), self, self.offline_wanted.emit)
        place = hbox(self.setting, ...)
        self.column.addLayout(place)
        self._column = QVBoxLayout()
        self._column.setSpacing(10)
        self.column.addLayout(self._column)
        self.words(
            tr("Do you have a model already? Underhill can make its own copy of it, without a network."), muted=True
        )
        self.column.addLayout(import_buttons(self, self.import_folder, self.import_file))
        self.entries: dict[str, LibraryEntry] = {}  # by repository; the built-in model's is ''
        self._shown: object = None
        view_model.catalogue_changed.connect(self.refresh)
        view_model.transfers_changed.connect(self._moved)
        known.listed.connect(self.refresh)
        known.changed.connect(self.refresh)
        network.changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """As things are now; entries are made anew only where they would look otherwise."""
        offers = recommend(self._view_model.catalogue or ())
        builtin = next((c for c in self._models.cards if c.name == _BUILTIN), None)
        states = {repo: t.state for repo, t in self._under_way().items()}
        offline = self._network.offline
        looks = (offers, builtin, states, offline, self._models.wanted)
        self.notice.setText(self._notice(bool(offers), offline))
        self.setting.setVisible(offline)
        if looks == self._shown:
            return
        self._shown = looks
        empty(self._column)
        self.entries = {offer.model.repo: self._offer(offer, first=not n) for n, offer in enumerate(offers)}
        if builtin is not None:
            self.entries[""] = self._builtin(builtin, primary=offline or not offers)
        for entry in self.entries.values():
            self._column.addWidget(entry)
        for transfer in self._under_way().values():
            self._fill(transfer)

    def _notice(self, some: bool, offline: bool) -> str:
        if offline:
            return tr("Underhill stays offline and fetches nothing. The built-in model works, as does one you bring.")
        if self._view_model.catalogue is None:
            return tr("Underhill looks which models suit this computer. The built-in one can be used at once.")
        if not some:
            return tr("None of the models in Underhill's list suits this computer as it is now. The built-in one does.")
        return tr("Fetching one takes a while; meanwhile, and without a network, the built-in model is there.")

    def _under_way(self) -> dict[str, protocol.Transfer]:
        return {t.repo: t for t in self._view_model.transfers.values()}

    def _offer(self, offer: Recommendation, first: bool) -> LibraryEntry:
        m = offer.model
        assert m.fit is not None
        t, online = self._under_way().get(m.repo), not self._network.offline
        actions = []
        if m.here or (t is not None and t.state == protocol.FINISHED):
            actions.append(
                Action(tr("Chat with it"), partial(self.opened.emit, m.here or (t.name if t else "")), primary=first)
            )
        elif t is None:
            actions.append(Action(tr("Get it"), partial(self.wanted.emit, m), primary=first and online, enabled=online))
        elif t.state in (protocol.PAUSED, protocol.FAILED):
            go = tr("Go on") if t.state == protocol.PAUSED else tr("Try again")
            actions.append(Action(go, partial(self._view_model.resume, t.id), primary=True))
        else:
            actions.append(Action(tr("Pause"), partial(self._view_model.pause, t.id)))
        fetched = tr("{amount} to fetch, {time}", amount=size(m.download_bytes), time=time_to_fetch(m.download_bytes))
        facts = model_text.joined(
            model_text.parameters(m.parameters, 0), fetched, tr("{amount} on the disk", amount=size(m.fit.disk))
        )
        moving = t is not None and t.state != protocol.FINISHED
        return LibraryEntry(
            m.title, facts, fit=m.fit, note=sentences(offer.why, m.about), actions=actions, progress=moving
        )  # fmt: skip

    def _builtin(self, card: protocol.ModelCard, primary: bool) -> LibraryEntry:
        action = Action(tr("Chat with it"), partial(self.opened.emit, card.name), primary=primary)
        facts = model_text.joined(model_text.parameters(card.parameters, 0), tr("it is here already"))
        return LibraryEntry(card.title, facts, note=card.note, actions=[action])

    @Slot(object)
    def _moved(self, transfer: protocol.Transfer | None) -> None:
        self.refresh()
        if transfer is not None:
            self._fill(transfer)

    def _fill(self, t: protocol.Transfer) -> None:
        """Where a model on its way has got to."""
        entry = self.entries.get(t.repo)
        if entry is None or t.state == protocol.FINISHED:
            return
        tell_progress(entry, t)
        if t.problem:
            entry.complain(sentences(t.problem, t.action))
