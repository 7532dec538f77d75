"""An expert backend for tests that runs the experts of a transformers model as they are."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


class ReferenceExperts:
    """Calls the experts module of each layer; `calls` remembers which layers were asked, in order."""

    def __init__(self, model: Any) -> None:
        self._modules: dict[int, Any] = {}
        for name, module in model.named_modules():
            parts = name.split(".")
            if parts[-1] == "experts" and "layers" in parts:
                self._modules[int(parts[parts.index("layers") + 1])] = module
        self.calls: list[int] = []

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Weighted sum over the selected experts: x [T, H], ids and weights [T, K]."""
        self.calls.append(layer)
        with torch.no_grad():
            module = self._modules[layer]
            out: Tensor = _llama4(module, x, ids) * weights if _is_llama4(module) else module(x, ids, weights)
        return out


def _is_llama4(module: Any) -> bool:
    """Llama 4's experts take tokens sorted by expert, and no weights: there is one expert for each."""
    return type(module).__name__ == "Llama4TextExperts"


def _llama4(module: Any, x: Tensor, ids: Tensor) -> Tensor:
    gate, up = torch.einsum("th,thi->ti", x, module.gate_up_proj[ids[:, 0]]).chunk(2, -1)
    out: Tensor = torch.einsum("ti,tih->th", up * module.act_fn(gate), module.down_proj[ids[:, 0]])
    return out
