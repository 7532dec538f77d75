"""Every op of the graph, on every instruction set, against the same arithmetic in torch."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor

from engine.kernels.dense import raw_view
from engine.kernels.native import NativeKernel
from engine.models.layers.router import routing
from engine.models.spec import RouterSpec
from engine.native import op_graph, route_op
from engine.native.kv_rows import BITS, pack_rows, row_width, unpack_rows
from engine.native.op_graph import STATES, GraphStep, Heads, KvRows, Op, OpGraph
from tests.engine.models.layers.router_by_hand import by_hand

MakeKernel = Callable[..., NativeKernel]
MANY = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
WIDTHS = st.sampled_from([1, 7, 16, 48, 131])


def run_ops(kernel: NativeKernel, *ops: Op, position: int = 0, states: list[int] | None = None) -> None:
    step = GraphStep(1)
    states = states or []
    step.set(position, states + [0] * (STATES - len(states)))
    kernel.run_graph(OpGraph(ops), step)


def close(got: Tensor, wanted: Tensor) -> bool:
    """Within 1e-5 of the largest."""
    wanted = wanted.float()
    return bool((got - wanted).abs().max() <= 1e-5 * wanted.abs().max().clamp_min(1e-3))


def noise(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@MANY
@given(width=WIDTHS, rows=st.integers(1, 3), scaled=st.booleans(), layer=st.booleans(), in_place=st.booleans())
def test_norm(make_kernel: MakeKernel, width: int, rows: int, scaled: bool, layer: bool, in_place: bool) -> None:
    x, weight, bias = noise(rows, width), noise(width, seed=1), noise(width, seed=2)
    if layer:
        wanted = F.layer_norm(x.double(), (width,), weight.double(), bias.double(), 1e-3)
    else:
        wanted = torch.rms_norm(x.double(), (width,), weight.double() if scaled else None, 1e-3)
    out = x if in_place else torch.empty_like(x)
    scale, shift = weight if scaled or layer else None, bias if layer else None
    run_ops(make_kernel(), op_graph.norm(x.view(-1), out.view(-1), width, 1e-3, scale, shift))
    assert close(out, wanted)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_linear(make_kernel: MakeKernel, dtype: torch.dtype) -> None:
    weight, bias, x, y = noise(70, 48).to(dtype), noise(70, seed=1), noise(48, seed=2), torch.empty(70)
    run_ops(make_kernel(), op_graph.linear(raw_view(weight, bias), x, y))
    assert close(y, F.linear(x.double(), weight.double(), bias.double()))


def test_small_ops_follow_each_other(make_kernel: MakeKernel) -> None:
    x, y, gates, one = noise(37), noise(37, seed=1), noise(37, seed=2), noise(1, seed=3)
    wanted = torch.tanh(((x + 0.3 * y) * gates.sigmoid() * 1.7 * one.sigmoid()) / 2.0) * 2.0
    run_ops(
        make_kernel(), op_graph.add(x, y, 0.3), op_graph.gate(x, gates), op_graph.scale(x, 1.7), op_graph.gate(x, one),
        op_graph.softcap(x, 2.0),
    )  # fmt: skip
    assert close(x, wanted)


@pytest.mark.parametrize("kind", ["silu", "gelu", "gelu_tanh", "relu", "clamped_swiglu"])
def test_activations(make_kernel: MakeKernel, kind: str) -> None:
    from engine.models.layers.feed_forward import gated
    from engine.models.spec import ActivationSpec

    spec = ActivationSpec(kind, 1.3, 1.1)  # type: ignore[arg-type]
    gate, up, out = noise(53) * 3, noise(53, seed=1) * 3, torch.empty(53)
    run_ops(make_kernel(), op_graph.activate(gate, up, out, kind, spec.alpha, spec.limit))
    assert close(out, gated(spec, gate, up.clone()))
    assert torch.equal(up, noise(53, seed=1) * 3)


def tables(*chunks: list[Tensor]) -> tuple[list[KvRows], list[int]]:
    made = [KvRows(list(buffer), buffer[0].dtype) for buffer in chunks]
    return made, [table.address for table in made]


def held_as(rows: Tensor, dtype: torch.dtype) -> Tensor:
    return pack_rows(rows) if dtype == torch.int8 else rows.to(dtype)


def numbers_of(held: Tensor, dim: int) -> Tensor:
    """What rows of any kind hold."""
    return unpack_rows(held, dim) if held.dtype == torch.int8 else held


def cut(rows: Tensor, sizes: tuple[int, ...]) -> list[Tensor]:
    """Rows [heads, n, dim] as chunks of these sizes, the last with what is left and room beyond, of NaN."""
    ends = [min(sum(sizes[: i + 1]), rows.shape[1]) for i in range(len(sizes))] + [rows.shape[1]]
    pieces = [rows[:, a:b] for a, b in zip([0, *ends[:-1]], ends, strict=True) if a < b]
    nan = -1 if rows.dtype == torch.int8 else float("nan")  # of 8 bits: a scale whose bits are all ones
    pieces[-1] = torch.cat((pieces[-1], torch.full_like(pieces[-1], nan)), 1)
    return [piece.contiguous() for piece in pieces]


@MANY
@given(
    kv_heads=st.integers(1, 3), share=st.sampled_from([1, 2, 4, 7, 8]), dim=st.sampled_from([4, 20, 64, 128, 320]),
    length=st.sampled_from([1, 2, 63, 65, 300, 1100]), window=st.sampled_from([None, 1, 6, 100, 5000]),
    sinks=st.booleans(), dtype=st.sampled_from(list(BITS)), sizes=st.sampled_from([(), (1,), (7, 50), (256, 256)]),
)  # fmt: skip
def test_attention(
    make_kernel: MakeKernel, kv_heads: int, share: int, dim: int, length: int, window: int | None, sinks: bool,
    dtype: torch.dtype, sizes: tuple[int, ...],
) -> None:  # fmt: skip
    heads = kv_heads * share
    k, v = (held_as(noise(kv_heads, length, dim, seed=s), dtype) for s in (1, 2))
    q, extra, out = noise(heads, dim) * 3, noise(heads, seed=3), torch.empty(heads, dim)
    owners = cut(k, sizes), cut(v, sizes)
    kept, states = tables(*owners)
    room = torch.empty(op_graph.attend_room(heads, dim))
    op = op_graph.attend(q, out, room, 0, kv_heads, dim**-0.5, window=window, sinks=extra if sinks else None)
    run_ops(make_kernel(), op, position=length - 1, states=states)
    assert kept
    seen = slice(max(0, length - window) if window else 0, length)
    keys, values = (numbers_of(rows, dim)[:, seen].double().repeat_interleave(share, 0) for rows in (k, v))
    scores = torch.einsum("hd,hnd->hn", q.double(), keys) * dim**-0.5
    scores = torch.cat((scores, extra.double()[:, None]), 1) if sinks else scores
    weights = scores.softmax(1)[:, : keys.shape[1]]
    assert close(out, torch.einsum("hn,hnd->hd", weights, values))


@MANY
@given(
    kv_heads=st.integers(1, 3), share=st.sampled_from([1, 2, 3, 7, 8]), dim=st.sampled_from([32, 64, 96, 128, 256]),
    length=st.sampled_from([15, 16, 64, 65, 300, 1100]), window=st.sampled_from([None, 100]), sinks=st.booleans(),
    packed=st.booleans(), sizes=st.sampled_from([(), (7, 50), (256, 256)]),
)  # fmt: skip
def test_attention_with_queries_and_weights_in_bf16(
    make_kernel: MakeKernel, kv_heads: int, share: int, dim: int, length: int, window: int | None, sinks: bool,
    packed: bool, sizes: tuple[int, ...],
) -> None:  # fmt: skip
    """As far off as rounding queries and weights, and what rows of 8 bits hold, to bf16 may bring it, and no more."""
    heads = kv_heads * share
    dtype = torch.int8 if packed else torch.bfloat16
    k, v = (held_as(noise(kv_heads, length, dim, seed=s), dtype) for s in (1, 2))
    q, extra, out = noise(heads, dim) * 3, noise(heads, seed=3), torch.empty(heads, dim)
    owners = cut(k, sizes), cut(v, sizes)
    kept, states = tables(*owners)
    op = op_graph.attend(
        q,
        out,
        torch.empty(op_graph.attend_room(heads, dim)),
        0,
        kv_heads,
        dim**-0.5,
        window=window,
        sinks=extra if sinks else None,
    )
    run_ops(make_kernel(exact=False), op, position=length - 1, states=states)
    assert kept
    seen = slice(max(0, length - window) if window else 0, length)
    keys, values = (numbers_of(rows, dim)[:, seen].double().repeat_interleave(share, 0) for rows in (k, v))

    def attended(queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        scores = torch.einsum("hd,hnd->hn", queries, keys) * dim**-0.5
        scores = torch.cat((scores, extra.double()[:, None]), 1) if sinks else scores
        return torch.einsum("hn,hnd->hd", scores.softmax(1)[:, : keys.shape[1]], values)

    wanted = attended(q.double(), keys, values)
    near = (q * dim**-0.5).bfloat16().double() * dim**0.5  # the weights' own rounding is what is allowed beside it
    rounded = attended(near, keys.bfloat16().double(), values.bfloat16().double())
    size = wanted.abs().max()
    assert (out - wanted).abs().max() <= (rounded - wanted).abs().max() + 2**-8 * size


def test_attention_does_not_depend_on_the_threads(make_kernel: MakeKernel) -> None:
    k, v, q = noise(2, 3000, 32, seed=1), noise(2, 3000, 32, seed=2), noise(4, 32)
    kept, states = tables([k], [v])
    outs = []
    for threads in (1, 2, 3):
        out = torch.empty(4, 32)
        op = op_graph.attend(q, out, torch.empty(op_graph.attend_room(4, 32)), 0, 2, 0.3)
        run_ops(make_kernel(threads), op, position=2999, states=states)
        outs.append(out)
    assert kept
    assert torch.equal(outs[0], outs[1])
    assert torch.equal(outs[0], outs[2])


def test_one_huge_score_takes_everything(make_kernel: MakeKernel) -> None:
    k, v, q, out = noise(1, 90, 16), noise(1, 90, 16, seed=1), noise(1, 16, seed=2), torch.empty(1, 16)
    k[0, 70] = q[0] * 1e4
    kept, states = tables([k], [v])
    op = op_graph.attend(q, out, torch.empty(op_graph.attend_room(1, 16)), 0, 1, 1.0)
    run_ops(make_kernel(), op, position=89, states=states)
    assert kept
    assert close(out, v[:, 70])


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scores_that_rise_with_every_row(make_kernel: MakeKernel, dtype: torch.dtype) -> None:
    k, v, q, out = noise(1, 400, 64).to(dtype), noise(1, 400, 64, seed=1).to(dtype), noise(7, 64), torch.empty(7, 64)
    k[0, :, 0], q[:, 0] = torch.arange(-400, 0), 0.3  # from -120 to 0: what was summed up fades again and again
    kept, states = tables([k], [v])
    op = op_graph.attend(q, out, torch.empty(op_graph.attend_room(7, 64)), 0, 1, 1.0)
    run_ops(make_kernel(), op, position=399, states=states)
    assert kept
    assert close(out, (q.double() @ k[0].double().T).softmax(1) @ v[0].double())


def test_what_is_no_number_stays_with_its_queries(make_kernel: MakeKernel) -> None:
    k, v = (noise(2, 130, 64, seed=seed).bfloat16() for seed in (0, 1))
    q = noise(14, 64, seed=2)
    outs = torch.empty(3, 14, 64)
    for out, wrong in zip(outs, (None, "query", "key"), strict=True):
        queries, keys = q.clone(), k.clone()
        if wrong == "query":
            queries[5] = float("nan")
        elif wrong == "key":
            keys[1, 128, 3] = float("nan")
        kept, states = tables([keys], [v])
        op = op_graph.attend(queries, out, torch.empty(op_graph.attend_room(14, 64)), 0, 2, 0.1)
        run_ops(make_kernel(), op, position=129, states=states)
        assert kept
    assert outs[1, 5].isnan().all()
    assert outs[2, 7:].isnan().all()
    outs[1, 5], outs[2, 7:] = outs[0, 5], outs[0, 7:]
    assert torch.equal(outs[1], outs[0])
    assert torch.equal(outs[2], outs[0])


@MANY
@given(
    heads=st.sampled_from([(2, 1), (4, 2)]), dim=st.sampled_from([4, 12, 16, 66]), half=st.booleans(),
    norm=st.sampled_from([None, "head", "full"]), last=st.booleans(), clip=st.sampled_from([None, 0.7]),
    turned=st.sampled_from([0, 4, None]), interleaved=st.booleans(), norm_values=st.booleans(), reuse=st.booleans(),
)  # fmt: skip
def test_heads(
    make_kernel: MakeKernel, heads: tuple[int, int], dim: int, half: bool, norm: str | None, last: bool,
    clip: float | None, turned: int | None, interleaved: bool, norm_values: bool, reuse: bool,
) -> None:  # fmt: skip
    from engine.models.layers.rope import rope_frequencies, rope_table
    from engine.models.spec import RopeSpec

    (number, kv), position = heads, 2
    projected, loose = noise(number + 2 * kv, dim), noise(kv, dim, seed=1)
    q, k, v = projected.clone().split((number, kv, kv))
    v = k if reuse else v
    by_head = norm == "head"
    q_scale = noise(dim if by_head else number * dim, seed=2) if norm else None
    k_scale = noise(dim if by_head else kv * dim, seed=3) if norm else None
    turned = dim if turned is None else turned
    spec = RopeSpec(turned, 100.0, interleaved) if turned else None

    def normed(x: Tensor, scale: Tensor | None) -> Tensor:
        if norm is None:
            return x
        return torch.rms_norm(x if by_head else x.reshape(1, -1), (len(scale),), scale, 1e-3).view(x.shape)  # type: ignore[arg-type]

    if not last:
        q, k = normed(q, q_scale), normed(k, k_scale)
    if clip is not None:
        q, k, v = (x.clamp(-clip, clip) for x in (q, k, v))
    ops = []
    rope = None
    if spec is not None:
        table = rope_table(spec, position, position + 1, position + 1)
        q, k = table.apply(q[None])[0], table.apply(k[None])[0]
        frequencies, factor = rope_frequencies(spec, 0)
        rope = torch.empty(turned // 2), torch.empty(turned // 2)
        ops.append(op_graph.rope(torch.cat((frequencies, torch.tensor([factor]))), *rope))
    if last:
        q, k = normed(q, q_scale), normed(k, k_scale)
    v = torch.rms_norm(v, (dim,), None, 1e-3) if norm_values else v

    dtype = torch.bfloat16 if half else torch.float32
    keys, values = ([torch.zeros(kv, n, dim, dtype=dtype) for n in (1, 2)] for _ in range(2))
    kept, states = tables(keys, values)
    done = Heads(
        heads=number,
        kv_heads=kv,
        dim=dim,
        norm=norm,
        eps=1e-3,
        norm_last=last,
        q_scale=q_scale,
        k_scale=k_scale,
        clip=clip,
        rope=rope,
        interleaved=interleaved,
        norm_values=norm_values,
        reuse_keys=reuse,
    )
    target = loose if reuse else projected[number + kv :]
    ops.append(op_graph.heads(done, projected.view(-1), target.view(-1), 0))
    run_ops(make_kernel(), *ops, position=position, states=states)
    assert kept
    assert close(projected[:number], q)
    for chunks, wanted in ((keys, k), (values, v)):
        assert not chunks[0].any()
        assert not chunks[1][:, 0].any()
        written = chunks[1][:, 1].float()
        assert torch.allclose(written, wanted, rtol=2**-8 if half else 2e-5, atol=1e-5)


def test_bf16_rows_round_like_torch(make_kernel: MakeKernel) -> None:
    rows = torch.cat((noise(62), torch.tensor([float("nan"), float("inf")])))[None].repeat(3, 1).contiguous()
    keys, values = (torch.zeros(1, 1, 64, dtype=torch.bfloat16) for _ in range(2))
    kept, states = tables([keys], [values])
    run_ops(make_kernel(), op_graph.heads(Heads(heads=1, kv_heads=1, dim=64), rows.view(-1), rows[2], 0), states=states)
    assert kept
    assert torch.equal(keys[0, 0, :62], rows[1, :62].bfloat16())
    assert keys[0, 0, 62].isnan()
    assert keys[0, 0, 63].isinf()


@pytest.mark.parametrize("dim", [64, 40])
def test_rows_of_8_bits_are_those_of_prompts(make_kernel: MakeKernel, dim: int) -> None:
    """To the last bit: a token read alone leaves what it would leave in a prompt."""
    rows = (
        torch.cat((noise(dim - 2), torch.zeros(1), torch.tensor([1e4])))[None] * torch.tensor([[1], [2], [3]])
    ).contiguous()
    keys, values = (torch.zeros(1, 1, row_width(dim, torch.int8), dtype=torch.int8) for _ in range(2))
    kept, states = tables([keys], [values])
    run_ops(
        make_kernel(), op_graph.heads(Heads(heads=1, kv_heads=1, dim=dim), rows.view(-1), rows[2], 0), states=states
    )
    assert kept
    assert torch.equal(keys[0, 0], pack_rows(rows[1]))
    assert torch.equal(values[0, 0], pack_rows(rows[2]))


@pytest.mark.parametrize("name", ["softmax", "sigmoid", "sparsemixer", "sqrtsoftplus", "topk_softmax"])
@MANY
@given(data=st.data())
def test_routes(make_kernel: MakeKernel, name: str, data: st.DataObject) -> None:
    experts = data.draw(st.sampled_from([6, 12, 40, 128]))
    groups = data.draw(st.sampled_from([1, 2])) if name in ("softmax", "sigmoid") else 1
    top_k = 2 if name == "sparsemixer" else data.draw(st.integers(1, experts // groups))
    corrected = name in ("softmax", "sigmoid") and data.draw(st.booleans())
    spec = RouterSpec(
        "g", experts, top_k, name, choice_bias="b" if corrected else None, groups=groups,  # type: ignore[arg-type]
        group_score=data.draw(st.sampled_from(["max", "top2"])),
        masked_score=-1e30 if corrected else data.draw(st.sampled_from([0.0, -1e30])),
        normalize=data.draw(st.booleans()), normalize_eps=data.draw(st.sampled_from([0.0, 1e-2])),
        normalize_min=data.draw(st.sampled_from([0.0, 0.4])), scale=data.draw(st.sampled_from([1.0, 2.5])), jitter=0.01,
    )  # fmt: skip
    seed = data.draw(st.integers(0, 99))
    logits, bias, each = noise(experts, seed=seed) * 2, noise(experts, seed=1) * 0.1, noise(experts, seed=2)
    wanted = by_hand(spec, logits.tolist(), bias.tolist() if corrected else None)
    got, by, best = torch.empty(top_k, dtype=torch.int64), torch.empty(top_k), torch.empty(1, dtype=torch.int64)
    room = torch.empty(route_op.route_room(experts))
    run_ops(
        make_kernel(),
        route_op.route(
            routing(spec), logits, room, ids=got, weights=by, groups=best, choice_bias=bias if corrected else None,
            expert_scale=each,
        ),
    )  # fmt: skip
    assert dict(zip(got.tolist(), (by / each[got]).tolist(), strict=True)) == pytest.approx(wanted, rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("score", ["softmax", "sigmoid", "sparsemixer", "topk_softmax"])
def test_nonsense_still_chooses_experts_that_there_are(make_kernel: MakeKernel, bad: float, score: str) -> None:
    for logits in (torch.full((8,), bad), torch.tensor([0.0, bad] * 4)):
        ids, groups, weights = torch.full((2,), -1), torch.full((1,), -1), torch.empty(2)
        how = route_op.Routing(experts=8, top_k=2, score=score, jitter=0.01)
        op = route_op.route(how, logits, torch.empty(16), ids=ids, weights=weights, groups=groups)
        run_ops(make_kernel(), op)
        assert len(set(ids.tolist())) == 2
        assert all(0 <= expert < 8 for expert in ids.tolist())


def test_what_does_not_fit_is_refused() -> None:
    x, y = torch.zeros(8), torch.zeros(9)
    with pytest.raises(ValueError, match="expected 8"):
        op_graph.add(x, y)
    with pytest.raises(ValueError, match="contiguous"):
        op_graph.add(x.double(), x.double())
    with pytest.raises(ValueError, match="contiguous"):
        op_graph.scale(torch.zeros(8, 2)[:, 0], 2.0)
    with pytest.raises(ValueError, match="neither a token's vector nor several"):
        op_graph.scale(torch.zeros(1, 2, 8), 2.0)
    with pytest.raises(ValueError, match="in one op"):
        op_graph.add(torch.zeros(3, 8), torch.zeros(2, 8))
    with pytest.raises(ValueError, match="rows of 3"):
        op_graph.norm(x, x, 3, 1e-6, None)
    with pytest.raises(ValueError, match="expected 4"):
        op_graph.linear(raw_view(torch.zeros(8, 4), None), y, x)
    with pytest.raises(ValueError, match="not provided for"):
        op_graph.attend(torch.zeros(3, 8), torch.zeros(3, 8), torch.zeros(9999), 0, 2, 1.0)
    with pytest.raises(ValueError, match="too little room"):
        op_graph.attend(torch.zeros(2, 8), torch.zeros(2, 8), torch.zeros(99), 0, 2, 1.0)


def test_more_tokens_than_there_are_rows_are_refused(make_kernel: MakeKernel) -> None:
    kernel, step = make_kernel(), GraphStep(0)
    with pytest.raises(ValueError, match="1 to 16 tokens"):
        step.set(0, [], 17)
    step.set(0, [], 3)
    x = torch.ones(3, 5)
    kernel.run_graph(OpGraph([op_graph.scale(x, 2.0)]), step)
    assert (x == 2).all()
    with pytest.raises(ValueError, match="3 tokens in a graph of 2 rows"):
        kernel.run_graph(OpGraph([op_graph.scale(x[:2], 2.0), op_graph.scale(x, 2.0)]), step)
    assert (x == 2).all()
