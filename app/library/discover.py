"""Sections of models to get: the catalogue, search results of the hub, and models of other apps."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QComboBox, QWidget

from app.i18n.translate import plural, sentences, tr
from app.library import model_text
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.library.model_filters import ORDERS, ModelFilters, sorted_models
from app.library.view_model import LibraryViewModel
from app.network import Network
from app.widgets.builders import hbox, make_button, make_combo, make_label, make_timer, show_text
from app.widgets.search_field import SearchField
from engine import protocol

_TYPING = 450  # milliseconds of rest after which the words are looked for


class DiscoverModels(LibrarySection):
    """Catalogue and search. opened: an installed model's name. setting_requested: a setting in a search's way.

    Nothing is sent before a person has typed something. A search looks through the catalogue too, without a network.
    """

    opened = Signal(str)
    setting_requested = Signal(str)

    def __init__(self, view_model: LibraryViewModel, network: Network, parent: QWidget | None = None) -> None:
        super().__init__(tr("Discover"), parent)
        self._view_model, self._network = view_model, network
        self.search = SearchField(tr("Search models"), self)
        self.search.setAccessibleName(tr("Search models"))
        self.order = make_combo(self, tr("Sort by"), [(tr(words), order) for order, words in ORDERS.items()])
        self.order.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.head.addLayout(hbox((self.search, 1), self.order, spacing=6))
        self.filters = ModelFilters(self)
        self.head.addWidget(self.filters)
        self.about = make_label("", self, "muted", wrap=True)
        self.head.addWidget(self.about)
        self.more = make_button(tr("Show more"), self, view_model.load_more)
        self.foot.addWidget(self.more, 0, Qt.AlignmentFlag.AlignHCenter)
        self.again = make_button(tr("Try again"), self, self._search_again)
        self.foot.addWidget(self.again, 0, Qt.AlignmentFlag.AlignLeft)
        self.to_setting = make_button(tr("Open settings"), self, self._open_setting)
        self.foot.addWidget(self.to_setting, 0, Qt.AlignmentFlag.AlignLeft)
        self._rest = make_timer(self, _TYPING, self.look)
        self.search.textChanged.connect(self._rest.start)
        self.search.returnPressed.connect(self._entered)
        self.order.currentIndexChanged.connect(self.refresh)
        self.filters.changed.connect(self.refresh)
        view_model.catalogue_changed.connect(self.refresh)
        view_model.results_changed.connect(self.refresh)
        view_model.transfers_changed.connect(self._transfer_changed)
        network.changed.connect(self.refresh)
        self._under_way: dict[str, protocol.Transfer] = {}  # that are not finished, by repository
        states = [tr(model_text.STATES[state]) for state in (protocol.QUEUED, protocol.RUNNING)]
        self.align_columns([tr("Download"), tr("Use"), tr("Resume"), tr("Try again"), *states])
        self.refresh()

    @Slot()
    def look(self) -> None:
        """Search for what is typed, unless it is what was searched for last."""
        self._rest.stop()
        if self.search.text().strip() != self._view_model.words:
            self._view_model.search(self.search.text())

    @Slot()
    def _entered(self) -> None:
        """Search; after a failure also for the same words."""
        if self._view_model.search_problem is not None:
            self._search_again()
        else:
            self.look()

    @Slot()
    def _search_again(self) -> None:
        self._rest.stop()
        self.search.setFocus()  # the button goes
        if self._view_model.results and self.search.text().strip() == self._view_model.words:
            self._view_model.load_more()
        else:
            self._view_model.search(self.search.text())

    @Slot()
    def _open_setting(self) -> None:
        problem = self._view_model.search_problem
        if problem is not None:
            self.setting_requested.emit(model_text.SETTINGS[str(problem.kind)])

    @Slot(object)
    def _transfer_changed(self, _: object) -> None:
        before = {repo: (t.id, t.state) for repo, t in self._under_way.items()}
        self._under_way = {t.repo: t for t in self._view_model.transfers.values() if t.state != protocol.FINISHED}
        if before != {repo: (t.id, t.state) for repo, t in self._under_way.items()}:
            self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the current state."""
        s = self._view_model
        catalogue = s.catalogue or ()
        known = [model for model in catalogue if _matches(model, s.words)]
        listed = {repo for model in known for repo in (model.repo, model.original) if repo}
        found = [model for model in s.results if model.repo not in listed]
        self.filters.offer((*catalogue, *found))
        order = self.order.currentData()
        first = sorted_models(self.filters.passing(known), order, ranked=False)
        shown = [*first, *sorted_models(self.filters.passing(found), order, ranked=True)]
        show_text(self.about, self._state(len(known) + max(len(found), s.matches - len(s.results) + len(found))))
        self.more.setVisible(bool(s.words) and bool(s.results) and len(s.results) < s.matches)
        self.more.setEnabled(not s.searching)
        failed = s.search_problem if s.words else None
        self.again.setVisible(failed is not None)
        self.to_setting.setVisible(failed is not None and str(failed.kind) in model_text.SETTINGS)
        if s.words:
            groups = [tr("Recommended")] * len(first) + [tr("More results")] * (len(shown) - len(first))
        else:
            groups = [tr(model_text.FIT_GROUPS[model_text.fit_group(m.fit)]) for m in shown]
        nothing = tr("No models with these filters") if known or found else self._nothing_found()
        self.show_entries(
            [self._entry(model, whose=number >= len(first)) for number, model in enumerate(shown)], nothing, groups
        )

    def _state(self, count: int) -> str:
        """The line above the list. count: of all results."""
        s = self._view_model
        if not s.words:
            return ""
        if s.search_problem is not None and count:
            return sentences(s.search_problem.sentence, s.search_problem.action)
        if s.searching and not s.results:
            return tr("Searching…")
        return plural("1 result", "%n results", count) if count else ""

    def _nothing_found(self) -> str:
        problem = self._view_model.search_problem
        if not self._view_model.words:
            return tr("Loading models…") if self._view_model.catalogue is None else tr("No models")
        if problem is not None:
            return sentences(problem.sentence, problem.action)
        if self._view_model.searching:
            return ""
        return tr(
            "No supported models for “{words}” (MoE only)",
            words=self._view_model.words,
        )

    def _entry(self, model: protocol.HubModel, *, whose: bool) -> LibraryEntry:
        """whose: with the repository, as one of many that are called alike."""
        actions = [Action(tr("Details"), partial(self._view_model.describe, model.repo, model.gguf_name), quiet=True)]
        if model.here:
            actions.append(Action(tr("Use"), partial(self.opened.emit, model.here), primary=True))
        elif model.repo in self._under_way:
            actions.append(self._under_way_action(self._under_way[model.repo]))
        else:
            too_big = model.fit.sentence if model.fit is not None and model.fit.pill == "too_big" else ""
            why = too_big or model_text.why_offline(self._network.offline)
            actions.append(Action(tr("Download"), partial(self._view_model.get, model), primary=not why, why=why))
        speed = model.fit.sentence if model.fit is not None else ""
        facts = model_text.joined(model.repo if whose else "", speed, model_text.row_facts(model))
        return LibraryEntry(model.title, facts, fit=model.fit, note=model.about, actions=actions, compact=True)

    def _under_way_action(self, transfer: protocol.Transfer) -> Action:
        """What can be done with a download that is not finished, or else its state."""
        resume = partial(self._view_model.resume, transfer.id)
        if transfer.state == protocol.FAILED:
            return Action(tr("Try again"), resume, primary=True)
        if transfer.state == protocol.PAUSED:
            return Action(tr("Resume"), resume, primary=True)
        state = tr(model_text.STATES[transfer.state])
        return Action(state, _nothing, why=state)


