"""The open chat and its running answers, without widgets: sends, stops, edits, and saves."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal

from app.backend import EngineLink
from app.chat.document_search import DocumentSearch
from app.chat.model_choice import ModelChoice
from app.chat.running_answers import ANSWER, RunningAnswer, RunningAnswers
from app.chat.tool_calls import ROUNDS, ToolCalls
from app.chat.versions import ChatVersions
from app.storage import branches, records
from app.storage.database_thread import DatabaseThread, Problem
from app.storage.records import Attachment, Chat, ChatTools, QueuedMessage, StoredMessage, Style
from app.storage.store import NEW_CHAT, ChatStore
from engine import protocol

STOP_TIMEOUT = 800  # milliseconds after which a stopped answer is left to itself, as by a second Esc


class Conversation(ChatVersions):
    """The open chat: sends, stops, regenerates, edits and stores messages. No method waits; signals report what
    changed."""

    added = Signal(object)  # tuple of messages: an answer that begins, and before it the question where that is new
    replaced = Signal(object)  # message: an answer that had ended goes on
    text_added = Signal(object, str, str)  # message id, more text, status line
    finished = Signal(object)  # message
    removed = Signal(object)  # message id
    busy_changed = Signal()
    queue_changed = Signal(object)  # tuple[QueuedMessage, ...] of the open chat
    failed = Signal(object, object)  # protocol.Failed, and the id of the chat
    sources_found = Signal(object, object)  # id of a question, its passages

    def __init__(self, database: DatabaseThread, link: EngineLink, parent: QObject | None = None) -> None:
        super().__init__(database, parent)
        self._link = link
        self._search = DocumentSearch(database, link)
        self.choice = ModelChoice()  # who answers
        self.closing = False  # the window goes, and the engine with it
        self.thinking = "on"  # as in protocol.Generate
        self.answers = RunningAnswers(database, self.drafts, self.shows, self)
        self.answers.text_added.connect(self.text_added)
        self.tool_calls = ToolCalls(link, self.answers, self)
        self.tool_calls.settled.connect(self._answer_results)
        self.tool_calls.broken.connect(self._engine_gone)
        self.tool_calls.chat_allowed.connect(self._allow_in_chat)
        self.unanswered = 0  # the question of the answer that failed last

    # ---- which chat -------------------------------------------------------------------------------------------

    def new(self) -> None:
        """Show an empty chat; it is written to disk with its first message."""
        self.wanted = 0
        self.chat, self.messages, self.new_style, self.new_model, self.new_tools = None, [], None, "", ChatTools()
        self.opened.emit(None, [])
        self._emit_busy()

    def _read_done(self, found: branches.OpenedChat | None) -> None:
        if found is None or found[0].id != self.wanted:
            return
        chat, messages = self.drafts.with_unsaved(*found)
        self.chat = chat
        self.messages = self.answers.with_running(messages)
        self.opened.emit(chat, self.messages)
        self.answers.show_soon()
        self._emit_busy()
        if chat.queue and not self.busy:  # what they waited for was cut short, or its end was not seen
            self._return_queue(chat.id, chat.queue)

    def rename(self, chat_id: int, title: str, *, by_hand: bool = True) -> None:
        """Set a title; one that is not given by hand replaces none that is."""
        if self.chat is not None and self.chat.id == chat_id and (by_hand or not self.chat.title_by_hand):
            self.chat = dataclasses.replace(self.chat, title=title, title_by_hand=by_hand)
        self._database.submit(lambda store: store.set_title(chat_id, title, by_hand), self._emit_chats_changed)

    def delete(self, chat_id: int) -> None:
        """Move a chat to the trash, stopping its answer."""
        for answer in list(self.answers.running.values()):
            if answer.message.chat_id == chat_id:
                self._stop(answer)
        self._database.submit(lambda store: store.move_to_trash(chat_id), self._emit_chats_changed)

    def restore(self, chat_id: int) -> None:
        """Undo a deletion."""
        self._database.submit(lambda store: store.restore_from_trash(chat_id), self._emit_chats_changed)

    # ---- sending ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether an answer is being generated, or waits, in the open chat."""
        return self._running() is not None

    @property
    def working(self) -> bool:
        """Whether an answer is being generated, or waits, in any chat."""
        return bool(self.answers.running)

    @property
    def answering(self) -> frozenset[int]:
        """Ids of the chats with a running answer."""
        return frozenset(answer.message.chat_id for answer in self.answers.running.values())

    @property
    def queue(self) -> tuple[QueuedMessage, ...]:
        """Messages of the open chat that wait for its answer to end."""
        answer = self._running()
        return answer.queue if answer is not None else ()

    def send(self, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Write a question to disk, then have it answered; while another answer runs, it is queued."""
        answer = self._running()
        if answer is not None:
            self.set_queue((*answer.queue, QueuedMessage(text, tuple(attachments))))
            return
        new = self.chat is None
        if self.chat is None:
            title = records.title_from(text or attachments[0].name)
            self.chat = Chat(
                id=records.new_id(), title=title, updated_at=time.time(), style=self.new_style,
                model=self.choice.answering(), documents=self.new_documents, tools=self.new_tools,
            )  # fmt: skip
            self.wanted = self.chat.id
        parent = self.messages[-1].id if self.messages else None
        question = records.new_question(self.chat.id, parent, text, attachments)
        self._begin(self.chat.id, [*self.messages, question], self.style, question, self.chat if new else None)
        if new:
            self._move_draft(self.chat.id)

    def _move_draft(self, chat_id: int) -> None:
        """What belonged to the chat without a message belongs to this one, whose first it has just got."""
        if self.new_attached:
            self.new_attached = ()
            self.drafts.keep(NEW_CHAT, "attached", ())
        if self.new_documents:
            self.drafts.keep(chat_id, "documents", self.new_documents)
            self.new_documents = ()
            self.drafts.keep(NEW_CHAT, "documents", ())

    def set_queue(self, queue: tuple[QueuedMessage, ...]) -> None:
        """Change which messages wait in the open chat."""
        answer = self._running()
        if answer is not None and self.chat is not None:
            answer.queue = queue
            self.drafts.keep(self.chat.id, "queue", queue)
            self.queue_changed.emit(queue)

    def regenerate(self, message_id: int) -> None:
        """Generate another answer to the same question; the old one stays as a version."""
        index = self.index(message_id)
        if index < 0 or self.busy or self.chat is None or not self.asked(index):
            return
        if self.messages[index].role == "assistant":
            versions = self.messages[index].versions + 1
            self._begin(self.chat.id, self.messages[:index], self.style, versions=versions)
        elif index == len(self.messages) - 1:  # the answer never came
            self._begin(self.chat.id, self.messages, self.style)

    def asked(self, index: int) -> bool:
        """Whether this message is, or answers, a question: the first one may have been deleted."""
        return any(m.role == "user" for m in self.messages[: index + 1])

    def resend(self, message_id: int, text: str, attachments: Sequence[Attachment] = ()) -> None:
        """Send an edited question: a new version of the old one."""
        index = self.index(message_id)
        if index < 0 or self.busy:
            return
        old = self.messages[index]
        question = records.new_question(old.chat_id, old.parent_id, text, attachments, old.versions + 1)
        self._begin(old.chat_id, [*self.messages[:index], question], self.style, question)

    def continue_answer(self, message_id: int) -> None:
        """Continue the last answer from where it was cut."""
        if self.busy or not self.messages or self.messages[-1].id != message_id or not self.messages[-1].unfinished:
            return
        message = dataclasses.replace(self.messages[-1], state="streaming", finish="")
        model = self.choice.answering()
        answer = RunningAnswer(
            message=message, question=None, turns=self.messages[:-1], style=self.style, model=model, tools=self.tools,
            documents=self.documents,
        )  # fmt: skip
        self.messages = [*self.messages[:-1], message]
        self.replaced.emit(message)
        self._start(answer, partial(ChatStore.update, m=message), False)

    def stop(self) -> None:
        """Stop the answer of the open chat; what it has said stays. A second time: no longer wait for its end."""
        answer = self._running()
        if answer is not None:
            (self._abandon if answer.stopped else self._stop)(answer)

    def _abandon(self, answer: RunningAnswer) -> None:
        """Wait no longer for the end of an answer that was stopped."""
        if self.answers.has(answer):
            self._end(answer, answer.finished("cancelled", None))

    def _begin(
        self, chat_id: int, before: list[StoredMessage], style: Style, question: StoredMessage | None = None,
        chat: Chat | None = None, versions: int = 1, *, queue: tuple[QueuedMessage, ...] | None = None,
        after: RunningAnswer | None = None, rounds: int = 0,
    ) -> None:  # fmt: skip
        """Begin an answer. before: what it answers, the question included. chat: to be made with this question.

        queue: the question was queued, and these still are. after: the answer before it; its chat may not be open.
        rounds: of tools that came before it, for the same question.
        """
        shown = self.chat is not None and self.chat.id == chat_id
        model, documents, tools = (after.model, after.documents, after.tools) if after else ("", (), ChatTools())
        if shown and not rounds:
            model, documents, tools = self.choice.answering(), self.documents, self.tools
            self.set_model(model)
        reply = StoredMessage(
            id=records.new_id(), chat_id=chat_id, parent_id=before[-1].id, role="assistant", state="streaming",
            model=self.choice.title(model), version=versions, versions=versions, stats=self.choice.begun(model, before),
        )  # fmt: skip
        if shown:
            asked = question is not None and self.messages == before[:-1]
            if not asked and self.messages != before:
                self.opened.emit(self.chat, before)
            self.messages = [*before, reply]
            self.added.emit((before[-1], reply) if asked else (reply,))
        fresh = (question, reply) if question is not None else (reply,)
        answer = RunningAnswer(
            message=reply, question=question, turns=before, style=style, queue=queue or (), waited=queue is not None,
            model=model, documents=documents, tools=tools, rounds=rounds,
        )  # fmt: skip
        self._start(answer, partial(branches.write, chat=chat, messages=fresh, queue=queue), chat is not None)

    def _start(self, answer: RunningAnswer, write: Any, new: bool) -> None:
        self.answers.begin(answer)
        self._emit_busy()
        self.answers.show_soon()
        self._database.submit(
            write, partial(self._question_saved, answer), partial(self._question_refused, answer, new)
        )

    def _question_saved(self, answer: RunningAnswer, _: None) -> None:
        """Have the engine answer a question, which is on the disk now."""
        self.chats_changed.emit()
        if not self.answers.has(answer):
            return
        if answer.stopped:
            self._end(answer, answer.finished("cancelled", None))
            return
        if answer.message.tools:
            self.tool_calls.resume(answer)
        elif self._search.wanted(answer):
            answer.command = self._search.begin(
                answer, partial(self._sources_found, answer), partial(self._on_event, answer)
            )
        else:
            self._generate(answer)

    def _sources_found(self, answer: RunningAnswer, question: StoredMessage) -> None:
        """Have the engine answer a question with the passages that were found for it."""
        if not self.answers.has(answer):
            return
        if self.shows(answer):
            self.messages = [question if m.id == question.id else m for m in self.messages]
            self.sources_found.emit(question.id, question.sources)
        if answer.stopped:
            self._end(answer, answer.finished("cancelled", None))
        else:
            self._generate(answer)

    def _generate(self, answer: RunningAnswer) -> None:
        fields = self.choice.fields(answer, self.thinking)
        if tools := self.tool_calls.offer(answer, self.choice.context_of(answer.model)):
            fields["options"] = protocol.AnswerOptions(tools=tools, lenient=True)
        answer.command = self._link.ask(partial(protocol.Generate, **fields), partial(self._on_event, answer))

    def _question_refused(self, answer: RunningAnswer, new: bool, problem: Problem) -> None:
        """Undo on the page what the disk refused, and return the text to the composer."""
        shown, question, chat_id = self.shows(answer), answer.question, answer.message.chat_id
        back = [] if question is None else [QueuedMessage(question.content, question.attachments)]
        if self.answers.has(answer):  # otherwise it was abandoned
            if answer.waited and not shown:  # it goes on waiting
                self.drafts.keep(chat_id, "queue", (*back, *answer.queue))
                back, answer.queue = [], ()
            elif new or not shown:  # what waited behind it comes along: there may be no such chat on the disk
                self.drafts.keep(chat_id, "queue", ())
                back, answer.queue = [*back, *answer.queue], ()
            self._discard(answer)
        if shown and new:
            documents = self.documents
            self.new()
            self.keep_documents(documents)
        elif shown and self.chat is not None:
            self.open(self.chat)
        if back:
            self._return(back)
        self.problem.emit(problem)

    # ---- what the engine says ---------------------------------------------------------------------------------

    def _on_event(self, answer: RunningAnswer, event: protocol.Event) -> None:
        if not self.answers.has(answer):
            self._add_late(answer, answer.late(event))
        elif isinstance(event, protocol.TextDelta):
            answer.take(event)
            self.answers.show_soon()
        elif isinstance(event, (protocol.TeamChanged, protocol.StepText)):
            self.answers.take_step(answer, event)
        elif isinstance(event, protocol.PromptRead):
            answer.reading = event
            answer.news = True
            self.answers.show_soon()
        elif isinstance(event, (protocol.Done, protocol.Cancelled)):
            stats = event.result if isinstance(event.result, protocol.Stats) else None
            finish = stats.finish if stats is not None else "cancelled"
            if not answer.message.model:  # it was asked for while the model was being opened
                answer.message = dataclasses.replace(answer.message, model=self.choice.title(answer.model))
            if isinstance(event, protocol.Done) and stats is not None and self.tool_calls.called(answer, stats):
                self._take_calls(answer, stats)
            elif self.closing and isinstance(event, protocol.Cancelled) and not answer.stopped:
                self._save_cut_off(answer, stats)
            else:
                self._end(answer, answer.finished(finish, stats))
        elif isinstance(event, protocol.Failed) and event.kind is protocol.Kind.HELD and answer.stopped:
            self._end(answer, answer.finished("held", None))
        elif isinstance(event, protocol.Failed):
            if answer.has_words or answer.goes_on or any(step["text"] for step in answer.steps):
                self._end(answer, answer.finished("failed", None))
            else:
                self._discard(answer)
                self._database.submit(
                    lambda store: store.remove(answer.message.id), partial(self._removed, answer.message)
                )
            self.unanswered = answer.turns[-1].id if answer.turns else 0
            self.failed.emit(event, answer.message.chat_id)

    # ---- tools ------------------------------------------------------------------------------------------------

    def _take_calls(self, answer: RunningAnswer, stats: protocol.Stats) -> None:
        """Go through the calls with which an answer has ended, unless there were too many rounds of them."""
        message = self.tool_calls.with_calls(answer, stats)
        answer.take_calls(message)
        if self.shows(answer):
            self.messages = [message if m.id == message.id else m for m in self.messages]
            self.replaced.emit(message)
        if answer.rounds >= ROUNDS:
            self._end(answer, answer.finished("rounds", None))
        else:
            self.tool_calls.go_on(answer)

    def _answer_results(self, answer: RunningAnswer) -> None:
        """Have the model go on, as all its calls have results."""
        self.answers.end(answer)
        message = dataclasses.replace(answer.message, state="whole", finish="stop")
        self.drafts.keep(message.id, ANSWER, message)
        if self.shows(answer):
            self.messages = [message if m.id == message.id else m for m in self.messages]
            self.replaced.emit(message)
        before = [*answer.turns, message]
        self._begin(
            message.chat_id, before, answer.style, queue=answer.queue, after=answer, rounds=answer.rounds + 1
        )  # fmt: skip

    def _engine_gone(self, answer: RunningAnswer, event: protocol.Failed) -> None:
        """The engine went while a tool was called."""
        self.tool_calls.stop(answer)
        self._end(answer, answer.finished("failed", None))
        self.unanswered = answer.message.id
        self.failed.emit(event, answer.message.chat_id)

    def _allow_in_chat(self, answer: RunningAnswer, tool: tuple[str, str]) -> None:
        tools = answer.tools
        answer.tools = dataclasses.replace(tools, allowed=(*tools.allowed, tool))
        if self.chat is not None and self.chat.id == answer.message.chat_id:
            self.set_tools(dataclasses.replace(self.tools, allowed=answer.tools.allowed))

    def _add_late(self, answer: RunningAnswer, message: StoredMessage | None) -> None:
        """Add the figures of an answer that was abandoned, unless it was changed or followed by another since."""
        if message is not None and not self.busy and answer.finished("cancelled", None) in self.messages[-1:]:
            self.messages = [*self.messages[:-1], message]
            self.drafts.keep(message.id, ANSWER, message, self.chats_changed.emit)
            self.finished.emit(message)

    def _removed(self, message: StoredMessage, _: None) -> None:
        """Show the version before an answer that failed, and what followed it."""
        chat = self.chat
        if message.versions > 1 and chat is not None and chat.id == message.chat_id and not self.busy:
            self._read_again(chat)

    def _save_cut_off(self, answer: RunningAnswer, stats: protocol.Stats | None) -> None:
        """Save an answer that ends because Underhill closes. Its queue is on the disk, and comes back from there."""
        message = dataclasses.replace(answer.finished("", stats), state="cut")
        self._database.submit(lambda store: store.update(message), failed=self.problem.emit)

    def _end(self, answer: RunningAnswer, message: StoredMessage) -> None:
        self.answers.end(answer)
        self.drafts.keep(message.id, ANSWER, message, self.chats_changed.emit)
        if self.shows(answer):
            self.messages = [message if m.id == message.id else m for m in self.messages]
            if answer.pending:
                self.text_added.emit(message.id, answer.pending, "")
            self.finished.emit(message)
        if answer.queue:
            self._go_through_queue(answer, message)
        self._emit_busy()

    def _go_through_queue(self, answer: RunningAnswer, message: StoredMessage) -> None:
        """Send the first queued message; where the user stopped the answer or it failed, return all of them."""
        chat_id, (first, *rest) = message.chat_id, answer.queue
        if message.finish in ("cancelled", "held", "failed"):
            if self.chat is not None and self.chat.id == chat_id:
                self._return_queue(chat_id, answer.queue)
            return
        self.drafts.forget_queue(chat_id)
        question = records.new_question(chat_id, message.id, first.text, first.attachments)
        before = [*answer.turns, message, question]
        self._begin(chat_id, before, answer.style, question, queue=tuple(rest), after=answer)

    def _return_queue(self, chat_id: int, queue: tuple[QueuedMessage, ...]) -> None:
        """Return queued messages to the composer. They leave the queue once the draft is on the disk."""
        self._return(queue)
        self.drafts.keep(chat_id, "queue", ())

    def _return(self, words: Sequence[QueuedMessage]) -> None:
        self.returned.emit("\n\n".join(q.text for q in words if q.text), tuple(a for q in words for a in q.attachments))

    def _discard(self, answer: RunningAnswer) -> None:
        """Remove an answer without text."""
        self.answers.end(answer)
        if self.shows(answer):
            self.messages = [m for m in self.messages if m.id != answer.message.id]
            self.removed.emit(answer.message.id)
        if answer.queue and self.chat is not None and self.chat.id == answer.message.chat_id:
            self._return_queue(self.chat.id, answer.queue)
        self._emit_busy()

    # ---- small things -----------------------------------------------------------------------------------------

    def _running(self) -> RunningAnswer | None:
        return self.answers.in_chat(self.chat_id)

    def shows(self, answer: RunningAnswer) -> bool:
        """Whether an answer is on the page."""
        return self.chat is not None and any(m.id == answer.message.id for m in self.messages[-2:])

    def _stop(self, answer: RunningAnswer) -> None:
        if answer.message.tools:  # nothing has to be waited for
            self.tool_calls.stop(answer)
            self._end(answer, answer.finished("cancelled", None))
            return
        answer.stopped = answer.news = True
        self.answers.show_soon()
        if answer.command:
            self._link.stop(answer.command)
            QTimer.singleShot(STOP_TIMEOUT, self, partial(self._abandon, answer))

    def _emit_busy(self) -> None:
        self.busy_changed.emit()
        self.queue_changed.emit(self.queue)

    def _emit_chats_changed(self, _: None = None) -> None:
        self.chats_changed.emit()
