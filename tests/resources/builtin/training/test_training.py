"""The training code: gradients, export and resuming, on a model small enough for a test."""

from __future__ import annotations

from pathlib import Path
from threading import Barrier, Thread

import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor
from training.attention import Attention
from training.experts import ExpertLayer
from training.export import config, tensors, weights
from training.muon import orthogonalize
from training.run import Run
from training.saved import part, read
from training.shape import Shape
from training.train import rate
from training.workers import Workers
from transformers import AutoConfig, AutoModelForCausalLM

TINY = Shape(vocab=64, hidden=64, layers=2, heads=2, kv_heads=1, head_dim=32, experts=6, top_k=2, width=64, context=64)

pytestmark = pytest.mark.usefixtures("uncompiled")


def _reference(x: Tensor, weights: Tensor, chosen: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
    """The expert layer token by token."""
    rows = []
    for n in range(len(x)):
        row = torch.zeros_like(x[0])
        for k, e in enumerate(chosen[n].tolist()):
            gate, up = (x[n] @ gate_up[e]).chunk(2)
            row = row + weights[n, k] * ((torch.nn.functional.silu(gate) * up) @ down[e])
        rows.append(row)
    return torch.stack(rows)


def test_expert_layer_and_its_gradients() -> None:
    torch.manual_seed(0)
    chosen = torch.stack([torch.randperm(5)[:2] for _ in range(9)])  # expert 5 gets no token
    leaves = [torch.randn(9, 8), torch.rand(9, 2), torch.randn(6, 8, 8), torch.randn(6, 4, 8)]
    for t in leaves:
        t.requires_grad_()
    x, weights, gate_up, down = leaves
    ours = ExpertLayer.apply(x, weights, chosen, gate_up, down)
    theirs = _reference(x, weights, chosen, gate_up, down)
    torch.testing.assert_close(ours, theirs, atol=1e-4, rtol=1e-4)
    grad = torch.randn_like(theirs)
    for mine, expected in zip(
        torch.autograd.grad(ours, leaves, grad), torch.autograd.grad(theirs, leaves, grad), strict=True
    ):
        torch.testing.assert_close(mine, expected, atol=1e-4, rtol=1e-4)


def test_attention_and_its_gradients() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, n, 8, requires_grad=True) for n in (10, 5, 5))  # two query heads a group, five tokens
    mask = torch.full((5, 5), float("-inf")).triu(1).repeat(2, 1)
    ours = Attention.apply(q, k, v, mask, 0.3)
    theirs = torch.softmax(q @ k.transpose(-1, -2) * 0.3 + mask, -1) @ v
    torch.testing.assert_close(ours, theirs)
    for mine, expected in zip(
        torch.autograd.grad(ours.sum(), (q, k, v)), torch.autograd.grad(theirs.sum(), (q, k, v)), strict=True
    ):
        torch.testing.assert_close(mine, expected, atol=1e-5, rtol=1e-5)


def test_orthogonalized_matrices_have_singular_values_near_one() -> None:
    torch.manual_seed(0)
    for shape in ((3, 16, 40), (2, 40, 16)):
        values = torch.linalg.svdvals(orthogonalize(torch.randn(shape)).float())
        assert values.min() > 0.5
        assert values.max() < 1.4


def test_learning_rate_warms_up_stays_and_decays() -> None:
    assert rate(0, 0.0) < 0.05
    assert rate(1000, 0.1) == rate(1000, 0.39) == 1.0
    assert 0.45 < rate(1000, 0.7) < 0.55
    assert 0 < rate(1000, 0.999) < 0.05


def _train(run: Run, steps: int) -> float:
    torch.manual_seed(run.counters["step"])
    ids = torch.arange(33).repeat(2, 1)
    weights = torch.full((2, 32), 1 / 64)
    value = 0.0
    for _ in range(steps):
        losses = run.model(ids[:, :-1], ids[:, 1:], weights)
        (losses.weighted + 0.06 * losses.balance).backward()
        run.update(1.0)
        run.counters["step"] += 1
        value = float(losses.weighted.detach())
    return value


