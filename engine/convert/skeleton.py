"""A model without its weights: transformers' own class on the meta device, and what its routed experts compute."""

from __future__ import annotations

import copy
import re
import warnings
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode

from engine.errors import Kind, UnderhillError
from engine.formats.families import dense_model, misfit
from engine.import_lock import ALONE
from engine.kernels.activation import KINDS, SWIGLU_KINDS, Activation
from engine.limits import check_config
from engine.translatable import Translatable, msg

_LAYER = re.compile(r"(?:^|\.)layers\.(\d+)\.")

# Experts of these are not modules of transformers' experts interface, so nothing can be put in their place.
_OUTSIDE_INTERFACE = {
    "dbrx", "doge", "jetmoe", "llama4", "llama4_text", "longcat_flash", "step3p5", "step3p7",
}  # fmt: skip

# Of these, the library has no part that answers text with text, token by token.
_NOT_CHAT = {
    "deepseek_ocr2": msg("it reads images and does not chat"),
    "unlimited_ocr": msg("it reads images and does not chat"),
    "diffusion_gemma": msg("it writes whole blocks at once by diffusion, not word by word"),
}


@dataclass(frozen=True)
class ExpertsModule:
    """One module of routed experts. name: its path in the model. layer: the model's own layer index."""

    name: str
    layer: int
    module: Any  # an nn.Module with what transformers' experts interface adds to it


@dataclass(frozen=True)
class Skeleton:
    """A whole model on the meta device: shapes and code, no weights.

    experts: its modules of routed experts, in the order of layers. text: prefixes of what text needs ('' is
    everything); the rest (a vision tower) is never given weights.
    """

    model: Any  # transformers' PreTrainedModel
    experts: tuple[ExpertsModule, ...]
    text: tuple[str, ...]

    def needs(self, name: str) -> bool:
        """Whether this parameter or buffer takes part in reading and writing text."""
        return name.startswith(self.text)


def build_skeleton(config: dict[str, Any], dtype: torch.dtype = torch.float32) -> Skeleton:
    """The model that a config.json describes. `config` is not changed; no code of the checkpoint is ever run.

    dtype: of its parameters, but for those which the family keeps in float32.

    Raises UnderhillError(UNSUPPORTED_MODEL) with the reason, or BROKEN_FILE where the config makes no sense.
    """
    with ALONE:  # transformers imports the files of a family when it is asked for it
        return _built(config, dtype)


def _built(config: dict[str, Any], dtype: torch.dtype) -> Skeleton:
    model_class, parsed = _class_and_config(config)
    try:
        # On meta nothing is allocated: a model of 1 TB is built in the memory of its module objects.
        with torch.device("meta"), _DefaultDtype(dtype):
            model = model_class._from_config(parsed, dtype=torch.float32)
    except ImportError as cause:
        raise _unsupported(
            str(config["model_type"]), msg("it needs {name}, which Underhill does not bring", name=cause.name)
        ) from cause
    except Exception as cause:
        raise misfit(config) from cause
    model.eval().requires_grad_(False)
    experts = tuple(
        ExpertsModule(name, _layer_of(name), module) for name, module in model.named_modules() if is_experts(module)
    )
    decoder = _text_prefix(model)
    experts = tuple(found for found in experts if found.name.startswith(decoder))
    if not experts:
        raise dense_model(str(config["model_type"]))
    if len({found.layer for found in experts}) < len(experts):
        raise _unsupported(str(config["model_type"]), msg("its layers hold several sets of experts"))
    return Skeleton(model, experts, (decoder, "lm_head") if decoder else ("",))


