"""What is recorded of a card's work, and the two ways that tell whether it is ordered."""

from __future__ import annotations

import random
from contextlib import closing

import pytest

from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from tests.engine.cuda.command_stream import CommandStream, Orders, RecordedSchedule, fault
from tests.engine.cuda.simulated_driver import SimulatedDriver

NBYTES = 64


def crossed(waits: str) -> CommandStream:
    """A copy to the card on one stream, and one back on the other, which waits for it in this way."""
    schedule = RecordedSchedule(0)
    with closing(CardDevice(Driver(SimulatedDriver(schedule=schedule)), 0)) as device:
        driver, event = device.driver, device.event()
        there, sent, came = device.memory(NBYTES), device.pinned(NBYTES), device.pinned(NBYTES)
        driver.copy_in(there, sent, NBYTES, device.copy)
        driver.record(event, device.copy)
        if waits == "stream":
            driver.wait(device.compute, event)
        elif waits == "program":
            driver.wait_for(event)
        driver.copy_out(came, there, NBYTES, device.compute)
        driver.synchronize(device.copy)  # too late
    return schedule.stream


@pytest.mark.parametrize("waits", ["stream", "program"])
def test_a_wait_of_either_kind_orders_two_streams(waits: str) -> None:
    stream, draw = crossed(waits), random.Random(0)
    ready = Orders(stream)
    assert fault(stream) is None
    assert not any(ready.wrong(draw) for _ in range(200))
    wait = next(token for token in stream.tokens if token.needs is not None)
    cut = stream.without(lambda token: token is wait)
    assert fault(cut) == "'copy from the card' and 'copy to the card'"
    ready = Orders(cut)
    assert any(ready.wrong(draw) for _ in range(200))
