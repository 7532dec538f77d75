"""Reading a parsed config.json: typed values, both generations of rotary settings, and refusal of what is not known."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from engine.errors import Kind, UnderhillError
from engine.limits import WIDTH, shown
from engine.models.spec import ActivationKind, ActivationSpec, RopeScaling, RopeSpec
from engine.translatable import Translatable, msg

# transformers gives the same setting several names, and renames it when it saves
_EXPERTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")
_EXPERTS_PER_TOKEN = ("num_experts_per_tok", "moe_k", "moe_topk")

_ACTIVATIONS: dict[str, ActivationKind] = {
    "silu": "silu",
    "swish": "silu",
    "gelu": "gelu",
    "gelu_pytorch_tanh": "gelu_tanh",
    "gelu_new": "gelu_tanh",
    "relu": "relu",
    "relu2": "relu2",
}


def unsupported(sentence: Translatable) -> UnderhillError:
    """The error for a model that could only be opened by guessing."""
    return UnderhillError(
        Kind.UNSUPPORTED_MODEL, sentence, msg("Choose another model, or another version of this one.")
    )


def dense(family: str) -> UnderhillError:
    """The error for a model without experts."""
    return unsupported(
        msg("This {family} model is dense: it has no experts, which is all that Underhill is made for.", family=family)
    )


class Config:
    """A config.json as typed values. Text models inside a bigger one (`text_config`) are read from there.

    raw: what is read. whole: what was given, where the bigger one says something else than the text model.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.whole, nested = raw, raw.get("text_config")
        self.raw: dict[str, Any] = {**raw, **nested} if isinstance(nested, Mapping) else dict(raw)
        self._ropes: dict[RopeSpec, RopeSpec] = {}

    @property
    def family(self) -> str:
        """The model_type, '' if there is none."""
        return str(self.raw.get("model_type") or "")

    def has(self, key: str) -> bool:
        """Whether the key is there and not null."""
        return self.raw.get(key) is not None

    def integer(self, key: str, default: int | None = None, low: int = 0) -> int:
        """A whole number from `low` on."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or value % 1 or value < low:
            raise _broken(key, value, msg("a whole number from {low} on", low=low))
        return int(value)

    def number(self, key: str, default: float | None = None) -> float:
        """A finite number."""
        return _number(key, self._value(key, default))

    def positive(self, key: str, default: float | None = None) -> float:
        """A finite number above 0."""
        return positive(key, self._value(key, default))

    def flag(self, key: str, default: bool | None = None) -> bool:
        """True or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise _broken(key, value, msg("true or false"))
        return value

    def per_layer(self, key: str, layers: int, default: int | None = None) -> tuple[int, ...]:
        """A whole number for each layer, given as one for all or as a list."""
        value = self._value(key, default)
        if not isinstance(value, list):
            return (self.integer(key, default),) * layers
        if len(value) < layers or not all(isinstance(entry, int) for entry in value):
            raise _broken(key, value, msg("a whole number, or a list of {layers}", layers=layers))
        return tuple(value[:layers])

    def integers(self, key: str) -> tuple[int, ...]:
        """A list of whole numbers; empty if the key is not there."""
        value = self.raw.get(key) or []
        if not isinstance(value, list) or not all(isinstance(entry, int) for entry in value):
            raise _broken(key, value, msg("a list of whole numbers"))
        return tuple(value)

    def group(self, key: str) -> Config:
        """The settings that a setting is made of; none if the key is not there."""
        value = self.raw.get(key) or {}
        if not isinstance(value, Mapping):
            raise _broken(key, value, msg("a group of settings"))
        return Config(value)

    @property
    def layers(self) -> int:
        """Layers that it claims, by their number or by a list of them."""
        for key in ("layers_block_type", "hybrid_override_pattern"):
            if isinstance(self.raw.get(key), str | list):
                return len(self.raw[key])
        return self.integer("num_layers" if self.has("num_layers") else "num_hidden_layers")

    def experts(self) -> tuple[int, int]:
        """(routed experts of a layer, experts that compute a token), under any of their names."""
        count, top_k = (next((k for k in keys if self.has(k)), keys[0]) for keys in (_EXPERTS, _EXPERTS_PER_TOKEN))
        return self.integer(count), self.integer(top_k)

    def layer_types(
        self, layers: int, known: Sequence[str], default: Sequence[str], key: str = "layer_types"
    ) -> tuple[str, ...]:
        """`layer_types`, one of `known` for each layer; `default` where the config has none."""
        value = self.raw.get(key) or list(default)
        if not isinstance(value, list) or len(value) < layers:
            raise _broken(key, value, msg("a list of {layers}", layers=layers))
        for kind in value:
            if kind not in known:
                raise unsupported(
                    msg(
                        "This {family} model has layers that Underhill does not know: {shown}.",
                        family=self.family,
                        shown=shown(kind),
                    )
                )
        return tuple(str(kind) for kind in value[:layers])

    def expect(self, key: str, value: Any) -> None:
        """Refuse the model if a setting that changes the arithmetic is there and not what Underhill computes."""
        found = self.raw.get(key)
        if found is not None and found != value:
            raise unsupported(
                msg(
                    "This {family} model has {key} = {shown}, which Underhill cannot compute yet.",
                    family=self.family,
                    key=key,
                    shown=shown(found),
                )
            )

    def activation(self, key: str = "hidden_act", default: str = "silu") -> ActivationSpec:
        """The activation of gated MLPs and experts."""
        name = self.raw.get(key) or default
        if not isinstance(name, str) or name not in _ACTIVATIONS:
            raise unsupported(
                msg(
                    "This {family} model uses the activation {shown}, which Underhill does not know.",
                    family=self.family,
                    shown=shown(name),
                )
            )
        return ActivationSpec(_ACTIVATIONS[name])

    def heads(self, default_dim: int | None = None) -> tuple[int, int, int]:
        """(query heads, key heads, head_dim); head_dim, where not given, is the family's default or hidden / heads."""
        heads = self.integer("num_attention_heads", low=1)
        kv_heads = self.integer("num_key_value_heads", heads, low=1)
        head_dim = self.integer("head_dim", default_dim or self.integer("hidden_size") // heads, low=1)
        if heads % kv_heads:
            raise _broken("num_key_value_heads", kv_heads, msg("a divisor of the {heads} heads", heads=heads))
        return heads, kv_heads, head_dim

    def rope(
        self,
        head_dim: int,
        theta: float = 10000.0,
        partial: float = 1.0,
        interleaved: bool = False,
        layer_type: str | None = None,
    ) -> RopeSpec:
        """Rotary settings, from `rope_parameters` (per layer type, where nested) or `rope_theta` and `rope_scaling`.

        theta, partial: what the family takes where the config does not say.
        """
        settings = self.rope_settings(layer_type)
        theta = positive("rope_theta", settings.get("rope_theta") or self.raw.get("rope_theta") or theta)
        given = settings.get("partial_rotary_factor", self.raw.get("partial_rotary_factor"))
        share = partial if given is None else _number("partial_rotary_factor", given)
        kind = self.rope_kind(settings)
        if kind == "proportional":
            factor = positive(msg("rope factor"), settings.get("factor", 1.0))
            scaling = None if factor == 1.0 else RopeScaling(kind="linear", factor=factor)
            return self._one(RopeSpec(head_dim, theta, interleaved, scaling, rotated=2 * int(share * head_dim // 2)))
        dim = int(head_dim * share)
        axes, apart = _axes(settings, dim // 2), not settings.get("mrope_interleaved")
        scaling = self._scaling(kind, settings, dim)
        return self._one(RopeSpec(dim, theta, interleaved, scaling, axes=axes, apart=bool(axes) and apart))

    def _one(self, spec: RopeSpec) -> RopeSpec:
        """The same object for equal specs, so that layers which share one can see it by identity."""
        return self._ropes.setdefault(spec, spec)

    def rope_settings(self, layer_type: str | None = None) -> dict[str, Any]:
        """The dictionary of rotary settings; empty if the config has none."""
        found = self.raw.get("rope_scaling") or self.raw.get("rope_parameters") or {}
        if not isinstance(found, Mapping):
            raise _broken("rope_scaling", found, msg("a group of settings"))
        if layer_type is not None and isinstance(found.get(layer_type), Mapping):
            found = found[layer_type]
        return dict(found)

    def rope_kind(self, settings: Mapping[str, Any]) -> str:
        """The variant's name; mrope (several axes for images) is the plain one where there is only text."""
        kind = str(settings.get("rope_type") or settings.get("type") or "default")
        return {"mrope": "default", "su": "longrope"}.get(kind, kind)

    def _scaling(self, kind: str, settings: Mapping[str, Any], dim: int) -> RopeScaling | None:
        def setting(key: str, default: float | None = None) -> float:
            value = settings.get(key)
            return positive(msg("rope {key}", key=key), default if value is None else value)

        if kind == "default":
            return None
        if kind == "linear":
            return RopeScaling(kind="linear", factor=setting("factor"))
        positions = self.integer("max_position_embeddings", low=1)
        if kind == "dynamic":
            return RopeScaling(kind="dynamic", factor=setting("factor"), max_position=positions)
        beside, within = (where.get("original_max_position_embeddings") for where in (self.raw, settings))
        given = next(value for value in (beside, within, positions) if value is not None)
        original = int(positive("original_max_position_embeddings", given))
        if original < 2:  # of one position there is nothing to stretch, and its logarithm is 0
            raise _broken("original_max_position_embeddings", given, msg("a whole number from 2 on"))
        if kind == "llama3":
            low, high = setting("low_freq_factor"), setting("high_freq_factor")
            return RopeScaling(kind="llama3", factor=setting("factor"), original=original, low_freq=low, high_freq=high)
        factor = setting("factor", positions / original)
        if kind == "yarn":
            return RopeScaling(
                kind="yarn",
                factor=factor,
                original=original,
                attention_factor=setting("attention_factor", _yarn_attention(factor, settings)),
                beta_fast=setting("beta_fast", 32.0),
                beta_slow=setting("beta_slow", 1.0),
                truncate=bool(settings.get("truncate", True)),
            )
        if kind == "longrope":
            usual = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(original))
            scale = setting("attention_factor", usual)
            return RopeScaling(
                kind="longrope",
                original=original,
                short=_frequencies(settings, "short_factor", dim),
                long=_frequencies(settings, "long_factor", dim),
                short_mscale=setting("short_mscale", scale),
                long_mscale=setting("long_mscale", scale),
            )
        raise unsupported(
            msg(
                "This {family} model uses the rotary variant {kind}, which Underhill does not know.",
                family=self.family,
                kind=repr(kind),
            )
        )

    def _value(self, key: str, default: Any) -> Any:
        value = self.raw.get(key)
        if value is None:
            value = default
        if value is None:
            raise UnderhillError(
                Kind.BROKEN_FILE, msg("The model's config.json does not say {key}.", key=key), msg("Download it again.")
            )
        return value


def yarn_mscale(factor: float, mscale: float = 1.0) -> float:
    """YaRN's magnitude correction (arXiv 2309.00071, eq. 22, with DeepSeek's coefficient)."""
    return 1.0 if factor <= 1 else 0.1 * mscale * math.log(factor) + 1.0


def _yarn_attention(factor: float, settings: Mapping[str, Any]) -> float:
    mscale, all_dim = settings.get("mscale"), settings.get("mscale_all_dim")
    if mscale and all_dim:
        mscale, all_dim = (positive(msg("rope {key}", key=key), settings[key]) for key in ("mscale", "mscale_all_dim"))
        return yarn_mscale(factor, mscale) / yarn_mscale(factor, all_dim)
    return yarn_mscale(factor)


def _frequencies(settings: Mapping[str, Any], key: str, dim: int) -> tuple[float, ...]:
    value = settings.get(key)
    if not isinstance(value, list) or len(value) != dim // 2:
        raise _broken(msg("rope {key}", key=key), value, msg("a list of {dim} numbers", dim=dim // 2))
    return tuple(_number(msg("rope {key}", key=key), entry) for entry in value)


def _number(key: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise _broken(key, value, msg("a number"))
    return float(value)


def _axes(settings: Mapping[str, Any], frequencies: int) -> tuple[int, ...]:
    """See RopeSpec.axes. frequencies: how many there are, which is their sum where they lie apart."""
    found = settings.get("mrope_section")
    if found is None:
        return ()
    if not isinstance(found, list) or len(found) != 3 or not all(type(n) is int and 0 <= n <= WIDTH for n in found):
        raise _broken("mrope_section", found, msg("three whole numbers"))
    if not settings.get("mrope_interleaved") and sum(found) != frequencies:
        raise _broken("mrope_section", found, msg("three whole numbers whose sum is {sum}", sum=frequencies))
    return tuple(found)


def positive(key: str, value: Any) -> float:
    """A setting that only makes sense above 0. Raises UnderhillError(BROKEN_FILE)."""
    if _number(key, value) <= 0:
        raise _broken(key, value, msg("a number above 0"))
    return float(value)


def _broken(key: str, value: Any, wanted: str) -> UnderhillError:
    text = msg(
        "The model's config.json is wrong: {key} is {shown} where {wanted} is needed.",
        key=key,
        shown=shown(value),
        wanted=wanted,
    )
    return UnderhillError(Kind.BROKEN_FILE, text, msg("Download it again."))
