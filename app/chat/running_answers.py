"""Answers that are being generated, shown at a limited rate and saved as they grow; drafts; and what is unsaved."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.backend import is_endpoint
from app.chat.prompt_messages import with_attachments
from app.i18n.translate import plural, sentences, tr
from app.storage.database_thread import DatabaseThread, Problem
from app.storage.records import ASKED, RUNNING, Chat, ChatTools, QueuedMessage, StoredMessage, Style
from app.storage.store import ChatStore
from app.teams.words import step_name
from app.tool_servers import Offer
from app.transcript.notes import duration, rate
from engine import protocol
from engine.translatable import as_json

_WINDOW = 2.0  # seconds over which the speed is averaged: long enough not to jump, short enough to follow
# Milliseconds between two paintings of a growing answer, at least: each takes a core from the engine.
SHOW_INTERVAL = 80
STATUS_INTERVAL = 100  # milliseconds between two looks at what to say of an answer that has no word yet
# Milliseconds between two writings of an answer to disk: a busy machine, too, shall lose less than a second.
SAVE_INTERVAL = 400
ANSWER = "answer"
# Of Stats: what few answers have, and what a continuation's are added to.
_OF_SOME = ("steps", "endpoint", "answer_tokens", "drafted", "accepted", "substituted")
_ADDED = ("decode_seconds", "hits", "misses", "bytes_read", "drafted", "accepted", "substituted")
_Key = tuple[int, str]  # id of a chat, and a field of it: 'draft', 'attached' or 'queue'; or of a message, and ANSWER


@dataclass(kw_only=True)
class RunningAnswer:
    """message: as begun. text and tokens grow. command: id of the Generate, empty until the question is on disk.

    turns: the messages it answers. message.content is not empty where an answer goes on from where it had ended.
    style: how it is answered. waits: another answer has to end first. waited: the question did, before it was sent.
    """

    message: StoredMessage
    question: StoredMessage | None
    turns: list[StoredMessage]
    style: Style
    command: str = ""
    text: list[str] = field(default_factory=list)
    tokens: list[int] = field(default_factory=list)
    pending: str = ""  # text that the window has not shown yet
    news: bool = True  # something to show, or to write to disk
    unsaved: bool = False
    saving: bool = False  # being written to disk: a slow disk shall get the latest next, not a queue of older ones
    refused: bool = False  # by the disk, when it was last to be written
    stopped: bool = False
    waits: bool = False
    waited: bool = False
    opening: bool = False  # the model is being opened
    model: str = ""  # key of the model or team that is asked
    load: str = ""  # id of the command that opens the model for it
    queue: tuple[QueuedMessage, ...] = ()  # messages to send once it has ended
    began: float = field(default_factory=time.monotonic)
    reading: protocol.PromptRead | None = None
    steps: list[dict[str, Any]] = field(default_factory=list)  # of a team, as messages.StepReport
    documents: tuple[str, ...] = ()  # paths of what is searched before it is begun
    tools: ChatTools = field(default_factory=ChatTools)  # that its chat may use
    offers: dict[str, Offer] = field(default_factory=dict)  # those that its model was told of, by the names it knows
    rounds: int = 0  # of tools that came before it
    searching: str = ""  # what is done for that
    _recent: list[tuple[float, int]] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        """Whether it continues an answer that had ended."""
        return bool(self.message.content)

    @property
    def has_words(self) -> bool:
        """Whether something has come of it. Endpoints send no tokens."""
        return bool(self.tokens or self.text)

    @property
    def lane(self) -> str:
        """Answers of one lane come one after the other: those of models here, and those of each endpoint."""
        return self.model if is_endpoint(self.model) else ""

    def take(self, delta: protocol.TextDelta) -> None:
        """Append text and tokens."""
        self.text.append(delta.text)
        self.tokens.extend(delta.token_ids)
        self.pending += delta.text
        self.news = self.unsaved = True
        now = time.monotonic()
        self._recent.append((now, len(self.tokens)))
        while len(self._recent) > 2 and now - self._recent[0][0] > _WINDOW:
            self._recent.pop(0)

    def status(self) -> str:
        """Status line under the answer."""
        if self.stopped:
            return tr("Stopping…  ·  Esc again to stop waiting")
        working = next((str(step["name"]) for step in self.steps if step["state"] == "working"), "")
        if working and not self.has_words:
            return tr("{step}…  ·  Esc to stop", step=step_name(working))
        if self.tokens:
            count = plural("1 token", "{count:,} tokens", len(self.tokens), count=len(self.tokens))
            return "  ·  ".join(p for p in (self._speed(), count, tr("Esc to stop")) if p)
        if self.text:
            return tr("Esc to stop")
        waited = duration(time.monotonic() - self.began)
        if self.message.tools:
            return self._tool_status(waited)
        if self.waits:
            return tr("Another chat is generating  ·  Esc to stop")
        if self.searching:
            return tr("{doing}  ·  Esc to stop", doing=self.searching)
        if self.opening:
            return tr("Loading model  ·  {waited}", waited=waited)
        read = self.reading
        if read is not None and read.total and read.done < read.total:
            share, total, reused = 100 * read.done // read.total, f"{read.total:,}", f"{read.reused:,}"
            if read.reused:
                return tr("Processing prompt: {share}% of {total} tokens ({reused} cached)",
                           share=share, total=total, reused=reused)  # fmt: skip
            return tr("Processing prompt: {share}% of {total} tokens", share=share, total=total)
        if self.lane:
            return tr("Waiting for {host}  ·  {waited}", host=self.message.stats.get("endpoint", ""), waited=waited)
        return tr("Starting…  ·  {waited}", waited=waited)

    def _tool_status(self, waited: str) -> str:
        running = next((use.name for use in self.message.tools if use.state == RUNNING), "")
        if running:
            return tr("Running {tool}…  ·  {waited}  ·  Esc to stop", tool=running, waited=waited)
        asked = any(use.state == ASKED for use in self.message.tools)
        return (
            tr("Waiting for your permission  ·  Esc to stop") if asked else tr("Starting…  ·  {waited}", waited=waited)
        )

    def take_calls(self, message: StoredMessage) -> None:
        """It has ended, as this message, with calls of tools; what is running now are those."""
        self.message, self.text, self.tokens, self.pending = message, [], [], ""
        self.steps, self.reading, self.command, self.question = [], None, "", None  # that is on the disk
        self.news = self.unsaved = True

    def _speed(self) -> str:
        if len(self._recent) < 2:
            return ""
        (t0, n0), (t1, n1) = self._recent[0], self._recent[-1]
        return tr("{rate} tok/s", rate=rate((n1 - n0) / (t1 - t0))) if t1 > t0 else ""

    def so_far(self) -> StoredMessage:
        """The message with the text so far."""
        before = self.message
        stats = {**before.stats, "steps": self.steps} if self.steps else before.stats
        return dataclasses.replace(
            before, content=before.content + "".join(self.text), token_ids=(*before.token_ids, *self.tokens),
            stats=stats,
        )  # fmt: skip

    def take_steps(self, steps: Sequence[protocol.StepReport]) -> None:
        """Steps of a team, as they are now."""
        self.steps = [dataclasses.asdict(step) for step in steps]
        self.news = self.unsaved = True

    def take_step_text(self, event: protocol.StepText) -> None:
        """More of what a step says."""
        if event.step < len(self.steps):
            self.steps[event.step]["text"] += event.text
            self.unsaved = True

    def _said_by_steps(self) -> str:
        """What the last step has said that is no note, where the answer itself has not begun."""
        said = (str(s["text"]) for s in reversed(self.steps) if s["text"] and not s["note"])
        return "" if self.text else next(said, "")

    def finished(self, finish: str, stats: protocol.Stats | None) -> StoredMessage:
        """The message as it is in the end. The engine's own text and tokens replace what was collected."""
        message, before = self.so_far(), self.message
        values: dict[str, Any] = message.stats
        if stats is None:
            message = dataclasses.replace(message, content=message.content + self._said_by_steps())
        if stats is not None:
            now = {**dataclasses.asdict(stats), "why": as_json(stats.why)}
            now = {name: value for name, value in now.items() if value or name not in _OF_SOME}
            values = _combined_stats(before.stats if self.goes_on else {}, now)
            if left_out := before.stats.get("images_left_out"):
                values["images_left_out"] = left_out
            message = dataclasses.replace(
                message, content=before.content + values.pop("text"),
                token_ids=(*before.token_ids, *values.pop("token_ids")),
            )  # fmt: skip
        return dataclasses.replace(message, state="whole", finish=finish, stats=values)

    def late(self, event: protocol.Event) -> StoredMessage | None:
        """As `finished`, by an event of an abandoned answer: with its figures, or why it did not end."""
        if isinstance(event, protocol.Cancelled) and isinstance(event.result, protocol.Stats):
            return self.finished(event.result.finish, event.result)
        if isinstance(event, protocol.Failed) and event.kind is protocol.Kind.HELD:
            return self.finished("held", None)
        return None


