"""A training run: weights, optimizers and counters, saved as one safetensors file and resumed from it."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from training.export import weights
from training.model import Model
from training.muon import Muon
from training.saved import STATE_FILE, part, read
from training.shape import Shape
from training.workers import ALONE, Workers

_ADAM_RATE = 4e-3
_MUON_RATE = 0.03


class Run:
    """Opens the run in `folder`, or begins one there; it is to end at `until` (seconds since the epoch).

    A new run begins with random weights, or with those of the exported checkpoint `begin`. Unless `muon_experts`, AdamW
    trains the experts too: without instructions for bfloat16, Muon takes a third of all the time on them.
    """

    def __init__(
        self,
        folder: Path,
        until: float,
        shape: Shape,
        *,
        compute: torch.dtype = torch.bfloat16,
        begin: Path | None = None,
        workers: Workers = ALONE,
        muon_experts: bool = True,
    ) -> None:
        self.workers = workers
        self.folder = folder
        self.model = Model(shape, compute)
        fused = [b.gate_up for b in self.model.layers]
        matrices = [p for b in self.model.layers for p in b.matrices() if muon_experts or p.ndim == 2]
        self.muon = Muon(matrices, fused=fused, compute=compute, workers=workers)
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
        if (folder / STATE_FILE).exists():
            self._restore()
            self.counters["until"] = until
        elif begin:
            self.model.load_state_dict(weights(begin, shape))
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
        temporary = self.folder / f"{STATE_FILE}.tmp"
        save_file(tensors, temporary, metadata={"counters": json.dumps(self.counters)})
        os.replace(temporary, self.folder / STATE_FILE)

    def progress(self) -> float:
        """Share of the time that has passed, by the clock."""
        start = self.counters["start"]
        return float((time.time() - start) / (self.counters["until"] - start))

    def update(self, rate: float) -> float:
        """One optimizer step at `rate` times the full learning rates; returns the gradient's norm before clipping."""
        self.model.collect()
        self.workers.average(p.grad for p in self.model.parameters() if p.grad is not None)
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for group in self.adam.param_groups:
            group["lr"] = _ADAM_RATE * rate
        self.muon.step(_MUON_RATE * rate)
        self.adam.step()
        self.adam.zero_grad(set_to_none=True)
        self.model.refresh()
        return float(norm)
