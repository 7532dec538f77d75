"""Linear layers in every kind, on shapes that kernels do not like, and tensors that are refused."""

from __future__ import annotations

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.models.layers import linear as module
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import Linear, fetch, load_linear, vector
from tests.engine.models.open_decoder import native_kernel, plain_weights

ALLOWED = {"f32": 1e-6, "bf16": 6e-3}  # relative L2 error


class Tensors(dict[str, torch.Tensor]):
    """Weights from a dictionary."""

    def has(self, name: str) -> bool:
        return name in self

    def get(self, name: str) -> torch.Tensor:  # type: ignore[override]
        return self[name]


def relative(got: torch.Tensor, wanted: torch.Tensor) -> float:
    return float((got.double() - wanted).norm() / wanted.norm())


@pytest.mark.parametrize("kind", ALLOWED)
@pytest.mark.parametrize(("out", "cols"), [(48, 64), (5, 16), (7, 33), (1, 8), (130, 40)])
@pytest.mark.parametrize("tokens", [1, 3, 16, 17, 50])
def test_products_stay_close_to_float64(kind: module.Kind, out: int, cols: int, tokens: int) -> None:
    torch.manual_seed(out * cols + tokens)
    weight, bias, x = torch.randn(out, cols), torch.randn(out), torch.randn(tokens, cols)
    linear = Linear(weight, bias, WeightFormat(kind, kernel=native_kernel()))
    y = linear(x)
    assert y.shape == (tokens, out)
    assert y.dtype == torch.float32
    wanted = x.double() @ weight.double().T + bias.double()
    scale = max(1.0, float((x.double() @ weight.double().T).norm() / wanted.norm()))  # sums may cancel in tiny shapes
    assert relative(y, wanted) <= ALLOWED[kind] * scale


def test_bf16_holds_half_the_bytes() -> None:
    weight = torch.randn(64, 256)
    assert (
        Linear(weight, None, WeightFormat("bf16", kernel=native_kernel())).nbytes * 2
        == Linear(weight, None, plain_weights()).nbytes
    )


@pytest.mark.parametrize("kind", ALLOWED)
def test_rows_are_the_embedding_and_can_be_written_over(kind: module.Kind) -> None:
    weight = torch.randn(10, 16)
    linear = Linear(weight.clone(), None, WeightFormat(kind, kernel=native_kernel()))
    ids = torch.tensor([3, 3, 9])
    rows = linear.rows(ids)
    assert rows.dtype == torch.float32
    assert relative(rows, weight[ids].double()) <= ALLOWED[kind]
    rows.zero_()
    assert linear.rows(ids).abs().sum() > 0


def test_several_names_are_stacked_in_order() -> None:
    tensors = Tensors(
        {
            f"{n}.{part}": torch.randn(*shape)
            for n, r in (("a", 3), ("b", 5))
            for part, shape in (("weight", (r, 8)), ("bias", (r,)))
        }
    )
    x = torch.randn(4, 8)
    both = load_linear(tensors, "a", "b", dense=plain_weights(), bias=True)(x)
    parts = [load_linear(tensors, name, dense=plain_weights(), bias=True)(x) for name in "ab"]
    assert torch.allclose(both, torch.cat(parts, 1), atol=1e-6)


def test_block_scaled_float8_is_multiplied_out() -> None:
    weight = torch.randn(200, 300).to(torch.float8_e4m3fn)
    scales = torch.rand(2, 3) + 0.5
    tensors = Tensors({"w.weight": weight, "w.weight_scale_inv": scales})
    wanted = weight.float().clone()
    for r in range(2):
        for c in range(3):
            wanted[128 * r : 128 * (r + 1), 128 * c : 128 * (c + 1)] *= scales[r, c]
    assert relative(fetch(tensors, "w.weight").float(), wanted.double()) < 4e-3


def test_packed_integers_are_refused_with_a_sentence() -> None:
    with pytest.raises(UnderhillError, match="quantization") as caught:
        fetch(Tensors({"w.weight": torch.zeros(4, 4, dtype=torch.int32)}), "w.weight")
    assert caught.value.kind == Kind.UNSUPPORTED_MODEL


def test_vectors_are_flat_float32() -> None:
    assert vector(Tensors({"b": torch.ones(1, 5, dtype=torch.bfloat16)}), "b").shape == (5,)
