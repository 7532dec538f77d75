"""What a decoder asks of the expert runtime, whoever answers: one call per MoE layer."""

from __future__ import annotations

from typing import Protocol

from torch import Tensor


class ExpertBackend(Protocol):
    """Runs the routed experts of MoE layer `layer` (the model's own layer index)."""

    def moe(self, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
        """Weighted sum over the selected experts.

        x: [T, H] float32, the experts' input. ids: [T, K] int64. weights: [T, K] float32, final (renormalized,
        scaled). Returns [T, H] float32: sum_k weights[t, k] * expert[ids[t, k]](x[t]), added in the order of k,
        so that the result does not depend on what was cached.
        """
