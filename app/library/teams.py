"""Section of the library page: teams, which are made, changed, shared and deleted here."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

from app.backend import Models, team_key
from app.i18n.translate import sentences, tr
from app.library.entries import Action, LibraryEntry, LibrarySection
from app.teams.editor import TeamEditor
from app.teams.words import step_name, team_about, team_name
from app.widgets.builders import hbox, make_button, make_label, open_dialog
from engine import protocol


class TeamList(LibrarySection):
    """chosen: a team's id, which is to answer. posted: a message, and what its Undo does; None for no Undo."""

    chosen = Signal(str)
    used = Signal()  # the chat is wanted with it
    posted = Signal(str, object)

    def __init__(self, known: Models, parent: QWidget | None = None) -> None:
        super().__init__(tr("Teams"), parent)
        self._models = known
        about = tr("A team answers in steps. Each step asks a model, and can have conditions.")
        self.head.addWidget(make_label(about, self, "muted", wrap=True))
        new = make_button(tr("New team…"), self, self.new_team)
        self.head.addLayout(hbox(new, make_button(tr("Import team…"), self, self._ask_import), ...))
        known.teams_listed.connect(self._fill)
        self._fill()

    @Slot()
    def _fill(self) -> None:
        self.show_entries([self._entry(card) for card in self._models.teams], tr("No teams"))

    def _entry(self, card: protocol.TeamCard) -> LibraryEntry:
        steps = card.team.steps if card.team is not None else ()
        names = tr(", ", about="between the names of a list").join(card.missing)
        absent = tr("Missing models: {names}", names=names) if names else ""
        actions = []
        if card.team is not None:
            use = Action(tr("Use"), partial(self.use, card.id), primary=True, why=absent)
            actions += [
                use,
                Action(tr("Edit"), partial(self.edit, card)),
                Action(tr("Duplicate"), partial(self._save, card.team, rename=True), menu=True),
                Action(tr("Export…"), partial(self._ask_export, card), menu=True),
            ]
        if card.changed or not card.shipped:
            words = tr("Restore original") if card.shipped else tr("Delete")
            actions.append(Action(words, partial(self.delete, card), menu=card.team is not None))
        facts = " → ".join(step_name(step.name) for step in steps)
        entry = LibraryEntry(team_name(card), facts, note=team_about(card), actions=actions, parent=self)
        if absent or card.problem:
            entry.show_problem(card.problem or absent)
        return entry

    def use(self, team: str) -> None:
        """Have the team answer the open chat."""
        self.chosen.emit(team)
        self.used.emit()

    def edit(self, card: protocol.TeamCard) -> TeamEditor:
        """Open the dialog for a team."""
        assert card.team is not None
        return self._open(card.team, card.id)

    @Slot()
    def new_team(self) -> TeamEditor:
        """Open the editor with a team of one step."""
        step = protocol.TeamStep(name=tr("Step {number}", number=1))
        return self._open(protocol.Team(tr("New team"), (step,)), "")

    def _open(self, team: protocol.Team, replacing: str) -> TeamEditor:
        titles = {card.name: str(card.title) for card in self._models.cards if card.usable}
        remote = tr("remote server")
        titles |= {card.key: f"{card.endpoint.name} ({remote})" for card in self._models.endpoints}
        dialog = TeamEditor(team, titles, self)

        def save(changed: protocol.Team) -> None:
            self._save(changed, replacing, done=dialog.accept, refused=dialog.refuse)

        dialog.saved.connect(save)
        return open_dialog(dialog)

    def _save(
        self, team: protocol.Team, replacing: str = "", *, rename: bool = False,
        done: Callable[[], object] = lambda: None, refused: Callable[[str], object] | None = None,
    ) -> None:  # fmt: skip
        def saved(card: protocol.TeamCard) -> None:
            done()
            if replacing and self._models.choice == team_key(replacing):
                self.chosen.emit(card.id)
            self._models.refresh_teams()

        def failed(event: protocol.Failed) -> None:
            if refused is None or event.kind in protocol.GONE:
                self._models.failed.emit(event)
            else:
                refused(sentences(event.sentence, event.action))

        self._models.link.request(saved, failed, protocol.SaveTeam, team, replacing, rename)

    def delete(self, card: protocol.TeamCard) -> None:
        """Delete a team, or what was changed of one that ships; the toast undoes it."""

        def deleted(team: protocol.Team | None) -> None:
            said = tr("{name} restored" if card.shipped else "{name} deleted", name=card.name)
            replacing = card.id if card.shipped else ""
            self.posted.emit(said, partial(self._save, team, replacing) if team is not None else None)
            self._models.refresh_teams()

        self._models.link.request(deleted, self._models.failed.emit, protocol.DeleteTeam, card.id)

    @Slot()
    def _ask_import(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self, tr("Import team"), str(Path.home()), tr("Teams") + " (*.json)")
        if path:
            self.import_file(path)

    def import_file(self, path: str) -> None:
        """Add the team of a file."""

        def imported(card: protocol.TeamCard) -> None:
            self.posted.emit(tr("{name} imported", name=card.name), None)
            self._models.refresh_teams()

        self._models.link.request(imported, self._models.failed.emit, protocol.ImportTeam, path)

    def _ask_export(self, card: protocol.TeamCard) -> None:
        suggested = str(Path.home() / f"{card.id}.json")
        path, _ = QFileDialog.getSaveFileName(self, tr("Export team"), suggested, tr("Teams") + " (*.json)")
        if path:
            self.export_file(card, path if Path(path).suffix else f"{path}.json")

    def export_file(self, card: protocol.TeamCard, path: str) -> None:
        """Write a team to a file."""
        said = tr("{name} exported", name=team_name(card))
        done = partial(self._exported, said)
        self._models.link.request(done, self._models.failed.emit, protocol.ExportTeam, card.id, path)

    def _exported(self, said: str, _: None) -> None:
        self.posted.emit(said, None)
