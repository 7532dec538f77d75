"""Differentiable top-k expert layer for CPUs: one matrix product per expert over its own rows.

Tokens are sorted by expert and each expert's rows are padded to a multiple of `ROW_BLOCK`, because oneDNN compiles
a kernel for every new matrix shape: unpadded, nearly every product of every step would be a new one.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

ROW_BLOCK = 64


@torch.compile(dynamic=False)
def _swiglu(gate_up: Tensor, width: int) -> Tensor:
    gate, up = gate_up[:, :width].float(), gate_up[:, width:].float()
    return (gate * torch.sigmoid(gate) * up).to(gate_up.dtype)


@torch.compile(dynamic=False)
def _swiglu_grad(gate_up: Tensor, grad: Tensor, width: int) -> Tensor:
    gate, up, grad = gate_up[:, :width].float(), gate_up[:, width:].float(), grad.float()
    sig = torch.sigmoid(gate)
    return torch.cat((grad * up * sig * (1 + gate * (1 - sig)), grad * gate * sig), 1).to(gate_up.dtype)


@torch.compile(dynamic=False)
def _combine(rows: Tensor, row_of: Tensor, weights: Tensor) -> Tensor:
    """[M, H] expert outputs, [N, K] where each token's rows lie, [N, K] gate weights -> [N, H]."""
    return (rows[row_of].float() * weights.unsqueeze(-1)).sum(1).to(rows.dtype)


@torch.compile(dynamic=False)
def _combine_grad(
    grad: Tensor, rows: Tensor, token_of: Tensor, row_weight: Tensor, row_of: Tensor
) -> tuple[Tensor, Tensor]:
    """Gradients of `_combine` for the rows [M, H] and for the weights [N, K]."""
    row_grad = (grad[token_of].float() * row_weight.unsqueeze(-1)).to(grad.dtype)
    weight_grad = (grad.unsqueeze(1).float() * rows[row_of].float()).sum(-1)
    return row_grad, weight_grad


@torch.compile(dynamic=False)
def _gather_sum(rows: Tensor, row_of: Tensor) -> Tensor:
    return rows[row_of].float().sum(1).to(rows.dtype)


class ExpertLayer(torch.autograd.Function):
    """x [N, H], gate weights [N, K], chosen experts [N, K], gate_up [E, H, 2F], down [E, F, H] -> [N, H]."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weights: Tensor, chosen: Tensor, gate_up: Tensor, down: Tensor) -> Tensor:
        experts, width, _ = down.shape
        top_k, flat = chosen.shape[1], chosen.reshape(-1)
        counts = torch.bincount(flat, minlength=experts)
        padded = (counts + ROW_BLOCK - 1) // ROW_BLOCK * ROW_BLOCK
        first_row = torch.cumsum(padded, 0) - padded
        first_entry = torch.cumsum(counts, 0) - counts
        order = torch.argsort(flat, stable=True)
        by_expert = flat[order]
        row = first_row[by_expert] + torch.arange(flat.numel()) - first_entry[by_expert]
        total = flat.numel() + experts * ROW_BLOCK  # constant, so that compiled code sees one shape
        token_of = torch.zeros(total, dtype=torch.long)
        token_of[row] = order // top_k
        row_weight = torch.zeros(total)
        row_weight[row] = weights.detach().reshape(-1)[order]
        row_of = torch.empty_like(flat)
        row_of[order] = row
        row_of = row_of.view_as(chosen)
        spans = [
            (e, slice(a, a + n)) for e, (a, n) in enumerate(zip(first_row.tolist(), padded.tolist(), strict=True)) if n
        ]

        inputs = x.index_select(0, token_of)
        hidden = x.new_empty(total, 2 * width)
        for e, span in spans:
            torch.mm(inputs[span], gate_up[e], out=hidden[span])
        active = _swiglu(hidden, width)
        outputs = x.new_empty(total, x.shape[1])
        for e, span in spans:
            torch.mm(active[span], down[e], out=outputs[span])
        ctx.save_for_backward(inputs, gate_up, down, hidden, active, outputs, token_of, row_weight, row_of)
        ctx.spans = spans
        return _combine(outputs, row_of, weights)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        inputs, gate_up, down, hidden, active, outputs, token_of, row_weight, row_of = ctx.saved_tensors
        grad_out, grad_weights = _combine_grad(grad.contiguous(), outputs, token_of, row_weight, row_of)
        grad_active = torch.empty_like(active)
        grad_down, grad_gate_up = torch.zeros_like(down), torch.zeros_like(gate_up)
        for e, span in ctx.spans:
            torch.mm(grad_out[span], down[e].t(), out=grad_active[span])
            torch.mm(active[span].t(), grad_out[span], out=grad_down[e])
        grad_hidden = _swiglu_grad(hidden, grad_active, down.shape[1])
        grad_inputs = torch.empty_like(inputs)
        for e, span in ctx.spans:
            torch.mm(grad_hidden[span], gate_up[e].t(), out=grad_inputs[span])
            torch.mm(inputs[span].t(), grad_hidden[span], out=grad_gate_up[e])
        return _gather_sum(grad_inputs, row_of), grad_weights, None, grad_gate_up, grad_down
