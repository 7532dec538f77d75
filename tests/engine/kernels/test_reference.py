"""The torch reference against the words of engine/record/layout.py, and against the importer's own decoder."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.kernels.activation import KINDS, SWIGLU_KINDS, Activation, ActivationKind
from engine.kernels.call import Parts
from engine.quantization.planes import encode
from engine.record.layout import PLANE_BITS, ExpertSpec
from tests.engine.kernels.records import random_experts, random_parts
from tests.engine.kernels.reference import TorchKernel, decode_matrix, moe_forward
from tests.engine.quantization.reference import decode_expert


def weight_by_the_book(spec: ExpertSpec, parts: dict[int, np.ndarray], which: int, tier: int, r: int, c: int) -> float:
    """One weight, read as the layout's docstring says, in plain arithmetic."""
    m = spec.matrices[which]
    _, cols = spec.padded(m)
    groups = cols // spec.group
    tile, row, column = r // 16 * groups + c // spec.group, r % 16, c % spec.group
    code = 0
    for bits, part in zip(PLANE_BITS, spec.layout.codes_for(tier)):
        p = 8 // bits
        line, within = divmod(column, 4 * p)
        s, j = divmod(within, 4)
        at = part.sections[m.name].offset + tile * spec.group * 16 * bits // 8 + 64 * line + 4 * row + j
        code = code << bits | int(parts[part.index][at]) >> bits * s & (1 << bits) - 1
    finest = spec.layout.params_for(tier)
    start = finest.sections[m.name].offset + 64 * tile
    params = parts[finest.index][start : start + 64].view(np.float16)
    unit = parts[spec.layout.head.index][16:64].view(np.float32)[which]
    return float(unit) * (float(params[row]) * code + float(params[16 + row]))


@pytest.mark.parametrize("spec", [ExpertSpec(40, 24, 8, 16), ExpertSpec(70, 33, 4, 32, has_gate=False)])
def test_weights_lie_where_the_layout_says(spec: ExpertSpec) -> None:
    parts = random_parts(spec)
    arrays = {index: p.numpy() for index, p in parts.items()}
    for tier in spec.tiers:
        for which, m in enumerate(spec.matrices):
            decoded = decode_matrix(spec, Parts(spec, parts, tier), m.name, torch.float64)
            assert decoded.shape == (m.rows, m.cols)
            for r in range(0, m.rows, 5):
                for c in range(0, m.cols, 3):
                    assert decoded[r, c] == pytest.approx(
                        weight_by_the_book(spec, arrays, which, tier, r, c), rel=1e-12
                    )


@pytest.mark.parametrize("top", [4, 8, 16, 32])
def test_decodes_what_the_importer_encodes(top: int) -> None:
    spec = ExpertSpec(50, 37, top, 16, has_gate=True, has_bias=True)
    names = {m.name: torch.randn(m.rows, m.cols) for m in spec.matrices}
    biases = {f"{m.name}_bias": torch.randn(m.rows) for m in spec.matrices}
    record = torch.from_numpy(np.array(encode({**names, **biases}, spec, 3, 7).record))
    parts = {p.index: record[p.offset : p.offset + p.nbytes] for p in spec.layout.parts}
    for tier in spec.tiers:
        expected = decode_expert(record.numpy(), spec, tier)
        for m in spec.matrices:
            ours = decode_matrix(spec, Parts(spec, parts, tier), m.name)
            torch.testing.assert_close(ours, expected[m.name], rtol=1e-6, atol=1e-7)


def dense_oracle(x: torch.Tensor, ids: torch.Tensor, weights: torch.Tensor, experts: dict[int, Parts],
                 spec: ExpertSpec, activation: Activation) -> torch.Tensor:  # fmt: skip
    """The layer in float64 from decoded weights, written out token by token."""
    y = torch.zeros(x.shape, dtype=torch.float64)
    for t in range(len(x)):
        for k in range(ids.shape[1]):
            expert = experts[int(ids[t, k])]
            w = {m.name: decode_matrix(spec, expert, m.name, torch.float64) for m in spec.matrices}
            b = {name: torch.zeros(1, dtype=torch.float64) for name in w}
            head = spec.layout.head
            for name, section in head.biases.items():
                rows = next(m.rows for m in spec.matrices if m.name == name)
                b[name] = expert.parts[head.index][section.offset :][: 4 * rows].view(torch.float32).double()
            projected = {n: w[n] @ x[t].double() + b[n] for n in w if n != "down"}
            h = activation.apply(projected.get("gate"), projected["up"])
            y[t] += weights[t, k].double() * (w["down"] @ h + b["down"])
    return y


