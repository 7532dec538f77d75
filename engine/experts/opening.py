"""Puts a runtime together from settings: cache, policy, readers and kernel."""

from __future__ import annotations

from collections.abc import Mapping

from engine.experts.cache import ExpertCache
from engine.experts.eam import EamCollection
from engine.experts.keys import ExpertSource, keys_of, largest_expert
from engine.experts.loader import Loader
from engine.experts.policies import DEFAULT, Shape, WeightsByShare, make_policy
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.kernels.activation import Activation
from engine.kernels.choice import choose


def open_runtime(
    source: ExpertSource,
    activation: Activation | Mapping[int, Activation],
    capacity: int,
    *,
    policy: str = "hobbit",
    weights: WeightsByShare = DEFAULT,
    collection: EamCollection | None = None,
    readers: int = 4,
    threads: int | None = None,
    kernel: str = "auto",
    exact: bool = False,
    thresholds: Thresholds = EXACT,
    tier: int | None = None,
    loader: Loader | None = None,
) -> ExpertRuntime:
    """A runtime over an open store, which stays the caller's. capacity: bytes of memory for experts.

    activation: of all layers, or by layer. weights: of the policy 'hobbit'. collection: of past answers, for the policy
    'activation'. exact: native kernels take activations as they are, not rounded to 8 bits. loader: reads the source,
    and is closed with the runtime; None: one with so many `readers`. The other arguments are those settings of
    engine.settings. Raises UnderhillError when the capacity cannot hold one expert, or when kernel='native' is not
    possible here.
    """
    least = largest_expert(source, tier)
    specs = {layer: [source.spec(layer, expert) for expert in range(source.experts(layer))] for layer in source.layers}
    shape = Shape(source.layers, max(map(source.experts, source.layers)))
    share = capacity / (least * len(keys_of(source)))
    cache = ExpertCache(capacity, make_policy(policy, shape, share, weights, collection), specs, shape, least)
    loader = loader or Loader(source, readers)
    return ExpertRuntime(
        source, activation, cache, loader, choose(kernel, threads, exact=exact), thresholds, tier, weights
    )  # fmt: skip
