"""The gated delta rule: both forms against the definition in float64, and against transformers' torch path."""

from __future__ import annotations

import pytest
import torch
from torch.nn import functional as F
from transformers.models.qwen3_next import modeling_qwen3_next as oracle

from engine.models.layers.deltanet import delta_chunks, delta_step


def _case(tokens: int, heads: int = 3, dk: int = 8, dv: int = 5, seed: int = 0):
    g = torch.Generator().manual_seed(seed)
    q = F.normalize(torch.randn(tokens, heads, dk, generator=g), dim=-1)
    k = F.normalize(torch.randn(tokens, heads, dk, generator=g), dim=-1)
    v = torch.randn(tokens, heads, dv, generator=g)
    decay = -torch.rand(tokens, heads, generator=g) * 2
    beta = torch.rand(tokens, heads, generator=g)
    state = torch.randn(heads, dk, dv, generator=g)
    return q, k, v, decay, beta, state


def _definition(q, k, v, g, beta, state):
    """The three lines of the module's docstring, token by token, in float64."""
    q, k, v, g, beta, state = (t.double() for t in (q, k, v, g, beta, state))
    outs = []
    for t in range(q.shape[0]):
        state = state * g[t].exp()[:, None, None]
        delta = beta[t][:, None] * (v[t] - torch.einsum("hk,hkv->hv", k[t], state))
        state = state + torch.einsum("hk,hv->hkv", k[t], delta)
        outs.append(torch.einsum("hk,hkv->hv", q[t], state))
    return torch.stack(outs), state


def _steps(q, k, v, g, beta, state):
    return torch.stack([delta_step(q[t], k[t], v[t], g[t], beta[t], state) for t in range(q.shape[0])])


def test_steps_follow_the_definition():
    *inputs, state = _case(12)
    want, want_state = _definition(*inputs, state)
    torch.testing.assert_close(_steps(*inputs, state).double(), want, rtol=0, atol=2e-6)
    torch.testing.assert_close(state.double(), want_state, rtol=0, atol=2e-6)


@pytest.mark.parametrize(("tokens", "chunk"), [(1, 64), (7, 64), (64, 64), (150, 64), (20, 6), (5, 1)])
def test_chunks_follow_the_definition_whatever_the_chunk(tokens, chunk):
    *inputs, state = _case(tokens)
    want, want_state = _definition(*inputs, state)
    got = delta_chunks(*inputs, state, chunk=chunk)
    torch.testing.assert_close(got.double(), want, rtol=0, atol=5e-6)
    torch.testing.assert_close(state.double(), want_state, rtol=0, atol=5e-6)


def test_chunks_survive_a_decay_that_underflows():
    *inputs, state = _case(80)
    inputs[3] = inputs[3] * 200  # exp(g) reaches 0 within a few tokens
    want, _ = _definition(*inputs, state)
    torch.testing.assert_close(delta_chunks(*inputs, state).double(), want, rtol=0, atol=5e-6)


def test_chunks_equal_the_torch_path_of_transformers():
    q, k, v, g, beta, state = _case(100, dk=16, dv=16, seed=3)
    want, want_state = oracle.torch_chunk_gated_delta_rule(
        q[None], k[None], v[None], g[None], beta[None], initial_state=state[None].clone(), output_final_state=True
    )
    got = delta_chunks(q * 16**-0.5, k, v, g, beta, state)  # transformers scales queries inside
    torch.testing.assert_close(got, want[0], rtol=0, atol=2e-6)
    torch.testing.assert_close(state, want_state[0], rtol=0, atol=2e-6)
