"""The driver's functions as the engine calls them, and what becomes of their errors."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import closing
from types import SimpleNamespace

import pytest

from engine.cuda import driver as module
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver, open_driver
from engine.cuda.errors import CardError, refused
from engine.errors import Kind
from tests.engine.cuda.schedule import Fault
from tests.engine.cuda.simulated_driver import LAUNCH_FAILED, OUT_OF_MEMORY, SimulatedDriver


@pytest.fixture
def card() -> Iterator[tuple[SimulatedDriver, CardDevice]]:
    simulated = SimulatedDriver()
    device = CardDevice(Driver(simulated), 0)
    yield simulated, device
    device.close()
    assert simulated.leaks == []


def test_a_card_is_told_of_without_a_context() -> None:
    simulated = SimulatedDriver(cards=2)
    driver = Driver(simulated)
    facts = driver.card(1)
    assert (driver.count(), facts.name, facts.bus) == (2, "Simulated 1", "0000:01:00.0")
    assert (facts.capability, facts.rate, facts.unified) == ((8, 9), 256e9, False)
    assert not simulated.retained


def test_what_was_copied_in_comes_back(card: tuple[SimulatedDriver, CardDevice]) -> None:
    _, device = card
    driver, nbytes = device.driver, 4096
    host, there = device.pinned(2 * nbytes), device.memory(nbytes)
    ctypes.memset(host, 7, nbytes)
    driver.copy_in(there, host, nbytes, device.copy)
    crossed = device.event()
    driver.record(crossed, device.copy)
    driver.wait(device.compute, crossed)
    driver.copy_out(host + nbytes, there, nbytes, device.compute)
    driver.synchronize(device.compute)
    assert ctypes.string_at(host + nbytes, nbytes) == b"\7" * nbytes


def test_a_wait_that_is_left_out_is_found_whatever_the_order() -> None:
    for seed in range(20):
        device = CardDevice(Driver(SimulatedDriver(seed)), 0)
        with closing(device), pytest.raises(Fault, match=r"none waits|never written"):
            unordered(device)


def unordered(device: CardDevice) -> None:
    """Copy there and back on two streams, neither of which waits for the other."""
    host, there = device.pinned(8192), device.memory(4096)
    device.driver.copy_in(there, host, 4096, device.copy)
    device.driver.copy_out(host + 4096, there, 4096, device.compute)
    device.driver.synchronize(device.compute)
    device.driver.synchronize(device.copy)


def test_a_buffer_that_is_filled_again_too_early_is_found() -> None:
    simulated = SimulatedDriver(eagerness=0.0)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        host, there = device.pinned(4096), device.memory(4096)
        device.driver.copy_in(there, host, 4096, device.copy)
        ctypes.memset(host, 1, 4096)
        with pytest.raises(Fault, match="changed before the copy"):
            device.driver.synchronize(device.copy)


@pytest.mark.parametrize("name", ["cuDevicePrimaryCtxRetain", "cuStreamCreate", "cuCtxSetCurrent"])
@pytest.mark.parametrize("before", [0, 1])
def test_a_card_that_does_not_open_leaves_nothing_behind(name: str, before: int) -> None:
    simulated = SimulatedDriver()
    simulated.fail[name] = [0] * before + [OUT_OF_MEMORY]
    if before and name != "cuStreamCreate":
        CardDevice(Driver(simulated), 0).close()
        assert simulated.leaks == []
        return
    with pytest.raises(CardError, match="Not enough GPU memory") as error:
        CardDevice(Driver(simulated), 0)
    assert error.value.kind is Kind.OUT_OF_MEMORY
    assert simulated.leaks == []


def test_a_lost_card_is_closed_all_the_same() -> None:
    simulated = SimulatedDriver()
    device = CardDevice(Driver(simulated), 0)
    device.pinned(4096)
    simulated.lost = LAUNCH_FAILED
    with pytest.raises(CardError, match="stopped working"):
        device.driver.synchronize(device.compute)
    device.close()
    device.close()


@pytest.mark.parametrize(
    ("code", "kind", "words"),
    [
        (2, Kind.OUT_OF_MEMORY, "Not enough GPU memory. Close other apps that use the GPU"),
        (35, Kind.CARD, "too old. Update the driver"),
        (222, Kind.CARD, "too old. Update the driver"),
        (803, Kind.CARD, "isn't in use yet. Restart the computer"),
        (218, Kind.CARD, "load the kernels"),
        (46, Kind.CARD, "in use by another app"),
        (719, Kind.CARD, r"stopped working \(719\)"),
        (1, Kind.CARD, "failed: cuInit returned 1"),
    ],
)
def test_every_code_is_a_sentence_with_what_to_do(code: int, kind: Kind, words: str) -> None:
    error = refused("cuInit", code)
    assert error.kind is kind
    assert error.action
    with pytest.raises(CardError, match=words):
        raise error


def test_a_driver_that_lacks_a_function_is_too_old() -> None:
    with pytest.raises(CardError, match="it has no cuInit"):
        Driver(SimpleNamespace())


def test_a_computer_without_a_driver_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def none(*args: object, **options: object) -> None:
        raise OSError("libcuda.so.1: cannot open shared object file")

    monkeypatch.setattr(module.ctypes, "CDLL", none)
    with pytest.raises(CardError, match="No NVIDIA GPU driver"):
        open_driver()
