"""Which team answers in the place of the open model, and what it is asked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.chat.running_answers import RunningAnswer
from engine import protocol

ModelSettings = tuple[dict[str, Any], dict[str, dict[str, Any]]]


@dataclass
class TeamChoice:
    """id: '' where no team answers. settings: of all models and of single ones, for those that it asks."""

    id: str = ""
    title: str = ""
    settings: Callable[[], ModelSettings] = lambda: ({}, {})

    def choose(self, team: str, title: str) -> None:
        """Have another answer, or none."""
        self.id, self.title = team, title

    def more(self, answer: RunningAnswer) -> tuple[Any, ...]:
        """Fields of Generate from `options` on; none where the open model answers, as it does to go on with an answer
        that was cut off.
        """
        if not self.id or answer.goes_on:
            return ()
        common, own = self.settings()
        attached = bool(answer.turns and answer.turns[-1].attachments)
        return protocol.FREE, False, f"{protocol.TEAM_PREFIX}{self.id}", common, own, attached
