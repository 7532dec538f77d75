"""A comparison without widgets: two answers to one question, one after the other, and how far they are apart."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from app.backend import EngineLink
from app.chat.running_answers import RunningAnswer
from app.i18n.translate import tr
from app.storage import records
from app.storage.records import StoredMessage, Style
from app.storage.store import NEW_CHAT
from app.transcript.notes import duration
from engine import protocol

WAITING, RUNNING, ENDED, STOPPED, FAILED = "waiting", "running", "ended", "stopped", "failed"
_OVER = (ENDED, STOPPED, FAILED)


@dataclass(kw_only=True)
class ComparedAnswer:
    """One side. model: its name. dial: a choice of the setting "dial". changes: settings of the engine for this answer
    alone. question, style: what is asked, and the chat settings that are in it. state: WAITING to FAILED. text: as it
    grows.

    stats: once it has ended, also where it was stopped. failure: why it has none. doing: what the engine does for it
    before its first word. begun: by time.monotonic.
    """

    model: str
    dial: str
    question: protocol.QuestionApart
    style: Style
    changes: dict[str, Any] = field(default_factory=dict)
    state: str = WAITING
    text: str = ""
    stats: protocol.Stats | None = None
    failure: protocol.Failed | None = None
    doing: str = ""
    begun: float = field(default_factory=time.monotonic)

    def message(self, title: str) -> StoredMessage:
        """The answer as a chat keeps it. title: what the model is called."""
        begun = StoredMessage(id=records.new_id(), chat_id=NEW_CHAT, parent_id=None, role="assistant", model=title)
        running = RunningAnswer(message=begun, question=None, turns=[], style=self.style)
        return running.finished(self.stats.finish if self.stats is not None else "", self.stats)

    def status(self) -> str:
        """What is said of it until it has ended."""
        if self.state == WAITING:
            return tr("Waiting for the other answer")
        if self.state == RUNNING:
            return tr("Generating…") if self.text else f"{self.doing}  ·  {duration(time.monotonic() - self.begun)}"
        return ""


class ComparisonRun(QObject):
    """Asks the engine. changed: anything but text is another. text_added: number of the side, more text.

    answers: the two sides. divergence: of the second from the first, once it was measured. measuring: what is said
    while that is done. trouble: why it could not be.
    """

    changed = Signal()
    text_added = Signal(int, str)

    def __init__(
        self, link: EngineLink, settings: Callable[[str], dict[str, Any]], parent: QObject | None = None
    ) -> None:
        """settings: of the engine, that a model of this name is opened with."""
        super().__init__(parent)
        self._link, self._settings = link, settings
        self.answers: tuple[ComparedAnswer, ...] = ()
        self.divergence: protocol.Divergence | None = None
        self.trouble: protocol.Failed | None = None
        self.measuring = ""
        self._command = ""  # the one that is under way

    @property
    def busy(self) -> bool:
        """Whether the engine works for it."""
        return bool(self._command)

    @property
    def complete(self) -> bool:
        """Whether both answers came to their end."""
        return bool(self.answers) and all(answer.state == ENDED for answer in self.answers)

    def start(self, *answers: ComparedAnswer) -> None:
        """Ask for answers that wait."""
        self.forget()
        self.answers = answers
        self._next()

    def stop(self) -> None:
        """Stop; what was said until now stays."""
        for answer in self.answers:
            if answer.state == WAITING:
                answer.state = STOPPED
        if self._command:
            self._link.stop(self._command)
        self.changed.emit()

    def forget(self) -> None:
        """Stop, and show nothing of it any more."""
        if self._command:
            self._link.stop(self._command)
        self._command, self.measuring = "", ""
        self.answers, self.divergence, self.trouble = (), None, None
        self.changed.emit()

    def _next(self) -> None:
        number = next((n for n, answer in enumerate(self.answers) if answer.state == WAITING), -1)
        if number >= 0:
            self._ask(number)
        else:
            self._measure()
        self.changed.emit()

    def _ask(self, number: int) -> None:
        answer = self.answers[number]
        answer.state, answer.doing, answer.begun = RUNNING, tr("Starting…"), time.monotonic()
        command = protocol.GenerateApart(
            self._link.new_id(), answer.question, answer.model, answer.dial, self._settings(answer.model),
            answer.changes,
        )  # fmt: skip
        self._command = command.id
        self._link.send(command, partial(self._on_answer, command.id, number))

    def _on_answer(self, command: str, number: int, event: protocol.Event) -> None:
        if command != self._command:  # of a comparison that is forgotten
            return
        answer = self.answers[number]
        match event:
            case protocol.TextDelta():
                answer.text += event.text
                self.text_added.emit(number, event.text)
                return
            case protocol.Progress():
                answer.doing = event.text
            case protocol.PromptRead():
                answer.doing = tr("Processing prompt: {share}% of {total} tokens",
                                  share=100 * event.done // max(1, event.total), total=f"{event.total:,}")  # fmt: skip
            case protocol.Done() | protocol.Cancelled():
                answer.state = ENDED if isinstance(event, protocol.Done) else STOPPED
                if isinstance(event.result, protocol.Stats):
                    answer.stats, answer.text = event.result, event.result.text
            case protocol.Failed():
                answer.state, answer.failure = FAILED, event
        if answer.state in _OVER:
            self._command = ""
            gone = answer.failure is not None and answer.failure.kind in protocol.GONE
            if answer.state == STOPPED or gone:  # the next one would fail of the same
                for other in self.answers:
                    other.state = STOPPED if other.state == WAITING else other.state
            self._next()
        else:
            self.changed.emit()

    def _measure(self) -> None:
        """Of two qualities of one model that read the same, with its own settings: how far the second is from the
        first, on its answer.
        """
        if not self.complete or len({answer.model for answer in self.answers}) > 1:
            return
        first, second = self.answers
        assert first.stats is not None
        read_alike = first.question.messages == second.question.messages
        set_alike = not first.changes and not second.changes
        if first.dial == second.dial or not read_alike or not set_alike or not first.stats.token_ids:
            return
        self.measuring = tr("Measuring KL…")
        command = protocol.MeasureDivergence(
            self._link.new_id(), first.question, first.stats.token_ids, (first.dial, second.dial), first.model,
            self._settings(first.model),
        )  # fmt: skip
        self._command = command.id
        self._link.send(command, partial(self._on_divergence, command.id))

    def _on_divergence(self, command: str, event: protocol.Event) -> None:
        if command != self._command:
            return
        if isinstance(event, protocol.Progress):
            if event.total:
                self.measuring = tr("Measuring KL: {share}%", share=100 * event.done // event.total)
        else:
            self._command, self.measuring = "", ""
            if isinstance(event, protocol.Done):
                self.divergence = event.result
            elif isinstance(event, protocol.Failed):
                self.trouble = event
        self.changed.emit()
