"""The chat that is open and the answers on their way: what the window's parts do together, without any widget."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.answer import Answer
from app.chats import trash
from app.chats.keeper import Keeper
from app.chats.opening import Problem
from app.chats.records import Chat, Place, StoredMessage, new_id
from app.chats.store import ChatStore
from app.chats.titles import title_from
from app.link.engine_link import EngineLink
from engine import api

SHOW_EVERY = 33  # milliseconds between two paintings of a growing answer
SAVE_EVERY = 900  # milliseconds between two writings of it to disk


class Conversation(QObject):
    """Signals tell the window what to show; every method returns at once."""

    opened = Signal(object, object)  # chat or None, its messages
    added = Signal(object)  # message
    grew = Signal(object, str, str)  # message id, more text, status line
    finished = Signal(object)  # message
    removed = Signal(object)  # message id
    chats_changed = Signal()
    busy_changed = Signal()
    returned = Signal(str)  # a message that could not be sent: back into the composer
    failed = Signal(object)  # api.Failed
    problem = Signal(object)  # Problem

    def __init__(self, keeper: Keeper, link: EngineLink, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._keeper = keeper
        self._link = link
        self.chat: Chat | None = None
        self.messages: list[StoredMessage] = []
        self.model = ""  # title of the model that answers
        self.sampling: dict[str, Any] = {}
        self._answers: dict[int, Answer] = {}  # by message id
        self._wanted = 0  # the chat asked for last; an older reading that comes late is not shown
        self._show = QTimer(self)
        self._show.setInterval(SHOW_EVERY)
        self._show.timeout.connect(self._show_news)
        self._save = QTimer(self)
        self._save.setInterval(SAVE_EVERY)
        self._save.timeout.connect(self._save_news)

    # ---- which chat -------------------------------------------------------------------------------------------

    def new(self) -> None:
        """An empty chat; it comes to be on disk with its first message."""
        self._wanted = 0
        self.chat, self.messages = None, []
        self.opened.emit(None, [])
        self.busy_changed.emit()

    def open(self, chat: Chat, message_id: int = 0) -> None:
        """Read a chat from disk and show it; with a message: the branch that has it, scrolled to it."""
        self._wanted = chat.id
        if message_id:
            self._keeper.do(partial(_read_at, chat_id=chat.id, message_id=message_id), self._read_done)
        else:
            self._keeper.do(partial(_read, chat_id=chat.id), self._read_done)

    def _read_done(self, found: tuple[Chat, list[StoredMessage]] | None) -> None:
        if found is None or found[0].id != self._wanted:
            return
        chat, messages = found
        self.chat = chat
        self.messages = [self._answers[m.id].so_far() if m.id in self._answers else m for m in messages]
        for answer in self._answers.values():
            answer.pending = ""  # it is in so_far already
        self.opened.emit(chat, self.messages)
        self.busy_changed.emit()

    def keep_place(self, place: Place | None) -> None:
        """Keep where the open chat is scrolled to; None: at its end."""
        if self.chat is not None and self.chat.place != place:
            chat_id = self.chat.id
            self.chat = dataclasses.replace(self.chat, place=place)
            self._keeper.do(lambda store: store.set_place(chat_id, place))

    def rename(self, chat_id: int, title: str) -> None:
        """Set a title by hand."""
        if self.chat is not None and self.chat.id == chat_id:
            self.chat = dataclasses.replace(self.chat, title=title, title_by_hand=True)
        self._keeper.do(lambda store: store.set_title(chat_id, title, True), self._tell_chats)

    def delete(self, chat_id: int) -> None:
        """Move a chat to the trash, stopping its answer."""
        for answer in self._answers.values():
            if answer.message.chat_id == chat_id:
                self._stop(answer)
        self._keeper.do(lambda store: trash.put(store, chat_id), self._tell_chats)

    def restore(self, chat_id: int) -> None:
        """Undo a deletion."""
        self._keeper.do(lambda store: trash.take_back(store, chat_id), self._tell_chats)

    def keep_draft(self, text: str) -> None:
        """Keep what is typed in the open chat."""
        if self.chat is not None and self.chat.draft != text:
            chat_id = self.chat.id
            self.chat = dataclasses.replace(self.chat, draft=text)
            self._keeper.do(lambda store: store.set_draft(chat_id, text))

    # ---- sending ----------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Is an answer on its way in the open chat?"""
        return self._running() is not None

    @property
    def working(self) -> bool:
        """Is an answer on its way in any chat?"""
        return bool(self._answers)

    def send(self, text: str) -> None:
        """Write the question to disk, then have it answered."""
        new = self.chat is None
        if self.chat is None:
            self.chat = Chat(new_id(), title_from(text), updated_at=time.time())
            self._wanted = self.chat.id
        parent = self.messages[-1].id if self.messages else None
        question = StoredMessage(new_id(), self.chat.id, parent, "user", text)
        self._ask(question, self.messages, self.chat if new else None)

    def again(self, message_id: int) -> None:
        """Another answer to the same question; the old one stays as a version."""
        index = self._index(message_id)
        if index < 0 or self.busy:
            return
        if self.messages[index].role == "assistant":
            self._begin(self.messages[:index], None, None, versions=self.messages[index].versions + 1)
        elif index == len(self.messages) - 1:  # the answer never came
            self._begin(self.messages, None, None)

    def resend(self, message_id: int, text: str) -> None:
        """An edited question: a version of the old one, answered anew."""
        index = self._index(message_id)
        if index < 0 or self.busy:
            return
        old = self.messages[index]
        question = StoredMessage(
            new_id(), old.chat_id, old.parent_id, "user", text, version=old.versions + 1, versions=old.versions + 1
        )
        self._ask(question, self.messages[:index], None)

    def step(self, message_id: int, by: int) -> None:
        """Show the version before or after."""
        if self.chat is None or self.busy:
            return
        self._keeper.do(partial(_step, chat_id=self.chat.id, message_id=message_id, by=by), self._read_done)

    def stop(self) -> None:
        """Stop the answer of the open chat."""
        answer = self._running()
        if answer is not None:
            self._stop(answer)

    def _ask(self, question: StoredMessage, before: list[StoredMessage], chat: Chat | None) -> None:
        self._begin([*before, question], question, chat)

    def _begin(
        self, turns: list[StoredMessage], question: StoredMessage | None, chat: Chat | None, versions: int = 1
    ) -> None:
        assert self.chat is not None
        reply = StoredMessage(new_id(), self.chat.id, turns[-1].id, "assistant", state="streaming", model=self.model,
                              version=versions, versions=versions)  # fmt: skip
        answer = Answer(reply, question)
        self._answers[reply.id] = answer
        if question is not None and self.messages == turns[:-1]:
            self.added.emit(question)
        elif self.messages != turns:
            self.opened.emit(self.chat, turns)
        self.messages = [*turns, reply]
        self.added.emit(reply)
        self.busy_changed.emit()
        self._show.start()
        self._save.start()
        fresh = (question, reply) if question is not None else (reply,)
        self._keeper.do(partial(_write, chat=chat, messages=fresh), partial(self._written, answer, turns),
                        partial(self._not_written, answer, chat is not None))  # fmt: skip

    def _written(self, answer: Answer, turns: list[StoredMessage], _: None) -> None:
        """The question is on disk: now the engine may answer it."""
        self.chats_changed.emit()
        if answer.stopped:
            self._end(answer, answer.finished("cancelled", None))
            return
        answer.command = self._link.new_id()
        self._link.send(api.Generate(answer.command, _turns(turns), dict(self.sampling)), partial(self._heard, answer))

    def _not_written(self, answer: Answer, new: bool, problem: Problem) -> None:
        """The disk refused: the page goes back to what is on disk, and the words to the composer."""
        shown = self._shown(answer)
        self._drop(answer)
        if shown and new:
            self.new()
        elif shown and self.chat is not None:
            self.open(self.chat)
        if answer.question is not None:
            self.returned.emit(answer.question.content)
        self.problem.emit(problem)

    # ---- what the engine says ---------------------------------------------------------------------------------

    def _heard(self, answer: Answer, event: api.Event) -> None:
        if isinstance(event, api.TextDelta):
            answer.take(event)
        elif isinstance(event, api.PromptRead):
            answer.reading = event
            answer.news = True
        elif isinstance(event, (api.Done, api.Cancelled)):
            stats = event.result if isinstance(event.result, api.Stats) else None
            finish = stats.finish if stats is not None else "cancelled"
            self._end(answer, answer.finished(finish, stats))
        elif isinstance(event, api.Failed):
            if answer.tokens:
                self._end(answer, answer.finished("failed", None))
            else:
                self._drop(answer)
                self._keeper.do(lambda store: store.remove(answer.message.id))
            self.failed.emit(event)

    def _end(self, answer: Answer, message: StoredMessage) -> None:
        del self._answers[message.id]
        self._keeper.do(lambda store: store.update(message), self._tell_chats, self.problem.emit)
        if self._shown(answer):
            self.messages = [message if m.id == message.id else m for m in self.messages]
            if answer.pending:
                self.grew.emit(message.id, answer.pending, "")
            self.finished.emit(message)
        self.busy_changed.emit()

    def _drop(self, answer: Answer) -> None:
        """An answer without a word goes from the page."""
        del self._answers[answer.message.id]
        if self._shown(answer):
            self.messages = [m for m in self.messages if m.id != answer.message.id]
            self.removed.emit(answer.message.id)
        self.busy_changed.emit()

    # ---- timers -----------------------------------------------------------------------------------------------

    @Slot()
    def _show_news(self) -> None:
        if not self._answers:
            self._show.stop()
        for answer in self._answers.values():
            if self._shown(answer) and (answer.news or not answer.tokens):
                text, answer.pending, answer.news = answer.pending, "", False
                self.grew.emit(answer.message.id, text, answer.status())

    @Slot()
    def _save_news(self) -> None:
        if not self._answers:
            self._save.stop()
        for answer in self._answers.values():
            if answer.unsaved:
                answer.unsaved = False
                message = answer.so_far()
                self._keeper.do(partial(_update, message=message), None, self.problem.emit)

    # ---- small things -----------------------------------------------------------------------------------------

    def _running(self) -> Answer | None:
        here = self.chat.id if self.chat is not None else 0
        return next((a for a in self._answers.values() if a.message.chat_id == here), None)

    def _shown(self, answer: Answer) -> bool:
        return self.chat is not None and any(m.id == answer.message.id for m in self.messages[-2:])

    def _index(self, message_id: int) -> int:
        return next((i for i, m in enumerate(self.messages) if m.id == message_id), -1)

    def _stop(self, answer: Answer) -> None:
        answer.stopped = True
        if answer.command:
            self._link.stop(answer.command)

    def _tell_chats(self, _: None) -> None:
        self.chats_changed.emit()


