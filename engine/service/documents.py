"""What the service does with documents: indexes them while nothing is answered, and finds passages for a question."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from engine import protocol
from engine.documents.frame import room_for_passages
from engine.documents.library import DocumentLibrary
from engine.library.home import home
from engine.service.command_worker import CommandWorker
from engine.service.named_workers import NamedWorkers
from engine.translatable import Translatable

if TYPE_CHECKING:
    from engine.session import Session

NEEDS = (
    "engine.documents.embedding", "engine.documents.encoder", "engine.documents.indexer", "engine.documents.search",
)  # fmt: skip
IDLE = 30.0  # seconds between two looks whether the encoder's memory is to be given back
_REST = 0.1  # seconds between two looks whether an answer has ended
_PACE = 0.1  # seconds between two reports

Report = Callable[[Translatable, int, int], None]


_KINDS: dict[str, tuple[type[protocol.Command], ...]] = {  # by thread
    "documents": (protocol.IndexDocuments, protocol.TidyDocuments),
    "passages": (protocol.FindPassages,),
    "embeddings": (protocol.EmbedTexts,),
}


class DocumentThreads(NamedWorkers):
    """A thread for what indexes documents, one for questions, and one for what programs have embedded."""

    def __init__(self, made: DocumentWorker, emit: Callable[[protocol.Event], None]) -> None:
        workers = {
            "documents": CommandWorker("documents", made.index, emit, needs=NEEDS, light=(protocol.TidyDocuments,)),
            "passages": CommandWorker("passages", made.find, emit, needs=NEEDS, idle=made.library.release, pulse=IDLE),
            "embeddings": CommandWorker("embeddings", made.embed, emit, needs=NEEDS),
        }
        super().__init__(workers.__getitem__)
        for name in workers:  # all from the start: one of them gives the encoder's memory back
            self.of(name)

    def worker(self, command: protocol.Command) -> CommandWorker | None:
        """The thread for a command about documents; None for any other command."""
        return next((self.of(name) for name, kinds in _KINDS.items() if isinstance(command, kinds)), None)


class DocumentWorker:
    """Runs the commands about documents, on three threads: a question waits for nothing that is encoded."""

    def __init__(
        self,
        emit: Callable[[protocol.Event], None],
        session: Callable[[], Session | None],
        busy: Callable[[], bool],
        person_waits: Callable[[], bool],
    ) -> None:
        """session: of the loaded model. busy: whether anything is answered, or waits for that. person_waits: whether a
        person waits for an answer."""
        self._emit, self._session, self._busy, self._person_waits = emit, session, busy, person_waits
        self.library = DocumentLibrary(home() / "documents")

    def index(self, command: protocol.Command, cancelled: Callable[[], bool]) -> object:
        """IndexDocuments, TidyDocuments."""
        if isinstance(command, protocol.TidyDocuments):
            return self.library.tidy(command.keep)
        assert isinstance(command, protocol.IndexDocuments)
        report = self._reporter(command)
        self.library.update(command.paths, report, cancelled)

        return tuple(self.library.encode(command.paths, report, cancelled, lambda: _rest_while(self._busy, cancelled)))

    def embed(self, command: protocol.Command, cancelled: Callable[[], bool]) -> protocol.Embeddings:
        """EmbedTexts."""
        assert isinstance(command, protocol.EmbedTexts)
        return self.library.embed(command.texts, cancelled, lambda: _rest_while(self._person_waits, cancelled))

    def find(self, command: protocol.Command, cancelled: Callable[[], bool]) -> protocol.FoundPassages:
        """FindPassages."""
        assert isinstance(command, protocol.FindPassages)
        documents = self.library.update(command.paths, self._reporter(command), cancelled)
        budget, session = command.tokens, self._session()
        if not budget:
            budget = room_for_passages(0 if session is None else session.context.limit)
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


def _rest_while(busy: Callable[[], bool], cancelled: Callable[[], bool]) -> None:
    while busy() and not cancelled():
        time.sleep(_REST)
