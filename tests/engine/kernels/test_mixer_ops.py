"""Latent attention, Gated DeltaNet and short convolutions of one token: native ops against the torch functions."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.dense import PackedMatrix, raw_view
from engine.models.layers.conv import causal_conv
from engine.models.layers.deltanet import delta_step
from engine.models.layers.rope import rope_table
from engine.models.spec import RopeSpec
from engine.native import mixer_ops
from engine.native.library import MatrixView
from engine.native.memory import Arena
from engine.native.mixer_ops import Delta, Latent
from tests.engine.kernels.test_op_graph import MANY, MakeKernel, close, cut, noise, run_ops, tables


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize(("heads", "rows", "cols"), [(1, 16, 8), (3, 10, 24), (4, 33, 7), (20, 128, 64)])
def test_every_head_meets_its_own_matrix(
    make_kernel: MakeKernel, dtype: torch.dtype, heads: int, rows: int, cols: int
) -> None:
    weight = noise(heads, rows, cols).to(dtype)
    x, y = noise(heads, cols + 5, seed=1), torch.full((heads, rows + 3), 7.0)
    view = raw_view(weight.flatten(0, 1), None)
    run_ops(make_kernel(), mixer_ops.each(view, heads, x.view(-1), cols + 5, y.view(-1), rows + 3))
    assert close(y[:, :rows], torch.bmm(weight.double(), x[:, :cols, None].double()).squeeze(2))
    assert (y[:, rows:] == 7).all()


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("bits", [4, 8])
def test_every_head_meets_its_own_tiles(make_kernel: MakeKernel, bits: int, exact: bool) -> None:
    heads, rows, cols = 5, 48, 72
    kernel = make_kernel(exact=exact)
    packed = PackedMatrix([noise(heads * rows, cols)], bits, kernel, Arena())
    x, y = noise(heads, cols, seed=1), torch.empty(heads, rows)
    run_ops(kernel, mixer_ops.each(packed.view, heads, x.view(-1), cols, y.view(-1), rows))
    weight = packed.rows(torch.arange(heads * rows)).double().view(heads, rows, cols)
    wanted = torch.bmm(weight, x[:, :, None].double()).squeeze(2)
    assert (y - wanted).norm() <= (1e-5 if exact else 1e-2) * wanted.norm()


@pytest.mark.parametrize("interleaved", [False, True])
@pytest.mark.parametrize("half", [False, True])
@pytest.mark.parametrize("position", [0, 4, 5])
def test_a_latent_row_goes_to_the_cache(make_kernel: MakeKernel, interleaved: bool, half: bool, position: int) -> None:
    spec, dtype = Latent(3, 5, 6, 9), torch.bfloat16 if half else torch.float32
    queries, row, scale = noise(3, 11), noise(15, seed=1), noise(9, seed=2)
    rope = rope_table(RopeSpec(6, 100.0, interleaved), 7, 8, 8)
    first = slice(0, None, 2) if interleaved else slice(0, 3)
    angles = (rope.cos[0, 0, first].contiguous(), -rope.sin[0, 0, first])
    cache = [torch.zeros(1, 5, 15, dtype=dtype), torch.zeros(1, 5, 15, dtype=dtype)]
    kept, states = tables(cache)
    wanted = torch.cat((torch.rms_norm(row[:9], (9,), scale, 1e-3), rope.apply(row[None, None, 9:])[0, 0]))
    turned = torch.cat((queries[:, :5], rope.apply(queries[None, :, 5:])[0]), 1)
    flat = queries.view(-1)
    op = mixer_ops.latent(spec, flat, row, scale=scale, eps=1e-3, angles=angles, interleaved=interleaved, state=0)
    run_ops(make_kernel(), op, position=position, states=states)
    assert kept
    rows = torch.cat(cache, 1)[0]
    assert torch.allclose(rows[position].float(), wanted.to(dtype).float(), rtol=1e-2 if half else 1e-5, atol=1e-6)
    assert rows.count_nonzero(1).tolist() == [15 if at == position else 0 for at in range(10)]
    assert close(queries, turned)


def attend(
    kernel: MakeKernel, spec: Latent, rows: Tensor, length: int, sizes: tuple[int, ...] = (), threads: int = 2
) -> tuple[Tensor, Tensor]:
    """What the op finds in the first `length` of rows [n, width], and what float64 does."""
    width = spec.nope + spec.rope
    scale = (spec.rank + spec.rope) ** -0.5
    in_latent, queries = noise(spec.heads, spec.rank) * 3, noise(spec.heads, width, seed=3)
    out = torch.empty(spec.heads * spec.rank)
    owners = cut(rows[None], sizes)
    kept, states = tables(owners)
    room = torch.full((mixer_ops.latent_room(spec),), float("nan"))
    both = in_latent.view(-1), queries.view(-1)
    op = mixer_ops.latent_attend(spec, *both, out=out, room=room, scale=scale, state=0)
    run_ops(kernel(threads), op, position=length - 1, states=states)
    assert kept
    query = torch.cat((in_latent, queries[:, spec.nope :]), 1).double()
    seen = rows[:length].double()
    return out.view(spec.heads, -1), (query @ seen.T * scale).softmax(1) @ seen[:, : spec.rank]


@MANY
@given(
    heads=st.sampled_from([1, 4, 16, 20, 33, 128]), rank=st.sampled_from([5, 16, 48, 512]),
    rope=st.sampled_from([2, 16, 64]), length=st.sampled_from([1, 2, 23, 65, 300, 1100]), half=st.booleans(),
    sizes=st.sampled_from([(), (1,), (7, 50), (256, 256)]),
)  # fmt: skip
def test_latent_attention(
    make_kernel: MakeKernel, heads: int, rank: int, rope: int, length: int, half: bool, sizes: tuple[int, ...]
) -> None:
    rows = noise(length, rank + rope, seed=1).to(torch.bfloat16 if half else torch.float32)
    out, wanted = attend(make_kernel, Latent(heads, 3, rope, rank), rows, length, sizes)
    assert close(out, wanted)


def test_latent_attention_does_not_depend_on_the_threads(make_kernel: MakeKernel) -> None:
    spec, rows = Latent(20, 8, 8, 32), noise(3000, 40, seed=1)
    outs = [attend(make_kernel, spec, rows, 3000, threads=threads)[0] for threads in (1, 2, 3)]
    assert torch.equal(outs[0], outs[1])
    assert torch.equal(outs[0], outs[2])


def test_one_huge_latent_score_takes_everything_and_nan_is_never_hidden(make_kernel: MakeKernel) -> None:
    spec, rows = Latent(2, 4, 8, 16), noise(200, 24, seed=1)
    rows[150] *= 1e4
    out, wanted = attend(make_kernel, spec, rows, 200)
    assert close(out, wanted)
    rows[150, 3] = float("nan")
    assert attend(make_kernel, spec, rows, 200)[0].isnan().all()
    assert not attend(make_kernel, spec, rows, 150)[0].isnan().any()


@pytest.mark.parametrize(
    ("k_heads", "v_heads", "k_dim", "v_dim", "kernel"),
    [(2, 4, 8, 6, 4), (2, 2, 8, 16, 4), (4, 8, 128, 128, 4), (3, 9, 24, 72, 2), (1, 2, 7, 37, 3)],
)
def test_delta_steps(make_kernel: MakeKernel, k_heads: int, v_heads: int, k_dim: int, v_dim: int, kernel: int) -> None:
    keys, values = k_heads * k_dim, v_heads * v_dim
    channels = 2 * keys + values
    spec = Delta(
        k_heads, v_heads, k_dim, v_dim, kernel, qk_eps=1e-6, norm_eps=1e-5, taps=noise(kernel, channels) * 0.5,
        decay=-noise(v_heads, seed=1).abs(), dt_bias=noise(v_heads, seed=2) * 10, norm=noise(v_dim, seed=3),
    )  # fmt: skip
    history, memory = noise(kernel - 1, channels, seed=4), noise(v_heads, k_dim, v_dim, seed=5)
    past, known = history.clone(), memory.clone()
    for token in range(20):
        mixed, rates = noise(channels + values, seed=10 + token), noise(2 * v_heads, seed=40 + token) * 3
        out = torch.empty(values)
        op = mixer_ops.delta(spec, mixed, rates, out, 0)
        run_ops(make_kernel(), op, states=2 * [history.data_ptr(), memory.data_ptr()])

        q, k, v = F.silu(causal_conv(mixed[None, :channels], past, spec.taps)).split((keys, keys, values), 1)
        decay = spec.decay * F.softplus(rates[v_heads:] + spec.dt_bias)
        wanted = delta_step(
            _unit(q, spec) * k_dim**-0.5,
            _unit(k, spec),
            v.view(v_heads, v_dim),
            decay,
            rates[:v_heads].sigmoid(),
            known,
        )
        wanted = torch.rms_norm(wanted, (v_dim,), spec.norm, 1e-5).flatten() * F.silu(mixed[channels:])
        assert close(out, wanted)
        assert close(memory, known)
        assert torch.equal(history, past)


def _unit(x: Tensor, spec: Delta) -> Tensor:
    heads = x.view(spec.k_heads, spec.k_dim)
    return (heads / (heads.pow(2).sum(1, keepdim=True) + 1e-6).sqrt()).repeat_interleave(
        spec.v_heads // spec.k_heads, 0
    )


def test_delta_does_not_depend_on_the_threads(make_kernel: MakeKernel) -> None:
    found = []
    for threads in (1, 2, 3):
        spec = Delta(
            8, 16, 32, 64, 4, qk_eps=1e-6, norm_eps=1e-5, taps=noise(4, 1536),
            decay=-noise(16).abs(), dt_bias=noise(16, seed=2), norm=noise(64, seed=3),
        )  # fmt: skip
        history, memory, out = noise(3, 1536), noise(16, 32, 64), torch.empty(1024)
        op = mixer_ops.delta(spec, noise(2560, seed=1), noise(32), out, 0)
        run_ops(make_kernel(threads), op, states=2 * [history.data_ptr(), memory.data_ptr()])
        found.append(torch.cat((out, memory.flatten())))
    assert torch.equal(found[0], found[1])
    assert torch.equal(found[0], found[2])


@pytest.mark.parametrize("biased", [False, True])
@pytest.mark.parametrize(("channels", "kernel"), [(64, 3), (33, 4), (16, 2)])
def test_conv_steps(make_kernel: MakeKernel, channels: int, kernel: int, biased: bool) -> None:
    taps, bias = noise(kernel, channels), noise(channels, seed=1) if biased else None
    history = noise(kernel - 1, channels, seed=2)
    past = history.clone()
    for token in range(20):
        mixed, out = noise(3 * channels, seed=10 + token), torch.empty(channels)
        before, after, value = mixed.clone().chunk(3)
        run_ops(make_kernel(), mixer_ops.conv(mixed, taps, bias, out, 0), states=2 * [history.data_ptr()])
        wanted = causal_conv((before * value)[None], past, taps, bias)[0] * after
        assert close(out, wanted)
        assert torch.equal(history, past)


def test_what_does_not_fit_is_refused() -> None:
    wide = Latent(2, 4, 64, 600)
    room = torch.empty(mixer_ops.latent_room(wide))
    with pytest.raises(ValueError, match="664"):
        mixer_ops.latent_attend(
            wide, torch.empty(1200), torch.empty(136), out=torch.empty(1200), room=room, scale=1.0, state=0
        )
    with pytest.raises(ValueError, match="too few"):
        mixer_ops.each(raw_view(torch.empty(6, 4), None), 3, torch.empty(10), 4, torch.empty(6), 2)
    with pytest.raises(ValueError, match="whole tiles"):
        mixer_ops.each(MatrixView(rows=40, cols=64, kind=2), 2, torch.empty(128), 64, torch.empty(40), 20)
    one = torch.empty(1)
    spec = Delta(3, 4, 8, 8, 4, qk_eps=0.0, norm_eps=0.0, taps=one, decay=one, dt_bias=one, norm=one)
    with pytest.raises(ValueError, match="on 3"):
        mixer_ops.delta(spec, one, one, one, 0)
