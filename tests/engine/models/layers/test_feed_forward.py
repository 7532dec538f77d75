"""MoE blocks: the order in which things are asked for, and activations against their definition."""

from __future__ import annotations

import math

import pytest
import torch

from engine.experts.backend import run_side_by_side
from engine.models.layers.feed_forward import DenseMlp, MoeBlock, gated
from engine.models.spec import (
    ActivationKind,
    ActivationSpec,
    DenseMlpSpec,
    ExpertsSpec,
    MoeSpec,
    RouterSpec,
    SharedExpertSpec,
)
from tests.engine.models.layers.test_weights import Tensors
from tests.engine.models.open_decoder import plain_weights


def _value(kind: str, gate: float, up: float) -> float:
    if kind == "clamped_swiglu":
        gate, up = min(gate, 2.0), max(-2.0, min(2.0, up))
        return (up + 1) * gate / (1 + math.exp(-1.5 * gate))
    act = {
        "silu": lambda g: g / (1 + math.exp(-g)),
        "gelu": lambda g: 0.5 * g * (1 + math.erf(g / math.sqrt(2))),
        "gelu_tanh": lambda g: 0.5 * g * (1 + math.tanh(math.sqrt(2 / math.pi) * (g + 0.044715 * g**3))),
        "relu": lambda g: max(g, 0.0),
    }[kind]
    return act(gate) * up


@pytest.mark.parametrize("kind", ["silu", "gelu", "gelu_tanh", "relu", "clamped_swiglu"])
def test_activations(kind: ActivationKind) -> None:
    values = [-5.0, -1.0, 0.0, 0.7, 1.9, 2.1, 6.0]
    gate, up = (grid.flatten() for grid in torch.meshgrid(torch.tensor(values), torch.tensor(values), indexing="ij"))
    got = gated(ActivationSpec(kind, alpha=1.5, limit=2.0), gate.clone(), up.clone())
    wanted = [_value(kind, float(g), float(u)) for g, u in zip(gate, up, strict=True)]
    assert got.tolist() == pytest.approx(wanted, rel=1e-5, abs=2e-6)


def test_a_fused_projection_is_gate_then_up() -> None:
    torch.manual_seed(0)
    gate, up, down, x = torch.randn(12, 8), torch.randn(12, 8), torch.randn(8, 12), torch.randn(3, 8)
    split = Tensors({"m.gate_proj.weight": gate, "m.up_proj.weight": up, "m.down_proj.weight": down})
    fused = Tensors({"m.in.weight": torch.cat((gate, up)), "m.out.weight": down})
    wanted = DenseMlp(DenseMlpSpec(prefix="m", intermediate=12), split, plain_weights()).product(x)
    spec = DenseMlpSpec(prefix="m", intermediate=12, fused=True, up="in", down="out")
    assert torch.allclose(DenseMlp(spec, fused, plain_weights()).product(x), wanted, atol=1e-5)


def test_the_shared_expert_waits_until_the_routed_ones_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class Experts:
        def moe(self, layer: int, x: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor) -> torch.Tensor:
            order.append(f"experts of layer {layer}")
            return torch.zeros_like(x)

    product = DenseMlp.product

    def spied(self: DenseMlp, h: torch.Tensor) -> torch.Tensor:
        order.append("shared")
        return product(self, h)

    monkeypatch.setattr(DenseMlp, "product", spied)
    shared = SharedExpertSpec(DenseMlpSpec(prefix="s", intermediate=12), gate="sg")
    spec = MoeSpec(RouterSpec("g", 4, 2, "softmax"), ExpertsSpec(4, 8, 12), shared)
    tensors = Tensors({
        "g.weight": torch.randn(4, 8), "sg.weight": torch.zeros(1, 8), "s.gate_proj.weight": torch.randn(12, 8),
        "s.up_proj.weight": torch.randn(12, 8), "s.down_proj.weight": torch.randn(8, 12),
    })  # fmt: skip
    x = torch.randn(3, 8)
    (out,) = run_side_by_side(Experts(), [MoeBlock(spec, tensors, 8, plain_weights(), 7).forward(x, x)])
    assert order == ["experts of layer 7", "shared"]
    alone = DenseMlp(shared.mlp, tensors, plain_weights()).product(x)
    assert torch.allclose(out, alone / 2, atol=1e-6)  # sigmoid(0) of the shared expert, nothing else