def _matches(model: protocol.HubModel, words: str) -> bool:
    """Whether all words are in what is known of a model; it does for no words."""
    known = " ".join((model.title, model.repo, model.original, model.about, model.model_type)).lower()
    return all(word in known for word in words.lower().split())


def _nothing() -> None:
    """Action of a disabled button."""


class ExternalModels(LibrarySection):
    """Models of other apps. import_requested: of a protocol.FoundModel."""

    import_requested = Signal(object)

    def __init__(self, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(tr("From other apps"), parent)
        self._view_model = view_model
        self.look = make_button(tr("Find models"), self, view_model.find)
        self._state = make_label("", self, "muted", wrap=True)
        bar = hbox((self._state, 1), self.look, spacing=14)
        self.head.addLayout(bar)
        view_model.found_changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the current state."""
        s = self._view_model
        self.look.setEnabled(s.finding is None)
        self.look.setText(tr("Find models") if s.found is None else tr("Find again"))
        if s.finding is not None:
            so_far = plural("1 found so far", "%n found so far", s.finding.done) if s.finding.done else ""
            self._state.setText(model_text.joined(s.finding.text, so_far))
        else:
            self._state.setText(tr("Import models from Hugging Face, LM Studio or Ollama, no download needed"))
        nothing = "" if s.found is None else tr("No supported models from other apps found")
        self.show_entries([self._entry(model) for model in s.found or ()], nothing)

    def _entry(self, model: protocol.FoundModel) -> LibraryEntry:
        importing = Action(tr("Import…"), partial(self.import_requested.emit, model), primary=True)
        facts, actions = model_text.found_facts(model), [importing] if model.can_open else []
        return LibraryEntry(model.title, facts, fit=model.fit, sentence=model.why_not, actions=actions)
