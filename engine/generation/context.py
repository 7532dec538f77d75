"""The tokens a model has seen with the state behind them: read a prompt once, reuse what is common, roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import NamedTuple

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.generation.decoder_protocol import Model, State, Want
from engine.models.vision.tokens import has_pictures, uncut
from engine.translatable import msg

Begin = Callable[[Sequence[int], int], None]  # token ids, and the position of the first
Aside = Callable[[], AbstractContextManager[None]]
Progress = Callable[[int, int], None]  # tokens of the prompt that are read, of so many

MOST_BESIDE = 4  # sequences beside the chat's: as many conversations of other programs go on without being read again
MOST_RECURRENT = 3  # the same where each takes its full size from its first token on, and snapshots besides:
FEW_SNAPSHOTS = 2  # so many of each: where its history ends, and before the answer
MOST_AT_ONCE = 8  # answers; a plan puts nothing aside for passes of so few tokens (planning.memory_shares.FEW)
GOES_ON = 0.5  # share of a sequence's tokens that a prompt has to begin with to be its next turn; templates share some


class TokenSequence:
    """tokens: exactly those the state has seen. due: of the prompt being read. busy: an answer is made with it now."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.tokens: list[int] = []
        self.due = 0
        self.busy = False

    @property
    def needed(self) -> int:
        """Tokens that are here, or will be once the prompt that is being read is through."""
        return max(len(self.tokens), self.due)


class PromptPart(NamedTuple):
    """Tokens that come next in a sequence, which is known to reach `horizon` tokens (see Decoder.forward)."""

    sequence: TokenSequence
    ids: Sequence[int]
    want: Want
    horizon: int = 0


class ScoringTurn(NamedTuple):
    """Circumstances in which a text is scored: entered for every part of it; whether its tokens go one by one."""

    under: Callable[[], AbstractContextManager[None]]
    one_by_one: bool


