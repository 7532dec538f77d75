"""Queries, keys and values of many tokens, finished natively, against torch in float64 and against single tokens."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.prefill_attention import finish_heads
from engine.native import op_graph
from engine.native.op_graph import Heads
from tests.engine.kernels.test_op_graph import MANY, MakeKernel, noise, run_ops, tables


def turned(x: Tensor, cosines: Tensor, sines: Tensor, interleaved: bool) -> Tensor:
    """x [T, heads, dim], the first 2 * half of every head by the angles of its token [T, half]."""
    half = cosines.shape[-1]
    cos, sin = cosines[:, None], sines[:, None]
    at = (slice(0, 2 * half, 2), slice(1, 2 * half, 2)) if interleaved else (slice(0, half), slice(half, 2 * half))
    a, b, out = x[..., at[0]], x[..., at[1]], x.clone()
    out[..., at[0]], out[..., at[1]] = a * cos - b * sin, b * cos + a * sin
    return out


def normed(x: Tensor, scale: Tensor | None, each: bool) -> Tensor:
    rows = x if each else x.flatten(1)
    rows = rows / (rows.square().mean(-1, keepdim=True) + 1e-3).sqrt()
    return (rows if scale is None else rows * scale).reshape(x.shape)


def wanted(spec: Heads, x: Tensor, values: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Queries, keys and values [T, heads, dim] in float64."""
    shape = (len(x), -1, spec.dim)
    both = x[:, : (spec.heads + spec.kv_heads) * spec.dim].double().view(shape)
    q, k = both[:, : spec.heads], both[:, spec.heads :]
    v = k if spec.reuse_keys else values.double().view(shape)
    scales = [None if s is None else s.double() for s in (spec.q_scale, spec.k_scale)]

    def norms(q: Tensor, k: Tensor) -> tuple[Tensor, Tensor]:
        if spec.norm is None:
            return q, k
        return normed(q, scales[0], spec.norm == "head"), normed(k, scales[1], spec.norm == "head")

    if not spec.norm_last:
        q, k = norms(q, k)
    if spec.clip is not None:
        q, k, v = (part.clamp(-spec.clip, spec.clip) for part in (q, k, v))
    if spec.rope is not None:
        angles = [part.double() for part in spec.rope]
        q, k = turned(q, *angles, spec.interleaved), turned(k, *angles, spec.interleaved)
    if spec.norm_last:
        q, k = norms(q, k)
    return q, k, normed(v, None, True) if spec.norm_values else v


@MANY
@given(
    tokens=st.sampled_from([1, 2, 8, 9, 33]), heads=st.sampled_from([(2, 1), (4, 2)]),
    dim=st.sampled_from([4, 12, 16, 66]), norm=st.sampled_from([None, "head", "full"]), last=st.booleans(),
    clip=st.sampled_from([None, 0.7]), half=st.sampled_from([0, 2, None]), interleaved=st.booleans(),
    norm_values=st.booleans(), reuse=st.booleans(), beyond=st.sampled_from([0, 5]),
)  # fmt: skip
def test_as_in_float64_and_as_token_by_token(
    make_kernel: MakeKernel, tokens: int, heads: tuple[int, int], dim: int, norm: str | None, last: bool,
    clip: float | None, half: int | None, interleaved: bool, norm_values: bool, reuse: bool, beyond: int,
) -> None:  # fmt: skip
    number, kv = heads
    half = dim // 2 if half is None else half
    angles = 3 * noise(tokens, half, seed=4)
    each = norm == "head"
    spec = Heads(
        heads=number,
        kv_heads=kv,
        dim=dim,
        norm=norm,
        eps=1e-3,
        norm_last=last,
        q_scale=noise(dim if each else number * dim, seed=2) if norm else None,
        k_scale=noise(dim if each else kv * dim, seed=3) if norm else None,
        clip=clip,
        rope=(angles.cos(), angles.sin()) if half else None,
        interleaved=interleaved,
        norm_values=norm_values,
        reuse_keys=reuse,
    )
    width = (number + 2 * kv) * dim
    x = noise(tokens, width + beyond)  # what is beyond is not touched: gates
    loose = noise(tokens, kv * dim, seed=1)
    given_x, given_loose = x.clone(), loose.clone()
    values = loose if reuse else x[:, (number + kv) * dim : width]
    q, k, v = wanted(spec, x, values)
    kernel = make_kernel()
    finish_heads(kernel, spec, x, values)
    got = (x[:, : number * dim], x[:, number * dim : (number + kv) * dim], values)
    for found, exact in zip(got, (q, k, v), strict=True):
        assert (found.view(exact.shape) - exact).abs().max() <= 1e-5 * exact.abs().max().clamp_min(1)
    assert torch.equal(x[:, width:], given_x[:, width:])

    row, own = given_x[-1, :width].contiguous(), given_loose[-1].contiguous()
    target = own if reuse else row[(number + kv) * dim :]
    last_token = None if spec.rope is None else tuple(part[-1].contiguous() for part in spec.rope)
    rows = torch.zeros(2, kv, 1, dim)
    kept, states = tables([rows[0]], [rows[1]])
    op = op_graph.heads(replace(spec, rope=last_token), row, target, 0)  # type: ignore[arg-type]
    run_ops(kernel, op, states=states)
    assert kept
    assert torch.equal(x[-1, : (number + kv) * dim], row[: (number + kv) * dim])
    assert torch.equal(values[-1], target)


def test_many_threads_do_the_same(make_kernel: MakeKernel) -> None:
    angles = noise(500, 32)
    spec = Heads(
        heads=8,
        kv_heads=2,
        dim=64,
        norm="head",
        eps=1e-6,
        norm_last=False,
        q_scale=noise(64),
        k_scale=noise(64, seed=1),
        clip=None,
        rope=(angles.cos(), angles.sin()),
    )
    found = []
    for threads in (1, 3):
        x = noise(500, 12 * 64)
        finish_heads(make_kernel(threads), spec, x, x[:, 10 * 64 :])
        found.append(x)
    assert torch.equal(*found)


@pytest.mark.parametrize(
    ("spec", "x", "values", "said"),
    [
        (Heads(heads=2, kv_heads=1, dim=4), torch.zeros(3, 11), torch.zeros(3, 4), "x is"),
        (Heads(heads=2, kv_heads=1, dim=4), torch.zeros(3, 12), torch.zeros(2, 4), "values is"),
        (Heads(heads=2, kv_heads=1, dim=4), torch.zeros(3, 12, dtype=torch.float64), torch.zeros(3, 4), "x is"),
        (Heads(heads=2, kv_heads=1, dim=4), torch.zeros(12, 3).T, torch.zeros(3, 4), "x is"),
        (
            Heads(heads=2, kv_heads=1, dim=4, norm="head", q_scale=torch.ones(4)),
            torch.zeros(3, 12),
            torch.zeros(3, 4),
            "k_scale is missing",
        ),
        (
            Heads(heads=2, kv_heads=1, dim=4, rope=(torch.ones(3, 2), torch.ones(2, 2))),
            torch.zeros(3, 12),
            torch.zeros(3, 4),
            "sines",
        ),
        (
            Heads(heads=2, kv_heads=1, dim=4, rope=(torch.ones(3, 3),) * 2),
            torch.zeros(3, 12),
            torch.zeros(3, 4),
            "cannot be turned",
        ),
    ],
)
def test_what_does_not_fit_is_refused(
    make_kernel: MakeKernel, spec: Heads, x: Tensor, values: Tensor, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        finish_heads(make_kernel(), spec, x, values)
