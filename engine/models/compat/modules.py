"""transformers' modules made ours: experts routed to the backend, equal time steps, all other weights filled in."""

from __future__ import annotations

import copy
import math
import re
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from engine.convert.expert_plan import KeyMap, projections, sort_keys
from engine.convert.skeleton import Skeleton
from engine.errors import Kind, UnderhillError
from engine.experts.backend import ExpertBackend
from engine.models.layers.weights import CheckpointWeights, fetch
from engine.translatable import msg

IMPLEMENTATION = "underhill"


def attach(skeleton: Skeleton, backend: ExpertBackend) -> None:
    """Route every experts module of the model to the backend."""
    from transformers.integrations.moe import ExpertsInterface

    ExpertsInterface.register(IMPLEMENTATION, run_experts)
    for found in skeleton.experts:
        found.module.underhill_layer = found.layer
        found.module.underhill_backend = backend
        # not set_experts_implementation: it looks into source files, and silently does nothing in a frozen app
        found.module.config._experts_implementation_internal = IMPLEMENTATION


def run_experts(module: Any, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor) -> Tensor:
    """transformers' experts function: hidden_states [T, H], top_k_index and top_k_weights [T, K] -> [T, H]."""
    backend: ExpertBackend = module.underhill_backend
    layer: int = module.underhill_layer
    x, ids, weights = hidden_states.float(), top_k_index.to(torch.int64), top_k_weights.float()
    if not module.has_post_expert_norm:
        return backend.moe(layer, x, ids, weights).to(hidden_states.dtype)
    # a norm between expert and weight: fetch the experts' outputs one by one, and weigh them here
    tokens, k = ids.shape
    ones = torch.ones(tokens * k, 1)
    outputs = backend.moe(layer, x.repeat_interleave(k, 0), ids.reshape(-1, 1), ones)
    normed: Tensor = module.post_expert_norm(outputs)
    return (normed.view(tokens, k, -1) * weights[..., None]).sum(1).to(hidden_states.dtype)


# ---- time steps of state-space layers --------------------------------------------------------------------------------


def clamp_time_steps(skeleton: Skeleton) -> None:
    """Apply the least time step of a layer (`time_step_limit`) to single tokens too.

    transformers' modules bound softplus(dt + bias) from below in prompts and forget it for single tokens, so that an
    answer depends on how its tokens were fed (seen in Nemotron-H, transformers 5.23). The bound on dt itself, before
    the softplus, is the same: dt >= ln(exp(least) - 1) - bias. The last columns of in_proj are dt.
    """
    for module in skeleton.model.modules():
        limit = getattr(module, "time_step_limit", None)
        if limit is not None and float(limit[0]) > 0 and hasattr(module, "dt_bias") and hasattr(module, "in_proj"):
            least = math.log(math.expm1(float(limit[0])))
            module.in_proj.register_forward_hook(_bounded(module.dt_bias, least))


def _bounded(bias: Tensor, least: float) -> Any:
    def bound(_module: Any, _given: Any, projected: Tensor) -> Tensor:
        steps = projected[..., -len(bias) :]
        return torch.cat((projected[..., : -len(bias)], steps.maximum((least - bias).to(steps.dtype))), -1)

    return bound


# ---- weights ---------------------------------------------------------------------------------------------------------


class NamedWeights(CheckpointWeights, Protocol):
    """Weights that can be listed."""

    def __iter__(self) -> Iterator[str]:
        """The names of all tensors."""


def load_weights(skeleton: Skeleton, weights: NamedWeights) -> None:
    """Fill in everything that text needs except the experts, which stay on the meta device.

    Raises UnderhillError(MISSING_FILE) naming what the checkpoint lacks, BROKEN_FILE where a shape is wrong.
    """
    model = skeleton.model
    keymap = KeyMap(model)
    strict = _kept_in_float32(model)
    for target, sources in sort_keys(skeleton, keymap, weights).parameters.items():
        for name, tensor in _converted(model, keymap, weights, target, sources):
            _assign(model, name, tensor, strict)
    absent = {name for name, tensor in model.state_dict().items() if tensor.is_meta and skeleton.needs(name)}
    _compute_constants(skeleton)
    model.tie_weights(missing_keys=absent, recompute_mapping=False)
    _raise_if_missing(skeleton, absent)


