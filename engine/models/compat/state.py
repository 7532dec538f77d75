"""A sequence in transformers' caches: cut where cutting is exact, put back from a copy where it is not."""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from transformers import DynamicCache
from transformers.cache_utils import (
    Cache,
    CacheLayerMixin,
    DummyLayer,
    DynamicIndexedLayer,
    DynamicLayer,
    DynamicSlidingWindowLayer,
    LinearAttentionCacheLayerMixin,
)

# Cache layers that keep one row per token and nothing else; exactly these, for subclasses keep more.
_ROWS = (DynamicLayer, DynamicSlidingWindowLayer, DynamicIndexedLayer)
_ROW_TENSORS = {"keys": 2, "values": 2, "indexer_keys": 1, "indexer_position_ids": 2}  # name: dimension of tokens


@dataclass(frozen=True)
class _Snapshot:
    length: int
    layers: dict[int, Any]  # position among the layers -> copy; -1: of the whole cache
    nbytes: int


class CompatState:
    """All that transformers' modules keep of one sequence. length: tokens whose state every layer holds.

    The promise is the same as SequenceState's of the lean decoder: forward passes run between begin() and commit(),
    snapshots are only taken where a layer cannot be cut, and the oldest leaves first. No pass keeps its start.
    """

    def __init__(
        self, config: Any, own_cache: bool, max_snapshots: int = 8, max_snapshot_bytes: int = 512 * 2**20
    ) -> None:
        """config: transformers' config of the model. own_cache: its modules make their own kind of cache."""
        self.length = 0
        self.keeps_start = False
        self.max_snapshots = max_snapshots
        self.max_snapshot_bytes = max_snapshot_bytes
        self._config = config
        self._own = own_cache
        self._snapshots: list[_Snapshot] = []  # in order of length
        self._partial = False
        self.cache: Any = self._new_cache()

    def _new_cache(self) -> Any:
        if self._own:
            return None  # the first forward pass brings it
        cache = DynamicCache(config=self._config)
        for layer in cache.layers:
            if type(layer) is DynamicSlidingWindowLayer:
                layer.activate_past_recording()  # keeps what has left the window, so that cutting stays exact
        return cache

    @property
    def nbytes(self) -> int:
        """Bytes held, snapshots included."""
        return _nbytes(self.cache) + sum(snapshot.nbytes for snapshot in self._snapshots)

    def rows_with(self, tokens: int) -> None:
        """Bytes that rows take once so many more tokens are here: transformers' caches do not say."""

    @property
    def rows_written(self) -> int:
        """Bytes of the rows that are there."""
        return _nbytes(self.cache)

    @property
    def snapshot_lengths(self) -> tuple[int, ...]:
        """The lengths at which there are snapshots, ascending."""
        return tuple(snapshot.length for snapshot in self._snapshots)

    @property
    def cuts_anywhere(self) -> bool:
        """Whether rollback is known to reach every length; a cache that the modules make themselves cannot be cut."""
        return not self._own and bool(self.cache.layers) and not self._uncuttable()

    @property
    def takes_back(self) -> bool:
        """Whether rollback reaches every token of a pass over a few."""
        return self.cuts_anywhere

    def forget_start(self) -> None:
        """There is nothing to give back."""

    def begin(self) -> None:
        """A forward pass starts: the layers will run ahead of `length` one by one."""
        if self._partial:
            self.rollback(self.length)
        self._partial = True

    def commit(self, tokens: int, cache: Any) -> None:
        """The forward pass over `tokens` tokens went through every layer and left this cache."""
        self.cache = cache
        self.length += tokens
        self._partial = False

    @torch.inference_mode()
    def snapshot(self) -> None:
        """Remember this length, so that rollback can come back here."""
        uncut = self._uncuttable()
        if not uncut or self._partial or self.length == 0 or self.length in self.snapshot_lengths:
            return
        layers = {at: copy.deepcopy(part) for at, part in uncut.items()}
        self._snapshots.append(_Snapshot(self.length, layers, sum(_nbytes(part) for part in layers.values())))
        while len(self._snapshots) > self.max_snapshots or (
            sum(snapshot.nbytes for snapshot in self._snapshots) > self.max_snapshot_bytes
        ):
            del self._snapshots[0]

    @torch.inference_mode()
    def rollback(self, length: int) -> int:
        """Forget what came after the first `length` tokens; returns the length really reached (at most `length`).

        Exact where every layer can be cut; otherwise the nearest snapshot at or below `length`, or 0. The caller feeds
        the tokens in between again.
        """
        reached = min(length, self.length)
        if reached == self.length and not self._partial:
            return reached
        if self._uncuttable():
            reached = self._restore(reached)
        if reached == 0:
            self.cache = self._new_cache()
        elif not self._own:
            for layer in self.cache.layers:
                _cut(layer, reached)
        self.length = reached
        self._partial = False
        return reached

    def _restore(self, length: int) -> int:
        self._snapshots = [snapshot for snapshot in self._snapshots if snapshot.length <= length]
        if not self._snapshots:
            return 0
        last = self._snapshots[-1]
        for at, part in last.layers.items():
            if at < 0:
                self.cache = copy.deepcopy(part)
            else:
                self.cache.layers[at] = copy.deepcopy(part)
        return last.length

    def _uncuttable(self) -> dict[int, Any]:
        """The parts of the cache that only a copy brings back."""
        if self._own:
            return {-1: self.cache}
        return {at: layer for at, layer in enumerate(self.cache.layers) if type(layer) not in (*_ROWS, DummyLayer)}


def _cut(layer: Any, length: int) -> None:
    """Keep the first `length` tokens of a layer of rows; others are left alone. (transformers' own crop drops more.)"""
    if type(layer) not in _ROWS:
        return
    for name, dim in _ROW_TENSORS.items():
        tensor = getattr(layer, name, None)
        if tensor is not None and tensor.dim() > dim and tensor.shape[dim] > length:
            setattr(layer, name, tensor.narrow(dim, 0, length))
    if hasattr(layer, "cumulative_length"):
        layer.cumulative_length = min(layer.cumulative_length, length)


def _nbytes(part: Any) -> int:
    return sum({id(tensor): tensor.nbytes for tensor in _tensors(part)}.values())


def _tensors(part: Any) -> Iterable[Tensor]:
    """Every tensor in a cache object, wherever it keeps it."""
    if isinstance(part, Tensor):
        yield part
    elif isinstance(part, dict):
        for value in part.values():
            yield from _tensors(value)
    elif isinstance(part, list | tuple):
        for value in part:
            yield from _tensors(value)
    elif isinstance(part, Cache | CacheLayerMixin | LinearAttentionCacheLayerMixin):
        yield from _tensors(vars(part))
