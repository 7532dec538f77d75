"""What this model's coming experts are predicted with: learnt at calibration, kept beside the store."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from engine.experts.eam import EamCollection
from engine.experts.predictors import (
    Eam,
    Gate,
    Predictor,
    RoutingShape,
)
from engine.experts.predictors.gates import LinearMap
from engine.experts.predictors.predictor import Floats
from engine.session import predictor_tables
from engine.store.atomic import replacing

FILE = "foresight.safetensors"
DEPTH = predictor_tables.DEPTH  # layers ahead that gates are taught for
UNTAUGHT = np.tile(np.array([0.8, 0.1], np.float32), (DEPTH + 1, 1))  # of plain gates and the table of tokens
TABLES = ("tokens", "pairs", "paths", "eam")
ALL = ("gates", *TABLES)  # in the order of `Learnt.all_weights`

Maps = list[list[LinearMap]]


@dataclass(frozen=True, eq=False)
class Learnt:
    """Of one model. maps: its gates, taught, by row. weights: [DEPTH + 1, 2], of these and the table of tokens.

    all_weights: [DEPTH + 1, 5], of ALL; None in files of a version that did not find them.
    """

    maps: Maps
    weights: Floats
    all_weights: Floats | None = None


def table(kind: str, shape: RoutingShape, past: EamCollection | None = None) -> Predictor:
    """One of TABLES, empty. past: what 'eam' goes by, which others add to; None: what it sees itself."""
    if kind in predictor_tables.KINDS:
        return predictor_tables.empty(kind, shape)
    own = EamCollection(shape.rows, shape.experts)
    return Eam(shape, own if past is None else past, adds=past is None)


def fitting(shape: RoutingShape) -> tuple[str, ...]:
    """Of ALL, in that order, those whose tables are not too large."""
    return tuple(kind for kind in ALL if kind not in predictor_tables.KINDS or kind in predictor_tables.possible(shape))


def write(path: Path, learnt: Learnt) -> None:
    """Keep it, whole or not at all. Raises OSError."""
    tensors: dict[str, np.ndarray] = {"weights": learnt.weights}
    if learnt.all_weights is not None:
        tensors["all_weights"] = learnt.all_weights
    for row, own in enumerate(learnt.maps):
        for ahead, linear in enumerate(own, 1):
            tensors[f"{row}.{ahead}.weight"] = linear.weight.astype(np.float16)
            tensors[f"{row}.{ahead}.bias"] = linear.bias
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary)
    except SafetensorError as e:
        raise OSError(str(e)) from e


def read(path: Path, gates: list[Gate]) -> Learnt | None:
    """What `write` kept; None if there is nothing, or nothing that fits these gates (then it is learnt again)."""
    try:
        found = load_file(path)
        maps = [
            [
                LinearMap(found[f"{row}.{ahead}.weight"], found[f"{row}.{ahead}.bias"])
                for ahead in range(1, min(DEPTH, len(gates) - 1 - row) + 1)
            ]
            for row in range(len(gates))
        ]
        weights, all_weights = found["weights"], found.get("all_weights")
    except (OSError, SafetensorError, KeyError):
        return None
    fits = _are_weights(weights, 2) and (all_weights is None or _are_weights(all_weights, len(ALL)))
    for row, own in enumerate(maps):
        for target, linear in zip(gates[row + 1 :], own):
            fits = fits and _is_map(linear, *target.weight.shape)
    return Learnt(maps, weights, all_weights) if fits else None


def _is_map(found: LinearMap, experts: int, hidden: int) -> bool:
    """Files of a version that did not look at the token before have maps of one input."""
    shape = found.weight.shape
    right = shape in ((experts, hidden), (experts, 2 * hidden)) and found.bias.shape == (experts,)
    return right and bool(np.isfinite(found.weight).all() and np.isfinite(found.bias).all())


def _are_weights(found: np.ndarray, parts: int) -> bool:
    right = found.shape == (DEPTH + 1, parts) and found.dtype == np.float32
    return right and bool(np.isfinite(found).all())