def _combined_stats(before: dict[str, Any], now: dict[str, Any]) -> dict[str, Any]:
    """Statistics of an answer and its continuation; the prompt's are those of the first part."""
    if not before:
        return now
    summed = {k: now.get(k, 0) + before.get(k, 0) for k in _ADDED if k in now or k in before}
    precision = {k: n + before.get("precision", {}).get(k, 0) for k, n in now["precision"].items()}
    question = {k: before.get(k, now[k]) for k in ("prompt_seconds", "prompt_tokens", "reused_tokens")}
    some = {name: before[name] for name in _OF_SOME if name in before and name not in _ADDED}
    return {**now, **summed, **question, **some, "precision": precision}


class RunningAnswers(QObject):
    """running: by message id, in the order in which the engine does them. model_opening: they wait for a model."""

    text_added = Signal(object, str, str)  # message id, more text, status line
    steps_changed = Signal(object, object)  # message id, steps of a team as messages.StepReport has them
    step_text_added = Signal(object, int, str)  # message id, number of a step, more of what it says

    def __init__(
        self, database: DatabaseThread, drafts: DraftStore, is_shown: Callable[[RunningAnswer], bool], parent: QObject
    ) -> None:
        """is_shown: is this answer on the page?"""
        super().__init__(parent)
        self._database, self._drafts, self._is_shown = database, drafts, is_shown
        self.model_opening = False
        self.running: dict[int, RunningAnswer] = {}
        self._shown_at = 0.0
        self._show = QTimer(self, singleShot=True)
        self._show.setTimerType(Qt.TimerType.PreciseTimer)
        self._show.timeout.connect(self._show_changes)
        self._save = QTimer(self, interval=SAVE_INTERVAL)
        self._save.setTimerType(Qt.TimerType.PreciseTimer)
        self._save.timeout.connect(self.save_now)

    def begin(self, answer: RunningAnswer) -> None:
        """Add an answer behind the others: the engine generates one at a time."""
        self.running[answer.message.id] = answer
        self._save.start()

    def has(self, answer: RunningAnswer) -> bool:
        """Whether an answer still runs. Another of the same message may have been abandoned before it was continued."""
        return self.running.get(answer.message.id) is answer

    def end(self, answer: RunningAnswer) -> None:
        """Remove an answer that has ended, or is abandoned."""
        del self.running[answer.message.id]

    def wait_for(self, load: str) -> bool:
        """Whether an answer waits for the model that this command opens."""
        return bool(load) and any(a.load == load and not a.stopped for a in self.running.values())

    def in_chat(self, chat_id: int) -> RunningAnswer | None:
        """The running answer of a chat."""
        return next((a for a in self.running.values() if a.message.chat_id == chat_id), None)

    def take_step(self, answer: RunningAnswer, event: protocol.TeamChanged | protocol.StepText) -> None:
        """A step of a team is further."""
        if isinstance(event, protocol.TeamChanged):
            answer.take_steps(event.steps)
            if self._is_shown(answer):
                self.steps_changed.emit(answer.message.id, answer.steps)
            self.show_soon()
        else:
            answer.take_step_text(event)
            if self._is_shown(answer):
                self.step_text_added.emit(answer.message.id, event.step, event.text)

    def with_running(self, messages: list[StoredMessage]) -> list[StoredMessage]:
        """Replace, among messages read from the disk, those of running answers by their current state."""
        now = [self.running[m.id].so_far() if m.id in self.running else m for m in messages]
        for answer in self.running.values():
            answer.pending = ""  # it is in so_far already
        return now

    @property
    def unwritten(self) -> list[StoredMessage]:
        """Answers, ended and running, of which the disk has refused something, and questions that it may not have."""
        refused = [answer.so_far() for answer in self.running.values() if answer.refused]
        asked = (answer.question for answer in self.running.values() if not answer.command)
        questions = [
            dataclasses.replace(q, content=with_attachments(q.content, q.attachments)) for q in asked if q is not None
        ]
        return [*self._drafts.answers.values(), *refused, *questions]

    def write_again(self) -> None:
        """Write everything again that the disk has refused."""
        self._drafts.write_again()
        for answer in self.running.values():
            answer.unsaved |= answer.refused
        self.save_now()

    def show_soon(self) -> None:
        """Show new text now, or SHOW_INTERVAL after the last time."""
        rest = SHOW_INTERVAL - 1000 * (time.monotonic() - self._shown_at)
        if rest > 0:
            self._show.start(round(rest))
        else:
            self._show_changes()

    @Slot()
    def _show_changes(self) -> None:
        self._show.stop()
        lanes: set[str] = set()
        for answer in self.running.values():
            answer.waits, answer.opening = answer.lane in lanes, self.model_opening and not answer.lane
            lanes.add(answer.lane)
            if self._is_shown(answer) and (answer.news or not answer.has_words):
                text, answer.pending, answer.news = answer.pending, "", False
                self.text_added.emit(answer.message.id, text, answer.status())
        self._shown_at = time.monotonic()
        if any(self._is_shown(answer) and not answer.has_words for answer in self.running.values()):
            self._show.start(STATUS_INTERVAL)  # the time for which it was waited

    @Slot()
    def save_now(self) -> None:
        """Write what has grown or changed to disk."""
        if not self.running:
            self._save.stop()
        for answer in self.running.values():
            if answer.unsaved and not answer.saving:
                answer.unsaved, answer.saving = False, True
                write = partial(_write, answer, answer.so_far())
                self._database.submit(write, partial(self._saved, answer), partial(self._refused, answer))

    def _saved(self, answer: RunningAnswer, _: None) -> None:
        answer.refused = False
        self._drafts.mark_saved()

    def _refused(self, answer: RunningAnswer, problem: Problem) -> None:
        answer.refused = True
        self._drafts.mark_refused(problem)


