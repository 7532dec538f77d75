"""Runs a team over one message: says which step is to be asked what, and is told what was said. Knows no engine."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.generation.messages import Message
from engine.generation.turns import without_thought
from engine.teams.conditions import Facts, holds, may_hold
from engine.teams.definition import FINISH, HOLE, LANGUAGE, LAST, MESSAGE, NEXT, Team, TeamStep
from engine.teams.language import language_of, named

WAITING, WORKING, DONE, SKIPPED, FAILED, STOPPED = "waiting", "working", "done", "skipped", "failed", "stopped"


@dataclass(frozen=True)
class Question:
    """What a step is asked. number: of the step. final: nothing can come after it, so what it says is the answer."""

    number: int
    step: TeamStep
    messages: tuple[Message, ...]
    final: bool

    @property
    def schema(self) -> dict[str, object] | None:
        """What the reply is held to, where it is a choice."""
        return {"enum": list(self.step.choices)} if self.step.choices else None


class TeamRun:
    """One run. Take `next`, ask, tell `said`, until `next` is None. states: of each step, one of those above."""

    def __init__(self, team: Team, messages: Sequence[Message], attached: bool = False) -> None:
        """messages: a chat whose last message is the user's."""
        self.team, self._messages = team, tuple(messages)
        self._facts = Facts(messages[-1].content, attached)
        self._at = 0  # the step that is looked at next
        self._last = messages[-1].content
        self.states = [WAITING] * len(team.steps)

    @property
    def answer(self) -> int:
        """Number of the step whose words are the answer, as it stands: the last that was asked and is no note; -1."""
        asked = (n for n in reversed(range(len(self.states))) if self.states[n] not in (WAITING, SKIPPED))
        return next((n for n in asked if not self.team.steps[n].note), -1)

    def next(self) -> Question | None:
        """The step to ask now; those before it that are not asked are skipped. None: it is over."""
        while self._at < len(self.team.steps):
            number, step = self._at, self.team.steps[self._at]
            if all(holds(condition, self._facts) for condition in step.when):
                self.states[number] = WORKING
                return Question(number, step, self._asked(step), self._is_final(number))
            self.states[number] = SKIPPED
            self._at += 1
        return None

    def said(self, text: str) -> None:
        """What the step that was asked has said, its thought included."""
        step = self.team.steps[self._at]
        self.states[self._at] = DONE
        words = chosen(text, step.choices) if step.choices else without_thought(text).strip()
        self._last = self._facts.said[step.name] = words
        after = self._after(step)
        for number in range(self._at + 1, after):
            self.states[number] = SKIPPED
        self._at = after

    def broke_off(self, state: str) -> None:
        """The step that was asked has ended early, or there is none: FAILED or STOPPED."""
        if self._at < len(self.states):
            self.states[self._at] = state

    def _after(self, step: TeamStep) -> int:
        if step.then == FINISH:
            return len(self.team.steps)
        if step.then == NEXT:
            return self._at + 1
        return next(n for n, other in enumerate(self.team.steps) if other.name == step.then)

    def _is_final(self, number: int) -> bool:
        """Whether no other step can follow this one, whatever it says."""
        step = self.team.steps[number]
        following = self.team.steps[self._after(step) :]
        unknown = {step.name: None}
        return not step.note and not any(
            all(may_hold(condition, self._facts, unknown) for condition in other.when) for other in following
        )

    def _asked(self, step: TeamStep) -> tuple[Message, ...]:
        message = replace(self._messages[-1], content=self._filled(step.tell) if step.tell else self._facts.message)
        if step.choices:
            wanted = f"Reply with exactly one of these, and nothing else: {', '.join(step.choices)}."
            message = replace(message, content=f"{message.content}\n\n{wanted}")
        return (*self._messages[:-1], message) if step.history else (message,)

    def _filled(self, tell: str) -> str:
        """In one pass: what a hole is filled with is never looked into."""
        values = {
            **{step.name: self._facts.said.get(step.name, "") for step in self.team.steps},
            MESSAGE: self._facts.message, LAST: self._last, LANGUAGE: named(language_of(self._facts.message)),
        }  # fmt: skip
        return HOLE.sub(lambda hole: values.get(hole[1], hole[0]), tell)


def chosen(text: str, choices: Sequence[str]) -> str:
    """Which of the choices was made by what a step has said, its thought included; as it was said where it is none."""
    words = without_thought(text).strip()
    try:
        value = json.loads(words)
    except (ValueError, RecursionError):
        value = words
    bare = value.strip().casefold() if isinstance(value, str) else ""
    return next((choice for choice in choices if choice.casefold() == bare), words)
