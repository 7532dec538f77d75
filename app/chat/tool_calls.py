"""Calls of tools that answers make: each is asked for, unless it is allowed, then made, and its result kept."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal, Slot

from app.backend import EngineLink, is_team
from app.chat.running_answers import RunningAnswer, RunningAnswers
from app.i18n.translate import sentences
from app.storage.records import ASKED, DENIED, DONE, FAILED, RUNNING, STOPPED, StoredMessage, ToolUse
from app.tool_servers import ToolServerList, offered, too_long
from engine import protocol

ROUNDS = 20  # of calls and answers to them, before the person is to say whether it goes on
ONCE, CHAT, ALWAYS, DENY = "once", "chat", "always", "deny"  # what can be decided of a call
_NO_TOOL = "There is no such tool."  # what the model reads, as the next


class ToolCalls(QObject):
    """Goes through the calls of an answer, one after the other.

    changed: message id, its calls. asked: an answer waits for a decision. settled: all of an answer's calls are.
    chat_allowed: an answer, and the (server, tool) that its chat may call from now on. broken: an answer, and
    protocol.Failed, of an engine that does nothing more.
    """

    changed = Signal(object, object)
    asked = Signal(object)
    settled = Signal(object)
    chat_allowed = Signal(object, object)
    broken = Signal(object, object)

    def __init__(self, link: EngineLink, answers: RunningAnswers, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._link, self._answers = link, answers
        self.servers = ToolServerList(link, self)

    def offer(self, answer: RunningAnswer, context: int) -> tuple[protocol.Tool, ...]:
        """The tools that the model of an answer is told of. context: tokens that it can read, 0 where it has enough."""
        found = {} if is_team(answer.model) else offered(self.servers.cards, answer.tools.off)
        answer.offers = {} if too_long(found, context) else found
        return tuple(offer.tool for offer in answer.offers.values())

    @staticmethod
    def called(answer: RunningAnswer, stats: protocol.Stats) -> bool:
        """Whether an answer that has ended called tools, which it was offered."""
        return bool(answer.offers and stats.calls) and stats.finish == "stop"

    @staticmethod
    def with_calls(answer: RunningAnswer, stats: protocol.Stats) -> StoredMessage:
        """The message of an answer that called tools, with its calls beside its text."""
        message = answer.finished(stats.finish, stats)
        facts = {name: value for name, value in message.stats.items() if name != "calls"}
        uses = tuple(_use(answer, call, number) for number, call in enumerate(stats.calls))
        return dataclasses.replace(
            message, content=protocol.without_calls(message.content), state="streaming", stats=facts, tools=uses
        )

    def resume(self, answer: RunningAnswer) -> None:
        """Go on with calls that were cut off: what was not ended is asked for again."""
        for number, use in enumerate(answer.message.tools):
            if not use.settled:
                self._change(answer, number, state=ASKED)
        self.go_on(answer)

    def go_on(self, answer: RunningAnswer) -> None:
        """Make the next call, or ask whether it may be made."""
        for number, use in enumerate(answer.message.tools):
            if use.settled:
                continue
            if not use.server:
                self._change(answer, number, state=FAILED, text=_NO_TOOL)
            elif self._allowed(answer, use):
                self._run(answer, number)
                return
            else:
                self._change(answer, number, state=ASKED)
                self.asked.emit(answer)
                return
        self.settled.emit(answer)

    @Slot(object, int, str)
    def decide(self, message_id: int, number: int, choice: str) -> None:
        """What the person says of a call that was asked for: ONCE, CHAT, ALWAYS or DENY."""
        answer = self._answers.running.get(message_id)
        if answer is None or answer.stopped:
            return
        asked = next((n for n, use in enumerate(answer.message.tools) if not use.settled), -1)
        if number != asked or answer.message.tools[number].state != ASKED:
            return
        use = answer.message.tools[number]
        if choice == DENY:
            self._change(answer, number, state=DENIED)
            self.go_on(answer)
            return
        if choice == ALWAYS:
            self.servers.allow(use.server, use.name)
        elif choice == CHAT:
            self.chat_allowed.emit(answer, (use.server, use.name))
        self._run(answer, number)

    def stop(self, answer: RunningAnswer) -> None:
        """End the call that runs; those that were not ended say so."""
        if answer.command:
            self._link.stop(answer.command)
        for number, use in enumerate(answer.message.tools):
            if not use.settled:
                self._change(answer, number, state=STOPPED)

    def _allowed(self, answer: RunningAnswer, use: ToolUse) -> bool:
        card = self.servers.card(use.server)
        return (use.server, use.name) in answer.tools.allowed or (card is not None and use.name in card.allowed)

    def _run(self, answer: RunningAnswer, number: int) -> None:
        use = answer.message.tools[number]
        self._change(answer, number, state=RUNNING)
        answer.began = time.monotonic()
        call = partial(protocol.CallTool, server=use.server, tool=use.name, arguments=use.arguments)
        answer.command = self._link.ask(call, partial(self._on_event, answer, number))

    def _on_event(self, answer: RunningAnswer, number: int, event: protocol.Event) -> None:
        if not self._answers.has(answer) or event.id != answer.command:
            return
        seconds = time.monotonic() - answer.began
        if isinstance(event, protocol.Done):
            state = FAILED if event.result.failed else DONE
            self._change(answer, number, state=state, text=event.result.text, seconds=seconds)
        elif isinstance(event, protocol.Failed) and event.kind in protocol.GONE:
            self.broken.emit(answer, event)
            return
        elif isinstance(event, protocol.Failed):
            self._change(
                answer, number, state=FAILED, text=sentences(event.sentence, event.action), seconds=seconds
            )  # fmt: skip
        else:
            return  # the window closes: the next start says that it was cut off
        answer.command = ""
        self.go_on(answer)

    def _change(self, answer: RunningAnswer, number: int, **fields: Any) -> None:
        uses = answer.message.tools
        changed = dataclasses.replace(uses[number], **fields)
        if changed == uses[number] and changed.state != ASKED:
            return
        answer.message = dataclasses.replace(answer.message, tools=(*uses[:number], changed, *uses[number + 1 :]))
        answer.news = answer.unsaved = True
        self.changed.emit(answer.message.id, answer.message.tools)
        self._answers.save_now()  # neither a result nor that it was asked for is lost by a kill
        self._answers.show_soon()


def _use(answer: RunningAnswer, call: protocol.ToolCall, number: int) -> ToolUse:
    offer = answer.offers.get(call.name)
    return ToolUse(
        server=offer.card.id if offer is not None else "", title=offer.card.server.name if offer is not None else "",
        host=offer.card.server.host if offer is not None else "", name=offer.name if offer is not None else call.name,
        called=call.name, ident=call.ident or f"call{number:05d}", arguments=call.arguments,
    )  # fmt: skip
