"""Multi-head latent attention (DeepSeek-V2/V3, GLM-4.7-Flash): a cache of one latent and one rotary key a token."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from engine.models.holding import Holding
from engine.models.latent import absorbed, absorbed_is_cheaper, expanded
from engine.models.norms import Norm, build_norm
from engine.models.span import Span
from engine.models.spec import MlaSpec, NormSpec
from engine.models.state import LayerState, RowsState
from engine.models.weights import Linear, Weights, fetch, load_linear


class Mla:
    """The attention of one layer. Its state is one row [latent | rotary key] per token, shared by all heads."""

    def __init__(self, spec: MlaSpec, weights: Weights, hidden: int, dense: Holding) -> None:
        def linear(name: str, bias: bool = False) -> Linear:
            return load_linear(weights, f"{spec.prefix}.{name}", dense=dense, bias=bias)

        def norm(name: str, dim: int) -> Norm:
            return build_norm(NormSpec(f"{spec.prefix}.{name}", spec.norm_eps), weights, dim)

        self.spec = spec
        self._query: Callable[[Tensor], Tensor]
        if spec.q_rank is None:
            self._query = linear("q_proj")
        else:
            down, normed, up = linear("q_a_proj", spec.a_bias), norm("q_a_layernorm", spec.q_rank), linear("q_b_proj")
            self._query = lambda x: up(normed(down(x)))
        self._kv_down = linear("kv_a_proj_with_mqa", spec.a_bias)
        self._kv_norm = norm("kv_a_layernorm", spec.kv_rank)
        # Absorbed, this product runs along both of its sides, which int8 with a scale per row cannot; bf16 then.
        kv_up = fetch(weights, f"{spec.prefix}.kv_b_proj.weight")
        kv_up = kv_up.to(torch.float32 if dense.kind == "f32" else torch.bfloat16).unflatten(0, (spec.heads, -1))
        self._w_uk, self._w_uv = (w.contiguous() for w in kv_up.split((spec.nope_dim, spec.v_dim), dim=1))
        self._out = linear("o_proj", spec.o_bias)

    def new_state(self, kv_dtype: torch.dtype) -> RowsState:
        """Empty cache: one row [kv_rank + rope_dim] a token."""
        return RowsState([(1, self.spec.kv_rank + self.spec.rope_dim)], kv_dtype)

    def forward(self, x: Tensor, span: Span, state: LayerState) -> Tensor:
        """x: [T, H] float32, normed. Returns [T, H] float32; adds T rows to `state`."""
        assert isinstance(state, RowsState)
        spec = self.spec
        table = span.rope(spec.rope)
        q, q_rope = self._query(x).unflatten(1, (spec.heads, -1)).split((spec.nope_dim, spec.rope_dim), dim=2)
        latent, k_rope = self._kv_down(x).split((spec.kv_rank, spec.rope_dim), dim=1)
        rows = torch.cat((self._kv_norm(latent), table.apply(k_rope.unsqueeze(1)).squeeze(1)), dim=1)
        state.append(rows.unsqueeze(0))
        cache = [piece.squeeze(0) for (piece,) in state.views(0, span.stop)]
        cheaper = absorbed_is_cheaper(span.length, span.stop, spec.nope_dim, spec.rope_dim, spec.v_dim, spec.kv_rank)
        form = absorbed if cheaper else expanded
        mixed = form(q, table.apply(q_rope), cache, self._w_uk, self._w_uv, spec.scale)
        return self._out(mixed.flatten(1))
