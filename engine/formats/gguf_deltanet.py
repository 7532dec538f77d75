"""Gated DeltaNet layers (Qwen3-Next, Qwen3.5) as llama.cpp keeps them, put back into the layout of the hub.

llama.cpp stores -exp(A_log), norms with 1 added, and for Qwen3-Next all queries, then all keys, values and gates, where
the hub has them key head by key head. For Qwen3.5 it lets value heads take turns over the key heads, the hub keeps
those of a key head together.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.errors import Kind, UnderhillError
from engine.formats.errors import broken_file
from engine.formats.gguf_header import GgufTensor
from engine.formats.gguf_rows import ChangedRows, GgufRows, JoinedRows, OrderedColumns, OrderedRows, stored
from engine.translatable import msg

Order = NDArray[np.int64]
Made = tuple[str, tuple[int, ...], GgufRows]  # name below linear_attn, shape on the hub, rows

_TILED = {"attn_gate.weight": "in_proj_z.weight", "ssm_alpha.weight": "in_proj_a.weight"} | {
    "ssm_beta.weight": "in_proj_b.weight"
}
_VECTORS = {"ssm_a": "A_log", "ssm_dt.bias": "dt_bias"}
_SAME = {
    "ssm_norm.weight": "norm.weight",
    "ssm_out.weight": "out_proj.weight",
    "ssm_ba.weight": "in_proj_ba.weight",
    "ssm_in.weight": "in_proj_qkvz.weight",
}


def delta_net(leaf: str, tensor: GgufTensor, beside: Mapping[str, GgufTensor], c: dict[str, Any]) -> Made | None:
    """What `leaf` of a layer becomes; None where it is no part of a DeltaNet, or goes into another's tensor.

    beside: the other tensors of the layer, by leaf. Raises UnderhillError(BROKEN_FILE or MISSING_FILE).
    """
    if "attn_qkv.weight" not in beside and "ssm_in.weight" not in beside:
        return None
    tiled = c["model_type"] != "qwen3_next"
    heads, each = c["linear_num_key_heads"], c["linear_num_value_heads"] // c["linear_num_key_heads"]
    k_dim, v_dim = c["linear_key_head_dim"], c["linear_value_head_dim"]
    keys, values = heads * k_dim, heads * each * v_dim
    if leaf == "attn_qkv.weight":
        _expect(tensor, 2 * keys + values)
        if tiled:
            order = np.concatenate((np.arange(2 * keys), 2 * keys + in_turns(heads, each, v_dim)))
            return "in_proj_qkv.weight", tensor.shape, stored(tensor, order)
        if "attn_gate.weight" not in beside:
            raise UnderhillError(
                Kind.MISSING_FILE,
                msg("The GGUF file lacks attn_gate beside {name}.", name=tensor.name),
                msg("Download it again."),
            )
        gate = beside["attn_gate.weight"]
        _expect(gate, values)
        both = JoinedRows((stored(tensor), stored(gate)), (2 * keys + values, values))
        shape = (2 * keys + 2 * values, *tensor.shape[1:])
        return "in_proj_qkvz.weight", shape, OrderedRows(both, by_key_head(heads, k_dim, each * v_dim))
    if leaf in _TILED and tiled:
        dim = v_dim if leaf == "attn_gate.weight" else 1
        _expect(tensor, heads * each * dim)
        return _TILED[leaf], tensor.shape, stored(tensor, in_turns(heads, each, dim))
    if leaf in _VECTORS:
        rows: GgufRows = stored(tensor)
        if tensor.shape != (heads * each,):
            raise _wrong(tensor)
        if leaf == "ssm_a":
            rows = ChangedRows(rows, lambda x: (-x).log())
        return _VECTORS[leaf], tensor.shape, OrderedColumns(rows, in_turns(heads, each, 1)) if tiled else rows
    if leaf == "ssm_conv1d.weight":
        _expect(tensor, 2 * keys + values)
        order = np.arange(2 * keys + values)
        if tiled:
            order[2 * keys :] = 2 * keys + in_turns(heads, each, v_dim)
        return "conv1d.weight", (tensor.shape[0], 1, tensor.shape[1]), stored(tensor, order)
    if leaf == "ssm_out.weight" and tiled:
        if tensor.shape[-1] != values:
            raise _wrong(tensor)
        return "out_proj.weight", tensor.shape, OrderedColumns(stored(tensor), in_turns(heads, each, v_dim))
    if leaf in _SAME:
        return _SAME[leaf], tensor.shape, stored(tensor)
    return None


def in_turns(heads: int, each: int, dim: int) -> Order:
    """Where the hub's value element (key head, one of its value heads, i) is found in llama.cpp's order."""
    return np.arange(heads * each * dim, dtype=np.int64).reshape(each, heads, dim).swapaxes(0, 1).reshape(-1)


def by_key_head(heads: int, k_dim: int, v_dim: int) -> Order:
    """Where the hub's rows [query, key, values, gates] of each key head are found when all of a kind come together."""
    starts = np.cumsum([0, heads * k_dim, heads * k_dim, heads * v_dim])
    parts = []
    for head in range(heads):
        for start, size in zip(starts, (k_dim, k_dim, v_dim, v_dim), strict=True):
            parts.append(start + head * size + np.arange(size))
    return np.concatenate(parts)


def _expect(tensor: GgufTensor, rows: int) -> None:
    if len(tensor.shape) != 2 or tensor.shape[0] != rows:
        raise _wrong(tensor)


def _wrong(tensor: GgufTensor) -> UnderhillError:
    return broken_file(
        msg(
            "{name} is damaged: {name2} has the shape {shape}.",
            name=tensor.file.name,
            name2=tensor.name,
            shape=list(tensor.shape),
        )
    )