def _converted(
    model: Any, keymap: KeyMap, weights: CheckpointWeights, target: str, sources: list[tuple[str, str | None]]
) -> list[tuple[str, Tensor]]:
    """The parameters that these checkpoint tensors make (one converter may make several)."""
    key, pattern = sources[0]
    if pattern is None:
        return [(target, _read(model, target, weights, key))]
    converter = copy.deepcopy(keymap.converter(pattern))
    for key, pattern in sources:
        # read when the converter asks for it
        converter.add_tensor(target, key, pattern, lambda key=key: fetch(weights, key))
    made = converter.convert(target, model=model, config=model.config)
    return [(name, value[0] if isinstance(value, list) else value) for name, value in made.items()]


def _read(model: Any, target: str, weights: CheckpointWeights, key: str) -> Tensor:
    wanted = model.get_parameter_or_buffer(target)
    return fetch(weights, key) if wanted.is_floating_point() else weights.get(key)


def _assign(model: Any, name: str, tensor: Tensor, strict: re.Pattern[str] | None) -> None:
    path, _, leaf = name.rpartition(".")
    owner = model.get_submodule(path)
    wanted: Tensor = getattr(owner, leaf)
    if tensor.shape != wanted.shape:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg(
                "The tensor for {name} is {shape} large, and the config asks for {shape2}.",
                name=name,
                shape=tuple(tensor.shape),
                shape2=tuple(wanted.shape),
            ),
            msg("Download the model again: its config.json and its weights do not belong together."),
        )
    dtype = torch.float32 if strict is not None and strict.search(name) else wanted.dtype
    value = tensor.to(dtype).contiguous()
    if isinstance(wanted, nn.Parameter):
        value = nn.Parameter(value, requires_grad=False)
    value._is_hf_initialized = True  # type: ignore[attr-defined]  # so that _compute_constants leaves it alone
    setattr(owner, leaf, value)


def _kept_in_float32(model: Any) -> re.Pattern[str] | None:
    names = sorted(model._keep_in_fp32_modules_strict or ())
    return re.compile("|".join(name.replace("*", ".*") for name in names)) if names else None


def _compute_constants(skeleton: Skeleton) -> None:
    """What no checkpoint need hold (rotary frequencies, decay tables): computed as the class does at initialization."""
    model = skeleton.model
    for name, buffer in list(model.named_buffers()):
        if buffer.is_meta and skeleton.needs(name):
            path, _, leaf = name.rpartition(".")
            setattr(model.get_submodule(path), leaf, torch.zeros_like(buffer, device="cpu"))
    model.initialize_weights()  # skips what is loaded; on the meta device it does nothing


def _raise_if_missing(skeleton: Skeleton, absent: set[str]) -> None:
    """Raise MISSING_FILE naming the weights that are absent: neither in the checkpoint nor tied to what is.

    A buffer that is still zero counts as a weight; constants have been computed by now.
    """
    state = skeleton.model.state_dict()
    owned = {f"{found.name}.{name}" for found in skeleton.experts for name in projections(found.module)}
    missing = sorted(name for name in absent - owned if state[name].is_meta or not bool(state[name].any()))
    if missing:
        names = ", ".join(missing[:3])
        if len(missing) > 3:
            names = msg("{names} and {len} more", names=names, len=len(missing) - 3)
        raise UnderhillError(
            Kind.MISSING_FILE,
            msg("The model's files lack {names}.", names=names),
            msg("A file is missing or from another model; download the model again."),
        )