class _DefaultDtype(TorchFunctionMode):
    """Parameters that ask for no dtype get this one. torch's own default would change under other threads too."""

    def __init__(self, dtype: torch.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in (torch.empty, torch.zeros, torch.ones, torch.rand, torch.randn) and kwargs.get("dtype") is None:
            kwargs["dtype"] = self.dtype
        return func(*args, **kwargs)


def is_experts(module: nn.Module) -> bool:
    """Whether this is a module of transformers' experts interface (its decorator sets these)."""
    return hasattr(module, "_is_expert_parallel") and hasattr(module, "is_transposed")


def _class_and_config(config: dict[str, Any]) -> tuple[Any, Any]:
    """transformers' class for text generation, and the config that it takes."""
    # imported here: transformers takes a second, and listing models must not wait for it
    from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING

    parsed = _parsed(config)
    model_type = str(config["model_type"])
    if parsed.is_encoder_decoder:
        raise _unsupported(
            model_type, msg("it is an encoder-decoder model, made for translation and the like, not for chat")
        )
    if model_type in _OUTSIDE_INTERFACE:
        raise _unsupported(model_type, msg("its experts cannot be taken out of the model and loaded one by one"))
    if model_type in _NOT_CHAT:
        raise _unsupported(model_type, _NOT_CHAT[model_type])
    for mapping in (MODEL_FOR_CAUSAL_LM_MAPPING, MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING):
        if type(parsed) in mapping:
            model_class = mapping[type(parsed)]
            # a family that also sees may have a class for its language model alone
            only_text = model_class.config_class is parsed.sub_configs.get("text_config")
            return model_class, parsed.get_text_config() if only_text else parsed
    raise _unsupported(model_type, msg("there is no model in it that writes text token by token"))


def _parsed(config: dict[str, Any]) -> Any:
    """The config as transformers' own class of it. Nothing in it can make code of the checkpoint run."""
    from transformers import CONFIG_MAPPING, PretrainedConfig
    from transformers.utils import logging

    model_type = config.get("model_type")
    if not isinstance(model_type, str):
        raise UnderhillError(Kind.NOT_A_MODEL, msg("The config.json does not say what kind of model this is."))
    if model_type not in CONFIG_MAPPING:
        raise _unsupported(model_type, msg("the library that Underhill builds on does not know this family"))
    check_config(config)
    raw = copy.deepcopy(config)
    for unwanted in ("auto_map", "quantization_config"):  # where code would come from; weights are decoded by us
        raw.pop(unwanted, None)
    logging.set_verbosity_error()  # it advises to install what cannot be installed into this app
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return CONFIG_MAPPING[model_type].from_dict(PretrainedConfig._decode_special_floats(raw))
    except Exception as cause:
        raise UnderhillError(
            Kind.BROKEN_FILE,
            msg("The config.json of this {model_type} model cannot be read.", model_type=model_type),
            msg("Download it again."),
        ) from cause


def _text_prefix(model: Any) -> str:
    """Path of the text decoder inside a model that also sees or hears; '' for a plain language model."""
    if not any(name in model.config.sub_configs for name in ("vision_config", "audio_config")):
        return ""
    decoder = model.get_decoder()
    return next(f"{name}." for name, module in model.named_modules() if module is decoder)


def _layer_of(name: str) -> int:
    found = _LAYER.search(f"{name}.")
    if found is None:
        raise UnderhillError(Kind.INTERNAL, msg("The experts module {name} is in no layer.", name=name))
    return int(found.group(1))


def _unsupported(model_type: str, reason: Translatable) -> UnderhillError:
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg("{model_type} models aren't supported: {reason}.", model_type=model_type, reason=reason),
        msg("Choose another model."),
    )


PROBE = 256  # values tried to tell one activation from another

# The numbers of an activation, and where the modules keep them.
_NUMBERS = {
    "alpha": ("alpha", "swiglu_alpha"),
    "limit": ("limit", "swiglu_limit", "act_fn.gate_softcap.softcap"),
    "up_limit": ("act_fn.up_softcap.softcap",),
}


@dataclass(frozen=True)
class RoutedExperts:
    """What the backend must compute for one layer: down(act(gate x) * up x), or down(act(up x)) without a gate.

    hidden, intermediate: of the experts, whose input may be narrower than the model's hidden state.
    """

    count: int
    hidden: int
    intermediate: int
    activation: Activation
    has_gate: bool = True
    has_bias: bool = False


def routed_experts(found: ExpertsModule) -> RoutedExperts:
    """Read off an experts module; UnderhillError(UNSUPPORTED_MODEL) for an activation that is not known."""
    module = found.module
    hidden, intermediate = expert_sizes(module)
    return RoutedExperts(
        int(module.down_proj.shape[0]),
        hidden,
        intermediate,
        _activation(module),
        bool(module.has_gate),
        bool(module.has_bias),
    )


def expert_sizes(module: Any) -> tuple[int, int]:
    """(H, I) of an experts module, from the shape of its down projection."""
    _, rows, cols = module.down_proj.shape
    return (cols, rows) if module.is_transposed else (rows, cols)


def _activation(module: Any) -> Activation:
    """The activation that computes what the module computes, found by trying all that the kernels have."""
    # From small values, where activations differ in their curve, to those beyond any limit that matters.
    gate, up = torch.randn(2, 1, PROBE, generator=torch.Generator().manual_seed(0)) * torch.logspace(-1, 4, PROBE)
    if module.has_gate:
        together = torch.cat((gate, up), -1) if module.is_concatenated else torch.stack((gate, up), -1).flatten(-2)
        wanted = module._apply_gate(together)
    else:
        wanted = module.act_fn(up)
    numbers = {name: value for name, paths in _NUMBERS.items() if (value := _number(module, paths)) is not None}
    for kind in KINDS:
        if kind in SWIGLU_KINDS and not module.has_gate:
            continue
        found = Activation(kind, **numbers)
        computed = found.apply(gate if module.has_gate else None, up)
        if not wanted.is_meta and torch.allclose(computed, wanted, rtol=1e-4, atol=1e-4):
            return found
    raise UnderhillError(
        Kind.UNSUPPORTED_MODEL,
        msg(
            "The experts of this model use an activation that the kernels do not have ({activation_name}).",
            activation_name=_activation_name(module),
        ),
        msg("Choose another model."),
    )


def _number(module: Any, paths: tuple[str, ...]) -> float | None:
    """What the first of these attributes says that is there and is not None."""
    for path in paths:
        try:
            found = attrgetter(path)(module)
        except AttributeError:
            continue
        if found is not None:
            return float(found)
    return None


def _activation_name(module: Any) -> str:
    act = getattr(module, "act_fn", None)
    own = type(module)._apply_gate.__name__ != "_default_apply_gate"
    return msg("the gate of {name}", name=type(module).__name__) if own or act is None else type(act).__name__
