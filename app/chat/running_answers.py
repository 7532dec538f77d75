"""Answers that are being generated: shown at a limited rate, and saved as they grow."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot

from app.chat.answer import RunningAnswer
from app.chat.draft_store import DraftStore
from app.chat.prompt_messages import with_attachments
from app.storage.database_thread import DatabaseThread
from app.storage.opening import Problem
from app.storage.records import StoredMessage
from app.storage.store import ChatStore

# Milliseconds between two paintings of a growing answer, at least: each takes a core from the engine.
SHOW_INTERVAL = 80
STATUS_INTERVAL = 100  # milliseconds between two looks at what to say of an answer that has no word yet
# Milliseconds between two writings of an answer to disk: a busy machine, too, shall lose less than a second.
SAVE_INTERVAL = 400


class RunningAnswers(QObject):
    """running: by message id, in the order in which the engine does them. model_opening: they wait for a model."""

    grew = Signal(object, str, str)  # message id, more text, status line

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
        self._show.timeout.connect(self._show_news)
        self._save = QTimer(self, interval=SAVE_INTERVAL)
        self._save.setTimerType(Qt.TimerType.PreciseTimer)
        self._save.timeout.connect(self._save_news)

    def begin(self, answer: RunningAnswer) -> None:
        """One more, behind the others."""
        self.running[answer.message.id] = answer
        self._save.start()

    def has(self, answer: RunningAnswer) -> bool:
        """Does somebody still wait for it? One of the same message may have been given up before it went on."""
        return self.running.get(answer.message.id) is answer

    def end(self, answer: RunningAnswer) -> None:
        """It is there, or nobody waits for it any more."""
        del self.running[answer.message.id]

    def in_chat(self, chat_id: int) -> RunningAnswer | None:
        """The one that is on its way in a chat."""
        return next((a for a in self.running.values() if a.message.chat_id == chat_id), None)

    def taken_up(self, messages: list[StoredMessage]) -> list[StoredMessage]:
        """Messages as they were read from the disk, those on their way as they are by now."""
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
        """Have everything written again that the disk has refused."""
        self._drafts.write_again()
        for answer in self.running.values():
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
        for number, answer in enumerate(self.running.values()):
            answer.waits, answer.opening = number > 0, self.model_opening
            if self._is_shown(answer) and (answer.news or not answer.tokens):
                text, answer.pending, answer.news = answer.pending, "", False
                self.grew.emit(answer.message.id, text, answer.status())
        self._shown_at = time.monotonic()
        if any(self._is_shown(answer) and not answer.tokens for answer in self.running.values()):
            self._show.start(STATUS_INTERVAL)  # the time for which it was waited

    @Slot()
    def _save_news(self) -> None:
        if not self.running:
            self._save.stop()
        for answer in self.running.values():
            if answer.unsaved and not answer.saving:
                answer.unsaved, answer.saving = False, True
                write = partial(_write, answer, answer.so_far())
                self._database.submit(write, partial(self._taken, answer), partial(self._not_taken, answer))

    def _taken(self, answer: RunningAnswer, _: None) -> None:
        answer.refused = False
        self._drafts.mark_saved()

    def _not_taken(self, answer: RunningAnswer, problem: Problem) -> None:
        answer.refused = True
        self._drafts.mark_refused(problem)


def _write(answer: RunningAnswer, message: StoredMessage, store: ChatStore) -> None:
    """On the keeper's thread."""
    try:
        store.update(message)
    finally:
        answer.saving = False
