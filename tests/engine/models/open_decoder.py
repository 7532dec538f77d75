"""From a parsed config.json and weights to a decoder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any
from unittest.mock import patch

import torch

from engine.experts.backend import ExpertBackend
from engine.kernels.native import NativeKernel
from engine.models.decoder import Decoder, UnsupportedOp
from engine.models.families import read_spec
from engine.models.layers.weight_format import WeightFormat
from engine.models.layers.weights import CheckpointWeights


@lru_cache(maxsize=1)
def native_kernel() -> NativeKernel:
    """The kernels built beside the sources; all tests share them."""
    return NativeKernel(2)


def plain_weights() -> WeightFormat:
    """Everything in float32."""
    return WeightFormat(kernel=native_kernel())


def open_decoder(
    config: Mapping[str, Any],
    weights: CheckpointWeights,
    experts: ExpertBackend,
    dense: WeightFormat | None = None,
    kv_dtype: torch.dtype = torch.float32,
) -> Decoder:
    """The lean decoder of this config. dense: None holds all in float32.

    Raises what `read_spec` and `weights` raise; nothing is half open then.
    """
    return Decoder(read_spec(config), weights, experts, dense or plain_weights(), kv_dtype)


@contextmanager
def without_op_graph() -> Iterator[None]:
    """Decoders that are made meanwhile have few tokens go through their layers as the many of a prompt do."""
    with patch("engine.models.decoder.build_graph", side_effect=UnsupportedOp("the test wants it so")):
        yield
