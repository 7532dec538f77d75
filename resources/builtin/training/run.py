"""A training run: weights, optimizers and counters, saved as one safetensors file and resumed from it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import Tensor, nn

from training.model import Model
from training.muon import Muon
from training.shape import Shape

_ADAM_RATE = 4e-3
_MUON_RATE = 0.03
_FILE = "state.safetensors"


def read(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (named `model.`, `muon.`, `adam.`) and counters of a saved run."""
    with safe_open(folder / _FILE, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["counters"])  # noqa: SIM118


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}


class Run:
    """Opens the run in `folder`, or begins one there; it is to end at `until` (seconds since the epoch)."""

    def __init__(self, folder: Path, until: float, shape: Shape) -> None:
        self.folder = folder
        self.model = Model(shape)
        matrices = [p for b in self.model.layers for p in b.matrices()]
        self.muon = Muon(matrices, fused=[b.gate_up for b in self.model.layers])
        taken = {id(p) for p in matrices}
        rest = [p for p in self.model.parameters() if id(p) not in taken]
        self.adam = torch.optim.AdamW(
            [
                {"params": [p for p in rest if p.ndim > 1], "weight_decay": 0.01},
                {"params": [p for p in rest if p.ndim < 2], "weight_decay": 0.0},
            ],
            betas=(0.9, 0.95),
            fused=True,
        )
        self.counters: dict[str, Any] = {"step": 0, "tokens": 0, "seconds": 0.0, "start": time.time(), "until": until}
        if (folder / _FILE).exists():
            self._restore()
            self.counters["until"] = until
        self.model.refresh()

    def _restore(self) -> None:
        tensors, self.counters = read(self.folder)
        self.model.load_state_dict(part(tensors, "model."))
        self.muon.buffers = [tensors[f"muon.{i}"] for i in range(len(self.muon.buffers))]
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in part(tensors, "adam.").items():
            index, key = name.split(".")
            state.setdefault(int(index), {})[key] = tensor
        self.adam.load_state_dict({**self.adam.state_dict(), "state": state})

    def save(self) -> None:
        """Replace the saved state in one step, so that a kill leaves the old or the new one."""
        tensors = {f"model.{name}": t for name, t in self.model.state_dict().items()}
        tensors |= {f"muon.{i}": t for i, t in enumerate(self.muon.buffers)}
        for index, values in self.adam.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{key}": t for key, t in values.items()}
        temporary = self.folder / f"{_FILE}.tmp"
        save_file(tensors, temporary, metadata={"counters": json.dumps(self.counters)})
        os.replace(temporary, self.folder / _FILE)

    def progress(self) -> float:
        """Share of the time that has passed, by the clock."""
        start = self.counters["start"]
        return float((time.time() - start) / (self.counters["until"] - start))

    def update(self, rate: float) -> float:
        """One optimizer step at `rate` times the full learning rates; returns the gradient's norm before clipping."""
        self.model.collect()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.adam.param_groups:
            group["lr"] = _ADAM_RATE * rate
        self.muon.step(_MUON_RATE * rate)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.model.refresh()
        return float(norm)
