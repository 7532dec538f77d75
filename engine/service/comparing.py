"""Answers outside every chat, and how far two qualities of a model are apart, on the thread of the model."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from engine import protocol, settings
from engine.errors import Kind, UnderhillError
from engine.service.answer_follower import AnswerFollower
from engine.service.command_worker import CancelledWork, CommandWorker
from engine.service.open_model import OpenModel
from engine.translatable import msg

if TYPE_CHECKING:
    from engine.generation.sampling import Sampling
    from engine.session import Session

COMPARING = (protocol.GenerateApart, protocol.MeasureDivergence)
Opener = Callable[[Any, Callable[[], bool]], OpenModel]


class Comparing:
    """Nothing else is answered meanwhile, so that a measured speed is that of the answer alone."""

    def __init__(
        self, worker: CommandWorker, emit: Callable[[protocol.Event], None], opener: Opener,
        failed: Callable[[Session], None],
    ) -> None:  # fmt: skip
        """opener: the model that a command names. failed: told of a session whose disk failed."""
        self._worker, self._emit, self._opener, self._failed = worker, emit, opener, failed

    def do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        """Do one of COMPARING. Raises UnderhillError; CancelledWork with what there is of an answer."""
        assert isinstance(command, COMPARING)
        opened = self._opener(command, cancelled)
        try:
            with opened.leased():
                if isinstance(command, protocol.GenerateApart):
                    return self._answer(command, opened.session, cancelled)
                return self._divergence(command, opened.session, cancelled)
        except UnderhillError as error:
            if error.kind is Kind.DISK_ERROR:
                self._failed(opened.session)
            raise

    def _answer(
        self, command: protocol.GenerateApart, session: Session, cancelled: Callable[[], bool]
    ) -> protocol.Stats:
        question = command.question
        follower = AnswerFollower(
            command.id, self._emit, cancelled, lambda: self._worker.run_urgent(protocol.UpdateSettings)
        )
        with session.under(session.thresholds_under(command.dial)):
            made = session.begin(
                question.messages, _sampling(question), question.stop, follower, thinking=question.thinking,
                chat=command.id, apart=True,
            )  # fmt: skip
            while not made.over:
                session.answers.advance()
        stats = made.result()
        if stats.finish == "cancelled":
            raise CancelledWork(stats)
        return stats

    def _divergence(
        self, command: protocol.MeasureDivergence, session: Session, cancelled: Callable[[], bool]
    ) -> protocol.Divergence:
        from engine.calibration.divergence import divergence
        from engine.generation.chat import fit

        question = command.question
        prompt = fit(
            session.chat, question.messages, session.context.limit, _sampling(question).max_tokens,
            thinking=question.thinking,
        )  # fmt: skip

        def progress(done: int, total: int) -> None:
            text = msg("Measuring KL")
            self._emit(protocol.Progress(id=command.id, text=text, done=done, total=total, unit="tokens"))

        return divergence(session, prompt.ids, command.answer, command.dials, progress, cancelled)


def _sampling(question: protocol.QuestionApart) -> Sampling:
    from engine.generation.sampling import Sampling

    return Sampling(**settings.validated(question.sampling, settings.SAMPLING))  # type: ignore[arg-type]