def _turns(messages: list[StoredMessage]) -> tuple[api.Message, ...]:
    """What the model reads. Roles take turns, as chat templates demand: an answer that never came leaves two questions
    in a row, which become one."""
    turns: list[api.Message] = []
    for m in messages:
        if m.role == "assistant" and not m.content:
            continue
        if turns and m.role == turns[-1].role:
            turns[-1] = api.Message(m.role, f"{turns[-1].content}\n\n{m.content}")
        else:
            turns.append(api.Message(m.role, m.content, m.token_ids))
    return tuple(turns)


def _read(store: ChatStore, chat_id: int) -> tuple[Chat, list[StoredMessage]] | None:
    chat = store.chat(chat_id)
    return None if chat is None else (chat, store.path(chat_id))


def _read_at(store: ChatStore, chat_id: int, message_id: int) -> tuple[Chat, list[StoredMessage]] | None:
    store.select(chat_id, message_id)
    found = _read(store, chat_id)
    return found and (dataclasses.replace(found[0], place=Place(message_id, 0)), found[1])


def _write(store: ChatStore, chat: Chat | None, messages: tuple[StoredMessage, ...]) -> None:
    if chat is not None:
        store.create(chat, *messages)
    else:
        store.add(*messages)


def _update(store: ChatStore, message: StoredMessage) -> None:
    store.update(message)


def _step(store: ChatStore, chat_id: int, message_id: int, by: int) -> tuple[Chat, list[StoredMessage]] | None:
    versions = store.versions(message_id)
    at = versions.index(message_id) + by
    if 0 <= at < len(versions):
        store.select(chat_id, versions[at])
    return _read(store, chat_id)
