"""The tokens a model has seen with the state behind them: read a prompt once, reuse what is common, roll back."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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


MOST_BESIDE = 4  # sequences beside the chat's: as many conversations of other programs go on without being read again
MOST_RECURRENT = 1  # the same where each takes its full size from its first token on, and snapshots besides
GOES_ON = 0.5  # share of a sequence's tokens that a prompt has to begin with to be its next turn; templates share some


class _Sequence:
    """tokens: exactly those the state has seen."""

    def __init__(self, state: State) -> None:
        self.state = state
        self.tokens: list[int] = []


class Context:
    """The sequences that a model has seen: that of the chat, and beside it a few of other conversations.

    All together take no more than `limit` tokens: where the one in use grows, the others are forgotten, the one that
    was unused for longest first, the chat's last. `tokens` are those of the one in use.
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
        self._chat = self._used = _Sequence(model.new_state())
        # In the order of their last use. A tuple that is replaced, never changed: bytes are counted from any thread.
        self._beside: tuple[_Sequence, ...] = ()
        self._due = 0  # tokens of the prompt that is being read

    @property
    def tokens(self) -> list[int]:
        """Exactly those that the state in use has seen."""
        return self._used.tokens

    @property
    def _state(self) -> State:
        return self._used.state

    def _all(self) -> tuple[_Sequence, ...]:
        return (self._chat, *self._beside)

    def choose(self, ids: Sequence[int], background: bool) -> None:
        """Use the sequence that a prompt goes on with: the chat's, or in the background the one most like it."""
        if not background:
            self._used = self._chat
            return
        most = MOST_BESIDE if self._chat.state.cuts_anywhere else MOST_RECURRENT
        alike = max(self._beside, key=lambda one: _common(one.tokens, ids), default=None)
        if alike is None or _common(alike.tokens, ids) < GOES_ON * len(alike.tokens):
            alike = _Sequence(self._model.new_state())
        others = tuple(one for one in self._beside if one is not alike)
        self._beside = (*others[max(0, len(others) + 1 - most) :], alike)
        self._used = alike

    def between(self, work: Callable[[], None]) -> bool:
        """Do work that may use another sequence. Returns whether the one in use now is as it was; if not it is empty.

        Raises what the work raises.
        """
        used, due, seen = self._used, self._due, len(self._used.tokens)
        try:
            work()
        finally:
            if used is not self._chat and used not in self._beside:
                self._beside = (*self._beside, used)
            self._used, self._due = used, due
        return len(used.tokens) == seen

    def _make_room(self, tokens: int) -> None:
        """Forget sequences that are not in use until so many more tokens fit beside the rest."""
        for one in (*self._beside, self._chat):
            if sum(len(each.tokens) for each in self._all()) + tokens <= self.limit:
                return
            if one is not self._used:
                # In place, as whoever is interrupted in `between` finds it then: empty, to be read again.
                one.state, one.tokens = self._model.new_state(), []
                self._beside = tuple(each for each in self._beside if each is not one)

    @property
    def needed(self) -> int:
        """Tokens that are here, or will be once the prompt that is being read is through."""
        others = sum(len(each.tokens) for each in self._all() if each is not self._used)
        return others + max(len(self.tokens), self._due)

    def bound(self, limit: int, chunk: int) -> None:
        """Change both figures; what the state has seen stays, also beyond a lower limit."""
        self.limit, self._chunk = limit, chunk

    @property
    def room(self) -> int:
        """Tokens that still fit."""
        return self.limit - len(self.tokens)

    @property
    def nbytes(self) -> int:
        """Bytes that the states take."""
        return sum(one.state.nbytes for one in self._all())

    def rows_with(self, tokens: int) -> int | None:
        """Bytes that rows of tokens take once so many more are here; None where the model does not say."""
        return self._rows(lambda one: one.state.rows_with(tokens if one is self._used else 0))

    def _rows(self, of: Callable[[_Sequence], int | None]) -> int | None:
        found = [of(one) for one in self._all()]
        return None if None in found else sum(n for n in found if n is not None)

    @property
    def written(self) -> int:
        """Bytes of the states that are written to: without room for rows that are to come. From any thread."""
        nbytes, rows = self.nbytes, self._rows(lambda one: one.state.rows_with(0))
        return nbytes if rows is None else max(0, nbytes - rows) + self.rows_written

    @property
    def rows_written(self) -> int:
        """Bytes of the tokens' rows that are written: of what is allocated, what is resident. From any thread."""
        return sum(one.state.rows_written for one in self._all())

    def reuse(self, ids: Sequence[int]) -> int:
        """Roll back to what the state and `ids` have in common, less the last token, whose logits are wanted.

        Returns how many tokens need not be read again. Raises ValueError where there are no `ids`.
        """
        if not ids:
            raise ValueError("a prompt has one token at least")
        common = min(_common(self.tokens, ids), len(ids) - 1)
        if not self._model.continues(self._state, len(ids)):
            common = 0
        if common < len(self.tokens):
            common = self._state.rollback(common)
            del self.tokens[common:]
        return common

    def read(
        self,
        ids: Sequence[int],
        marks: Sequence[int] = (),
        progress: Callable[[int, int], None] = lambda done, total: None,
        cancelled: Callable[[], bool] = lambda: False,
        between: Callable[[], None] = lambda: None,
    ) -> Tensor | None:
        """Read a prompt and return the logits [V] after its last token; None if cancelled, between chunks or in one.
        Raises ValueError as `reuse`.

        marks: lengths at which a later chat is likely to part from this one. Recurrent states can only go back to a
        snapshot, so one is taken there; the prompt less its last token always is one (for another answer to it). What
        can be cut anywhere is read without pausing there: every pass may read all that is missing from disk once more.
        between: called behind each pass but the last; see the method of that name.
        """
        reused = self.reuse(ids)
        self._due = len(ids)
        try:
            return self._read(ids, reused, marks, progress, cancelled, between)
        finally:
            self._due = 0

    def _read(
        self,
        ids: Sequence[int],
        reused: int,
        marks: Sequence[int],
        progress: Callable[[int, int], None],
        cancelled: Callable[[], bool],
        between: Callable[[], None],
    ) -> Tensor | None:
        pauses = () if self._state.cuts_anywhere else (*marks, len(ids) - 1)
        stops = sorted({m for m in (*pauses, len(ids)) if reused < m <= len(ids)})
        logits: Tensor | None = None
        for stop in stops:
            while len(self.tokens) < stop:
                if cancelled():
                    return None
                start = len(self.tokens)
                part = ids[start : min(start + self._chunk, stop)]
                try:
                    logits = self._forward(part, "last" if start + len(part) == len(ids) else "none", len(ids))
                except UnderhillError as e:
                    if e.kind is Kind.CANCELLED:
                        return None
                    raise
                progress(len(self.tokens), len(ids))
                if len(self.tokens) < len(ids):
                    self.between(between)
            if stop < len(ids):
                self._state.snapshot()
        return logits

    def step(self, token: int) -> Tensor | None:
        """Logits [V] after one more token; None if what had to be read again for it was cancelled."""
        if self._model.continues(self._state, len(self.tokens) + 1):
            return self._forward([token], "last")
        # LongRoPE turns to other frequencies here, so what was read under the old ones is read again
        return self.read([*self.tokens, token])

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
        self._chat = self._used = _Sequence(self._model.new_state())
        self._beside = ()

    def _forward(self, ids: Sequence[int], want: Want, horizon: int = 0) -> Tensor | None:
        if self._beside:
            self._make_room(len(ids))
        self._begin(ids, len(self.tokens))
        try:
            with torch.inference_mode():
                logits = self._model.forward(torch.tensor(ids, dtype=torch.long), self._state, want, horizon)
        except BaseException:
            # Some layers may have seen the tokens and others not: back to where all of them agree.
            del self.tokens[self._state.rollback(len(self.tokens)) :]
            raise
        self.tokens.extend(ids)
        return None if logits is None else logits[-1]


def _common(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Tokens that both begin with."""
    common = 0
    for one, other in zip(ours, theirs, strict=False):
        if one != other:
            break
        common += 1
    return common
