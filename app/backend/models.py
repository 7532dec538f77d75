"""The open model and the list of models: loading, importing, live settings."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.backend.engine_link import EngineLink
from app.i18n.translate import tr
from engine import protocol
from engine.translatable import NO_TEXT, translated

NONE, LOADING, READY, FAILED, STOPPED = "none", "loading", "ready", "failed", "stopped"


class Models(QObject):
    """state: one of NONE, LOADING, READY, FAILED, and STOPPED, with the engine. progress: of loading.

    importing: the import under way, or None.
    """

    changed = Signal()
    listed = Signal()
    loaded = Signal(object)  # protocol.ModelCard
    load_failed = Signal(object)  # protocol.Failed
    imported = Signal(object)  # protocol.ModelCard
    import_failed = Signal(object)  # protocol.Failed
    import_changed = Signal()
    failed = Signal(object)  # protocol.Failed, of anything else
    noticed = Signal(str)  # what changed about how the model runs, unasked

    def __init__(
        self, link: EngineLink, parent: QObject | None = None, settings: Callable[[], dict[str, Any]] = dict
    ) -> None:
        """settings: those of the engine that a model is opened with."""
        super().__init__(parent)
        self._link, self._settings = link, settings
        self.cards: tuple[protocol.ModelCard, ...] = ()
        self.card: protocol.ModelCard | None = None
        self.wanted = ""  # what was last asked for
        self.state = NONE
        self.progress = protocol.Progress("", NO_TEXT)
        self.importing: protocol.Progress | None = None
        self._loading = ""
        self._import = ""
        link.plan_changed.connect(self._plan_changed)
        link.model_changed.connect(self._card_heard)
        link.died.connect(self._died)

    @property
    def link(self) -> EngineLink:
        """To the engine that has them."""
        return self._link

    def refresh(self) -> None:
        """Ask for the list of models."""
        self._link.send(protocol.ListModels(self._link.new_id(), self._settings()), self._listed)

    def load(self, model: str, settings: dict[str, Any]) -> None:
        """Open a model; one that is still being opened is left off."""
        if self.state == LOADING:
            self._link.stop(self._loading)
        self.wanted = model
        self.state = LOADING
        self.progress = protocol.Progress("", translated(tr("Opening the model")))
        self._loading = self._link.new_id()
        self._link.send(
            protocol.LoadModel(self._loading, model, dict(settings)), partial(self._load_heard, self._loading)
        )
        self.changed.emit()

    def cancel_load(self) -> None:
        """Stop opening."""
        if self.state == LOADING:
            self._link.stop(self._loading)

    def update(self, values: dict[str, Any], heard: Callable[[protocol.Event], None] | None = None) -> None:
        """Change live settings of the open model; it takes them mid-answer. heard: gets Done or Failed."""
        if self.state == READY and values:
            heard = partial(self._updated, heard or self._other_heard)
            self._link.send(protocol.UpdateSettings(self._link.new_id(), dict(values)), heard)

    def ask(self, kind: type[protocol.Command], heard: Callable[[protocol.Event], None], *values: Any) -> None:
        """Send a command that is about no open model. heard: gets each of its events."""
        self._link.send(kind(self._link.new_id(), *values), heard)

    def import_folder(self, path: str, name: str, top: int) -> None:
        """Quantize a checkpoint into the library."""
        self._import = self._link.new_id()
        self.importing = protocol.Progress(self._import, translated(tr("Reading the model's files")))
        self._link.send(protocol.ImportModel(self._import, path, name, top), self._import_heard)
        self.import_changed.emit()

    def cancel_import(self) -> None:
        """Stop importing; what is done is kept, and a later import of the same folder goes on from there."""
        if self.importing is not None:
            self._link.stop(self._import)

    def _listed(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Done):
            self.cards = tuple(event.result)
            self.listed.emit()
        elif isinstance(event, protocol.Failed):
            self.failed.emit(event)

    def _load_heard(self, command: str, event: protocol.Event) -> None:
        if command != self._loading:
            return
        if isinstance(event, protocol.Progress):
            self.progress = event
        elif isinstance(event, protocol.Done):
            self.card, self.state = event.result, READY
            self.loaded.emit(self.card)
            self.refresh()
        elif isinstance(event, protocol.Cancelled):
            self.card, self.state = None, NONE
        elif isinstance(event, protocol.Failed):
            self.card, self.state = None, FAILED
            self.load_failed.emit(event)
        self.changed.emit()

    @Slot(object)
    def _plan_changed(self, event: protocol.PlanChanged) -> None:
        if self.card is not None:
            self.card = replace(self.card, plan=event.plan)
            self.changed.emit()
        if event.notice:
            self.noticed.emit(event.notice)

    @Slot(object)
    def _card_heard(self, card: protocol.ModelCard) -> None:
        if self.card is not None and card.path == self.card.path:
            self.card = card
            self.changed.emit()

    @Slot(object)
    def _died(self, _: protocol.Failed) -> None:
        if self.state in (LOADING, READY):
            self.state = STOPPED
            self.changed.emit()

    def _import_heard(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Progress):
            self.importing = event
        else:
            self.importing = None
            if isinstance(event, protocol.Done):
                self.imported.emit(event.result)
            elif isinstance(event, protocol.Failed):
                self.import_failed.emit(event)
            self.refresh()  # what is done of one that broke off is there, too, and can go on
        self.import_changed.emit()

    def _updated(self, heard: Callable[[protocol.Event], None], event: protocol.Event) -> None:
        heard(event)
        if isinstance(event, protocol.Done):
            self.refresh()  # the library's estimates are made with these settings, too

    def _other_heard(self, event: protocol.Event) -> None:
        if isinstance(event, protocol.Failed):
            self.failed.emit(event)
