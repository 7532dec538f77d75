"""Graphics cards that can be used now, and how fast bytes get to them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace

from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver, open_driver
from engine.cuda.errors import CardError
from engine.cuda.management import free_memory, management_library
from engine.hardware.machine import Gpu

SENT = 64 << 20  # bytes of one copy
TURNS = 3  # copies, of which the fastest counts: the first one makes the driver set things up


def gpus() -> tuple[Gpu, ...]:
    """NVIDIA cards with their free memory; empty without a driver. Makes no context, which would take some of it."""
    try:
        driver = open_driver()
        return tuple(_card(driver, index) for index in range(driver.count()))
    except CardError:
        return ()


def measured() -> tuple[Gpu, ...]:
    """The same with their rates. A card too full for the copy, or held by another program, keeps what it tells."""
    cards = gpus()
    if not cards:
        return ()
    driver = open_driver()
    found = []
    for index, card in enumerate(cards):
        with suppress(CardError), closing(CardDevice(driver, index)) as device:
            card = replace(card, pinned=_link_rate(device), rate=_own_rate(device))
        found.append(card)
    return tuple(found)


def _card(driver: Driver, index: int) -> Gpu:
    facts = driver.card(index)
    free = free_memory(management_library(), facts.bus)
    # Where nobody can tell, all of it: opening asks the card itself, and takes no more than is free.
    return Gpu(
        name=facts.name,
        total=facts.total,
        free=facts.total if free is None else free,
        rate=facts.rate,
        unified=facts.unified,
        capability=facts.capability,
    )


def _link_rate(device: CardDevice) -> float:
    host, there = device.pinned(SENT), device.memory(SENT)
    return SENT / _fastest(device, lambda: device.driver.copy_in(there, host, SENT, device.copy))


def _own_rate(device: CardDevice) -> float:
    """Read and written again on the card itself."""
    host, source, to = device.pinned(SENT), device.memory(SENT), device.memory(SENT)
    device.driver.copy_in(source, host, SENT, device.copy)  # memory that was never written may read faster
    # Twice: the card reads and writes every byte.
    return 2 * SENT / _fastest(device, lambda: device.driver.copy_within(to, source, SENT, device.copy))


def _fastest(device: CardDevice, copy: Callable[[], None]) -> float:
    """Seconds that a copy takes, by the card's own clock."""
    driver, stream = device.driver, device.copy
    begin, end = device.event(timed=True), device.event(timed=True)
    best = float("inf")
    for _ in range(TURNS):
        driver.record(begin, stream)
        copy()
        driver.record(end, stream)
        driver.synchronize(stream)
        best = min(best, driver.seconds(begin, end))
    return best
