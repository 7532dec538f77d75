"""How many threads torch gets, pass by pass: two kinds of threads must not quarrel over one core."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from engine.generation.context import Model, State, Want
from engine.planning.speed import SMALL_DENSE


@dataclass(frozen=True)
class TorchThreads:
    """For passes of many tokens, and for a single token with the choice of the next."""

    many: int
    single: int


def torch_threads(threads: int, dense_bytes: int, lean: bool) -> TorchThreads:
    """threads: that the plan gives to computing. lean: whether native kernels multiply the dense weights.

    Then a single token leaves torch nothing large: a second thread would only wake for a softmax over the vocabulary,
    and get in the way of the kernels' own. On products as small as SMALL_DENSE it gains nothing in prompts either
    (measured on the built-in model: 2 % at rest), and its waiting costs tenfold once another program holds a core.
    """
    if dense_bytes < SMALL_DENSE:
        return TorchThreads(1, 1)
    return TorchThreads(threads, 1 if lean else threads)


class Threaded:
    """A model whose every pass sets the number of torch's threads, which stays for what is done with its logits."""

    def __init__(self, model: Model, threads: TorchThreads) -> None:
        self._model = model
        self._threads = threads

    def new_state(self) -> State:
        """See Model."""
        return self._model.new_state()

    def continues(self, state: Any, length: int) -> bool:
        """See Model."""
        return self._model.continues(state, length)

    def forward(self, ids: Tensor, state: Any, want: Want = "last", horizon: int = 0) -> Tensor | None:
        """See Model."""
        torch.set_num_threads(self._threads.many if len(ids) > 1 else self._threads.single)
        return self._model.forward(ids, state, want, horizon)
