"""Feed-forwards as ops: what the torch modules compute for a token, and where they ask for experts."""

from __future__ import annotations

from torch import Tensor

from engine.models.layers.feed_forward import (
    DenseMlp,
    FeedForward,
    MoeBlock,
    ParallelMlp,
    PerLayerGate,
    PerLayerInputs,
)
from engine.models.layers.norms import Norm
from engine.models.layers.router import Router, routing
from engine.models.op_graph.builder import GraphBuilder, UnsupportedOp
from engine.models.spec import ActivationSpec
from engine.native import op_graph, route_op
from engine.translatable import msg


def build_feed_forward(to: GraphBuilder, module: FeedForward, h: Tensor) -> Tensor:
    """The module's output for h [rows, H], normed from the residual stream. Raises UnsupportedOp if it has no ops."""
    if isinstance(module, DenseMlp):
        return _mlp(to, module, h, "y")
    if isinstance(module, MoeBlock):
        return _moe(to, module, h)
    if isinstance(module, ParallelMlp):
        dense = to.norm(module.after_dense, _mlp(to, module.dense, h, "beside"), "beside")
        y = to.norm(module.after_moe, _moe(to, module.moe, to.norm(module.before_moe, to.x, "apart")), "y")
        to.add(op_graph.add(y, dense))
        return y
    raise UnsupportedOp(msg("{name} has no native ops", name=type(module).__name__))


def build_inputs(to: GraphBuilder, make: PerLayerInputs, layers: int) -> tuple[Tensor, Tensor]:
    """Every layer's own inputs, of the embedded tokens in the residual stream.

    Returns where the part by token id has to be put before, [rows, layers * dim], and the inputs [rows, layers, dim].
    """
    by_id = to.floats("by_id", layers * make.dim)
    inputs = to.linear(make.projection, to.x, "inputs")
    to.add(op_graph.scale(inputs, make.scale))
    to.add(op_graph.add(to.norm(make.norm, inputs, "inputs"), by_id))
    to.add(op_graph.scale(inputs, 2**-0.5))
    return by_id, inputs.unflatten(1, (layers, make.dim))


def build_per_layer(to: GraphBuilder, gate: PerLayerGate, inputs: Tensor) -> None:
    """Adds to the residual stream what a layer makes of its inputs [rows, dim]."""
    gates = to.linear(gate.gate, to.x, "gates")
    taken = to.floats("taken", inputs.shape[1])
    to.add(_activated(gate.activation, gates, inputs, taken))
    to.add(op_graph.add(to.x, to.norm(gate.norm, to.linear(gate.projection, taken, "y"), "y")))


def _activated(spec: ActivationSpec, gate: Tensor, up: Tensor, out: Tensor) -> op_graph.Op:
    return op_graph.activate(gate, up, out, spec.kind, spec.alpha, spec.limit)


def _mlp(to: GraphBuilder, mlp: DenseMlp, h: Tensor, name: str) -> Tensor:
    if not mlp.gated:
        raise UnsupportedOp(msg("an MLP without a gate has no native ops"))
    both = to.linear(mlp.gate_up, h, "gate_up")
    half = both.shape[1] // 2
    active = to.floats("active", half)
    to.add(_activated(mlp.activation, both[:, :half], both[:, half:], active))
    return to.linear(mlp.down, active, name)


def _moe(to: GraphBuilder, moe: MoeBlock, h: Tensor) -> Tensor:
    """The answer of the experts and the shared expert for h, which stays as it is until then."""
    assert moe.router is not None
    if moe.weigh_input or moe.passes or moe.latent is not None:
        raise UnsupportedOp(msg("experts whose input is weighed, narrowed or passed on have no native ops"))
    weights, ids, chosen = _route(to, moe.router, h)
    y = to.floats("y", to.hidden)
    to.ask_experts(moe.layer, h, ids, weights, y, chosen)
    if moe.shared is not None:
        shared = _mlp(to, moe.shared, h, "shared")
        if moe.shared_gate is not None:
            to.add(op_graph.gate(shared, to.linear(moe.shared_gate, h, "shared_gate")))
        to.add(op_graph.add(y, shared))
    return y


def _route(to: GraphBuilder, router: Router, h: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
    """Weights and ids [rows, K], and the ids once more if experts may stand in for them."""
    spec, how = router.spec, routing(router.spec)
    if spec.input_norm_eps is not None:
        h = to.norm(Norm("rms", to.hidden, spec.input_norm_eps, router.input_scale), to.x, "routed")
    logits = to.product(to.exact_view(router.held, router.bias), h, "router")
    ids, groups = to.whole_numbers("ids", spec.top_k), to.whole_numbers("groups", spec.top_groups)
    weights = to.floats("weights", spec.top_k)
    chosen = to.whole_numbers("chosen", spec.top_k) if route_op.may_substitute(how) else None
    room = to.floats("routing", route_op.route_room(spec.experts))
    to.add(
        route_op.route(
            how,
            logits,
            room,
            ids=ids,
            weights=weights,
            groups=groups,
            choice_bias=router.choice_bias,
            expert_scale=router.expert_scale,
            chosen=chosen,
        )
    )
    return weights, ids, chosen
