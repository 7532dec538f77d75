"""What the service does with teams: keeps them, and has their steps answer a message, one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from engine import protocol
from engine.errors import Kind, UnderhillError
from engine.service.command_worker import CancelledWork
from engine.translatable import msg

if TYPE_CHECKING:
    from engine.teams.runner import Question, TeamRun

TEAMS = (protocol.ListTeams, protocol.SaveTeam, protocol.DeleteTeam, protocol.ImportTeam, protocol.ExportTeam)
OFTEN = 0.1  # seconds between two pieces of what a step says
Emit = Callable[[protocol.Event], None]


def answer(command: protocol.Command) -> Any:
    """One of TEAMS."""
    from pathlib import Path

    from engine.teams import folder

    match command:
        case protocol.SaveTeam():
            team = folder.renamed_if_taken(command.team) if command.rename else command.team
            return folder.save(team, command.replacing)
        case protocol.DeleteTeam():
            return folder.delete(command.team)
        case protocol.ImportTeam():
            return folder.import_file(Path(command.path))
        case protocol.ExportTeam():
            return folder.export_file(command.team, Path(command.path))
    return folder.teams(askable_models())


def askable_models() -> set[str]:
    """Names of all models and endpoints that a step of a team can ask."""
    from engine.endpoints import folder as endpoints
    from engine.library import library

    return {card.name for card in library.cards()} | {card.key for card in endpoints.endpoints()}


class TeamAnswer:
    """One message answered by a team."""

    def __init__(
        self, command: protocol.Generate, emit: Emit, ask: Callable[[protocol.Generate, Emit], protocol.Stats]
    ) -> None:
        """ask: answers a command for one model, told through an Emit; CancelledWork where it is stopped."""
        self._command, self._emit, self._ask = command, emit, ask
        self._stats: dict[int, protocol.Stats] = {}
        self._asked_models: list[str] = []  # in the order of their steps
        self._texts: dict[int, str] = {}  # as far as they have come

    def run(self, opened: bool) -> protocol.Stats:
        """Ask step after step. opened: a model is open, for steps that name none.

        Raises CancelledWork with the Stats so far; UnderhillError, of a step, or before the first where a model is
        missing.
        """
        from engine.teams import folder
        from engine.teams.runner import FAILED, STOPPED, TeamRun

        _check(self._command)
        team = folder.find(self._command.model)
        folder.check_models(team, askable_models(), opened)
        run = TeamRun(team, self._command.messages, self._command.attached)
        streamed = -1
        try:
            while (question := run.next()) is not None:
                self._tell(run)
                self._stats[question.number] = stats = self._asked(question)
                self._texts[question.number] = stats.text
                run.said(stats.text)
                streamed = question.number if question.final else -1
        except CancelledWork as stopped:
            run.broke_off(STOPPED)
            found = self._so_far(run, stopped.result)
            self._tell(run)
            raise CancelledWork(found) from None
        except UnderhillError:
            run.broke_off(FAILED)
            self._tell(run)
            raise
        self._tell(run)
        if run.answer < 0:
            raise UnderhillError(
                Kind.BAD_REQUEST,
                msg("No step of {team} is for this message.", team=team.name),
                msg("Add a step without conditions at its end."),
            )
        whole = self._whole(run, run.answer, self._stats[run.answer].finish)
        if streamed < 0:  # nobody knew that it would be the answer
            self._emit(protocol.TextDelta(self._command.id, whole.text, whole.token_ids))
        return whole

    def _asked(self, question: Question) -> protocol.Stats:
        step, command = question.step, self._command
        own = {**command.settings, **command.models.get(step.model, {})}
        asked = replace(
            command, model=step.model, messages=question.messages, settings=own,
            chat=f"{command.chat}:{question.number}", chain=(*self._asked_models, step.model),
        )  # fmt: skip
        self._asked_models.append(step.model)
        if question.schema is not None:
            asked = replace(
                asked, options=replace(command.options, json=question.schema), thinking="off", stop=(),
                sampling={**command.sampling, "temperature": 0.0},
            )  # fmt: skip
        follower = _StepFollower(self._emit, question.number, self._texts, question.final)
        stats = self._ask(asked, follower.take)
        follower.flush()
        return stats

    def _tell(self, run: TeamRun) -> None:
        self._emit(protocol.TeamChanged(self._command.id, self._reports(run)))

    def _reports(self, run: TeamRun) -> tuple[protocol.StepReport, ...]:
        from engine.teams.runner import chosen

        def said(number: int, choices: tuple[str, ...]) -> str:
            text = self._texts.get(number, "")
            return chosen(text, choices) if choices else text

        return tuple(
            protocol.StepReport(
                name=step.name, model=step.model, state=state, text=said(n, step.choices), note=step.note,
                tokens=self._stats[n].answer_tokens or len(self._stats[n].token_ids) if n in self._stats else 0,
                seconds=self._stats[n].prompt_seconds + self._stats[n].decode_seconds if n in self._stats else 0.0,
            )
            for n, (step, state) in enumerate(zip(run.team.steps, run.states))
        )  # fmt: skip

    def _so_far(self, run: TeamRun, last: object) -> protocol.Stats | None:
        """What there is of a run that was stopped: the words of the last step that has any and is no note.

        last: Stats of the step that was stopped, None where it had not begun.
        """
        from engine.teams.runner import STOPPED

        if isinstance(last, protocol.Stats):
            number = run.states.index(STOPPED)
            self._stats[number], self._texts[number] = last, last.text
        said = [n for n, stats in self._stats.items() if stats.text and not run.team.steps[n].note]
        if not self._stats:
            return None
        if said:
            return self._whole(run, max(said), "cancelled")
        return replace(self._whole(run, max(self._stats), "cancelled"), text="", token_ids=())

    def _whole(self, run: TeamRun, number: int, finish: str) -> protocol.Stats:
        """The Stats of the step whose words are the answer, with all steps."""
        hosts = dict.fromkeys(stats.endpoint for stats in self._stats.values() if stats.endpoint)
        return replace(self._stats[number], finish=finish, steps=self._reports(run), endpoint=", ".join(hosts))


class _StepFollower:
    """What is told while one step is asked: text of the answer as that of an answer, any other as the step's."""

    def __init__(self, emit: Emit, number: int, texts: dict[int, str], final: bool) -> None:
        self._emit, self._number, self._texts, self._final = emit, number, texts, final
        self._held, self._told, self._id = "", 0.0, ""

    def take(self, event: protocol.Event) -> None:
        """One event of the step's answer."""
        if not isinstance(event, protocol.TextDelta):
            self._emit(event)
            return
        self._texts[self._number] = self._texts.get(self._number, "") + event.text
        if self._final:
            self._emit(event)
            return
        self._held, self._id = self._held + event.text, event.id
        if time.monotonic() - self._told >= OFTEN:
            self.flush()

    def flush(self) -> None:
        """Tell what is held back."""
        if self._held:
            self._emit(protocol.StepText(self._id, self._number, self._held))
            self._held, self._told = "", time.monotonic()


def _check(command: protocol.Generate) -> None:
    options = command.options
    if options.tools or options.json is not None or options.logprobs is not None or options.raw:
        raise UnderhillError(
            Kind.BAD_REQUEST,
            msg("A team answers with text alone: no tools, no schema, no log probabilities."),
            msg("Ask one model for these."),
        )
    if command.continue_last or not command.messages or command.messages[-1].role != "user":
        raise UnderhillError(Kind.BAD_REQUEST, msg("A team answers a message; it can't continue an answer."))
