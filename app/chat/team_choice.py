"""Which team answers in the place of the open model, and what either is asked with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from app.chat.prompt_messages import prompt_messages
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

    def fields(self, answer: RunningAnswer, thinking: str) -> dict[str, Any]:
        """Fields of Generate; the open model goes on with an answer that was cut off, whoever is chosen."""
        style, messages = answer.style, [*answer.turns, answer.message] if answer.goes_on else answer.turns
        fields: dict[str, Any] = {
            "messages": prompt_messages(messages, style.system), "sampling": dict(style.sampling), "stop": style.stop,
            "continue_last": answer.goes_on, "thinking": thinking, "chat": str(answer.message.chat_id),
        }  # fmt: skip
        if not self.id or answer.goes_on:
            return fields
        common, own = self.settings()
        attached = bool(answer.turns and answer.turns[-1].attachments)
        return {
            **fields, "model": f"{protocol.TEAM_PREFIX}{self.id}", "settings": common, "models": own,
            "attached": attached,
        }  # fmt: skip
