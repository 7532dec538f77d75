"""Which model or team answers in the open chat, and what either is asked with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from app.backend import is_endpoint, is_model, is_team
from app.chat.prompt_messages import LONGEST_RESULT, prompt_messages
from app.chat.running_answers import RunningAnswer
from app.storage.records import StoredMessage

ModelSettings = tuple[dict[str, Any], dict[str, dict[str, Any]]]


@dataclass(kw_only=True)
class ModelChoice:
    """What the conversation has to know of models, which are called by keys as Models.key_of gives them.

    answering: key of who answers next in the open chat. title: what a key is called. load: has the model of a key
    opened, where it is not, and returns the id of the command that is waited for, or ''. settings: of all models and of
    single ones, for those that a team asks. hosts: where messages to a key go that leave this computer; ''.
    context: tokens that the open model can read; 0 where that is not known. reads_images: whether who has a key takes
    images.
    """

    answering: Callable[[], str] = lambda: ""
    title: Callable[[str], str] = lambda key: ""
    load: Callable[[str], str] = lambda key: ""
    settings: Callable[[], ModelSettings] = lambda: ({}, {})
    hosts: Callable[[str], str] = lambda key: ""
    context: Callable[[], int] = lambda: 0
    reads_images: Callable[[str], bool] = lambda key: False

    def begun(self, model: str, before: Sequence[StoredMessage]) -> dict[str, Any]:
        """What is known of an answer before it is asked for, as StoredMessage.stats has it. before: what it answers."""
        hosts = self.hosts(model)
        images = 0 if self.reads_images(model) else sum(1 for m in before for a in m.attachments if a.image)
        return {**({"endpoint": hosts} if hosts else {}), **({"images_left_out": images} if images else {})}

    def fields(self, answer: RunningAnswer, thinking: str) -> dict[str, Any]:
        """Fields of Generate, once the model is asked for; the open model goes on with an answer of a
        team that was cut off.
        """
        answer.load = self.load(answer.model)
        style, messages = answer.style, [*answer.turns, answer.message] if answer.goes_on else answer.turns
        fields: dict[str, Any] = {
            "messages": prompt_messages(
                messages, style.system, self._longest_result(answer), images=self.reads_images(answer.model)
            ),
            "sampling": dict(style.sampling), "stop": style.stop,
            "continue_last": answer.goes_on, "thinking": thinking, "chat": str(answer.message.chat_id),
        }  # fmt: skip
        if is_endpoint(answer.model):
            return {**fields, "model": answer.model}
        if not is_team(answer.model) or answer.goes_on:
            return fields
        common, own = self.settings()
        attached = bool(answer.turns and answer.turns[-1].attachments)
        return {**fields, "model": answer.model, "settings": common, "models": own, "attached": attached}

    def context_of(self, model: str) -> int:
        """Tokens that a model on this computer can read; 0 for others, and where that is not known."""
        return self.context() if is_model(model) else 0

    def _longest_result(self, answer: RunningAnswer) -> int:
        """Characters of a tool's result that leave room for the rest of the chat: about half of the context."""
        context = self.context_of(answer.model)
        return min(LONGEST_RESULT, 2 * context) if context else LONGEST_RESULT
