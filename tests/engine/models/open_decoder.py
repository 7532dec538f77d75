"""From a parsed config.json and weights to a decoder."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from engine.experts.backend import ExpertBackend
from engine.models.decoder import Decoder
from engine.models.families import read_spec
from engine.models.layers.weight_format import F32, WeightFormat
from engine.models.layers.weights import CheckpointWeights


def open_decoder(
    config: Mapping[str, Any],
    weights: CheckpointWeights,
    experts: ExpertBackend,
    dense: WeightFormat = F32,
    kv_dtype: torch.dtype = torch.float32,
) -> Decoder:
    """The lean decoder of this config. Raises what `read_spec` and `weights` raise; nothing is half open then."""
    return Decoder(read_spec(config), weights, experts, dense, kv_dtype)
