"""Ops of the token mixers that are not grouped-query attention: see engine.native.op_graph."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from torch import Tensor

from engine.native.library import MatrixView
from engine.native.op_graph import Op, Rows, Value, rows_of, sized
from engine.native.op_slots import OpKind
from engine.record.layout import ROWS_PER_TILE

# As in native/latent.h, which widens rows to float32 into an array of this width on its stack; DeepSeek's are 512 + 64.
WIDEST_ROW = 624  # latent and rotary key together
WIDEST_HEAD = 512  # of DeltaNet
# `latent_room` mirrors how C lays these out in `room`: if one side changes alone, C writes behind the tensor.
_SPANS, _BLOCK, _HEADS, _DIMS = 8, 24, 16, 16  # as in native/latent.h


def each(view: MatrixView, heads: int, x: Tensor, x_step: int, y: Tensor, y_step: int) -> Op:
    """y[head] = W[head] x[head]: a matrix for every head, which `view` holds one below the other.

    x_step, y_step: values from one head to the next; x and y start at the first head's.
    """
    rows = view.rows // heads
    if view.rows % heads or view.bias or (view.kind < 16 and rows % ROWS_PER_TILE):
        raise ValueError(f"{view.rows} rows must fall into {heads} heads of whole tiles, without a bias")
    own = (_reaching(x, heads, x_step, view.cols), _reaching(y, heads, y_step, rows))
    values: dict[str, Value] = {"heads": heads, "x_step": x_step, "out_step": y_step, "view": view, "x": x, "out": y}
    return Op(OpKind.EACH, values, own)


@dataclass(frozen=True)
class Latent:
    """The shape of multi-head latent attention: heads whose queries have `nope` and then `rope` dimensions."""

    heads: int
    nope: int
    rope: int
    rank: int


def latent(
    spec: Latent, queries: Tensor, row: Tensor, *, scale: Tensor, eps: float, angles: tuple[Tensor, Tensor],
    interleaved: bool, state: int,
) -> Op:  # fmt: skip
    """Finish the token's row [latent | rotary key]: the RMS norm of the latent, times scale, the key turned. It becomes
    row `position` of the buffer `state`. The rotary part of every head of queries [heads, nope + rope] is turned too.

    angles: cosines and sines [rope / 2].
    """
    rows = (rows_of(spec.heads * (spec.nope + spec.rope), queries), rows_of(spec.rank + spec.rope, row),
            *(rows_of(spec.rope // 2, own) for own in angles))  # fmt: skip
    sized(spec.rank, scale)
    cosines, sines = angles
    values: dict[str, Value] = {
        "state": state, "heads": spec.heads, "nope": spec.nope, "rope": spec.rope, "rank": spec.rank,
        "interleaved": interleaved, "eps": eps, "queries": queries, "row": row, "scale": scale, "cosines": cosines,
        "sines": sines,
    }  # fmt: skip
    return Op(OpKind.LATENT, values, rows)


def latent_room(spec: Latent) -> int:
    """Floats of `room` in `latent_attend`."""
    heads, deep = -(-spec.heads // _HEADS) * _HEADS, -(-spec.rank // _DIMS) * _DIMS
    return heads * (spec.rank + spec.rope + _SPANS * (deep + 3 + _BLOCK))


def latent_attend(
    spec: Latent, in_latent: Tensor, queries: Tensor, *, out: Tensor, room: Tensor, scale: float, state: int
) -> Op:
    """Softmax attention of all heads over the rows [latent | rotary key] up to `position`, whose latents are summed.

    in_latent, out: [heads, rank]. queries: [heads, nope + rope], of which the rotary parts are looked at.
    """
    if spec.rank + spec.rope > WIDEST_ROW:
        raise ValueError(f"rows of {spec.rank + spec.rope} are not provided for")
    rows_of(spec.heads * (spec.nope + spec.rope), queries)
    rotary = queries[..., spec.nope :]
    rows = (*(rows_of(spec.heads * spec.rank, own) for own in (in_latent, out)), rows_of(latent_room(spec), room))
    values: dict[str, Value] = {
        "state": state, "heads": spec.heads, "rank": spec.rank, "rope": spec.rope,
        "rotary_step": spec.nope + spec.rope, "scale": scale, "in_latent": in_latent, "rotary": rotary, "out": out,
        "room": room,
    }  # fmt: skip
    return Op(OpKind.LATENT_ATTEND, values, (*rows, Rows(rotary)))


@dataclass(frozen=True, eq=False)
class Delta:
    """A Gated DeltaNet layer: see engine.models.layers.deltanet. C = 2 * k_heads * k_dim + v_heads * v_dim channels.

    taps: [kernel, C], the current token's last. decay: -exp(A) [v_heads]. dt_bias: [v_heads]. norm: [v_dim].
    """

    k_heads: int
    v_heads: int
    k_dim: int
    v_dim: int
    kernel: int
    _: KW_ONLY
    qk_eps: float
    norm_eps: float
    taps: Tensor
    decay: Tensor
    dt_bias: Tensor
    norm: Tensor


def delta(spec: Delta, mixed: Tensor, rates: Tensor, out: Tensor, state: int) -> Op:
    """The step between the projections. mixed: [C + v_heads * v_dim], channels and gates. rates: [b | a]. out:
    [v_heads * v_dim]. The states `state`, the convolution's inputs [kernel - 1, C], and `state + 1`, the memory
    [v_heads, k_dim, v_dim], move on by one token, from what is in the two states behind them.
    """
    values = spec.v_heads * spec.v_dim
    channels = 2 * spec.k_heads * spec.k_dim + values
    if spec.v_heads % spec.k_heads or max(spec.k_dim, spec.v_dim) > WIDEST_HEAD:
        raise ValueError(f"{spec.v_heads} heads of {spec.v_dim} on {spec.k_heads} of {spec.k_dim} are not provided for")
    rows = (rows_of(channels + values, mixed), rows_of(2 * spec.v_heads, rates), rows_of(values, out))
    sized(spec.kernel * channels, spec.taps)
    sized(spec.v_heads, spec.decay, spec.dt_bias)
    sized(spec.v_dim, spec.norm)
    return Op(
        OpKind.DELTA,
        {
            "state": state, "k_heads": spec.k_heads, "v_heads": spec.v_heads, "k_dim": spec.k_dim, "v_dim": spec.v_dim,
            "kernel": spec.kernel, "qk_eps": spec.qk_eps, "norm_eps": spec.norm_eps, "mixed": mixed, "rates": rates,
            "taps": spec.taps, "decay": spec.decay, "dt_bias": spec.dt_bias, "norm": spec.norm, "out": out,
        },
        rows,
    )  # fmt: skip


def conv(mixed: Tensor, taps: Tensor, bias: Tensor | None, out: Tensor, state: int) -> Op:
    """out = after * (convolution(before * value) + bias), mixed being [before | after | value].

    taps: [kernel, channels], the current token's last. The state `state`, its inputs [kernel - 1, channels], moves on
    from what is in the one behind it.
    """
    kernel, channels = taps.shape
    rows = (rows_of(3 * channels, mixed), rows_of(channels, out))
    sized(kernel * channels, taps)
    sized(channels, bias)
    values: dict[str, Value] = {
        "state": state, "channels": channels, "kernel": kernel, "mixed": mixed, "taps": taps, "bias": bias, "out": out,
    }  # fmt: skip
    return Op(OpKind.CONV, values, rows)


def _reaching(x: Tensor, heads: int, step: int, size: int) -> Rows:
    rows = Rows(x)
    if step < 0 or rows.size < (heads - 1) * step + size:
        raise ValueError(f"{rows.size} values are too few for {heads} heads")
    return rows
