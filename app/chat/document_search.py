"""Finds passages of a chat's documents for a question, before it is answered."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import partial

from app.backend import EngineLink
from app.chat.running_answers import RunningAnswer
from app.storage.database_thread import DatabaseThread
from app.storage.records import StoredMessage
from app.storage.store import ChatStore
from engine import protocol

_LONGEST = 4000  # characters of a question that are searched with


class DocumentSearch:
    """Asks the engine, and puts what is found into the question: on the disk, and among the messages to answer."""

    def __init__(self, database: DatabaseThread, link: EngineLink) -> None:
        self._database, self._link = database, link

    @staticmethod
    def wanted(answer: RunningAnswer) -> bool:
        """Whether the question of an answer is to be searched with: it was not, and its chat has documents.

        Another answer to a question has the passages of the first one.
        """
        last = answer.turns[-1] if answer.turns else None
        return bool(answer.documents) and not answer.goes_on and last is not None and not last.sources and bool(
            last.role == "user" and last.content.strip()
        )  # fmt: skip

    def begin(
        self,
        answer: RunningAnswer,
        found: Callable[[StoredMessage], object],
        ended: Callable[[protocol.Event], object],
    ) -> str:
        """Search; returns the id of the command. found: gets the question with its sources, once these are on the disk.

        ended: gets Cancelled or Failed.
        """
        text = answer.turns[-1].content[-_LONGEST:]

        def listener(event: protocol.Event) -> None:
            if isinstance(event, protocol.Progress):
                answer.searching, answer.news = event.text, True
            elif isinstance(event, protocol.Done):
                self._keep(answer, event.result.passages, found, ended)
            elif isinstance(event, protocol.TERMINAL):
                ended(event)

        return self._link.ask(protocol.FindPassages, listener, answer.documents, text)

    def _keep(
        self, answer: RunningAnswer, passages: tuple[protocol.Passage, ...],
        found: Callable[[StoredMessage], object], ended: Callable[[protocol.Event], object],
    ) -> None:  # fmt: skip
        question = dataclasses.replace(answer.turns[-1], sources=passages)
        answer.turns = [*answer.turns[:-1], question]
        answer.searching = ""
        if passages:
            keep = partial(ChatStore.keep_sources, message_id=question.id, sources=passages)
            # Where the disk refuses it the answer comes all the same, with its sources as long as the window is open.
            self._database.submit(keep, lambda _: found(question), lambda problem: found(question))
        else:
            found(question)
