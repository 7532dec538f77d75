"""Unimportance scores of a token's experts (HOBBIT, section 3.2, eq. 2), by the C library."""

from __future__ import annotations

import ctypes
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.native.library import load_holding_lock


def unimportance(weights: Tensor | NDArray[np.floating]) -> NDArray[np.float64]:
    """Scores [..., K] of gate weights [..., K]: the share of gate weight of those of a token's experts that weigh more.

    From 0, for the first, to 1. Weights count by magnitude; of equals the earlier matters more. See uh_unimportance.
    """
    if isinstance(weights, Tensor):
        weights = weights.detach().cpu().float().numpy()
    given = np.ascontiguousarray(weights, np.float32)
    k = given.shape[-1]
    scores, order = np.empty(given.shape), np.empty(k, np.int32)
    if given.size:
        # Five arrays of this frame: they outlive the call. `order` is scratch for the sort, one token at a time.
        _native().uh_unimportance(given.ctypes.data, given.size // k, k, order.ctypes.data, scores.ctypes.data)
    return scores


def learn_ranks(ranks: int, weights: int, k: int, t1: float, t2: float) -> None:
    """See uh_ranks_learn. ranks, weights: addresses, of RankShares and of float32 [k]."""
    _native().uh_ranks_learn(ranks, weights, k, t1, t2)


@lru_cache(maxsize=1)
def _native() -> ctypes.PyDLL:
    """Called without letting go of Python's lock: a layer's weights take microseconds."""
    library = load_holding_lock()
    pointer, i32 = ctypes.c_void_p, ctypes.c_int32
    library.uh_unimportance.argtypes, library.uh_unimportance.restype = (pointer, i32, i32, pointer, pointer), None
    library.uh_ranks_learn.argtypes = (pointer, pointer, i32, ctypes.c_double, ctypes.c_double)
    library.uh_ranks_learn.restype = None
    return library
