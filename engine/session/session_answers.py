"""The answers that a session makes at once: how each begins and ends, and what it took of what all of them used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from engine.errors import UnderhillError
from engine.generation.answer import AnswerWriter, Listener
from engine.generation.answer_batch import AnswerBatch, BatchedAnswer
from engine.generation.messages import Stats
from engine.library import damage
from engine.session.loaded_model import LoadedModel
from engine.session.snapshot import Watcher
from engine.session.stats import ExpertUse, stats_of
from engine.session.warm_start import WarmStart


@dataclass
class SessionAnswer:
    """An answer that is being made, or was. cost: of the session until its first token (Watcher.decoding)."""

    running: BatchedAnswer
    use: ExpertUse = field(default_factory=ExpertUse)
    cost: tuple[float, float, float] = (0.0, 0.0, 0.0)
    stats: Stats | None = None

    @property
    def over(self) -> bool:
        """Whether it gets no more tokens, and `result` is there."""
        return self.stats is not None

    def result(self) -> Stats:
        """What it took, once it is over. Raises what it failed with."""
        assert self.stats is not None
        if self.running.error is not None:
            raise self.running.error
        return self.stats


class SessionAnswers:
    """Used on the session's thread."""

    def __init__(self, model: LoadedModel, watcher: Watcher, warm: WarmStart) -> None:
        """warm: told when somebody asks, and behind every pass that fed tokens of answers."""
        self._model, self._watcher, self._warm = model, watcher, warm
        self._batch = AnswerBatch(model.context, self._passed, model.interruptible, lambda: model.drafts, model.propose)
        self._made: dict[BatchedAnswer, SessionAnswer] = {}
        self._charged = ExpertUse.counted(model.runtime.telemetry)

    @property
    def running(self) -> int:
        """Answers that are being made."""
        return len(self._batch.running)

    @property
    def only_background(self) -> bool:
        """Whether nobody waits for any of them but programs."""
        return all(one.background for one in self._batch.running)

    @property
    def pass_seconds(self) -> dict[int, float]:
        """Of a pass that feeds a token of each of so many answers."""
        return self._batch.pass_costs.seconds

    def has_place(self, background: bool) -> bool:
        """See AnswerBatch.has_place."""
        return self._batch.has_place(background)

    def begin(
        self,
        writer: AnswerWriter,
        listener: Listener,
        *,
        background: bool,
        fresh: bool = False,
        prompt_done: Callable[[SessionAnswer], None],
        ended: Callable[[SessionAnswer], None],
    ) -> SessionAnswer:
        """Add an answer. fresh, prompt_done, ended: as of AnswerBatch.begin; at the last, `result` is there."""
        first = not self._made
        if first:
            self._charged = ExpertUse.counted(self._model.runtime.telemetry)
            self._warm.asked()
        running = self._batch.begin(
            writer, self._watcher.following(listener), background=background, fresh=fresh,
            prompt_done=lambda one: self._prompt_done(self._made[one], prompt_done),
            ended=lambda one: self._ended(self._made.pop(one), ended),
        )  # fmt: skip
        made = self._made[running] = SessionAnswer(running)
        self._watcher.answer_begins(first=first)
        return made

    def advance(self) -> None:
        """See AnswerBatch.advance. What it raises is a defect, or the user's: it ends all answers."""
        try:
            self._batch.advance()
        except BaseException as error:
            self._batch.abandon(error)
            raise

    def abandon(self, error: UnderhillError) -> None:
        """All of them fail with this."""
        self._batch.abandon(error)

    def _prompt_done(self, made: SessionAnswer, then: Callable[[SessionAnswer], None]) -> None:
        made.cost = self._watcher.decoding()
        then(made)

    def _ended(self, made: SessionAnswer, then: Callable[[SessionAnswer], None]) -> None:
        running = made.running
        if running.alone:  # what came after its last pass
            made.use.add(ExpertUse.counted(self._model.runtime.telemetry), self._charged)
        if running.error is not None:
            running.error = self._explained(running.error)
        self._watcher.answer_ended(left=len(self._made))
        why = self._watcher.why(len(running.answer.token_ids) - 1, running.answer.decode_seconds, made.cost)
        made.stats = stats_of(running, made.use, why)
        then(made)

    def _explained(self, error: BaseException) -> BaseException:
        try:
            with damage.explained(self._model.store.path):
                raise error
        except BaseException as explained:
            return explained

    def _passed(self, answers: Sequence[BatchedAnswer], tokens: int) -> None:
        """Charge what was used since the last pass to those whose pass it was, each as much."""
        now = ExpertUse.counted(self._model.runtime.telemetry)
        for one in answers:
            self._made[one].use.add(now, self._charged, len(answers))
        self._charged = now
        if tokens:
            self._watcher.tokens(tokens)
            self._warm.token_done()
