"""Token mixers as ops: what the torch modules compute for one token."""

from __future__ import annotations

from torch import Tensor

from engine.kernels import tape
from engine.kernels.tape import STATES
from engine.models.attention import Attention
from engine.models.mixer import Mixer
from engine.models.tape.recorder import NotRecorded, Recorder


def record_mixer(to: Recorder, mixer: Mixer, x: Tensor, layer: int) -> Tensor:
    """The mixer's output for x [H]. layer: position among the layers. Raises NotRecorded for one without ops."""
    if isinstance(mixer, Attention):
        return record_attention(to, mixer, x, STATES * layer)
    raise NotRecorded(f"{type(mixer).__name__} has no native ops")


def record_attention(to: Recorder, attention: Attention, x: Tensor, state: int) -> Tensor:
    """Grouped-query attention. state: of its keys; that of its values follows."""
    spec = attention.spec
    projected = to.linear(attention.qkv, x, "projected")
    queries, both, width = spec.heads * spec.head_dim, (spec.heads + spec.kv_heads) * spec.head_dim, spec.head_dim
    wide = spec.kv_heads * width
    values = to.floats("values", wide) if spec.v is None else projected[both : both + wide]
    scaled = spec.qk_norm is not None
    heads = tape.Heads(
        spec.heads, spec.kv_heads, width, spec.qk_norm, spec.qk_norm_eps, spec.qk_norm_after_rope,
        attention.q_scale if scaled else None, attention.k_scale if scaled else None, spec.clip_qkv,
        None if spec.rope is None else to.turning(spec.rope), spec.rope is not None and spec.rope.interleaved,
        spec.v_norm, spec.v is None,
    )  # fmt: skip
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
    return to.linear(attention.out, mixed, "h")
