"""Token mixers as ops: what the torch modules compute for one token."""

from __future__ import annotations

from dataclasses import replace

from torch import Tensor

from engine.kernels import tape, tape_mixers
from engine.kernels.tape import STATES
from engine.models.attention import Attention
from engine.models.deltanet import QK_EPS, DeltaNet
from engine.models.mixer import Mixer
from engine.models.mla import Mla
from engine.models.shortconv import ShortConv
from engine.models.tape.recorder import NotRecorded, Recorder


def record_mixer(to: Recorder, mixer: Mixer, x: Tensor, layer: int) -> Tensor:
    """The mixer's output for x [H]. layer: position among the layers. Raises NotRecorded for one without ops."""
    if isinstance(mixer, Attention):
        return record_attention(to, mixer, x, STATES * layer)
    if isinstance(mixer, Mla):
        return record_mla(to, mixer, x, STATES * layer)
    if isinstance(mixer, DeltaNet):
        return record_deltanet(to, mixer, x, STATES * layer)
    if isinstance(mixer, ShortConv):
        return record_shortconv(to, mixer, x, STATES * layer)
    raise NotRecorded(f"{type(mixer).__name__} has no native ops")


def record_attention(to: Recorder, attention: Attention, x: Tensor, state: int) -> Tensor:
    """Grouped-query attention. state: of its keys; that of its values follows."""
    spec = attention.spec
    if spec.blocks is not None:
        raise NotRecorded("attention among chosen blocks has no native ops")
    if spec.temperature is not None or spec.chunk is not None or spec.value_dim is not None:
        raise NotRecorded("attention by chunks, with a temperature or narrower values has no native ops")
    projected = to.linear(attention.qkv, x, "projected")
    queries, both, width = spec.heads * spec.head_dim, (spec.heads + spec.kv_heads) * spec.head_dim, spec.head_dim
    wide = spec.kv_heads * width
    values = to.floats("values", wide) if spec.v is None else projected[both : both + wide]
    heads = replace(attention.heads, rope=None if spec.rope is None else to.turning(spec.rope))
    to.record(tape.heads(heads, projected, values, state))
    mixed = to.floats("mixed", queries)
    room = to.floats("room", tape.attend_room(spec.heads, width))
    shape = (spec.heads, width)
    try:
        op = tape.attend(
            projected[:queries].view(shape), mixed.view(shape), room, state, spec.kv_heads, spec.scale, spec.window,
            attention.sinks,
        )  # fmt: skip
    except ValueError as error:
        raise NotRecorded(str(error)) from error
    to.record(op)
    if spec.gated:
        to.record(tape.gate(mixed, projected[-queries:]))
    if attention.head_gate is not None:
        gates = to.linear(attention.head_gate, x, "head_gates")
        for head in range(spec.heads):
            to.record(tape.gate(mixed[head * width : (head + 1) * width], gates[head : head + 1]))
    return to.linear(attention.out, mixed, "h")


def record_mla(to: Recorder, mla: Mla, x: Tensor, state: int) -> Tensor:
    """Multi-head latent attention, absorbed: queries go into latent space, and what they find there comes out of it."""
    spec, norm = mla.spec, mla.kv_norm
    if spec.rope is None or spec.temperature is not None or spec.indexer is not None:
        raise NotRecorded("latent attention with an indexer, a temperature or no rotation has no native ops")
    shape = tape_mixers.Latent(spec.heads, spec.nope_dim, spec.rope_dim, spec.kv_rank)
    down = x if mla.q_down is None else to.linear(mla.q_down, x, "q_down")
    queries = to.linear(mla.q_up, to.norm(mla.q_norm, down, "q_normed"), "queries")
    row = to.linear(mla.kv_down, x, "row")
    angles, interleaved = to.turning(spec.rope), spec.rope.interleaved
    assert norm.scale is not None
    to.record(tape_mixers.latent(shape, queries, row, norm.scale, norm.eps, angles, interleaved, state))
    in_latent = to.each(mla.to_latent, spec.heads, queries, spec.nope_dim + spec.rope_dim, "in_latent")
    found = to.floats("found", in_latent.numel())
    room = to.floats("latent_room", tape_mixers.latent_room(shape))
    try:
        op = tape_mixers.latent_attend(shape, in_latent, queries, found, room, spec.scale, state)
    except ValueError as error:
        raise NotRecorded(str(error)) from error
    to.record(op)
    return to.linear(mla.out, to.each(mla.from_latent, spec.heads, found, spec.kv_rank, "mixed"), "h")


def record_deltanet(to: Recorder, net: DeltaNet, x: Tensor, state: int) -> Tensor:
    """Gated DeltaNet. state: of the convolution's inputs; the memory follows."""
    spec = net.spec
    delta = tape_mixers.Delta(
        spec.k_heads, spec.v_heads, spec.k_dim, spec.v_dim, spec.kernel, QK_EPS, spec.norm_eps,
        net.taps, net.rate, net.dt_bias, net.norm,
    )  # fmt: skip
    projected, rates = to.linear(net.qkvz, x, "projected"), to.product(to.exact_view(net.ba.weight, None), x, "rates")
    mixed = to.floats("mixed", spec.v_heads * spec.v_dim)
    try:
        op = tape_mixers.delta(delta, projected, rates, mixed, state)
    except ValueError as error:
        raise NotRecorded(str(error)) from error
    to.record(op)
    return to.linear(net.out, mixed, "h")


def record_shortconv(to: Recorder, conv: ShortConv, x: Tensor, state: int) -> Tensor:
    """The gated short convolution of LFM2."""
    projected = to.linear(conv.project, x, "projected")
    mixed = to.floats("mixed", conv.spec.hidden)
    to.record(tape_mixers.conv(projected, conv.taps, conv.bias, mixed, state))
    return to.linear(conv.out, mixed, "h")
