"""Norms and positions, which mixers and layers share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

NormKind = Literal["rms", "rms_plus_one", "layer"]


@dataclass(frozen=True)
class NormSpec:
    """A norm over the last dimension.

    name: module whose '.weight' (and, for 'layer', '.bias') scales it; None has no learned scale.
    kind: 'rms' (times w), 'rms_plus_one' (times 1 + w), 'layer' (LayerNorm with weight and bias).
    """

    name: str | None
    eps: float
    kind: NormKind = "rms"


@dataclass(frozen=True)
class RopeScaling:
    """How rotary frequencies are stretched. Fields not of its kind stay at their defaults.

    linear: factor. dynamic: factor, max_position. llama3: factor, low_freq, high_freq, original.
    yarn: factor, original, beta_fast, beta_slow, truncate; attention_factor is final (mscale folded in).
    longrope: short, long (per frequency), original, short_mscale, long_mscale (multiply cos and sin).
    """

    kind: Literal["linear", "dynamic", "yarn", "longrope", "llama3"]
    factor: float = 1.0
    original: int = 0
    max_position: int = 0
    attention_factor: float = 1.0
    beta_fast: float = 32.0
    beta_slow: float = 1.0
    truncate: bool = True
    low_freq: float = 1.0
    high_freq: float = 4.0
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()
    short_mscale: float = 1.0
    long_mscale: float = 1.0


@dataclass(frozen=True)
class RopeSpec:
    """Rotary position embedding on the first `dim` of a head's dimensions; the rest passes through.

    rotated: only this many of `dim` turn, the others have frequency 0 (gemma4's proportional rope); None: all.
    interleaved: pairs are (2i, 2i+1); otherwise (i, i + dim/2).
    """

    dim: int
    theta: float
    interleaved: bool = False
    scaling: RopeScaling | None = None
    rotated: int | None = None


@dataclass(frozen=True)
class TemperatureSpec:
    """Queries grow with their position p: times 1 + beta * ln(1 + floor((p + offset) / every)) (Llama 4, Mistral 4)."""

    beta: float
    every: int
    offset: int = 0
