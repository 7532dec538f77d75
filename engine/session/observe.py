"""Run text through a model and note what its routers saw and chose: what predictors are fitted on."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.experts.predictors import Observed
from engine.models.decoder import Decoder

if TYPE_CHECKING:
    from engine.session.session import Session

BYTES = 512 << 20  # of recorded vectors, held while they are fitted to


class Observer:
    """Collects, per row, what is told of every layer with experts."""

    def __init__(self, layers: tuple[int, ...], experts: int, kind: type[np.floating]) -> None:
        """kind: of the vectors kept."""
        self._row = {layer: row for row, layer in enumerate(layers)}
        self._experts, self._kind = experts, kind
        self._ids: list[list[NDArray[np.int16]]] = [[] for _ in layers]
        self._gating: list[list[NDArray[np.floating]]] = [[] for _ in layers]
        self._after: list[list[NDArray[np.floating]]] = [[] for _ in layers]

    def routed(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """A route listener."""
        best_first = weights.abs().argsort(stable=True, dim=1, descending=True)
        self._ids[self._row[layer]].append(ids.gather(1, best_first).numpy().astype(np.int16))

    def given(self, layer: int, x: Tensor) -> None:
        """A listener for what experts are given."""
        self._gating[self._row[layer]].append(x.numpy().astype(self._kind))

    def passed(self, layer: int, x: Tensor) -> None:
        """A listener for the residual stream behind a layer."""
        self._after[self._row[layer]].append(x.numpy().astype(self._kind))

    def observed(self, tokens: list[int], starts: Iterable[int]) -> Observed:
        """All of it."""
        return Observed(
            np.array(tokens), frozenset(starts), _joined(self._ids), self._experts, _joined(self._gating),
            _joined(self._after) if all(self._after) else None,
        )  # fmt: skip


def _joined(rows: list[list[NDArray[Any]]]) -> NDArray[Any]:
    joined = np.stack([np.concatenate(row) for row in rows])
    for row in rows:
        row.clear()
    return joined


def observe(
    session: Session,
    texts: Iterable[list[int]],
    tokens: int,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Observed:
    """At least `tokens` of the texts, or all there are, each text a sequence of its own.

    Fewer where the vectors would take more than BYTES. Raises what reading an expert raises.
    """
    source = session.store
    hidden = source.spec(source.layers[0]).hidden
    tokens = min(tokens, BYTES // (2 * 2 * hidden * len(source.layers)))
    observer = Observer(source.layers, max(source.experts(layer) for layer in source.layers), np.float16)
    decoder = session.decoder if isinstance(session.decoder, Decoder) else None
    seen: list[int] = []
    starts: list[int] = []
    with session.listening(observer.routed), session.exactly():
        session.runtime.given_listener = observer.given
        if decoder is not None:
            decoder.passed = observer.passed
        try:
            for ids in texts:
                if len(seen) >= tokens:
                    break
                starts.append(len(seen))
                session.logits(ids, one_by_one=False)
                seen += ids
                progress(min(len(seen), tokens), tokens)
        finally:
            session.runtime.given_listener = None
            if decoder is not None:
                decoder.passed = None
    return observer.observed(seen, starts)
