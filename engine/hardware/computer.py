"""This computer as a person is told of it, and whether it should rest: its battery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psutil

from engine.hardware.machine import DiskPoint, Machine, size
from engine.hardware.processor import Processor
from engine.hardware.rates import Rates
from engine.translatable import NO_TEXT, Translatable, joined, msg


@dataclass(frozen=True)
class Computer:
    """rates: of a full probe; None: there was none yet, or something changed since. why: what changed, in a sentence,
    or why something of the rates is missing or will not be kept.

    sentences: all of it in words.
    """

    processor: Processor
    machine: Machine
    rates: Rates | None
    why: Translatable
    sentences: tuple[Translatable, ...]


def describe(processor: Processor, machine: Machine, rates: Rates | None, why: Translatable = NO_TEXT) -> Computer:
    """With its sentences."""
    why = joined(" ", (rates.unread if rates is not None else "", _while_busy(rates), why))
    return Computer(processor, machine, rates, why, tuple(_sentences(processor, machine, rates, why)))


def _while_busy(rates: Rates | None) -> Translatable:
    if rates is None or not rates.busy:
        return NO_TEXT
    return msg(
        "Measured while other apps used {busy}% of the processor. It will be measured again.",
        busy=f"{100 * rates.busy:.0f}",
    )


def _sentences(p: Processor, m: Machine, rates: Rates | None, why: Translatable) -> list[Translatable]:
    kinds = msg(" ({performance} fast)", performance=p.performance) if p.performance < p.physical else ""
    found = [
        msg(
            "{name}: {physical} cores{kinds}, {logical} threads; {isa} on {cores} threads.",
            name=p.name,
            physical=p.physical,
            kinds=kinds,
            logical=p.logical,
            isa=m.isa,
            cores=m.cores,
        ),
        msg(
            "Memory: {available} of {limit} free, {memory_rate} GB/s.",
            available=size(m.memory.available),
            limit=size(m.memory.limit),
            memory_rate=f"{m.memory_rate / 1e9:.0f}",
        ),
    ]
    for card in m.gpus:
        link = msg(", {pinned} GB/s link", pinned=f"{card.pinned / 1e9:.1f}") if card.pinned else ""
        found.append(
            msg(
                "{name}: {free} of {total} of GPU memory free{link}. CUDA capability {capability}.",
                name=card.name,
                free=size(card.free),
                total=size(card.total),
                link=link,
                capability=".".join(map(str, card.capability)),
            )
        )
    found.append(msg("Disk: {disk_free} free.", disk_free=size(m.disk_free)))
    if m.on_battery:
        found.append(msg("On battery: may be slower."))
    if rates is None:
        return [*found, why] if why else found
    if rates.disk_points:
        best = max(rates.disk_points, key=lambda point: point.rate)
        found.append(
            msg(
                "Disk reads: {disk_rate} GB/s; at best {point}.",
                disk_rate=f"{m.disk_rate / 1e9:.1f}",
                point=_point(best),
            )
        )
    shares = joined(
        ", ",
        [
            msg("{share}% at {tier}-bit", share=f"{100 * share:.0f}", tier=tier)
            for tier, share in sorted(rates.kernel_shares.items())
        ],
    )
    if shares:
        found.append(msg("Expert computing, share of memory speed: {shares}.", shares=shares))
    return [*found, why] if why else found


def _point(point: DiskPoint) -> Translatable:
    way = msg("direct") if point.direct else msg("cached")
    return msg(
        "{rate} GB/s ({nbytes} blocks, {depth} parallel, {way})",
        rate=f"{point.rate / 1e9:.1f}",
        nbytes=size(point.nbytes),
        depth=point.depth,
        way=way,
    )


def running_low(mark: int) -> Translatable:
    """Why long work should wait, as a sentence: on battery, with less than `mark` percent left. '': it need not."""
    battery = _battery() if mark else None
    if battery is None or battery.power_plugged is not False or battery.percent >= mark:
        return NO_TEXT
    return msg(
        "Paused at {percent}% battery. Plug in to continue.",
        percent=f"{battery.percent:.0f}",
    )


def on_battery() -> bool | None:
    """Whether the computer runs on its battery now; None where there is none, or nobody can tell."""
    battery = _battery()
    return None if battery is None or battery.power_plugged is None else not battery.power_plugged


def _battery() -> Any:
    """As psutil tells it. A system that has no word of batteries, as in a container, is one without."""
    try:
        return psutil.sensors_battery() if hasattr(psutil, "sensors_battery") else None
    except OSError:
        return None
