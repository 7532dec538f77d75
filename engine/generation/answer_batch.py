"""Several answers of one model at once: each has a sequence of its own, and their next tokens share one pass."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.generation.answer import Answer, AnswerWriter, Listener
from engine.generation.context import Context, PromptPart, PromptReader, TokenSequence
from engine.generation.drafts import AnswerDrafts, DraftCosts, DraftHistory
from engine.translatable import msg

SHARE_LEFT = 8  # an answer begins beside others, or goes on, where one in so many tokens of the context is left for all
# What a model proposes behind a token that was chosen for the end of a sequence: see drafts.Propose.
Proposing = Callable[[Any, int, int], tuple[list[int], float]]
Interruptible = Callable[[Callable[[], bool]], AbstractContextManager[None]]


class BatchedAnswer:
    """One answer of a batch. background: those that are not come before it. fresh: its sequence is its own alone.

    error: what ended it, if that was no cancellation. alone: no other one was made meanwhile. over: it gets no more
    tokens.
    """

    def __init__(
        self, writer: AnswerWriter, sequence: TokenSequence, listener: Listener, *, background: bool,
        prompt_done: Callable[[BatchedAnswer], None], ended: Callable[[BatchedAnswer], None], fresh: bool = False,
    ) -> None:  # fmt: skip
        self.writer, self.sequence, self.listener, self.background = writer, sequence, listener, background
        self.fresh = fresh
        self.ended, self.prompt_done = ended, prompt_done
        self.reader: PromptReader | None = None  # of its prompt, or of all of it once more
        self.drafts: AnswerDrafts | None = None  # of its next tokens
        self.error: BaseException | None = None
        self.alone = True
        self.over = self.decoding = False

    @property
    def answer(self) -> Answer:
        """As far as it has come."""
        return self.writer.result

    @property
    def ids(self) -> list[int]:
        """The prompt, and what was answered so far: the last of it is still to be fed."""
        return [*self.writer.prompt.ids, *self.answer.token_ids]

    @property
    def wants_token(self) -> bool:
        """Whether all but its last token was fed, and that is to be."""
        seen = len(self.writer.prompt.ids) + len(self.answer.token_ids) - 1
        return not self.over and self.decoding and self.reader is None and len(self.sequence.tokens) == seen

    def progress(self, done: int, total: int) -> None:
        """So many tokens of its prompt are read."""
        if not self.decoding:
            self.listener.prompt_read(done, total, self.answer.reused)

    def take(self, logits: Tensor, room: int) -> None:
        """Choose the next token; `over` if there is none."""
        self.begin_decoding()
        known = len(self.answer.token_ids)
        self.over = self.writer.take(logits, room) is None
        if self.drafts is not None and len(self.answer.token_ids) > known:
            self.drafts.add(self.answer.token_ids[-1])

    def begin_decoding(self) -> None:
        """The prompt is read, or will not be read any further."""
        if not self.decoding:
            self.decoding = True
            self.writer.prompt_done()
            self.prompt_done(self)

    def end(self, error: BaseException | None = None) -> None:
        """It was cancelled, or this was raised."""
        cancelled = isinstance(error, UnderhillError) and error.kind is Kind.CANCELLED
        self.error, self.over = None if cancelled else error, True

    def pause(self) -> None:
        """Stop reading; all of it is read anew when it goes on."""
        if self.reader is not None:
            self.reader.close()
            self.reader = None


class AnswerBatch:
    """Makes answers together. Used from one thread; `advance` is called until nothing is running.

    An answer begins and ends between any two passes, and changes no bit of another's: what a pass computes for one does
    not depend on the rest. Where together they outgrow the context, the one that came last (in the background first)
    gives its memory back, and is read again once there is room.
    """

    def __init__(
        self,
        context: Context,
        passed: Callable[[Sequence[BatchedAnswer], int], None] = lambda answers, tokens: None,
        interruptible: Interruptible = lambda cancelled: nullcontext(),
        drafting: Callable[[], bool] = lambda: False,
        propose: Proposing | None = None,
    ) -> None:
        """passed: told behind every pass whose it was, and how many tokens of answers it gave; 0: it read prompts.
        interruptible: entered for a chunk of a prompt, which is to end where what it is given says so. drafting:
        whether an answer that is alone may be drafted (AnswerDrafts). propose: None where the model does not.
        """
        self._context, self._passed, self._interruptible = context, passed, interruptible
        self._drafting, self._propose, self._drafted = drafting, propose, DraftHistory()
        self.pass_costs = DraftCosts()  # by answers that are fed a token in one pass
        self.running: list[BatchedAnswer] = []
        self._rest_until = 0.0  # no further chunk of a prompt that was begun is read before that

    def has_place(self, background: bool) -> bool:
        """Whether one more answer can begin. One place is kept for those that are not in the background."""
        return len(self.running) < self._context.places - background

    def begin(
        self,
        writer: AnswerWriter,
        listener: Listener,
        *,
        background: bool = False,
        fresh: bool = False,
        prompt_done: Callable[[BatchedAnswer], None] = lambda one: None,
        ended: Callable[[BatchedAnswer], None] = lambda one: None,
    ) -> BatchedAnswer:
        """Add an answer; its prompt is read by the next calls of `advance`. prompt_done: called once between reading
        and decoding. ended: called once it is no more running. Neither may hold the answer: with it, the memory of its
        sequence would stay until garbage is collected. fresh: in the background, with a sequence that has seen nothing
        and is dropped behind it. Raises UnderhillError(BUSY) without a place for it.
        """
        if not self.has_place(background):
            raise UnderhillError(Kind.BUSY, msg("The model is needed for something else now."), msg("Ask again soon."))
        sequence = self._context.choose(writer.prompt.ids, background, fresh)
        writer.result.reused = self._context.reuse(writer.prompt.ids, sequence)
        sequence.busy = True
        made = BatchedAnswer(
            writer, sequence, listener, background=background, prompt_done=prompt_done, ended=ended, fresh=fresh,
        )  # fmt: skip
        self.running.append(made)
        if len(self.running) > 1:
            for one in self.running:
                one.alone = False
        return made

    def advance(self) -> None:
        """Feed every answer its next token, and read a chunk of prompts: of one, or of several that fit in it."""
        self._end_cancelled()
        self._make_room()
        steps = [one for one in self.running if one.wants_token]
        if steps:
            self._step(steps)
            self._remove_ended()
        reading = self._next_read(steps)
        if reading:
            self._read(reading, steps)
            self._remove_ended()

    def abandon(self, error: BaseException | None = None) -> None:
        """End all answers: with this error, or as if they were cancelled."""
        for one in self.running:
            one.end(error)
        self._remove_ended()

    def _end_cancelled(self, but: Sequence[BatchedAnswer] = ()) -> None:
        for one in self.running:
            if one not in but and one.listener.cancelled():
                one.end()
        self._remove_ended()

    def _remove_ended(self) -> None:
        for one in [one for one in self.running if one.over]:
            self.running.remove(one)
            one.pause()
            one.sequence.state.forget_start()
            one.sequence.busy = False
            if one.fresh:
                self._context.drop(one.sequence)
            if not one.decoding:
                one.writer.prompt_done()
            one.writer.close()
            one.ended(one)

    # ---- passes -----------------------------------------------------------------------------------------------

    def _step(self, steps: Sequence[BatchedAnswer]) -> None:
        context = self._context
        for one in steps:
            if not context.goes_on(one.sequence):
                # LongRoPE turns to other frequencies here, so what was read under the old ones is read again
                one.reader = PromptReader(context, one.sequence, one.ids, progress=one.progress)
        fed = [one for one in steps if one.reader is None]
        if not fed:
            return
        drafts = self._drafts(fed[0]) if len(self.running) == 1 else []
        if drafts:
            self._check(fed[0], drafts)
        if drafts or fed[0].over:
            return
        start = time.perf_counter()
        found = context.step_all([(one.sequence, one.answer.token_ids[-1]) for one in fed])
        taken = time.perf_counter() - start
        self.pass_costs.took(len(fed), taken)
        if len(self.running) == 1:
            self._drafted.costs.took(1, taken)
        self._passed(fed, len(fed))
        for one, logits in zip(fed, found, strict=True):
            if isinstance(logits, Exception):
                one.end(logits)
            elif logits is not None:
                self._take(one, logits, self._context.limit - len(one.sequence.tokens))

    def _drafts(self, one: BatchedAnswer) -> list[int]:
        """What may come next in an answer that is alone; [] where that is not to be drafted."""
        context, sequence = self._context, one.sequence
        if not self._drafting() or not sequence.state.takes_back:
            return []
        if one.drafts is None:
            one.drafts = AnswerDrafts(one.ids, self._drafted, context.most_rows)
        room = min(context.limit - len(sequence.tokens), one.writer.left) - 1
        propose = self._propose and partial(self._propose, sequence.state, one.answer.token_ids[-1])
        try:
            drafts = one.drafts.draft(room, propose)
        except Exception as error:
            one.end(error)
            return []
        return drafts if context.goes_on(sequence, 1 + len(drafts)) else []

    def _check(self, one: BatchedAnswer, drafts: Sequence[int]) -> None:
        """Feed its last token and those that may follow; what would not have been chosen is taken back."""
        context, sequence, before = self._context, one.sequence, len(one.sequence.tokens)
        assert one.drafts is not None
        start, taken = time.perf_counter(), 0
        try:
            logits = context.feed_several(sequence, [one.answer.token_ids[-1], *drafts])
        except Exception as error:
            one.end(error)
            return
        passed = time.perf_counter() - start
        for row, draft in zip(logits, (*drafts, None), strict=True):
            taken += 1
            self._take(one, row, context.limit - before - taken)
            if one.over or one.answer.token_ids[-1] != draft:
                break
        start = time.perf_counter()
        context.take_back(sequence, before + taken)  # recurrent layers go through what was right once more
        one.drafts.checked(len(drafts), taken - 1, passed + time.perf_counter() - start)
        self._passed([one], taken)

    def _read(self, reading: Sequence[tuple[BatchedAnswer, PromptPart]], steps: Sequence[BatchedAnswer]) -> None:
        """Read these parts of prompts in one pass. steps: those that were fed a token before it."""
        start = time.monotonic()
        whose = [one for one, _ in reading]
        with self._interruptible(lambda: self._interrupted(whose)):
            found = self._fed([part for _, part in reading])
        left = [(one, logits) for one, logits in zip(whose, found, strict=True) if not one.over]
        self._passed([one for one, _ in left], 0)
        now = time.monotonic()
        # Those that are decoded get half of the time, unless only programs wait for them, and a person for these.
        urgent = not whose[0].background and all(other.background for other in steps)
        self._rest_until = now if urgent else now + (now - start)
        for one, logits in left:
            if isinstance(logits, Exception):
                one.end(logits)
            else:
                self._has_read(one, logits)

    def _fed(self, parts: Sequence[PromptPart]) -> list[Tensor | Exception | None]:
        """The logits after each part, or what was raised for it."""
        try:
            return [*self._context.feed(parts)]
        except Exception as error:
            if len(parts) == 1 or (isinstance(error, UnderhillError) and error.kind is Kind.CANCELLED):
                return [error] * len(parts)
        # Of one of them: which, they show one by one.
        return [found for part in parts for found in self._fed([part])]

    def _has_read(self, one: BatchedAnswer, logits: Tensor | None) -> None:
        assert one.reader is not None
        one.reader.passed()
        if len(one.sequence.tokens) == len(one.ids):
            one.pause()
            assert logits is not None
            self._take(one, logits, self._context.limit - len(one.sequence.tokens))

    def _interrupted(self, reading: Sequence[BatchedAnswer]) -> bool:
        """Asked in the middle of a chunk, which may take seconds: who is cancelled ends meanwhile, and the chunk once
        all are that it is read for.
        """
        going_on = [one for one in reading if not one.over and not one.listener.cancelled()]
        self._end_cancelled(() if going_on else reading)
        return not going_on

    def _take(self, one: BatchedAnswer, logits: Tensor, room: int) -> None:
        try:
            one.take(logits, room)
        except Exception as error:
            one.end(error)

    def _next_read(self, steps: Sequence[BatchedAnswer]) -> list[tuple[BatchedAnswer, PromptPart]]:
        """Whose chunks are read now, and which. steps: those that were fed a token just now."""
        waiting = sorted((one for one in self.running if not one.wants_token), key=self._rank)
        if not waiting or not (waiting[0].reader or self._fits(waiting[0])):
            return []
        first = waiting[0]
        begun = first.reader is not None and len(first.sequence.tokens) > first.answer.reused
        if begun and steps and time.monotonic() < self._rest_until:
            return []
        found = [(first, self._part(first))]
        # Beside a person's prompt only those of persons: it comes before all others.
        for one in (one for one in waiting[1:] if one.background == first.background):
            if not one.reader and not self._fits(one):
                break
            asked, part = one.reader, self._part(one)
            if self._context.joins([*(other for _, other in found), part]):
                found.append((one, part))
            elif asked is None:
                one.pause()
        return found

    def _part(self, one: BatchedAnswer) -> PromptPart:
        """What is to be read of it next."""
        if one.reader is None:
            prompt, answered = one.writer.prompt, one.answer.token_ids
            one.reader = PromptReader(
                self._context, one.sequence, prompt.ids, (prompt.history,), answered, progress=one.progress
            )
        return one.reader.part()

    # ---- memory -----------------------------------------------------------------------------------------------

    def _rank(self, one: BatchedAnswer) -> tuple[bool, int]:
        """The least is served first, and is the last to give its memory back."""
        return one.background, self.running.index(one)

    def _make_room(self) -> None:
        """Take the memory of those of the highest rank until the others have room for their next tokens."""
        while True:
            holding = [one for one in self.running if one.sequence.needed]
            coming = sum(one.wants_token for one in holding)
            if len(holding) < 2 or sum(one.sequence.needed for one in holding) + coming <= self._context.limit:
                return
            last = max(holding, key=self._rank)
            last.pause()
            self._context.forget(last.sequence)

    def _fits(self, one: BatchedAnswer) -> bool:
        """Whether it can be read without taking memory of one that comes before it, and with some to go on."""
        before = [o.sequence.needed for o in self.running if o is not one and self._rank(o) < self._rank(one)]
        limit = self._context.limit
        return not any(before) or sum(before) + len(one.ids) + limit // SHARE_LEFT <= limit
