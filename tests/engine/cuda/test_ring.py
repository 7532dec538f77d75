"""Bytes through the ring arrive whole, whatever the order in which copies run."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from contextlib import closing

import pytest

from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.ring import PinnedRing
from tests.engine.cuda.schedule import Fault
from tests.engine.cuda.simulated_driver import SimulatedDriver


def filled_with(value: int, nbytes: int) -> Callable[[int], None]:
    """What writes so many bytes of one value."""

    def fill(host: int) -> None:
        ctypes.memset(host, value, nbytes)

    return fill


@pytest.mark.parametrize("seed", range(20))
def test_what_is_sent_arrives(seed: int) -> None:
    simulated = SimulatedDriver(seed)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        ring, sent = PinnedRing(device, 5000, most=3 * 8192), 12
        assert (ring.slots, ring.nbytes) == (3, 8192)
        to, done = [device.memory(5000) for _ in range(sent)], device.event()
        for i, at in enumerate(to):
            ring.send(at, 5000, filled_with(i, 5000), done)
        device.driver.wait_for(done)
        assert [simulated.memory.read(at, 5000) for at in to] == [bytes([i]) * 5000 for i in range(sent)]
    assert simulated.leaks == []


def test_a_ring_that_does_not_wait_for_its_buffers_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(CardDevice(Driver(SimulatedDriver(eagerness=0.0)), 0)) as device:
        ring = PinnedRing(device, 4096, most=8192)
        to, done = device.memory(4096), device.event()
        monkeypatch.setattr(device.driver, "wait_for", lambda event: None)
        for value in range(3):
            ring.send(to, 4096, filled_with(value, 4096), done)
        with pytest.raises(Fault, match="changed before the copy"):
            device.driver.synchronize(device.copy)
