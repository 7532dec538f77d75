"""Vision towers as transformers computes them, in float32, their weights read from the store when needed.

No weights are kept between two pictures, and of the module at work only its own: the tower of a model with experts has
a gigabyte, which is read in a second or two, while looking takes many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from engine.formats.families import misfit
from engine.import_lock import ALONE
from engine.models.layers.weights import CheckpointWeights, fetch
from engine.models.shapes import disagreement
from engine.translatable import msg


@contextmanager
def building(config: Mapping[str, Any]) -> Iterator[None]:
    """Inside, modules of transformers may be imported, and are made without weights.

    Raises UnderhillError(BROKEN_FILE) for whatever is raised there: the config makes no sense.
    """
    try:
        with ALONE, torch.device("meta"):
            yield
    except Exception as cause:
        raise misfit(config) from cause


def read_when_needed(
    root: nn.Module, prefix: str, weights: CheckpointWeights, pause: Callable[[], None], used_outside: str = ""
) -> None:
    """Have each module read its own weights before it runs, and let go of them behind that, whatever it raised.

    prefix: of their names. pause: called before each; what it raises goes through, as does what `fetch` raises, and
    BROKEN_FILE for weights of another shape. used_outside: the path of a module that never runs: the one around it
    uses its weights, and reads them.
    """
    root.eval().requires_grad_(False)
    for path, module in root.named_modules():
        held = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
        own = {name: tensor for name, tensor in held.items() if tensor.is_meta}
        if own:
            names = {name: f"{prefix}{path}.{name}" if path else prefix + name for name in own}
            runs = root.get_submodule(path.rpartition(".")[0]) if path == used_outside else module
            runs.register_forward_pre_hook(partial(_take, module, own, names, weights, pause))
            runs.register_forward_hook(partial(_let_go, module, own), always_call=True)


def _take(
    module: nn.Module, own: dict[str, Tensor], names: dict[str, str], weights: CheckpointWeights,
    pause: Callable[[], None], *_: Any,
) -> None:  # fmt: skip
    pause()
    for name, wanted in own.items():
        value = fetch(weights, names[name]).float()
        if value.shape != wanted.shape:
            found, shapes = list(value.shape), list(wanted.shape)
            raise disagreement(
                msg("{name} is {found} and should be {shapes}", name=names[name], found=found, shapes=shapes)
            )
        parameter = isinstance(wanted, nn.Parameter)
        setattr(module, name, nn.Parameter(value, requires_grad=False) if parameter else value)


def _let_go(module: nn.Module, own: dict[str, Tensor], *_: Any) -> None:
    for name, empty in own.items():
        setattr(module, name, empty)
