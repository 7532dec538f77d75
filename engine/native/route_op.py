"""The op that chooses a token's experts from its router's logits, in an op graph and by itself."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor

from engine.native.library import ISAS, isas, load_library
from engine.native.op_graph import Op, Rows, rows_of, sized
from engine.native.op_slots import OpKind

SCORES = ("softmax", "topk_softmax", "sigmoid", "sparsemixer", "sqrtsoftplus")


@dataclass(frozen=True, kw_only=True)
class Routing:
    """How experts are chosen and weighed: see engine.models.spec.RouterSpec."""

    experts: int
    top_k: int
    score: str
    groups: int = 1
    top_groups: int = 1
    top_two: bool = True
    masked_score: float = 0.0
    normalize: bool = False
    normalize_eps: float = 0.0
    normalize_min: float = 0.0
    scale: float = 1.0
    jitter: float = 0.0
    given: bool = False  # the experts are known, as by a table of tokens, and only weighed


def may_substitute(spec: Routing) -> bool:
    """Whether an expert can stand in for another that was chosen: not where ids are given, nor for sparsemixer, whose
    weights depend on the order of its choices."""
    return not spec.given and spec.score != "sparsemixer"


def route_room(experts: int) -> int:
    """Floats of `room` in `route`."""
    return 2 * experts


def route(
    spec: Routing, logits: Tensor, room: Tensor, *, ids: Tensor, weights: Tensor, groups: Tensor,
    choice_bias: Tensor | None = None, expert_scale: Tensor | None = None, chosen: Tensor | None = None,
) -> Op:  # fmt: skip
    """ids [top_k] int64 and weights [top_k] from router logits, which are written over; the first of equals wins.

    groups [top_groups] int64: those of the best experts. Where they are given, ids are read. chosen [top_k] int64: the
    same as ids, and not changed where an expert stands in for another, see may_substitute.
    """
    sized(spec.experts, choice_bias, expert_scale)
    rows: tuple[Rows, ...] = (
        rows_of(spec.experts, logits), rows_of(route_room(spec.experts), room), rows_of(spec.top_k, weights),
        rows_of(spec.top_k, ids, torch.int64), rows_of(spec.top_groups, groups, torch.int64),
    )  # fmt: skip
    if chosen is not None:
        rows = (*rows, rows_of(spec.top_k, chosen, torch.int64))
        if not may_substitute(spec):
            raise ValueError(f"nothing stands in for what {spec} chooses")
    if not 0 < spec.top_k <= spec.experts or spec.experts % spec.groups or spec.top_groups > spec.groups:
        raise ValueError(f"{spec} cannot be")
    return Op(
        OpKind.ROUTE,
        {
            "experts": spec.experts, "top_k": spec.top_k, "score": SCORES.index(spec.score), "groups": spec.groups,
            "top_groups": spec.top_groups, "top_two": spec.top_two, "normalize": spec.normalize, "given": spec.given,
            "masked_score": spec.masked_score, "normalize_eps": spec.normalize_eps,
            "normalize_min": spec.normalize_min,
            "scale_or_jitter": spec.jitter if spec.score == "sparsemixer" else spec.scale,
            "logits": logits, "choice_bias": choice_bias, "expert_scale": expert_scale, "room": room, "ids": ids,
            "weights": weights, "best_groups": groups, "chosen": chosen,
        },
        rows,
    )  # fmt: skip


def run_route(op: Op) -> None:
    """Run an op of `route` at once, for as many tokens as its tensors have rows."""
    _route()(_best_isa(), op.packed(), op.rows[0].count)


@lru_cache(maxsize=1)
def _route() -> Callable[[int, bytes, int], int]:
    function = load_library().uh_route
    function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int32)
    return function


@lru_cache(maxsize=1)
def _best_isa() -> int:
    return ISAS.index(isas()[-1])