def test_training_learns_and_goes_on_where_it_was_saved(tmp_path: Path) -> None:
    torch.manual_seed(0)
    run = Run(tmp_path, 0.0, TINY)
    before = _train(run, 1)
    after = _train(run, 8)
    assert after < before - 0.5
    run.save()
    torch.manual_seed(1)  # a fresh model would begin elsewhere
    resumed = Run(tmp_path, 0.0, TINY)
    assert resumed.counters["step"] == 9
    assert _train(resumed, 2) == pytest.approx(_train(run, 2), abs=1e-4)


def test_exported_checkpoint_computes_the_same(tmp_path: Path) -> None:
    torch.manual_seed(0)
    run = Run(tmp_path, 0.0, TINY)
    _train(run, 5)
    run.save()
    state, _ = read(tmp_path)
    save_file(tensors(part(state, "model."), TINY), tmp_path / "model.safetensors", metadata={"format": "pt"})
    AutoConfig.for_model(**config(TINY)).save_pretrained(tmp_path)
    loaded = AutoModelForCausalLM.from_pretrained(tmp_path, dtype=torch.float32)
    assert type(loaded).__name__ == "Qwen3MoeForCausalLM"
    ids = torch.randint(0, 64, (2, 24))
    with torch.no_grad():
        ours = run.model(ids[:, :-1], ids[:, 1:], torch.ones(2, 23)).per_token
        logits = loaded(ids[:, :-1]).logits.flatten(0, 1)
    theirs = torch.nn.functional.cross_entropy(logits, ids[:, 1:].flatten(), reduction="none")
    # bfloat16 against float32; a router may choose differently on a near tie
    assert (ours - theirs).abs().median() < 0.02


def test_a_run_can_begin_with_an_exported_checkpoint(tmp_path: Path) -> None:
    torch.manual_seed(0)
    before = Run(tmp_path, 0.0, TINY).model.state_dict()
    save_file(tensors(before, TINY), tmp_path / "model.safetensors")
    torch.manual_seed(1)
    found = Run(tmp_path / "new", 0.0, TINY, begin=tmp_path).model.state_dict()
    assert found.keys() == before.keys() == weights(tmp_path, TINY).keys()
    for name, t in found.items():
        assert torch.equal(t, before[name].bfloat16().float()), name


def _step(run: Run, ids: Tensor) -> None:
    losses = run.model(ids[:, :-1], ids[:, 1:], torch.full((len(ids), ids.shape[1] - 1), 1 / (len(ids) * 16)))
    losses.weighted.backward()
    run.update(1.0)


@pytest.mark.parametrize("muon_experts", [True, False])
def test_two_workers_do_what_one_does_with_the_whole_batch(tmp_path: Path, muon_experts: bool) -> None:
    def run(workers: Workers) -> Run:
        torch.manual_seed(0)
        return Run(tmp_path, 0.0, TINY, compute=torch.float32, workers=workers, muon_experts=muon_experts)

    torch.manual_seed(2)
    ids = torch.randint(0, 64, (4, 17))
    alone = run(Workers())
    size = sum(p.numel() for p in alone.model.parameters())
    memory, gate = torch.zeros(2, size), Barrier(2, timeout=60)
    both = [run(Workers(rank, 2, memory, gate)) for rank in range(2)]
    threads = [Thread(target=_step, args=(one, ids[2 * i : 2 * i + 2])) for i, one in enumerate(both)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    _step(alone, ids)
    for name, t in alone.model.state_dict().items():
        first, second = (one.model.state_dict()[name] for one in both)
        assert torch.equal(first, second), name
        torch.testing.assert_close(first, t, atol=2e-3, rtol=1e-2)


def test_tokens_without_a_weight_have_no_loss_and_cost_nothing() -> None:
    torch.manual_seed(0)
    run = Run(Path("nowhere"), 0.0, TINY, compute=torch.float32)
    ids = torch.randint(0, 64, (2, 17))
    some = torch.zeros(2, 16)
    some[:, 5:9] = 1 / 8
    whole = run.model(ids[:, :-1], ids[:, 1:], torch.ones(2, 16)).per_token.view(2, 16)
    part_of_it = run.model(ids[:, :-1], ids[:, 1:], some)
    torch.testing.assert_close(part_of_it.weighted, whole[:, 5:9].mean())
