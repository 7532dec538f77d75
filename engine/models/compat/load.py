"""Give a skeleton its weights: every tensor but the routed experts, renamed and merged as transformers would."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from engine.convert.expert_plan import KeyMap, projections, sort_keys
from engine.convert.skeleton import Skeleton
from engine.errors import Kind, UnderhillError
from engine.models.layers.weights import CheckpointWeights, fetch
from engine.translatable import msg


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
    _complain(skeleton, absent)


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


def _complain(skeleton: Skeleton, absent: set[str]) -> None:
    """absent: neither in the checkpoint nor tied to what is. A buffer that is still zero was a weight, no constant."""
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
