"""Record which experts every token chose, compactly, while a chat goes on; read the record back."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from engine.errors import Kind, UnderhillError

VERSION = 1


@dataclass(frozen=True)
class Trace:
    """Routing of a run. layers: the model's own layer indices, in the order they run. experts: per layer.

    ids: [layers, tokens, k] uint16. weights: the same shape, float16, gate weights as used.
    passes: tokens of each forward pass, in order (1 while decoding, more while a prompt is read); their sum is tokens.
    """

    layers: tuple[int, ...]
    experts: int
    ids: NDArray[np.uint16]
    weights: NDArray[np.float16]
    passes: NDArray[np.int32]

    @property
    def tokens(self) -> int:
        """Tokens recorded."""
        return int(self.ids.shape[1])

    def steps(self) -> Iterator[tuple[int, NDArray[np.uint16], NDArray[np.float16]]]:
        """Every visit of a layer in the order it happened: (layer, ids [T, k], weights [T, k])."""
        at = 0
        for count in self.passes:
            for row, layer in enumerate(self.layers):
                yield layer, self.ids[row, at : at + count], self.weights[row, at : at + count]
            at += int(count)

    def save(self, path: Path) -> None:
        """Write a .npz file. Raises OSError; a file cut short by a full disk is removed."""
        try:
            with path.open("wb") as file:
                np.savez_compressed(
                    file,
                    version=np.int32(VERSION),
                    layers=np.array(self.layers, np.int32),
                    experts=np.int32(self.experts),
                    ids=self.ids,
                    weights=self.weights,
                    passes=self.passes,
                )
        except OSError:
            path.unlink(missing_ok=True)
            raise


class Recorder:
    """Listens to the expert runtime; one visit of every MoE layer makes a pass.

    A pass that broke off in the middle (a failed read) is left out.
    """

    def __init__(self, layers: tuple[int, ...], experts: int) -> None:
        self._layers = layers
        self._experts = experts
        self._pass: list[tuple[NDArray[np.uint16], NDArray[np.float16]]] = []
        self._done: list[list[tuple[NDArray[np.uint16], NDArray[np.float16]]]] = []

    def __call__(self, layer: int, ids: Tensor, weights: Tensor) -> None:
        """Note a layer's choice. ids: [T, K] int64. weights: [T, K] float32."""
        if layer == self._layers[0]:
            self._pass = []
        if len(self._pass) >= len(self._layers) or layer != self._layers[len(self._pass)]:
            self._pass = []
            return
        self._pass.append((ids.numpy().astype(np.uint16), weights.numpy().astype(np.float16)))
        if len(self._pass) == len(self._layers):
            self._done.append(self._pass)
            self._pass = []

    def trace(self) -> Trace:
        """What was recorded so far. Raises UnderhillError(BAD_REQUEST) when nothing was."""
        if not self._done:
            raise UnderhillError(Kind.BAD_REQUEST, "Nothing was recorded.", "Record a chat with at least one answer.")
        rows = range(len(self._layers))
        return Trace(
            self._layers,
            self._experts,
            np.stack([np.concatenate([p[row][0] for p in self._done]) for row in rows]),
            np.stack([np.concatenate([p[row][1] for p in self._done]) for row in rows]),
            np.array([len(p[0][0]) for p in self._done], np.int32),
        )


def load(path: Path) -> Trace:
    """Read a trace. Raises UnderhillError(MISSING_FILE or BROKEN_FILE)."""
    try:
        with np.load(path, allow_pickle=False) as z:
            if int(z["version"]) != VERSION:
                raise ValueError(f"version {int(z['version'])}")
            trace = Trace(tuple(int(n) for n in z["layers"]), int(z["experts"]), z["ids"], z["weights"], z["passes"])
    except FileNotFoundError as e:
        raise UnderhillError(Kind.MISSING_FILE, f"There is no trace {path}.", "Check the path.") from e
    except Exception as e:  # what numpy and zipfile raise on bad files has no end
        raise UnderhillError(
            Kind.BROKEN_FILE, f"{path} is not a routing trace, or is damaged.", "Record it anew."
        ) from e
    types = [array.dtype.name for array in (trace.ids, trace.weights, trace.passes)] == ["uint16", "float16", "int32"]
    sized = trace.ids.ndim == 3 and trace.ids.shape == trace.weights.shape and trace.passes.ndim == 1
    if (
        not (types and sized and trace.ids.size)
        or trace.ids.shape[:2] != (len(trace.layers), int(trace.passes.sum()))
        or int(trace.passes.min()) < 1
        or int(trace.ids.max()) >= trace.experts
    ):
        raise UnderhillError(Kind.BROKEN_FILE, f"{path} contradicts itself.", "Record it anew.")
    return trace
