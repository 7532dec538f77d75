"""A model whose logits depend on every token it has seen, and states that roll back exactly or only to snapshots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

VOCABULARY = 64


class FakeState:
    """Tokens seen. recurrent: rollback only reaches snapshots, and tokens of a pass that kept its start."""

    takes_back = True

    def __init__(self, recurrent: bool) -> None:
        self.max_snapshots = 8
        self.keeps_start = False
        self.kept_start: int | None = None
        self.recurrent = recurrent
        self.seen: list[int] = []
        self.snapshots: set[int] = set()
        self.beyond = False

    @property
    def length(self) -> int:
        return len(self.seen)

    @property
    def nbytes(self) -> int:
        return 8 * len(self.seen)

    @property
    def cuts_anywhere(self) -> bool:
        return not self.recurrent

    def rows_with(self, tokens: int) -> int:
        return 8 * (len(self.seen) + tokens)

    @property
    def rows_written(self) -> int:
        return 8 * len(self.seen)

    def begin(self) -> None:
        self.kept_start, self.keeps_start = self.length if self.keeps_start else None, False

    def forget_start(self) -> None:
        self.keeps_start, self.kept_start = False, None

    def snapshot(self) -> None:
        self.snapshots.add(self.length)

    def rollback(self, length: int) -> int:
        length = min(length, self.length)
        within = self.kept_start is not None and length >= self.kept_start
        if self.recurrent and length < self.length and not within:
            length = max((s for s in self.snapshots if s <= length), default=0)
        del self.seen[length:]
        self.snapshots = {s for s in self.snapshots if s <= length}
        self.kept_start = None
        return length


class FakeModel:
    """Says the sum of all it has seen, plus one, modulo the vocabulary. `passes`: tokens of each forward pass."""

    def __init__(self, recurrent: bool = False, script: Callable[[list[int]], int] | None = None) -> None:
        self.recurrent = recurrent
        self.switch: int | None = None  # what was read up to here is of no use beyond it, as with LongRoPE
        self.passes: list[list[int]] = []
        self.steps: list[int] = []  # rows of each pass over several sequences
        self.beside: list[list[int]] = []  # tokens of each part of a pass over several prompts
        self.fail_at: int | None = None
        self._script = script or (lambda seen: (sum(seen) + 1) % VOCABULARY)

    def new_state(self) -> FakeState:
        return FakeState(self.recurrent)

    def continues(self, state: FakeState, length: int) -> bool:
        return not state.length or self.switch is None or (state.length > self.switch) == (length > self.switch)

    def forward(self, ids: Sequence[int], state: FakeState, want: str = "last", horizon: int = 0) -> Tensor | None:
        self.passes.append([int(token) for token in ids])
        state.begin()
        if self.switch is not None:
            beyond = max(horizon, state.length + len(ids)) > self.switch
            assert not state.length or state.beyond == beyond, "keys of both sides of the switch would meet"
            state.beyond = beyond
        if self.fail_at is not None and state.length + len(ids) > self.fail_at:
            raise OSError("the disk went away")
        rows = []
        for token in self.passes[-1]:
            state.seen.append(token)
            rows.append(torch.nn.functional.one_hot(torch.tensor(self._script(state.seen)), VOCABULARY).float())
        return {"none": None, "all": torch.stack(rows)}.get(want, rows[-1][None])

    most_rows = 4

    def forward_sequences(self, ids: Sequence[int], states: Sequence[FakeState]) -> Tensor:
        before = [state.length for state in states]
        self.steps.append(len(ids))
        try:
            return torch.cat([self._one(token, state) for token, state in zip(ids, states, strict=True)])
        except BaseException:
            for state, length in zip(states, before, strict=True):
                state.rollback(length)
            raise

    def joins(self, sizes: Sequence[int]) -> bool:
        return min(sizes) > 1 or sum(sizes) <= self.most_rows

    def forward_parts(self, parts: Sequence[tuple[Tensor, FakeState, Any, int]]) -> list[Tensor | None]:
        before = [state.length for _, state, _, _ in parts]
        self.beside.append([len(ids) for ids, _, _, _ in parts])
        try:
            return [self.forward(*part) for part in parts]
        except BaseException:
            for (_, state, _, _), length in zip(parts, before, strict=True):
                state.rollback(length)
            raise

    def _one(self, token: int, state: FakeState) -> Tensor:
        logits = self.forward(torch.tensor([token]), state)
        assert logits is not None
        return logits
