"""Note what a model's routers see and choose while text runs through it: what predictors are fitted on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.experts.predictors import TraceView, same_width
from engine.experts.runtime import RouteListener
from engine.session.loaded_model import LoadedModel

BYTES = 128 << 20  # of recorded vectors, held while they are fitted to

Rows = list[list[NDArray[Any]]]


class RoutingCapture:
    """Texts, each a sequence of its own, as the routers met them. max_tokens: after so many, no other text is noted."""

    def __init__(self, model: LoadedModel, most: int = BYTES, *, gating: bool = True) -> None:
        """most: bytes of vectors. gating: whether vectors are noted at all."""
        source = model.store
        self._model = model
        self._gating = gating
        self._layers = source.layers
        self._row = {layer: row for row, layer in enumerate(source.layers)}
        self._experts = max(source.experts(layer) for layer in source.layers)
        self.max_tokens = most // (2 * source.spec(source.layers[0]).hidden * len(source.layers))
        self._texts: list[list[int]] = []
        self._seen: list[tuple[Rows, Rows]] = []

    @property
    def tokens(self) -> int:
        """Noted so far."""
        return sum(map(len, self._texts))

    @contextmanager
    def watching(self, ids: list[int], also: RouteListener | None = None) -> Iterator[None]:
        """While a text runs through the model, in many tokens at a time. One that breaks off is not kept.

        also: told of every routing decision, whether there is room for more or not.
        """
        model, runtime = self._model, self._model.runtime
        full = self.tokens >= self.max_tokens
        chosen: Rows = [[] for _ in self._layers]
        gating: Rows = [[] for _ in self._layers]

        def routed(layer: int, experts: Tensor, weights: Tensor) -> None:
            if also is not None:
                also(layer, experts, weights)
            if not full:
                best_first = weights.abs().argsort(stable=True, dim=1, descending=True)
                chosen[self._row[layer]].append(experts.gather(1, best_first).numpy().astype(np.int16))

        def given(layer: int, x: Tensor) -> None:
            gating[self._row[layer]].append(x.numpy().astype(np.float16))

        with model.listening(routed):
            try:
                if not full and self._gating:
                    runtime.given_listener = given
                yield
            finally:
                runtime.given_listener = None
        if not full:
            self._texts.append(ids)
            self._seen.append((chosen, gating))

    def view(self) -> TraceView | None:
        """All of it; None if there is nothing."""
        if not self._texts:
            return None
        starts = np.cumsum([0, *map(len, self._texts)])[:-1]
        chosen, gating = (self._joined(index) for index in range(2))
        assert chosen is not None
        return TraceView(
            np.concatenate([np.array(ids) for ids in self._texts]),
            frozenset(starts.tolist()), chosen, self._experts, gating,
        )  # fmt: skip

    def _joined(self, index: int) -> NDArray[Any] | None:
        rows: Rows = [[part for seen in self._seen for part in seen[index][row]] for row in range(len(self._layers))]
        return same_width([np.concatenate(row) for row in rows]) if all(rows) else None
