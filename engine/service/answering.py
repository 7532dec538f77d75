"""Answers on the thread of the model: all that one open model is asked for are made together."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from engine import protocol, settings
from engine.errors import Kind, UnderhillError
from engine.protocol import Generate
from engine.sandbox import stoppable
from engine.service.answer_follower import AnswerFollower
from engine.service.command_worker import CancelledWork, CommandWorker, Run
from engine.translatable import msg

if TYPE_CHECKING:
    from engine.session import Session
    from engine.session.session_answers import SessionAnswer

Emit = Callable[[protocol.Event], None]


class Answering:
    """Begins answers as their commands come to the head of the queue, and ends each command with its own answer.

    sessions: that answer; the last one runs, those before it have let it in. What cannot be done beside an answer waits
    for its end, and so does what stands behind that; answers that only programs wait for are ended for it.
    """

    def __init__(
        self,
        worker: CommandWorker,
        emit: Emit,
        ready: Callable[[Generate], Session | None],
        failed: Callable[[Session], None],
        joined: Callable[[Generate, Session], None],
    ) -> None:
        """emit: of answers that join. ready: the session that is to answer, where nothing has to be opened for that.
        failed: told of a session whose disk failed under an answer. joined: of each answer that joins.
        """
        self._joined = joined
        self._worker, self._emit, self._ready, self._failed = worker, emit, ready, failed
        self.sessions: list[Session] = []

    @property
    def for_person(self) -> bool:
        """Whether a person waits for one of the answers. From any thread."""
        return any(not session.answers.only_background for session in list(self.sessions))

    def answer(self, command: Generate, session: Session, cancelled: Callable[[], bool], emit: Emit) -> protocol.Stats:
        """Answer, to the end; others that have joined by then go on once `drain` is called.

        Raises UnderhillError; CancelledWork with what there is of it.
        """
        made = self._begin(command, session, cancelled, emit, lambda made: None)
        if session not in self.sessions:
            self.sessions.append(session)
        try:
            while not made.over:
                self._advance(command, session)
        finally:
            if not session.answers.running:
                self.sessions.remove(session)
        return self._result(made, session)

    def drain(self, but: int = 0) -> None:
        """Make what has joined to its end, in all sessions but the first ones."""
        while len(self.sessions) > but:
            session = self.sessions[-1]
            try:
                with stoppable(lambda: False):  # the command whose work this was may have been stopped
                    while session.answers.running:
                        self._advance(None, session)
            finally:
                self.sessions.remove(session)

    def _begin(
        self,
        command: Generate,
        session: Session,
        cancelled: Callable[[], bool],
        emit: Emit,
        ended: Callable[[SessionAnswer], None],
    ) -> SessionAnswer:
        from engine.generation.sampling import Sampling

        follower = AnswerFollower(
            command.id, emit, cancelled,
            lambda: self._worker.run_urgent(protocol.UpdateSettings, protocol.DeleteModel),
        )  # fmt: skip
        return session.begin(
            command.messages,
            Sampling(**settings.validated(command.sampling, settings.SAMPLING)),  # type: ignore[arg-type]
            command.stop,
            follower,
            continue_last=command.continue_last,
            thinking=command.thinking,
            chat=command.chat,
            options=command.options,
            on_logprob=follower.logprobs.append,
            background=command.background,
            ended=ended,
        )

    def _join(self, run: Run, session: Session) -> None:
        command = run.command
        assert isinstance(command, Generate)
        self._joined(command, session)
        self._begin(
            command, session, run.cancel.is_set, self._emit,
            lambda made: self._worker.complete(run, lambda: self._result(made, session)),
        )  # fmt: skip

    def _result(self, made: SessionAnswer, session: Session) -> protocol.Stats:
        try:
            stats = made.result()
        except UnderhillError as error:
            if error.kind is Kind.DISK_ERROR:
                self._failed(session)
            raise
        if stats.finish == "cancelled":
            raise CancelledWork(stats)
        return stats

    def _advance(self, lead: Generate | None, session: Session) -> None:
        """One step of all its answers; before it those join that can. lead: that the model was opened for."""
        worker = self._worker
        while (run := worker.take_next(lambda command: self._joins(command, lead, session))) is not None:
            worker.begin(run, partial(self._join, run, session))
        coming = worker.urgent()
        if coming is not None:
            self._make_way(coming, session)
        session.answers.advance()

    def _make_way(self, coming: protocol.Command, session: Session) -> None:
        """For what has not joined: it waits for the answers of people, and ends those of programs."""
        ready = self._ready(coming) if isinstance(coming, Generate) else None
        if ready is not None and ready not in self.sessions:  # by another model that is open, between two tokens
            self._worker.run_urgent(Generate, unless=lambda one: isinstance(one, Generate) and bool(one.model))
        elif ready is None and session.answers.only_background:
            session.answers.abandon(
                UnderhillError(
                    Kind.BUSY, msg("The model is needed for something else now."), msg("Ask again soon.")
                )
            )  # fmt: skip

    def _joins(self, command: protocol.Command, lead: Generate | None, session: Session) -> bool:
        if not isinstance(command, Generate) or not session.answers.has_place(command.background):
            return False
        same = lead is not None and bool(lead.model)
        same = same and (command.model, command.settings) == (lead.model, lead.settings)  # type: ignore[union-attr]
        return same or self._ready(command) is session
