"""Puts a runtime together from settings: cache levels, policy, readers and kernels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass

import torch

from engine.experts.buffers import allocate_on
from engine.experts.cache import ExpertCache
from engine.experts.eam import EamCollection
from engine.experts.keys import ExpertKey, ExpertSource, keys_of, largest_expert
from engine.experts.level import Level
from engine.experts.loader import Loader
from engine.experts.loader_native import NativeLoader
from engine.experts.loader_threads import ThreadLoader
from engine.experts.native_cache import NativeCache
from engine.experts.policies import DEFAULT, Policy, Shape, WeightsByShare, make_policy
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime
from engine.experts.two_level import TieredCache
from engine.kernels.activation import Activation
from engine.kernels.call import Kernel
from engine.kernels.choice import choose
from engine.kernels.native import NativeMissing
from engine.kernels.reference import TorchKernel
from engine.store.layout import ExpertSpec


@dataclass(frozen=True)
class DevicePool:
    """Experts also in the memory of a torch device, above the host's. capacity: bytes."""

    device: torch.device
    capacity: int


def open_runtime(
    source: ExpertSource,
    activation: Activation | Mapping[int, Activation],
    capacity: int,
    *,
    device: DevicePool | None = None,
    policy: str = "hobbit",
    weights: WeightsByShare = DEFAULT,
    collection: EamCollection | None = None,
    readers: int = 4,
    threads: int | None = None,
    kernel: str = "auto",
    exact: bool = False,
    thresholds: Thresholds = EXACT,
    tier: int | None = None,
) -> ExpertRuntime:
    """A runtime over an open store, which stays the caller's. capacity: bytes of ordinary memory for experts.

    activation: of all layers, or by layer.
    weights: of the policy 'hobbit'. collection: of past answers, for the policy 'activation'. exact: native kernels
    take activations as they are, not rounded to 8 bits. The other arguments are those settings of engine.settings.
    Raises UnderhillError when the capacity cannot hold one expert, or when kernel='native' is not possible here.
    """
    least = largest_expert(source, tier)

    specs = {layer: [source.spec(layer, expert) for expert in range(source.experts(layer))] for layer in source.layers}

    def spec_of(key: ExpertKey) -> ExpertSpec:
        return specs[key.layer][key.expert]

    shape = Shape(source.layers, max(map(source.experts, source.layers)))
    whole = least * len(keys_of(source))

    def policy_for(capacity: int) -> Policy:
        return make_policy(policy, shape, capacity / whole, weights, collection)

    loader = open_loader(source, readers)
    levels: list[Level] = []
    if device is None and isinstance(loader, NativeLoader):
        levels.append(NativeCache(capacity, policy_for(capacity), specs, shape, least))
    else:
        levels.append(ExpertCache(capacity, policy_for(capacity), spec_of, least))
    if device is not None:
        above, allocate = device.capacity, allocate_on(device.device)
        levels.insert(0, ExpertCache(above, policy_for(above), spec_of, least, allocate))
    kernels: list[Kernel] = [choose(kernel, threads, exact=exact)]
    if device is not None:
        kernels.insert(0, TorchKernel())
    return ExpertRuntime(source, activation, TieredCache(levels), loader, kernels, thresholds, tier, weights)


def open_loader(source: ExpertSource, readers: int) -> Loader:
    """Native readers where the source's experts lie in files of the system and there is a native library."""
    files = [extent.file for layer in source.layers for extent in source.extents(layer, 0, (0,))]
    if all(file.handle is not None for file in files):
        with suppress(NativeMissing):  # which says itself that it is
            return NativeLoader(source, readers)
    return ThreadLoader(source, readers)
