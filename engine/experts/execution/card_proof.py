"""A card proves itself: its kernels against the processor's on experts of the open model, before they are relied on."""

from __future__ import annotations

import ctypes
import statistics
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from engine.cuda.device import CardDevice
from engine.cuda.errors import CardError
from engine.cuda.expert_kernels import CardExpert, CardWork, ExpertKernels, supports
from engine.cuda.operands import TOLERANCE
from engine.experts.card.residency import ReadParts
from engine.experts.card.split import SideRates
from engine.experts.keys import ExpertKey, ExpertSource
from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import NativeKernel
from engine.record.layout import ALIGN, ExpertSpec
from engine.translatable import msg

EXPERTS = 4  # of each shape, that are tried
COUNTS = (1, 3, 9)  # slots of an expert: each of the kernels runs
TURNS = 5  # measurements, of which the middle counts


@dataclass(frozen=True)
class CardProof:
    """worst: the largest difference, relative to the norm of a row; compared: rows that were. rates: as measured."""

    worst: float
    compared: int
    rates: SideRates


def prove(
    device: CardDevice, kernels: ExpertKernels, kernel: NativeKernel, source: ExpertSource, read: ReadParts,
    activations: Mapping[int, Activation],
) -> CardProof:  # fmt: skip
    """Compute experts of every shape on both sides. Raises CardError where they differ, or the card fails."""
    worst, compared, rates = 0.0, 0, []
    for (spec, activation), keys in _by_shape(source, activations).items():
        for tier in spec.tiers:
            experts: list[_Tried] = []
            try:
                for key in keys:
                    experts.append(_Tried(device, spec, tier, key, read))
                for count in COUNTS:
                    if count * len(experts) <= kernels.most_slots:
                        worst = max(worst, _difference(kernels, kernel, activation, experts, count))
                        compared += count * len(experts)
                if not worst <= TOLERANCE:
                    raise CardError(
                        msg(
                            "{name} and the CPU give different results: {tier}-bit experts differ by {worst}.",
                            name=device.facts.name,
                            tier=tier,
                            worst=f"{worst:.2g}",
                        ),
                        msg("Please report this with the name of the GPU. The CPU is used instead."),
                    )
                if tier == spec.top:
                    rates.append(measure_rates(kernels, kernel, activation, experts))
            finally:
                for expert in experts:
                    device.driver.free(expert.block)
    return CardProof(worst, compared, max(rates, key=lambda rate: rate.card))


class _Tried:
    """One expert on both sides."""

    def __init__(self, device: CardDevice, spec: ExpertSpec, tier: int, key: ExpertKey, read: ReadParts) -> None:
        layout = spec.layout
        parts = layout.parts_for(tier)
        data = [_aligned(layout.parts[part].nbytes) for part in parts]
        read(*key, parts, [own.numpy().data for own in data])
        self.parts = Parts(spec, dict(zip(parts, data)), tier)
        nbytes = sum(own.numel() for own in data)
        driver = device.driver
        host = driver.allocate_pinned(nbytes)
        try:
            self.block = driver.allocate(nbytes)
            at, places = 0, {}
            for part, own in zip(parts, data):
                ctypes.memmove(host + at, own.data_ptr(), own.numel())
                places[part] = self.block + at
                at += own.numel()
            driver.copy_in(self.block, host, nbytes, device.copy)
            driver.synchronize(device.copy)
        finally:
            driver.free_pinned(host)
        codes = [places[part.index] for part in layout.codes_for(tier)]
        one, two, three = (*codes, 0, 0)[:3]
        self.card = CardExpert((one, two, three, places[layout.params_for(tier).index]), len(codes))


def _aligned(nbytes: int) -> Tensor:
    """Bytes that the disk may be read into past the file cache."""
    whole = torch.empty(nbytes + ALIGN, dtype=torch.uint8)
    start = -whole.data_ptr() % ALIGN
    return whole[start : start + nbytes]


def _by_shape(
    source: ExpertSource, activations: Mapping[int, Activation]
) -> dict[tuple[ExpertSpec, Activation], list[ExpertKey]]:
    """Some experts of each shape, from the first layer that has it."""
    found: dict[tuple[ExpertSpec, Activation], list[ExpertKey]] = {}
    for layer in source.layers:
        for expert in range(source.experts(layer)):
            spec = source.spec(layer, expert)
            keys = found.setdefault((spec, activations[layer]), []) if supports(spec) else []
            if len(keys) < EXPERTS:
                keys.append(ExpertKey(layer, expert))
    return found


def _difference(
    kernels: ExpertKernels, kernel: NativeKernel, activation: Activation, experts: Sequence[_Tried], count: int
) -> float:
    spec, slots = experts[0].parts.spec, count * len(experts)
    x = torch.randn(slots, spec.hidden, generator=torch.Generator().manual_seed(count))
    expected = torch.empty(slots, spec.hidden)
    work = [Work(own.parts, range(i * count, (i + 1) * count)) for i, own in enumerate(experts)]
    kernel.run(spec, activation, work, x, 1, expected)
    kernels.begin(
        CardWork(spec, activation, [own.card for own in experts], [count] * len(experts), x.data_ptr(), slots)
    )
    found = torch.from_numpy(kernels.finish())
    rows = (found - expected).norm(dim=1) / expected.norm(dim=1).clamp_min(1e-30)
    return float(rows.nan_to_num(torch.inf).max())


def measure_rates(
    kernels: ExpertKernels, kernel: NativeKernel, activation: Activation, experts: Sequence[_Tried]
) -> SideRates:
    """Of one token, on both sides."""
    spec, n = experts[0].parts.spec, len(experts)
    x, out = torch.randn(1, spec.hidden), torch.empty(n, spec.hidden)
    work = [Work(own.parts, [i]) for i, own in enumerate(experts)]

    def host() -> float:
        start = time.perf_counter()
        kernel.run(spec, activation, work, x, n, out)
        return (time.perf_counter() - start) / n

    def card(many: int) -> float:
        own = [expert.card for expert in experts[:many]]
        kernels.begin(CardWork(spec, activation, own, [1] * many, x.data_ptr(), 1))
        kernels.finish()
        return kernels.seconds + kernels.launching

    host_seconds, one, all_of_them = (
        statistics.median(measure() for _ in range(TURNS)) for measure in (host, lambda: card(1), lambda: card(n))
    )
    each = max(1e-7, (all_of_them - one) / max(1, n - 1))
    return SideRates(host_seconds, each, max(1e-6, one - each))
