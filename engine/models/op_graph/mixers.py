"""Token mixers as ops: what the torch modules compute for a token."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from engine.models.layers.attention import Attention
from engine.models.layers.conv import ShortConv
from engine.models.layers.deltanet import QK_EPS, DeltaNet
from engine.models.layers.layer import Mixer
from engine.models.layers.mla import Mla
from engine.models.op_graph.builder import GraphBuilder, UnsupportedOp
from engine.native import mixer_ops, op_graph
from engine.native.op_graph import STATES
from engine.translatable import msg


def build_mixer(to: GraphBuilder, mixer: Mixer, x: Tensor, layer: int) -> Tensor:
    """The mixer's output for x [rows, H]. layer: place among the layers. Raises UnsupportedOp for one without ops."""
    if isinstance(mixer, Attention):
        return build_attention(to, mixer, x, STATES * layer)
    if isinstance(mixer, Mla):
        return build_mla(to, mixer, x, STATES * layer)
    if isinstance(mixer, DeltaNet):
        return build_deltanet(to, mixer, x, STATES * layer)
    if isinstance(mixer, ShortConv):
        return build_shortconv(to, mixer, x, STATES * layer)
    raise UnsupportedOp(msg("{name} has no native ops", name=type(mixer).__name__))


def build_attention(to: GraphBuilder, attention: Attention, x: Tensor, state: int) -> Tensor:
    """Grouped-query attention. state: of its keys; that of its values follows."""
    spec = attention.spec
    if spec.blocks is not None:
        raise UnsupportedOp(msg("attention among chosen blocks has no native ops"))
    if spec.temperature is not None or spec.chunk is not None or spec.value_dim is not None:
        raise UnsupportedOp(msg("attention by chunks, with a temperature or narrower values has no native ops"))
    projected = to.linear(attention.qkv, x, "projected")
    queries, both, width = spec.heads * spec.head_dim, (spec.heads + spec.kv_heads) * spec.head_dim, spec.head_dim
    wide = spec.kv_heads * width
    values = to.floats("values", wide) if spec.v is None else projected[:, both : both + wide]
    heads = replace(attention.heads, rope=None if spec.rope is None else to.rope(spec.rope))
    to.add(op_graph.heads(heads, projected, values, state))
    mixed = to.floats("mixed", queries)
    room = to.floats("room", op_graph.attend_room(spec.heads, width))
    shape = (spec.heads, width)
    try:
        op = op_graph.attend(
            projected[:, :queries].unflatten(1, shape), mixed.unflatten(1, shape), room, state, spec.kv_heads,
            spec.scale, window=spec.window, sinks=attention.sinks,
        )  # fmt: skip
    except ValueError as error:
        raise UnsupportedOp(str(error)) from error
    to.add(op)
    if spec.gated:
        to.add(op_graph.gate(mixed, projected[:, -queries:]))
    if attention.head_gate is not None:
        gates = to.linear(attention.head_gate, x, "head_gates")
        for head in range(spec.heads):
            to.add(op_graph.gate(mixed[:, head * width : (head + 1) * width], gates[:, head : head + 1]))
    return to.linear(attention.out, mixed, "h")


def build_mla(to: GraphBuilder, mla: Mla, x: Tensor, state: int) -> Tensor:
    """Multi-head latent attention, absorbed: queries go into latent space, and what they find there comes out of it."""
    spec, norm = mla.spec, mla.kv_norm
    if spec.rope is None or spec.temperature is not None or spec.indexer is not None:
        raise UnsupportedOp(msg("latent attention with an indexer, a temperature or no rotation has no native ops"))
    shape = mixer_ops.Latent(spec.heads, spec.nope_dim, spec.rope_dim, spec.kv_rank)
    down = x if mla.q_down is None else to.linear(mla.q_down, x, "q_down")
    queries = to.linear(mla.q_up, to.norm(mla.q_norm, down, "q_normed"), "queries")
    row = to.linear(mla.kv_down, x, "row")
    angles, interleaved = to.rope(spec.rope), spec.rope.interleaved
    assert norm.scale is not None
    to.add(
        mixer_ops.latent(
            shape, queries, row, scale=norm.scale, eps=norm.eps, angles=angles, interleaved=interleaved, state=state
        )
    )
    in_latent = to.each(mla.to_latent, spec.heads, queries, spec.nope_dim + spec.rope_dim, "in_latent")
    found = to.floats("found", in_latent.shape[1])
    room = to.floats("latent_room", mixer_ops.latent_room(shape))
    try:
        op = mixer_ops.latent_attend(shape, in_latent, queries, out=found, room=room, scale=spec.scale, state=state)
    except ValueError as error:
        raise UnsupportedOp(str(error)) from error
    to.add(op)
    return to.linear(mla.out, to.each(mla.from_latent, spec.heads, found, spec.kv_rank, "mixed"), "h")


def build_deltanet(to: GraphBuilder, net: DeltaNet, x: Tensor, state: int) -> Tensor:
    """Gated DeltaNet. state: of the convolution's inputs; the memory follows."""
    spec = net.spec
    delta = mixer_ops.Delta(
        spec.k_heads, spec.v_heads, spec.k_dim, spec.v_dim, spec.kernel, qk_eps=QK_EPS, norm_eps=spec.norm_eps,
        taps=net.taps, decay=net.rate, dt_bias=net.dt_bias, norm=net.norm,
    )  # fmt: skip
    projected = to.linear(net.qkvz, x, f"projected {state}")
    rates = to.product(to.exact_view(net.ba.weight, None), x, f"rates {state}")
    mixed = to.floats("mixed", spec.v_heads * spec.v_dim)
    try:
        op = mixer_ops.delta(delta, projected, rates, mixed, state)
    except ValueError as error:
        raise UnsupportedOp(str(error)) from error
    to.add_recurrent(op)
    return to.linear(net.out, mixed, "h")


def build_shortconv(to: GraphBuilder, conv: ShortConv, x: Tensor, state: int) -> Tensor:
    """The gated short convolution of LFM2."""
    projected = to.linear(conv.project, x, f"projected {state}")
    mixed = to.floats("mixed", conv.spec.hidden)
    to.add_recurrent(mixer_ops.conv(projected, conv.taps, conv.bias, mixed, state))
    return to.linear(conv.out, mixed, "h")
