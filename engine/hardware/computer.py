"""This computer as a person is told of it."""

from __future__ import annotations

from dataclasses import dataclass

from engine.hardware.budget import size
from engine.hardware.machine import DiskPoint, Machine
from engine.hardware.processor import Processor
from engine.hardware.rates import Rates


@dataclass(frozen=True)
class Computer:
    """rates: of a full probe; None: there was none yet, or something changed since. why: what changed, in a sentence,
    or why something of the rates is missing or will not be kept.

    sentences: all of it in words.
    """

    processor: Processor
    machine: Machine
    rates: Rates | None
    why: str
    sentences: tuple[str, ...]


def describe(processor: Processor, machine: Machine, rates: Rates | None, why: str = "") -> Computer:
    """With its sentences."""
    why = " ".join(filter(None, (rates.unread if rates is not None else "", _while_busy(rates), why)))
    return Computer(processor, machine, rates, why, tuple(_sentences(processor, machine, rates, why)))


def _while_busy(rates: Rates | None) -> str:
    if rates is None or not rates.busy:
        return ""
    return (
        f"It was measured while other programs took {100 * rates.busy:.0f} % of the processor, and will be measured "
        "again when they do not."
    )


def _sentences(p: Processor, m: Machine, rates: Rates | None, why: str) -> list[str]:
    kinds = f", {p.performance} of them fast ones" if p.performance < p.physical else ""
    found = [
        f"{p.name}: {p.physical} cores{kinds}, {p.logical} threads; {m.isa} kernels on {m.cores} threads.",
        f"{size(m.memory.available)} of {size(m.memory.limit)} of memory are free; "
        f"it is read at {m.memory_rate / 1e9:.0f} GB/s.",
    ]
    for card in m.gpus:
        link = f"; {card.pinned / 1e9:.1f} GB/s to it" if card.pinned else ""
        found.append(
            f"{card.name}: {size(card.free)} of {size(card.total)} free{link}. This version does not compute on it."
        )
    found.append(f"{size(m.disk_free)} are free on the disk.")
    if m.on_battery:
        found.append("It runs on its battery, where it may be slower.")
    if rates is None:
        return [*found, why] if why else found
    if rates.disk_points:
        best = max(rates.disk_points, key=lambda point: point.rate)
        found.append(f"The disk reads experts at {m.disk_rate / 1e9:.1f} GB/s; at best, {_point(best)}.")
    shares = ", ".join(f"{100 * share:.0f} % at {tier} bits" for tier, share in sorted(rates.kernel_shares.items()))
    if shares:
        found.append(f"Experts are computed at this part of the memory's pace: {shares}.")
    else:
        found.append(f"The slower torch kernels take {1e9 * rates.torch_weight:.1f} ns for a weight.")
    return [*found, why] if why else found


def _point(point: DiskPoint) -> str:
    way = "past the file cache" if point.direct else "through the file cache"
    return f"{point.rate / 1e9:.1f} GB/s ({size(point.nbytes)} at a time, {point.depth} at once, {way})"
