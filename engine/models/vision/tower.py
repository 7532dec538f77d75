"""Gemma 4's vision tower as transformers computes it, in float32, its weights read from the store when needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from engine.errors import Kind, UnderhillError
from engine.import_lock import ALONE
from engine.models.layers.weights import CheckpointWeights, fetch
from engine.models.shapes import disagreement
from engine.translatable import msg


class VisionTower:
    """Looks at one picture at a time.

    No weights are kept between two pictures, and of the module at work only its own: the tower of a model with experts
    has a gigabyte, which is read in a second or two, while looking takes many.
    """

    def __init__(self, config: Mapping[str, Any], weights: CheckpointWeights, pause: Callable[[], None]) -> None:
        """config: of config.json. weights: of the store. pause: called between modules; what it raises goes through.

        Raises UnderhillError(BROKEN_FILE) where the config makes no sense.
        """
        try:
            with ALONE:
                from transformers import Gemma4Config
                from transformers.models.gemma4.modeling_gemma4 import Gemma4MultimodalEmbedder, Gemma4VisionModel

            parsed = Gemma4Config.from_dict({name: config[name] for name in ("text_config", "vision_config")})
            seen = parsed.vision_config
            with torch.device("meta"):
                tower = Gemma4VisionModel._from_config(seen, dtype=torch.float32)
                embedder = Gemma4MultimodalEmbedder(seen, parsed.text_config)
            tower.encoder.rotary_emb = type(tower.encoder.rotary_emb)(seen)  # computed, not stored
        except Exception as cause:
            raise UnderhillError(
                Kind.BROKEN_FILE,
                msg("The config.json of this {config} model does not fit together.", config=config.get("model_type")),
                msg("Download it again; if that does not help, the model needs another version of Underhill."),
            ) from cause
        self._tower, self._embedder = tower.eval().requires_grad_(False), embedder.eval().requires_grad_(False)
        for module, prefix in ((self._tower, "model.vision_tower."), (self._embedder, "model.embed_vision.")):
            _read_when_needed(module, prefix, weights, pause)

    @torch.inference_mode()
    def look(self, patches: Tensor, positions: Tensor) -> Tensor:
        """What the language model is given for a picture: [N, hidden] float32, one row for each of its tokens.

        patches: [P, 3 * patch * patch], 0 to 1. positions: [P, 2], x and y of each patch.
        Raises UnderhillError: MISSING_FILE, BROKEN_FILE or DISK_ERROR for weights; what `pause` raises.
        """
        seen = self._tower(patches[None], positions[None]).last_hidden_state
        found: Tensor = self._embedder(seen)
        return found


def _read_when_needed(root: nn.Module, prefix: str, weights: CheckpointWeights, pause: Callable[[], None]) -> None:
    """Have each module read its own weights before it runs, and let go of them behind that, whatever it raised."""
    for path, module in root.named_modules():
        held = {**dict(module.named_parameters(recurse=False)), **dict(module.named_buffers(recurse=False))}
        own = {name: tensor for name, tensor in held.items() if tensor.is_meta}
        if own:
            names = {name: f"{prefix}{path}.{name}" if path else prefix + name for name in own}
            module.register_forward_pre_hook(partial(_take, own, names, weights, pause))
            module.register_forward_hook(partial(_let_go, own), always_call=True)


def _take(
    own: dict[str, Tensor], names: dict[str, str], weights: CheckpointWeights, pause: Callable[[], None],
    module: nn.Module, _given: Any,
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


def _let_go(own: dict[str, Tensor], module: nn.Module, *_: Any) -> None:
    for name, empty in own.items():
        setattr(module, name, empty)
