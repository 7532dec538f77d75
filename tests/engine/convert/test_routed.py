"""What is read off transformers' experts modules: the activation with its numbers, shapes, and refusals."""

from __future__ import annotations

import pytest

from engine.convert.skeleton import build_skeleton, routed_experts
from engine.errors import Kind, UnderhillError
from engine.kernels.activation import Activation
from tests.engine.models.compat.tiny import tiny_config


@pytest.mark.parametrize(
    ("model_type", "changed", "activation"),
    [
        ("olmoe", {}, Activation("silu")),
        ("olmoe", {"hidden_act": "gelu"}, Activation("gelu")),
        ("olmoe", {"hidden_act": "gelu_pytorch_tanh"}, Activation("gelu_tanh")),
        ("nemotron_h", {}, Activation("relu2")),
        ("gpt_oss", {}, Activation("clamped_swiglu", 1.702, 7.0)),
        ("deepseek_v4", {"swiglu_limit": 3.5}, Activation("limited_swiglu", limit=3.5)),
        ("hy_v4", {"swiglu_limit": 500.0}, Activation("limited_swiglu", limit=500.0)),
        ("glm5_next", {"swiglu_limit": 10.0}, Activation("limited_swiglu", limit=10.0)),
        (
            "inkling2_text",
            {"mlp_gate_softcap": 2.5, "mlp_up_softcap": 60.0},
            Activation("softcapped_swiglu", limit=2.5, up_limit=60.0),
        ),
    ],
)
def test_activation_is_found_with_its_numbers(
    model_type: str, changed: dict[str, object], activation: Activation
) -> None:
    experts = build_skeleton(tiny_config(model_type, **changed).to_dict()).experts[-1]
    assert routed_experts(experts).activation == activation


def test_an_activation_without_a_kernel_is_named() -> None:
    experts = build_skeleton(tiny_config("olmoe", hidden_act="mish").to_dict()).experts[0]
    with pytest.raises(UnderhillError, match="Mish") as raised:
        routed_experts(experts)
    assert raised.value.kind == Kind.UNSUPPORTED_MODEL


def test_sizes_of_transposed_experts_with_biases() -> None:
    found = routed_experts(build_skeleton(tiny_config("gpt_oss").to_dict()).experts[0])
    assert (found.count, found.hidden, found.has_gate, found.has_bias) == (8, 32, True, True)
    assert found.intermediate != found.hidden