@settings(max_examples=25, deadline=None)
@given(
    hidden=st.integers(1, 80), intermediate=st.integers(1, 70), top=st.sampled_from([4, 8, 16, 32]),
    group=st.sampled_from([16, 32, 64]), has_gate=st.booleans(), has_bias=st.booleans(), tokens=st.integers(1, 6),
    kind=st.sampled_from(KINDS), seed=st.integers(0, 99),
)  # fmt: skip
def test_layer_equals_the_written_out_sum(
    hidden: int,
    intermediate: int,
    top: int,
    group: int,
    has_gate: bool,
    has_bias: bool,
    tokens: int,
    kind: str,
    seed: int,
) -> None:
    spec = ExpertSpec(hidden, intermediate, top, group, has_gate=has_gate or kind in SWIGLU_KINDS, has_bias=has_bias)
    torch.manual_seed(seed)
    experts = random_experts(spec, 4, list(spec.tiers), seed)
    x, weights = torch.randn(tokens, hidden), torch.rand(tokens, 3)
    ids = torch.stack([torch.randperm(4)[:3] for _ in range(tokens)])
    activation = Activation(kind)  # type: ignore[arg-type]
    oracle = dense_oracle(x, ids, weights, experts, spec, activation)
    ours = moe_forward(x.double(), ids, weights, experts, spec, activation)
    torch.testing.assert_close(ours, oracle, rtol=1e-9, atol=1e-9)
    single = moe_forward(x, ids, weights, experts, spec, activation)
    assert (single.double() - oracle).norm() <= 1e-5 * oracle.norm() + 1e-6


@pytest.mark.parametrize(
    ("kind", "theirs"),
    [
        ("silu", torch.nn.functional.silu),
        ("gelu", torch.nn.functional.gelu),
        ("gelu_tanh", lambda a: torch.nn.functional.gelu(a, approximate="tanh")),
        ("relu", torch.relu),
        ("relu2", lambda a: torch.relu(a) ** 2),
    ],
)
def test_activations_are_the_usual_ones(kind: str, theirs: object) -> None:
    a, b = torch.linspace(-9, 9, 301, dtype=torch.float64), torch.randn(301, dtype=torch.float64)
    activation = Activation(kind)  # type: ignore[arg-type]
    expected = theirs(a)  # type: ignore[operator]
    torch.testing.assert_close(activation.apply(None, a), expected, rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(activation.apply(a, b), expected * b, rtol=1e-12, atol=1e-14)


def test_clamped_swiglu_is_that_of_gpt_oss() -> None:
    gate, up = torch.tensor([9.0, -9.0, 1.0]), torch.tensor([9.0, -9.0, 0.5])
    g, u = torch.tensor([7.0, -9.0, 1.0]), torch.tensor([7.0, -7.0, 0.5])
    torch.testing.assert_close(Activation("clamped_swiglu").apply(gate, up), (u + 1) * g * torch.sigmoid(1.702 * g))


def test_limited_swiglu_is_that_of_deepseek_v4() -> None:
    gate, up = torch.tensor([9.0, -9.0, 1.0, 2.0]), torch.tensor([9.0, -9.0, 0.5, 20.0])
    g, u = torch.tensor([7.0, -9.0, 1.0, 2.0]), torch.tensor([7.0, -7.0, 0.5, 7.0])
    torch.testing.assert_close(Activation("limited_swiglu").apply(gate, up), torch.nn.functional.silu(g) * u)


def test_softcapped_swiglu_is_that_of_inkling2() -> None:
    gate, up = torch.tensor([9.0, -9.0, 1.0, 2.0]), torch.tensor([9.0, -9.0, 0.5, 200.0])
    expected = 4 * torch.tanh(gate / 4) * torch.sigmoid(gate) * 25 * torch.tanh(up / 25)
    torch.testing.assert_close(Activation("softcapped_swiglu", limit=4.0, up_limit=25.0).apply(gate, up), expected)


@pytest.mark.parametrize("kind", sorted(SWIGLU_KINDS))
def test_swiglu_needs_a_gate(kind: ActivationKind) -> None:
    with pytest.raises(ValueError, match="needs a gate"):
        Activation(kind).apply(None, torch.ones(1))


def test_a_weight_of_zero_drops_its_slot_unread() -> None:
    out = torch.tensor([[1.0, 2.0], [float("nan"), float("inf")], [3.0, 4.0]])
    y = TorchKernel().combine(out, torch.tensor([[0.5, 0.0, 2.0]]))
    assert y.tolist() == [[6.5, 9.0]]
