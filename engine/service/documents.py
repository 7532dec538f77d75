"""What the service does with documents: indexes them while nothing is answered, and finds passages for a question."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine import protocol
from engine.documents.library import DocumentLibrary
from engine.library.home import home
from engine.service.command_worker import CommandWorker
from engine.translatable import Translatable

if TYPE_CHECKING:
    from engine.session import Session

INDEXING = (protocol.IndexDocuments, protocol.TidyDocuments)
NEEDS = ("engine.documents.encoder", "engine.documents.indexer", "engine.documents.search")
SHARE, LARGEST = 0.25, 3000  # of the context that passages take, and tokens at most
UNKNOWN = 800  # tokens, where no model is loaded
IDLE = 30.0  # seconds between two looks whether the encoder's memory is to be given back
_REST = 0.1  # seconds between two looks whether an answer has ended
_PACE = 0.1  # seconds between two reports

Report = Callable[[Translatable, int, int], None]


def workers(
    emit: Callable[[protocol.Event], None], session: Callable[[], Session | None], busy: Callable[[], bool]
) -> tuple[CommandWorker, CommandWorker]:
    """The threads for INDEXING and for FindPassages. session, busy: see DocumentWorker."""
    made = DocumentWorker(emit, session, busy)
    index = CommandWorker("documents", made.index, emit, needs=NEEDS, light=(protocol.TidyDocuments,))
    find = CommandWorker("passages", made.find, emit, needs=NEEDS, idle=made.library.release, pulse=IDLE)
    return index, find


class DocumentWorker:
    """Runs the commands about documents, on two threads: a question does not wait until all is encoded."""

    def __init__(
        self, emit: Callable[[protocol.Event], None], session: Callable[[], Session | None], busy: Callable[[], bool]
    ) -> None:
        """session: of the loaded model. busy: whether anything is answered, or waits for that."""
        self._emit, self._session, self._busy = emit, session, busy
        self.library = DocumentLibrary(home() / "documents")

    def index(self, command: protocol.Command, cancelled: Callable[[], bool]) -> object:
        """One of INDEXING."""
        if isinstance(command, protocol.TidyDocuments):
            return self.library.tidy(command.keep)
        assert isinstance(command, protocol.IndexDocuments)
        report = self._reporter(command)
        self.library.update(command.paths, report, cancelled)

        def pause() -> None:
            while self._busy() and not cancelled():
                time.sleep(_REST)

        return tuple(self.library.encode(command.paths, report, cancelled, pause))

    def find(self, command: protocol.Command, cancelled: Callable[[], bool]) -> protocol.FoundPassages:
        """FindPassages."""
        assert isinstance(command, protocol.FindPassages)
        documents = self.library.update(command.paths, self._reporter(command), cancelled)
        budget, session = command.tokens, self._session()
        if not budget:
            budget = UNKNOWN if session is None else min(LARGEST, round(SHARE * session.context.limit))
        if session is None:
            passages = self.library.find(command.paths, command.question, budget)
        else:
            chat = session.chat
            passages = self.library.find(command.paths, command.question, budget, lambda text: len(chat.encode(text)))
        return protocol.FoundPassages(passages, tuple(documents))

    def _reporter(self, command: protocol.Command) -> Report:
        last = 0.0

        def report(text: Translatable, done: int, total: int) -> None:
            nonlocal last
            if (now := time.monotonic()) - last >= _PACE:
                last = now
                self._emit(protocol.Progress(id=command.id, text=text, done=done, total=total))

        return report
