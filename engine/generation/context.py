"""The tokens a model has seen with the state behind them: read a prompt once, reuse what is common, roll back."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, Protocol

import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.translatable import msg

Want = Literal["last", "all", "none"]
Begin = Callable[[Sequence[int], int], None]  # token ids, and the position of the first
Aside = Callable[[], AbstractContextManager[None]]


class State(Protocol):
    """A decoder's sequence state (models/state.py): length in tokens, exact or nearest-snapshot rollback."""

    max_snapshots: int

    @property
    def length(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def cuts_anywhere(self) -> bool: ...
    def rollback(self, length: int) -> int: ...
    def snapshot(self) -> None: ...
    def rows_with(self, tokens: int) -> int | None: ...
    @property
    def rows_written(self) -> int: ...


class Model(Protocol):
    """A decoder: lean or compatibility."""

    def new_state(self) -> State: ...
    def continues(self, state: Any, length: int) -> bool: ...
    def forward(self, ids: Tensor, state: Any, want: Want = "last", horizon: int = 0) -> Tensor | None: ...
    @property
    def most_rows(self) -> int: ...
    def forward_sequences(self, ids: Sequence[int], states: Sequence[Any]) -> Tensor: ...


MOST_BESIDE = 4  # sequences beside the chat's: as many conversations of other programs go on without being read again
MOST_RECURRENT = 3  # the same where each takes its full size from its first token on, and snapshots besides:
FEW_SNAPSHOTS = 2  # so many of each: where its history ends, and before the answer
MOST_AT_ONCE = 8  # answers; a plan puts nothing aside for passes of so few tokens (planning.plan.FEW)
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
        self._chunk = chunk
        self.limit = limit
        self._chat = self._used = TokenSequence(model.new_state())
        # In the order of their last use. A tuple that is replaced, never changed: bytes are counted from any thread.
        self._beside: tuple[TokenSequence, ...] = ()
        self._fed: tuple[TokenSequence, ...] = (self._chat,)  # in the pass under way, or the last one

    @property
    def tokens(self) -> list[int]:
        """Exactly those that the sequence in use has seen."""
        return self._used.tokens

    def sequences(self) -> tuple[TokenSequence, ...]:
        """The chat's, and those beside it."""
        return (self._chat, *self._beside)

    def choose(self, ids: Sequence[int], background: bool) -> TokenSequence:
        """Use the sequence that a prompt goes on with, of those that are not busy: the chat's, or another that is more
        like it, which is the chat's from then on; in the background the one beside it that is most like it.
        """
        alike = self._most_alike(ids)
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
        self.limit, self._chunk = limit, chunk

    @property
    def nbytes(self) -> int:
        """Bytes that the states take."""
        return sum(one.state.nbytes for one in self.sequences())

    def rows_with(self, tokens: int) -> int | None:
        """Bytes that rows of tokens take once the pass under way brought so many more; None: the model does not say."""
        each = tokens // len(self._fed)
        return self._rows(lambda one: one.state.rows_with(each if one in self._fed else 0))

    def _rows(self, of: Callable[[TokenSequence], int | None]) -> int | None:
        found = [of(one) for one in self.sequences()]
        return None if None in found else sum(n for n in found if n is not None)

    @property
    def written(self) -> int:
        """Bytes of the states that are written to: without room for rows that are to come. From any thread."""
        nbytes, rows = self.nbytes, self._rows(lambda one: one.state.rows_with(0))
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
            common = 0
        if common < len(of.tokens):
            common = of.state.rollback(common)
            del of.tokens[common:]
        return common

    def read(
        self,
        ids: Sequence[int],
        marks: Sequence[int] = (),
        progress: Callable[[int, int], None] = lambda done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Tensor | None:
        """Read a prompt and return the logits [V] after its last token; None if cancelled, between chunks or in one.
        Raises ValueError as `reuse`. marks: as `passes`.
        """
        passes = self.passes(self._used, ids, marks, progress)
        try:
            while not cancelled():
                logits = next(passes)
                if len(self.tokens) == len(ids):
                    return logits
        except UnderhillError as e:
            if e.kind is not Kind.CANCELLED:
                raise
        return None

    def passes(
        self,
        sequence: TokenSequence,
        ids: Sequence[int],
        marks: Sequence[int] = (),
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Generator[Tensor | None]:
        """Read a prompt, a chunk each time; what the last one yields are the logits [V] after the prompt's last token.

        marks: lengths at which a later chat is likely to part from this one. Recurrent states can only go back to a
        snapshot, so one is taken there; the prompt less its last token always is one (for another answer to it). What
        can be cut anywhere is read without pausing there: every pass may read all that is missing from disk once more.
        """
        reused = self.reuse(ids, sequence)
        sequence.due = len(ids)
        try:
            pauses = () if sequence.state.cuts_anywhere else (*marks, len(ids) - 1)
            for stop in sorted({m for m in (*pauses, len(ids)) if reused < m <= len(ids)}):
                while len(sequence.tokens) < stop:
                    start = len(sequence.tokens)
                    part = ids[start : min(start + self._chunk, stop)]
                    want: Want = "last" if start + len(part) == len(ids) else "none"
                    logits = self._forward(sequence, part, want, len(ids))
                    if len(sequence.tokens) == stop < len(ids):
                        sequence.state.snapshot()
                    progress(len(sequence.tokens), len(ids))
                    yield logits
        finally:
            sequence.due = 0

    def catch_up(
        self,
        sequence: TokenSequence,
        prompt: Sequence[int],
        marks: Sequence[int],
        answered: Sequence[int],
        progress: Callable[[int, int], None] = lambda done, total: None,
    ) -> Generator[Tensor | None]:
        """Read a prompt and what was answered to it so far, whatever of it is here: as it was computed the first time,
        so that an answer whose memory was taken goes on as if nothing had been. Yields as `passes`.
        """
        ids = [*prompt, *answered]
        if not answered or len(sequence.tokens) < len(prompt):
            yield from self.passes(sequence, prompt, marks, progress)
        while (at := len(sequence.tokens)) < len(ids):
            # Tokens of an answer were fed one by one, and so many at once have the bits that they have then.
            part = ids[at : at + self._model.most_rows]
            if not self._model.continues(sequence.state, at + len(part)):
                yield from self.passes(sequence, ids, marks)
                return
            yield self._forward(sequence, part, "last")

    def step(self, token: int) -> Tensor | None:
        """Logits [V] after one more token; None if what had to be read again for it was cancelled."""
        if self.goes_on(self._used):
            return self._forward(self._used, [token], "last")
        # LongRoPE turns to other frequencies here, so what was read under the old ones is read again
        return self.read([*self.tokens, token])

    def goes_on(self, sequence: TokenSequence) -> bool:
        """Whether one more token can be fed to it as it is."""
        return self._model.continues(sequence.state, len(sequence.tokens) + 1)

    def step_all(self, fed: Sequence[tuple[TokenSequence, int]]) -> list[Tensor | Exception | None]:
        """Feed a token to each of several sequences that go on, in passes that they share.

        Returns for each the logits [V] after it, to the last bit what `step` gives; what was raised for it; or None
        where it lost its place to what another one raised, and its tokens have to be read again.
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
                found.append(None if len(sequence.tokens) < length else self._forward(sequence, [token], "last"))
            except Exception as error:
                found.append(error)
        return found

    def score(self, ids: Sequence[int], *, one_by_one: bool, cancelled: Callable[[], bool] = lambda: False) -> Tensor:
        """Logits [T, V] after each of the tokens of a sequence of its own, in chunks or one token at a time.

        Raises UnderhillError(CANCELLED), asked before each of them.
        """
        found = self._run_beside(ids, "all", 1 if one_by_one else self._chunk, cancelled)
        return torch.cat([logits for logits in found if logits is not None])

    def run_through(self, ids: Sequence[int], cancelled: Callable[[], bool] = lambda: False) -> None:
        """Feed a sequence of its own for what its routers choose. Raises UnderhillError(CANCELLED)."""
        for _ in self._run_beside(ids, "none", self._chunk, cancelled):
            pass

    def _run_beside(
        self, ids: Sequence[int], want: Want, step: int, cancelled: Callable[[], bool]
    ) -> Iterator[Tensor | None]:
        """The chat's own tokens and state stay as they are."""
        state = self._model.new_state()
        with self._aside():
            for start in range(0, len(ids), step):
                if cancelled():
                    raise UnderhillError(Kind.CANCELLED, msg("Stopped."))
                self._begin(ids[start : start + step], start)
                with torch.inference_mode():
                    part = torch.tensor(ids[start : start + step], dtype=torch.long)
                    yield self._model.forward(part, state, want, len(ids))

    def clear(self) -> None:
        """Forget everything."""
        self._chat = self._used = TokenSequence(self._model.new_state())
        self._beside, self._fed = (), (self._chat,)

    def _forward(self, sequence: TokenSequence, ids: Sequence[int], want: Want, horizon: int = 0) -> Tensor | None:
        self._begin_pass((sequence,), ids)
        try:
            with torch.inference_mode():
                part = torch.tensor(ids, dtype=torch.long)
                logits = self._model.forward(part, sequence.state, want, horizon)
        except BaseException:
            self._roll_back((sequence,))
            raise
        sequence.tokens.extend(ids)
        return None if logits is None else logits[-1]

    def _forward_each(self, fed: Sequence[tuple[TokenSequence, int]]) -> Tensor:
        sequences, ids = zip(*fed, strict=True)
        self._begin_pass(sequences, ids)
        try:
            with torch.inference_mode():
                logits = self._model.forward_sequences(ids, [sequence.state for sequence in sequences])
        except BaseException:
            self._roll_back(sequences)
            raise
        for sequence, token in fed:
            sequence.tokens.append(token)
        return logits

    def _begin_pass(self, sequences: tuple[TokenSequence, ...], ids: Sequence[int]) -> None:
        if self._beside:
            self._make_room(len(ids), sequences)
        self._fed = sequences
        self._begin(ids, len(sequences[0].tokens))

    def _roll_back(self, sequences: Sequence[TokenSequence]) -> None:
        """Some layers may have seen the last tokens and others not: back to where all of them agree."""
        for sequence in sequences:
            del sequence.tokens[sequence.state.rollback(len(sequence.tokens)) :]


def _common(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Tokens that both begin with."""
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        common += 1
    return common
