"""Answers outside every chat, and how far two qualities of a model are apart, on the thread of the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
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
Reopener = Callable[[Any, Callable[[], bool], Mapping[str, Any]], AbstractContextManager[OpenModel]]


class Comparing:
    """Nothing else is answered meanwhile, so that a measured speed is that of the answer alone.

    own: while an answer is made under other settings, those that the model goes back to; else None.
    """

    def __init__(
        self, worker: CommandWorker, emit: Callable[[protocol.Event], None], opener: Opener,
        reopener: Reopener, failed: Callable[[Session], None],
    ) -> None:  # fmt: skip
        """opener: the model that a command names. reopener: has the current one loaded again under settings, for a
        while. failed: told of a session that has to be loaded again before it is used.
        """
        self._worker, self._emit, self._opener, self._failed = worker, emit, opener, failed
        self._reopener = reopener
        self.own: dict[str, Any] | None = None

    def do(self, command: protocol.Command, cancelled: Callable[[], bool]) -> Any:
        """Do one of COMPARING. Raises UnderhillError; CancelledWork with what there is of an answer."""
        assert isinstance(command, COMPARING)
        opened = self._opener(command, cancelled)
        if isinstance(command, protocol.MeasureDivergence):
            with self._leased(opened):
                return self._divergence(command, opened.session, cancelled)
        with self._changed(command, opened, cancelled) as changed, self._leased(changed):
            return self._answer(command, changed.session, cancelled)

    @contextmanager
    def _leased(self, opened: OpenModel) -> Iterator[None]:
        try:
            with opened.leased():
                yield
        except UnderhillError as error:
            if error.kind is Kind.DISK_ERROR:
                self._failed(opened.session)
            raise

    @contextmanager
    def _changed(
        self, command: protocol.GenerateApart, opened: OpenModel, cancelled: Callable[[], bool]
    ) -> Iterator[OpenModel]:
        """The model under the settings of a command; behind it, under its own, whatever came of the answer."""
        own = dict(opened.session.settings)
        changes = changes_of(command)
        known = protocol.settings.ALL
        changed = {name: value for name, value in changes.items() if value != own[name]}
        if not all(known[name].live for name in changed):
            with self._reopener(command, cancelled, {**own, **changed}) as lent:
                yield lent
        elif changed:
            self.own = own
            try:
                opened.session.update(changed)
                yield opened
            finally:
                self._go_back(opened.session)
        else:
            yield opened

    def _go_back(self, session: Session) -> None:
        """Put the settings of a session in force again that it had, and what was changed of them meanwhile."""
        assert self.own is not None
        try:
            session.update({s.name: self.own[s.name] for s in settings.ENGINE if s.live})
        except UnderhillError:  # they cannot hold now, where another program took the memory
            self._failed(session)
        finally:
            self.own = None
        self._emit(protocol.PlanChanged("", session.sentences))

    def _answer(
        self, command: protocol.GenerateApart, session: Session, cancelled: Callable[[], bool]
    ) -> protocol.Stats:
        question = command.question
        follower = AnswerFollower(
            command.id, self._emit, cancelled, lambda: self._worker.run_urgent(protocol.UpdateSettings)
        )
        with session.under(session.thresholds_under(command.dial), session.substitute_under(command.dial)):
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


def changes_of(command: protocol.Command) -> dict[str, Any]:
    """Settings of the engine that hold for the answer to a command alone. Raises UnderhillError(BAD_REQUEST)."""
    if not isinstance(command, protocol.GenerateApart):
        return {}
    checked = settings.validated(command.changes, protocol.COMPARABLE)
    return {name: checked[name] for name in command.changes}


def _sampling(question: protocol.QuestionApart) -> Sampling:
    from engine.generation.sampling import Sampling

    return Sampling(**settings.validated(question.sampling, settings.SAMPLING))  # type: ignore[arg-type]
