"""The answers on their way: what comes of them is shown as it comes, and written to the disk all along."""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Slot

from app.chat.answer import RunningAnswer
from app.chat.prompt_messages import with_attachments
from app.storage.database_thread import DatabaseThread
from app.storage.opening import Problem
from app.storage.records import StoredMessage
from app.storage.store import ChatStore

if TYPE_CHECKING:
    from app.chat.conversation import Conversation

SHOW_INTERVAL = (
    80  # milliseconds between two paintings of a growing answer, at least: each takes a core from the engine
)
TICK = 100  # milliseconds between two looks at what to say of an answer that has no word yet
SAVE_INTERVAL = (
    400  # milliseconds between two writings of it to disk: a busy machine, too, shall lose less than a second
)


class RunningAnswers(QObject):
    """answers: by message id, in the order in which the engine does them."""

    def __init__(self, conversation: Conversation, database: DatabaseThread) -> None:
        super().__init__(conversation)
        self._conversation, self._database = conversation, database
        self.answers: dict[int, RunningAnswer] = {}
        self._shown_at = 0.0
        self._show = QTimer(self, singleShot=True)
        self._show.setTimerType(Qt.TimerType.PreciseTimer)
        self._show.timeout.connect(self._show_news)
        self._save = QTimer(self, interval=SAVE_INTERVAL)
        self._save.setTimerType(Qt.TimerType.PreciseTimer)
        self._save.timeout.connect(self._save_news)

    def begin(self, answer: RunningAnswer) -> None:
        """One more, behind the others."""
        self.answers[answer.message.id] = answer
        self._save.start()

    def has(self, answer: RunningAnswer) -> bool:
        """Does somebody still wait for it? One of the same message may have been given up before it went on."""
        return self.answers.get(answer.message.id) is answer

    def end(self, answer: RunningAnswer) -> None:
        """It is there, or nobody waits for it any more."""
        del self.answers[answer.message.id]

    def in_chat(self, chat_id: int) -> RunningAnswer | None:
        """The one that is on its way in a chat."""
        return next((a for a in self.answers.values() if a.message.chat_id == chat_id), None)

    def taken_up(self, messages: list[StoredMessage]) -> list[StoredMessage]:
        """Messages as they were read from the disk, those on their way as they are by now."""
        now = [self.answers[m.id].so_far() if m.id in self.answers else m for m in messages]
        for answer in self.answers.values():
            answer.pending = ""  # it is in so_far already
        return now

    def refused(self) -> list[StoredMessage]:
        """Answers that the disk did not take last time, as they are by now."""
        return [answer.so_far() for answer in self.answers.values() if answer.refused]

    def unasked(self) -> list[StoredMessage]:
        """Questions that are not known to be on the disk, with what is attached to them."""
        found = (answer.question for answer in self.answers.values() if not answer.command)
        return [
            dataclasses.replace(q, content=with_attachments(q.content, q.attachments)) for q in found if q is not None
        ]

    def write_again(self) -> None:
        """Have those written."""
        for answer in self.answers.values():
            answer.unsaved |= answer.refused
        self._save_news()

    def show_soon(self) -> None:
        """What has come is shown as it comes, but no more often than SHOW_EVERY."""
        rest = SHOW_INTERVAL - 1000 * (time.monotonic() - self._shown_at)
        if rest > 0:
            self._show.start(round(rest))
        else:
            self._show_news()

    @Slot()
    def _show_news(self) -> None:
        self._show.stop()
        c = self._conversation
        for number, answer in enumerate(self.answers.values()):
            answer.waits, answer.opening = number > 0, c.opening
            if c.shows(answer) and (answer.news or not answer.tokens):
                text, answer.pending, answer.news = answer.pending, "", False
                c.grew.emit(answer.message.id, text, answer.status())
        self._shown_at = time.monotonic()
        if any(c.shows(answer) and not answer.tokens for answer in self.answers.values()):
            self._show.start(TICK)  # the time for which it was waited

    @Slot()
    def _save_news(self) -> None:
        if not self.answers:
            self._save.stop()
        for answer in self.answers.values():
            if answer.unsaved and not answer.saving:
                answer.unsaved, answer.saving = False, True
                write = partial(_write, answer, answer.so_far())
                self._database.submit(write, partial(self._taken, answer), partial(self._not_taken, answer))

    def _taken(self, answer: RunningAnswer, _: None) -> None:
        answer.refused = False
        self._conversation.unsent.taken()

    def _not_taken(self, answer: RunningAnswer, problem: Problem) -> None:
        answer.refused = True
        self._conversation.unsent.refused(problem)


def _write(answer: RunningAnswer, message: StoredMessage, store: ChatStore) -> None:
    """On the keeper's thread."""
    try:
        store.update(message)
    finally:
        answer.saving = False
