"""Several processes that train one model: each computes gradients on its part of the batch.

On a busy computer two processes of one thread get more than two threads of one process: threads wait for each other at
the end of every product, processes only a few times a step.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from threading import Barrier

import torch
from torch import Tensor


@dataclass(frozen=True)
class Workers:
    """This process is number `rank` of `count`; they share `memory` [count, numbers] and wait at `gate`."""

    rank: int = 0
    count: int = 1
    memory: Tensor | None = None
    gate: Barrier | None = None

    def _exchange(self, flat: Tensor) -> Tensor:
        """[count, n]: what every process brings, in the order of their numbers."""
        assert self.memory is not None
        assert self.gate is not None
        rows = self.memory[:, : flat.numel()]
        rows[self.rank].copy_(flat)
        self.gate.wait()
        found = rows.clone()
        self.gate.wait()  # before anybody writes again
        return found

    def agree(self, values: list[float]) -> list[float]:
        """The values of process 0, in every process."""
        if self.count == 1:
            return values
        return [float(v) for v in self._exchange(torch.tensor(values))[0]]

    def average(self, tensors: Iterable[Tensor]) -> None:
        """Replace each tensor by its mean over the processes."""
        if self.count > 1:
            tensors = list(tensors)
            mean = self._exchange(torch.cat([t.reshape(-1) for t in tensors])).mean(0)
            for t, part in zip(tensors, mean.split([t.numel() for t in tensors]), strict=True):
                t.copy_(part.view_as(t))

    def mine(self, index: int) -> bool:
        """Whether the piece of work with this number is done here."""
        return index % self.count == self.rank

    def share(self, index: int, tensor: Tensor) -> None:
        """Send the result of a piece of work from where it was done to all others."""
        if self.count > 1:
            tensor.copy_(self._exchange(tensor.reshape(-1))[index % self.count].view_as(tensor))


ALONE = Workers()
