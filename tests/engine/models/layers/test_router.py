"""Every router against a plain float64 reading of its definition, token by token."""

from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.models.layers.router import Router, choose
from engine.models.spec import RouterSpec
from tests.engine.models.layers.router_by_hand import by_hand, softmax
from tests.engine.models.layers.test_weights import Tensors

SPECS = {
    "softmax": RouterSpec("g", 12, 3, "softmax"),
    "softmax renormalized": RouterSpec("g", 12, 4, "softmax", normalize=True),
    "softmax in groups": RouterSpec(
        "g", 12, 3, "softmax", groups=4, top_groups=2, group_score="max", scale=16.0, masked_score=0.0
    ),
    "chosen with a correction": RouterSpec(
        "g", 12, 3, "softmax", choice_bias="b", normalize=True, normalize_min=1e-12
    ),
    "topk_softmax": RouterSpec("g", 12, 3, "topk_softmax"),
    "sigmoid": RouterSpec("g", 12, 3, "sigmoid", choice_bias="b", normalize=True),
    "sigmoid in groups": RouterSpec(
        "g", 12, 4, "sigmoid", choice_bias="b", groups=4, top_groups=2, masked_score=-math.inf, normalize=True,
        normalize_eps=1e-20, scale=2.5,
    ),
    "sigmoid as it is": RouterSpec("g", 12, 4, "sigmoid", choice_bias="b", groups=2, top_groups=1,
                                   masked_score=-math.inf, scale=1.7),
    "sqrtsoftplus": RouterSpec("g", 12, 4, "sqrtsoftplus", choice_bias="b", normalize=True, scale=1.5),
    "sparsemixer": RouterSpec("g", 12, 2, "sparsemixer", jitter=0.01),
}  # fmt: skip


@pytest.mark.parametrize("name", SPECS)
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_choice_and_weights_are_the_definition(name: str, data: st.DataObject) -> None:
    spec = SPECS[name]
    generator = torch.Generator().manual_seed(data.draw(st.integers(0, 2**31)))
    size = data.draw(st.sampled_from([0.05, 1.0, 8.0]))
    logits = torch.randn(5, spec.experts, generator=generator) * size
    if spec.score == "sparsemixer":
        logits = logits + data.draw(st.sampled_from([0.0, 20.0]))  # far from 0, several logits are near the best
    bias = torch.randn(spec.experts, generator=generator) * 0.3 if spec.choice_bias else None
    ids, weights = choose(spec, logits.clone(), bias)
    assert ids.shape == weights.shape == (5, spec.top_k)
    assert ids.dtype == torch.int64
    for token in range(5):
        wanted = by_hand(spec, logits[token].double().tolist(), None if bias is None else bias.double().tolist())
        got = dict(zip(ids[token].tolist(), weights[token].tolist(), strict=True))
        assert got.keys() == wanted.keys()
        assert got == pytest.approx(wanted, rel=2e-5, abs=1e-7)


@pytest.mark.parametrize("score", ["softmax", "sqrtsoftplus"])
def test_experts_that_a_table_of_tokens_gives_are_only_weighed(score: Literal["softmax", "sqrtsoftplus"]) -> None:
    spec = RouterSpec("g", 6, 2, score, by_token="t", normalize=True, scale=2.0)
    table = torch.tensor([[4, 0], [1, 5], [3, 2]], dtype=torch.int32)
    tensors = Tensors({"g.weight": torch.randn(6, 8), "t": table})
    x, tokens = torch.randn(4, 8), torch.tensor([2, 0, 0, 1])
    ids, weights = Router(spec, tensors, 8)(x, tokens)
    assert torch.equal(ids, table[tokens].long())
    logits = x.double() @ tensors["g.weight"].double().T
    scores = logits.softmax(-1) if score == "softmax" else torch.nn.functional.softplus(logits).sqrt()
    chosen = scores.gather(-1, ids)
    assert torch.allclose(weights.double(), 2 * chosen / chosen.sum(-1, keepdim=True), rtol=1e-5)


def test_two_near_logits_share_the_first_weight_of_sparsemixer() -> None:
    logits = torch.tensor([[10.0, 9.95, 1.0, 0.0]])
    ids, weights = choose(RouterSpec("g", 4, 2, "sparsemixer", jitter=0.01), logits)
    assert ids.tolist() == [[0, 1]]
    assert weights[0].tolist() == pytest.approx([1 / (1 + math.exp(-0.05)), 1.0], rel=1e-5)


def test_logit_bias_takes_part_in_choice_and_weight() -> None:
    spec = RouterSpec("g", 4, 2, "topk_softmax", bias=True)
    tensors = Tensors({"g.weight": torch.zeros(4, 8), "g.bias": torch.tensor([0.0, 1.0, 3.0, -1.0])})
    ids, weights = Router(spec, tensors, 8)(torch.randn(3, 8))
    assert ids.tolist() == [[2, 1]] * 3
    assert weights[0].tolist() == pytest.approx(softmax([3.0, 1.0]), rel=1e-5)


def test_a_router_that_norms_for_itself_does_not_see_the_size_of_its_input() -> None:
    torch.manual_seed(0)
    spec = RouterSpec(
        "g", 6, 2, "softmax", normalize=True, input_norm_eps=1e-6, input_scale="s", expert_scale="e"
    )  # fmt: skip
    scale, per_expert = torch.rand(8) + 0.5, torch.rand(6) + 0.5
    tensors = Tensors({"g.weight": torch.randn(6, 8), "s": scale, "e": per_expert})
    router, x = Router(spec, tensors, 8), torch.randn(4, 8)
    ids, weights = router(x)
    again, same = router(x * 50)
    assert torch.equal(ids, again)
    assert torch.allclose(weights, same, atol=1e-5)
    normed = torch.rms_norm(x.double(), (8,), None, 1e-6) * scale.double() * 8**-0.5
    probs = (normed @ tensors["g.weight"].double().T).softmax(-1)
    wanted, order = probs.topk(2, -1)
    wanted = wanted / wanted.sum(-1, keepdim=True) * per_expert.double()[order]
    assert torch.equal(ids, order)
    assert torch.allclose(weights.double(), wanted, atol=1e-6)


def test_what_is_stored_as_bf16_is_held_so_and_chooses_the_same() -> None:
    spec = RouterSpec("r", 8, 3, "softmax")
    weight = torch.randn(8, 16).bfloat16()
    wide, half = (Router(spec, Tensors({"r.weight": held}), 16) for held in (weight.float(), weight))
    assert (wide.held.dtype, half.held.dtype) == (torch.float32, torch.bfloat16)
    x = torch.randn(5, 16)
    for one, other in zip(wide(x), half(x), strict=True):
        assert torch.equal(one, other)