def _write(answer: RunningAnswer, message: StoredMessage, store: ChatStore) -> None:
    """Runs on the database thread."""
    try:
        store.update(message)
    finally:
        answer.saving = False


class DraftStore:
    """on_problem: called with what is wrong, once until all is saved again."""

    def __init__(self, database: DatabaseThread, on_problem: Callable[[Problem], object]) -> None:
        self._database, self._on_problem = database, on_problem
        self._held: dict[_Key, Any] = {}  # not known to be on the disk
        self._reported = False
        self.problem: Problem | None = None  # why the disk refused it last

    @property
    def held(self) -> dict[_Key, Any]:
        """Values not known to be on the disk, by chat and field: 'draft', 'attached' or 'queue'."""
        return {key: value for key, value in self._held.items() if key[1] != ANSWER}

    @property
    def answers(self) -> dict[int, StoredMessage]:
        """Answers of which the end is not known to be on the disk, by id."""
        return {i: value for (i, field), value in self._held.items() if field == ANSWER}

    @property
    def unsaved(self) -> bool:
        """Whether anything is not known to be on the disk."""
        return bool(self._held)

    def keep(self, owner: int, field: str, value: Any, done: Callable[[], object] = lambda: None) -> None:
        """Save a field of a chat: 'draft', the text that is not sent; 'attached' to it; or 'queue'. done: it is saved.

        Or, as ANSWER of the message `owner`, an answer that has ended.
        """
        key = owner, field
        self._held[key] = value
        self._database.submit(
            partial(_write_field, key=key, value=value), partial(self._kept, key, value, done), self.mark_refused
        )

    def forget_queue(self, chat_id: int) -> None:
        """Forget the queue of a chat: it is written together with the question that begins it."""
        self._held.pop((chat_id, "queue"), None)

    def with_unsaved(self, chat: Chat, messages: list[StoredMessage]) -> tuple[Chat, list[StoredMessage]]:
        """A chat as it was read from the disk, with what the disk does not have."""
        chat = dataclasses.replace(chat, **{field: held for (i, field), held in self.held.items() if i == chat.id})
        ended = self.answers
        return chat, [_ended(m, ended[m.id]) if m.id in ended else m for m in messages]

    def try_again(self) -> None:
        """Write again at the user's wish: where it fails, that is reported again."""
        self._reported = False
        self.write_again()

    def write_again(self) -> None:
        """Write everything again that is not known to be on the disk."""
        for key, value in list(self._held.items()):
            self.keep(*key, value)

    def mark_refused(self, problem: Problem) -> None:
        """The disk did not take it."""
        self.problem = problem
        if not self._reported:
            self._reported = True
            kept = tr("Unsaved text is kept while the app is open.") if self._held else ""
            self._on_problem(dataclasses.replace(problem, action=sentences(problem.action, kept)))

    def mark_saved(self) -> None:
        """The disk took something."""
        if self._reported:  # there is room again
            self._reported = bool(self._held)
            self.write_again()

    def _kept(self, key: _Key, value: Any, done: Callable[[], object], _: None) -> None:
        if self._held.get(key) == value:
            del self._held[key]
        done()
        self.mark_saved()


def _write_field(store: ChatStore, key: _Key, value: Any) -> None:
    chat_id, field = key
    if field == ANSWER:
        store.update(value)
    elif field == "attached":
        store.keep_draft_attachments(chat_id, value)
    elif field == "documents":
        store.keep_documents(chat_id, value)
    else:
        store.set_field(chat_id, field, value)


def _ended(read: StoredMessage, held: StoredMessage) -> StoredMessage:
    """An answer as the disk has it, with what ChatStore.update would have written."""
    return dataclasses.replace(
        read, content=held.content, token_ids=held.token_ids, state=held.state, finish=held.finish, stats=held.stats,
        model=held.model, tools=held.tools,
    )  # fmt: skip
