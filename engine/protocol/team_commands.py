"""Commands about teams of models, and what is told while one answers a Generate whose model is 'team:NAME'."""

from __future__ import annotations

from dataclasses import dataclass

from engine.generation.messages import StepReport
from engine.protocol.commands import Command
from engine.protocol.events import Event
from engine.teams.definition import Team


@dataclass(frozen=True)
class ListTeams(Command):
    """Done.result: tuple[TeamCard, ...], those that come with Underhill first."""


@dataclass(frozen=True)
class SaveTeam(Command):
    """Keep a team. replacing: id of the one that it was until now; '' for a new one. Done.result: TeamCard.

    rename: a new one gets a number behind its name where that is taken; otherwise it fails then.
    """

    team: Team
    replacing: str = ""
    rename: bool = False


@dataclass(frozen=True)
class DeleteTeam(Command):
    """Delete a team of the user's; one that comes with Underhill is again as it came. team: its id.

    Done.result: the Team as it was, which SaveTeam brings back; None where its file could not be read.
    """

    team: str


@dataclass(frozen=True)
class ImportTeam(Command):
    """Add the team of a file; where its name is taken, with a number behind it. Done.result: TeamCard."""

    path: str


@dataclass(frozen=True)
class ExportTeam(Command):
    """Write a team to a file for somebody else. team: its id. Done.result: None."""

    team: str
    path: str


@dataclass(frozen=True)
class TeamChanged(Event):
    """A step of the team that answers has begun, ended or was skipped: all steps as they are now."""

    steps: tuple[StepReport, ...]


@dataclass(frozen=True)
class StepText(Event):
    """More of what a step says that is not known to be the answer. step: its number, from 0."""

    step: int
    text: str
