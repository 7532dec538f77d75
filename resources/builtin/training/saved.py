"""The file of a run: tensors named `model.`, `muon.` and `adam.`, and counters."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from safetensors import safe_open
from torch import Tensor

STATE_FILE = "state.safetensors"


def read(folder: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Tensors (named `model.`, `muon.`, `adam.`) and counters of a saved run."""
    with safe_open(folder / STATE_FILE, framework="pt") as file:
        return {name: file.get_tensor(name) for name in file.keys()}, json.loads(file.metadata()["counters"])  # noqa: SIM118


def part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    """The tensors whose names begin with `prefix`, without it."""
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
