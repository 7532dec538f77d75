"""Kinds of ops, and what each of their numbers, factors and addresses is: the names of native/src/op_slots.h.

Both sides count in the order that stands here; tests/engine/native/test_op_slots.py compares them. What an op computes
is said by the function that makes one, in engine/native/op_graph.py and engine/native/mixer_ops.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class OpKind(IntEnum):
    """As in the C enum."""

    # Indices into uh_ops_*: the table of functions of each instruction set.
    NORM = 0
    LINEAR = 1
    ADD = 2
    SCALE = 3
    GATE = 4
    ACTIVATE = 5
    SOFTCAP = 6
    ROPE = 7
    HEADS = 8
    ATTEND = 9
    ROUTE = 10
    EACH = 11
    LATENT = 12
    LATENT_ATTEND = 13
    DELTA = 14
    CONV = 15


@dataclass(frozen=True)
class Slots:
    """Names of one kind, each only once. numbers: of uh_op.n; factors: of uh_op.f; addresses: of uh_op.p."""

    numbers: tuple[str, ...]
    factors: tuple[str, ...]
    addresses: tuple[str, ...]


def _slots(numbers: str, factors: str, addresses: str) -> Slots:
    return Slots(tuple(numbers.split()), tuple(factors.split()), tuple(addresses.split()))


# state: number of the first address of state that the op uses. count: values of a row. card: what computes a single
# token there (OpGraph.put_on_card). scale_or_jitter: of sparsemixer the jitter.
SLOTS = {
    OpKind.NORM: _slots("heads width", "eps", "x out scale bias"),
    OpKind.LINEAR: _slots("", "", "view x out card"),
    OpKind.ADD: _slots("count", "by", "x source"),
    OpKind.SCALE: _slots("count", "by", "x"),
    OpKind.GATE: _slots("count gate_count", "", "x gates"),
    OpKind.ACTIVATE: _slots("count activation", "alpha limit", "gates up out"),
    OpKind.SOFTCAP: _slots("count", "cap", "x"),
    OpKind.ROPE: _slots("count", "", "frequencies cosines sines"),
    OpKind.HEADS: _slots(
        "state heads kv_heads dim norm norm_last half interleaved norm_values reuse_keys clips",
        "eps limit",
        "projected q_scale k_scale cosines sines values",
    ),
    OpKind.ATTEND: _slots("state heads kv_heads dim window", "scale", "queries sinks out room"),
    OpKind.ROUTE: _slots(
        "experts top_k score groups top_groups top_two normalize given",
        "masked_score normalize_eps normalize_min scale_or_jitter",
        "logits choice_bias expert_scale room ids weights best_groups chosen",
    ),
    OpKind.EACH: _slots("heads x_step out_step", "", "view x out"),
    OpKind.LATENT: _slots("state heads nope rope rank interleaved", "eps", "queries row scale cosines sines"),
    OpKind.LATENT_ATTEND: _slots("state heads rank rope rotary_step", "scale", "in_latent rotary out room"),
    OpKind.DELTA: _slots(
        "state k_heads v_heads k_dim v_dim kernel", "qk_eps norm_eps", "mixed rates taps decay dt_bias norm out"
    ),
    OpKind.CONV: _slots("state channels kernel", "", "mixed taps bias out"),
}
