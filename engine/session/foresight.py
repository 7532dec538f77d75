"""What this model's coming experts are predicted with: learnt at calibration, kept beside the store."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from engine.errors import Kind, UnderhillError
from engine.experts.predictors import (
    Blend,
    Gate,
    Observed,
    Predictor,
    Shape,
    StackedGates,
    TokenTable,
    fit_weights,
    fitted_row,
    stacked,
    walk,
)
from engine.experts.predictors.gates import Linear
from engine.experts.predictors.predictor import Floats
from engine.models.decoder import Decoder
from engine.models.gates import gates_of
from engine.store.atomic import replacing

if TYPE_CHECKING:
    from engine.session.session import Session

FILE = "foresight.safetensors"
DEPTH = 2  # layers ahead that gates are taught for
FITTED = 0.8  # of the text is for the gates, the rest for the weights of gates and table
WEIGHED = 1000  # tokens of that rest
UNTAUGHT = np.tile(np.array([0.8, 0.1], np.float32), (DEPTH + 1, 1))  # of plain gates and the table of tokens

Maps = list[list[Linear]]


def predictor_of(session: Session) -> Predictor:
    """The best that is known of this model, new: the table of tokens has seen none."""
    store = session.store
    experts = max(store.experts(layer) for layer in store.layers)
    table = TokenTable(Shape(len(store.layers), experts, session.card.experts_per_token))
    if not isinstance(session.decoder, Decoder):
        return table
    gates = gates_of(session.decoder)
    maps, weights = read(store.path / FILE, gates) or (stacked(gates, DEPTH), UNTAUGHT)
    return Blend([StackedGates(gates, maps, kernel=session.runtime.native), table], weights)


def learn(session: Session, run: Observed, cancelled: Callable[[], bool] = lambda: False) -> None:
    """Teach this model's gates what a run shows, and keep that. Nothing is done without gates or with too little text.

    Raises OSError, UnderhillError(CANCELLED).
    """
    tokens = run.ids.shape[1]
    cut = round(FITTED * tokens)
    if not isinstance(session.decoder, Decoder) or run.gating is None or cut in (0, tokens):
        return
    gates = gates_of(session.decoder)
    text, rest = run.part(0, cut), run.part(cut, min(tokens, cut + WEIGHED))
    maps: Maps = []
    for row in range(len(gates)):
        if cancelled():
            raise UnderhillError(Kind.CANCELLED, "Stopped.")
        maps.append(fitted_row(text, gates, row, DEPTH))
    parts: list[Predictor] = [StackedGates(gates, maps), TokenTable(run.shape)]
    for _ in walk(text, parts):
        pass
    write(session.store.path / FILE, maps, fit_weights(rest, parts, DEPTH, gates))


def write(path: Path, maps: Maps, weights: Floats) -> None:
    """Keep it, whole or not at all. Raises OSError."""
    tensors: dict[str, np.ndarray] = {"weights": weights}
    for row, own in enumerate(maps):
        for ahead, linear in enumerate(own, 1):
            tensors[f"{row}.{ahead}.weight"] = linear.weight.astype(np.float16)
            tensors[f"{row}.{ahead}.bias"] = linear.bias
    try:
        with replacing(path) as temporary:
            save_file(tensors, temporary)
    except SafetensorError as e:
        raise OSError(str(e)) from e


def read(path: Path, gates: list[Gate]) -> tuple[Maps, Floats] | None:
    """What `write` kept; None if there is nothing, or nothing that fits these gates (then it is learnt again)."""
    try:
        found = load_file(path)
        maps = [
            [
                Linear(found[f"{row}.{ahead}.weight"].astype(np.float32), found[f"{row}.{ahead}.bias"])
                for ahead in range(1, min(DEPTH, len(gates) - 1 - row) + 1)
            ]
            for row in range(len(gates))
        ]
        weights = found["weights"]
    except (OSError, SafetensorError, KeyError):
        return None
    fits = weights.shape == UNTAUGHT.shape and weights.dtype == np.float32 and np.isfinite(weights).all()
    for row, own in enumerate(maps):
        for target, linear in zip(gates[row + 1 :], own):
            fits = fits and linear.weight.shape == target.weight.shape and linear.bias.shape == target.weight.shape[:1]
            fits = fits and bool(np.isfinite(linear.weight).all() and np.isfinite(linear.bias).all())
    return (maps, weights) if fits else None
