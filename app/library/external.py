"""Section of models that other apps keep on this computer."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QWidget

from app.i18n.translate import plural, tr
from app.library import model_text
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.library.view_model import LibraryViewModel
from app.widgets.builders import hbox, make_button, make_label
from engine import protocol


class ExternalModels(LibrarySection):
    """Models of other apps. wanted: protocol.FoundModel that is to be imported."""

    wanted = Signal(object)

    def __init__(self, view_model: LibraryViewModel, parent: QWidget | None = None) -> None:
        super().__init__(tr("Models of other apps"), parent)
        self._view_model = view_model
        self._look = make_button(tr("Look"), self, view_model.find)
        self._state = make_label("", self, "muted", wrap=True)
        bar = hbox((self._state, 1), self._look, spacing=14)
        self.head.addLayout(bar)
        view_model.found_changed.connect(self.refresh)
        self.refresh()

    @Slot()
    def refresh(self) -> None:
        """Show the current state."""
        s = self._view_model
        self._look.setEnabled(s.finding is None)
        self._look.setText(tr("Look") if s.found is None else tr("Look again"))
        if s.finding is not None:
            so_far = plural("1 so far", "%n so far", s.finding.done) if s.finding.done else ""
            self._state.setText(model_text.joined(s.finding.text, so_far))
        else:
            self._state.setText(
                tr("What Hugging Face's cache, LM Studio and Ollama keep here can be imported without fetching it "
                    "again.")
            )  # fmt: skip
        nothing = (
            "" if s.found is None else tr("No Mixture-of-Experts model of another app was found on this computer.")
        )
        self.show_entries([self._entry(model) for model in s.found or ()], nothing)

    def _entry(self, model: protocol.FoundModel) -> LibraryEntry:
        actions = [Action(tr("Import…"), partial(self.wanted.emit, model), primary=True)] if model.can_open else []
        sentence = model.why_not or (model.fit.sentence if model.fit is not None else "")
        return LibraryEntry(
            model.title, model_text.found_facts(model), pill=model.fit.pill if model.fit is not None else "",
            sentence=sentence, actions=actions,
        )  # fmt: skip