class Context:
    """The sequences that a model has seen: that of the chat, and beside it a few of other conversations.

    All together take no more than `limit` tokens: where those in use grow, the others are forgotten, the one that was
    unused for longest first, the chat's last. `tokens` are those of the one chosen last.
    A read that is cut short (Stop, a failed disk) leaves the tokens of the whole chunks read so far.
    """

    def __init__(
        self,
        model: Model,
        limit: int,
        chunk: int = 512,
        begin: Begin = lambda ids, position: None,
        aside: Aside = nullcontext,
    ) -> None:
        """limit: most tokens. chunk: prompt tokens per forward pass. begin: told of every pass before it runs. aside:
        entered while a sequence of its own runs beside these.
        """
        self._model = model
        self._begin, self._aside = begin, aside
        self.chunk = chunk
        self.limit = limit
        self._chat = self._used = TokenSequence(model.new_state())
        # In the order of their last use. A tuple that is replaced, never changed: bytes are counted from any thread.
        self._beside: tuple[TokenSequence, ...] = ()
        self._fed: Mapping[TokenSequence, int] = {}  # in the pass under way, or the last one: so many tokens of each

    @property
    def tokens(self) -> list[int]:
        """Exactly those that the sequence in use has seen."""
        return self._used.tokens

    def sequences(self) -> tuple[TokenSequence, ...]:
        """The chat's, and those beside it."""
        return (self._chat, *self._beside)

    def choose(self, ids: Sequence[int], background: bool, fresh: bool = False) -> TokenSequence:
        """Use the sequence that a prompt goes on with, of those that are not busy: the chat's, or another that is more
        like it, which is the chat's from then on; in the background the one beside it that is most like it, or, if
        `fresh`, one that has seen nothing.
        """
        alike = None if fresh else self._most_alike(ids)
        if not background and not self._chat.busy:
            if alike is not None and _common(alike.tokens, ids) > _common(self._chat.tokens, ids):
                self._beside = (*(one for one in self._beside if one is not alike), self._chat)
                self._chat = alike
            self._used = self._chat
            return self._used
        self._used = alike or self._new_beside()
        others = tuple(one for one in self._beside if one is not self._used)
        idle = [one for one in others if not one.busy]
        too_many = idle[: max(0, len(others) + 1 - self._most_beside)]
        self._beside = (*(one for one in others if one not in too_many), self._used)
        return self._used

    @property
    def _most_beside(self) -> int:
        return MOST_BESIDE if self._chat.state.cuts_anywhere else MOST_RECURRENT

    def _most_alike(self, ids: Sequence[int]) -> TokenSequence | None:
        free = [one for one in self._beside if not one.busy]
        alike = max(free, key=lambda one: _common(one.tokens, ids), default=None)
        return None if alike is None or _common(alike.tokens, ids) < GOES_ON * len(alike.tokens) else alike

    def _new_beside(self) -> TokenSequence:
        state = self._model.new_state()
        state.max_snapshots = FEW_SNAPSHOTS
        return TokenSequence(state)

    @property
    def places(self) -> int:
        """Answers that can be made at once, whatever their length."""
        return MOST_AT_ONCE if self._chat.state.cuts_anywhere else 1 + MOST_RECURRENT

    def drop(self, sequence: TokenSequence) -> None:
        """Forget a sequence beside the chat's that nothing goes on with."""
        self.forget(sequence)
        self._beside = tuple(one for one in self._beside if one is not sequence)

    def forget(self, sequence: TokenSequence) -> None:
        """Give its memory back: its tokens are to be read again."""
        most = sequence.state.max_snapshots
        # In place: whoever makes an answer with it finds it empty then, to be read again.
        sequence.state, sequence.tokens = self._model.new_state(), []
        sequence.state.max_snapshots = most

    def _make_room(self, tokens: int, used: Sequence[TokenSequence]) -> None:
        """Forget sequences that are not in use until so many more tokens fit beside the rest."""
        for one in (*self._beside, self._chat):
            if sum(len(each.tokens) for each in self.sequences()) + tokens <= self.limit:
                return
            if one not in used and not one.busy:
                self.forget(one)
                self._beside = tuple(each for each in self._beside if each is not one)

    @property
    def needed(self) -> int:
        """Tokens that are here, or will be once the prompts that are being read are through."""
        return sum(one.needed for one in self.sequences())

    def bound(self, limit: int, chunk: int) -> None:
        """Change both figures; what the state has seen stays, also beyond a lower limit."""
        self.limit, self.chunk = limit, chunk

    @property
    def nbytes(self) -> int:
        """Bytes that the states take."""
        return sum(one.state.nbytes for one in self.sequences())

    @property
    def rows(self) -> int | None:
        """Bytes that rows of tokens take; None: the model does not say."""
        return self._rows(lambda one: one.state.rows_with(0))

    @property
    def rows_coming(self) -> int | None:
        """Bytes that they take once the pass under way is through."""
        return self._rows(lambda one: one.state.rows_with(self._fed.get(one, 0)))

    def _rows(self, of: Callable[[TokenSequence], int | None]) -> int | None:
        found = [of(one) for one in self.sequences()]
        return None if None in found else sum(n for n in found if n is not None)

    @property
    def written(self) -> int:
        """Bytes of the states that are written to: without room for rows that are to come. From any thread."""
        nbytes, rows = self.nbytes, self.rows
        return nbytes if rows is None else max(0, nbytes - rows) + self.rows_written

    @property
    def rows_written(self) -> int:
        """Bytes of the tokens' rows that are written: of what is allocated, what is resident. From any thread."""
        return sum(one.state.rows_written for one in self.sequences())

    def reuse(self, ids: Sequence[int], sequence: TokenSequence | None = None) -> int:
        """Roll back to what the state and `ids` have in common, less the last token, whose logits are wanted.

        sequence: None for the one in use. Returns how many tokens need not be read again. Raises ValueError where there
        are no `ids`.
        """
        if not ids:
            raise ValueError("a prompt has one token at least")
        of = sequence or self._used
        common = min(_common(of.tokens, ids), len(ids) - 1)
        if not self._model.continues(of.state, len(ids)):
            self.forget(of)
        elif common < len(of.tokens):
            self.take_back(of, common)
        return len(of.tokens)

    def read(
        self,
        ids: Sequence[int],
        marks: Sequence[int] = (),
        progress: Progress = lambda done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Tensor | None:
        """Read a prompt and return the logits [V] after its last token; None if cancelled, between chunks or in one.
        Raises ValueError as `reuse`. marks: see PromptReader.
        """
        reader = PromptReader(self, self._used, ids, marks, progress=progress)
        try:
            while not cancelled():
                (logits,) = self.feed([reader.part()])
                reader.passed()
                if len(self.tokens) == len(ids):
                    return logits
        except UnderhillError as e:
            if e.kind is not Kind.CANCELLED:
                raise
        finally:
            reader.close()
        return None

    def step(self, token: int) -> Tensor | None:
        """Logits [V] after one more token, to be used before the next pass; None if a read for it was cancelled."""
        if self.goes_on(self._used):
            return self.feed([PromptPart(self._used, [token], "next")])[0]
        # LongRoPE turns to other frequencies here, so what was read under the old ones is read again
        return self.read([*self.tokens, token])

    def goes_on(self, sequence: TokenSequence, tokens: int = 1) -> bool:
        """Whether so many more tokens can be fed to it as it is."""
        return self._model.continues(sequence.state, len(sequence.tokens) + tokens)

    @property
    def most_rows(self) -> int:
        """Tokens of a sequence that one pass takes with the bits that each has alone."""
        return self._model.most_rows

    def joins(self, parts: Sequence[PromptPart]) -> bool:
        """Whether these can be fed in one pass, which is then not longer than a chunk."""
        sizes, alone = [len(part.ids) for part in parts], any(has_pictures(part.ids) for part in parts)
        return not (alone and len(parts) > 1) and sum(sizes) <= self.chunk and self._model.joins(sizes)

    def step_all(self, fed: Sequence[tuple[TokenSequence, int]]) -> list[Tensor | Exception | None]:
        """Feed a token to each of several sequences that go on, in passes that they share.

        Returns for each the logits [V] after it, to the last bit what `step` gives, and to be used as those; what was
        raised for it; or None where it lost its place to what another one raised, and its tokens have to be read again.
        """
        lengths = [len(sequence.tokens) for sequence, _ in fed]
        if len(fed) > 1:
            try:
                return [*self._forward_each(fed)]
            except Exception:  # of one of them: which, they show one by one
                pass
        found: list[Tensor | Exception | None] = []
        for (sequence, token), length in zip(fed, lengths, strict=True):
            try:
                part = PromptPart(sequence, [token], "next" if len(fed) == 1 else "last")
                found.append(None if len(sequence.tokens) < length else self.feed([part])[0])
            except Exception as error:
                found.append(error)
        return found

    def score(self, ids: Sequence[int], *, one_by_one: bool, cancelled: Callable[[], bool] = lambda: False) -> Tensor:
        """Logits [T, V] after each of the tokens of a sequence of its own, in chunks or one token at a time.

        Raises UnderhillError(CANCELLED), asked before each of them.
        """
        found = self._run_beside(ids, "all", 1 if one_by_one else self.chunk, cancelled)
        return torch.cat([logits for logits in found if logits is not None])

    def score_in_turn(
        self, prompt: Sequence[int], ids: Sequence[int], block: int, turns: Sequence[ScoringTurn],
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Iterator[tuple[Sequence[int], tuple[Tensor, ...]]]:  # fmt: skip
        """For blocks of `ids` behind a prompt: their ids, and for each of `turns` the logits [t, V] that foretell them.

        Each turn has a sequence of its own, beside the others, and its circumstances are entered for every block.
        Raises UnderhillError: CONTEXT_FULL where those sequences do not fit; CANCELLED, asked before each pass.
        """
        fed, at = [*prompt, *ids[:-1]], len(prompt) - 1
        self._make_room(len(turns) * len(fed), (self._chat,))
        if sum(len(one.tokens) for one in self.sequences()) + len(turns) * len(fed) > self.limit:
            raise UnderhillError(
                Kind.CONTEXT_FULL,
                msg("The text is too long to compare: {tokens} tokens, twice.", tokens=f"{len(fed):,}"),
                msg("Ask a shorter question, or raise the context length."),
            )
        states = [self._model.new_state() for _ in turns]
        with self._aside():
            for start, stop in [(0, at), *((n, min(n + block, len(fed))) for n in range(at, len(fed), block))]:
                if start == stop:  # a prompt of one token
                    continue
                want: Want = "none" if start < at else "all"
                found = []
                for turn, state in zip(turns, states, strict=True):
                    step = 1 if turn.one_by_one and want == "all" else self.chunk
                    with turn.under():
                        logits = list(self._feed(fed[start:stop], state, want, step, cancelled))
                    found.append(torch.cat([each for each in logits if each is not None]) if want == "all" else None)
                if want == "all":
                    yield ids[start - at : stop - at], tuple(each for each in found if each is not None)

    def run_through(self, ids: Sequence[int], cancelled: Callable[[], bool] = lambda: False) -> None:
        """Feed a sequence of its own for what its routers choose. Raises UnderhillError(CANCELLED)."""
        for _ in self._run_beside(ids, "none", self.chunk, cancelled):
            pass

    def _run_beside(
        self, ids: Sequence[int], want: Want, step: int, cancelled: Callable[[], bool]
    ) -> Iterator[Tensor | None]:
        """The chat's own tokens and state stay as they are."""
        with self._aside():
            yield from self._feed(ids, self._model.new_state(), want, step, cancelled)

    def _feed(
        self, ids: Sequence[int], state: State, want: Want, step: int, cancelled: Callable[[], bool]
    ) -> Iterator[Tensor | None]:
        """Feed tokens to a state that is none of the sequences'."""
        start, total = 0, state.length + len(ids)
        while start < len(ids):
            if cancelled():
                raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
            stop = uncut(ids, start, min(start + step, len(ids)))
            self._begin(ids[start:stop], state.length)
            with torch.inference_mode():
                yield self._model.forward(ids[start:stop], state, want, total)
            start = stop

    def clear(self) -> None:
        """Forget everything."""
        self._chat = self._used = TokenSequence(self._model.new_state())
        self._beside, self._fed = (), {}

    def feed(self, parts: Sequence[PromptPart]) -> list[Tensor | None]:
        """Feed parts of different sequences in one pass, several only where they `joins`.

        Returns the logits [V] after the last token of each that wants them, to the last bit those of each by itself.
        """
        with self._passing([(part.sequence, part.ids) for part in parts]):
            if len(parts) > 1:
                given = [(torch.tensor(ids, dtype=torch.long), one.state, want, to) for one, ids, want, to in parts]
                found = self._model.forward_parts(given)
            else:
                found = [self._model.forward(ids, one.state, want, to) for one, ids, want, to in parts]
        return [None if logits is None else logits[-1] for logits in found]

    def feed_several(self, sequence: TokenSequence, ids: Sequence[int]) -> Tensor:
        """Logits [T, V] after each of T more tokens, at most `most_rows`, to the last bit those of one by one.

        Where the state `takes_back`, every one of them can be taken back before anything else is fed.
        """
        sequence.state.keeps_start = True
        with self._passing([(sequence, ids)]):
            logits = self._model.forward(ids, sequence.state, "all")
        assert logits is not None
        return logits

    def take_back(self, sequence: TokenSequence, length: int) -> None:
        """As if the tokens behind so many had never been fed; a state that does not cut anywhere goes back further."""
        del sequence.tokens[sequence.state.rollback(length) :]

    def _forward_each(self, fed: Sequence[tuple[TokenSequence, int]]) -> Tensor:
        with self._passing([(sequence, [token]) for sequence, token in fed]):
            return self._model.forward_sequences([token for _, token in fed], [one.state for one, _ in fed])

    @contextmanager
    def _passing(self, fed: Sequence[tuple[TokenSequence, Sequence[int]]]) -> Iterator[None]:
        """Inside, one pass feeds these tokens. Whatever is raised there, all sequences stay usable."""
        ids, sequences = [token for _, own in fed for token in own], [sequence for sequence, _ in fed]
        if self._beside:
            self._make_room(len(ids), sequences)
        self._fed = {sequence: len(own) for sequence, own in fed}
        self._begin(ids, len(sequences[0].tokens))
        try:
            with torch.inference_mode():
                yield
        except BaseException:
            # Some layers may have seen the last tokens and others not: back to where all of them agree.
            for one in sequences:
                self.take_back(one, len(one.tokens))
            raise
        for sequence, own in fed:
            sequence.tokens.extend(own)


class PromptReader:
    """Says which part comes next, until the sequence has seen the prompt, and what was answered to it so far.

    The parts are those of a prompt that is read by itself, whatever goes through the layers beside them: whose chunks
    were cut elsewhere, that one's sums would be others.
    """

    def __init__(
        self,
        context: Context,
        sequence: TokenSequence,
        prompt: Sequence[int],
        marks: Sequence[int] = (),
        answered: Sequence[int] = (),
        progress: Progress = lambda done, total: None,
    ) -> None:
        """marks: lengths at which a later chat is likely to part from this one. Recurrent states can only go back to a
        snapshot, so one is taken there; the prompt less its last token always is one (for another answer to it). What
        can be cut anywhere is read without pausing there: every pass may read all that is missing from disk once more.

        answered: tokens that were fed one by one, and get the bits that they had then.
        """
        self._context, self.sequence, self._progress = context, sequence, progress
        self._prompt, self._marks, self._ids = prompt, marks, [*prompt, *answered]
        self._reading: Sequence[int] = ()  # what is read as a prompt
        self._stops: tuple[int, ...] = ()

    def part(self) -> PromptPart:
        """What is to be fed next; there is more as long as the sequence has not seen all. Raises ValueError for no
        tokens."""
        seen = len(self.sequence.tokens)
        if not self._stops and (len(self._ids) == len(self._prompt) or seen < len(self._prompt)):
            self._begin(self._prompt, self._marks)
        if self._stops and len(self.sequence.tokens) < len(self._reading):
            return self._chunk()
        part = self._ids[seen : seen + self._context.most_rows]
        if self._context.goes_on(self.sequence, len(part)):
            return PromptPart(self.sequence, part, "last")
        self._begin(self._ids, self._marks)
        return self._chunk()

    def _begin(self, ids: Sequence[int], marks: Sequence[int]) -> None:
        """Read these as a prompt."""
        self._context.reuse(ids, self.sequence)
        pauses = () if self.sequence.state.cuts_anywhere else (*marks, len(ids) - 1)
        self._reading, self.sequence.due = ids, len(ids)
        self._stops = tuple(sorted({mark for mark in (*pauses, len(ids)) if mark <= len(ids)}))

    def _chunk(self) -> PromptPart:
        ids, at = self._reading, len(self.sequence.tokens)
        stop = uncut(ids, at, min(at + self._context.chunk, next(stop for stop in self._stops if stop > at)))
        return PromptPart(self.sequence, ids[at:stop], "last" if stop == len(ids) else "none", len(ids))

    def passed(self) -> None:
        """The part went through the layers."""
        done, total = len(self.sequence.tokens), len(self._reading)
        if self._stops and done <= total:
            if done < total and done in self._stops:
                self.sequence.state.snapshot()
            self._progress(done, total)

    def close(self) -> None:
        """It is read no further."""
        self.sequence.due = 0


def _common(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Tokens that both begin with."""
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        common += 1
    return common
