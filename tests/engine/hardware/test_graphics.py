"""Graphics cards: what is told without a context, and what copying to them takes, on a driver that is not there."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace
from typing import Any

import pytest

from engine.cuda.driver import Driver
from engine.cuda.errors import no_driver
from engine.cuda.management import free_memory
from engine.hardware import graphics
from engine.hardware.machine import Gpu
from tests.engine.cuda.simulated_driver import MIB, OUT_OF_MEMORY, SimulatedDriver


def management(free: int, *, refuses: str = "") -> SimpleNamespace:
    """NVML that knows the cards of SimulatedDriver."""

    def memory(card: Any, out: Any) -> int:
        out._obj.free = free
        return 0

    def handle(bus: bytes, out: Any) -> int:
        out._obj.value = 1
        return 0 if bus.startswith(b"0000:0") else 2

    functions: dict[str, Any] = {
        "nvmlInit_v2": lambda: 0,
        "nvmlShutdown": lambda: 0,
        "nvmlDeviceGetHandleByPciBusId_v2": handle,
        "nvmlDeviceGetMemoryInfo": memory,
    }
    if refuses:
        functions[refuses] = lambda *arguments: 9
    return SimpleNamespace(**functions)


@pytest.fixture
def simulated(monkeypatch: pytest.MonkeyPatch) -> SimulatedDriver:
    driver = SimulatedDriver(total=512 * MIB, cards=2)
    monkeypatch.setattr(graphics, "open_driver", lambda: Driver(driver))
    monkeypatch.setattr(graphics, "SENT", MIB)  # numpy stands for the card
    monkeypatch.setattr(graphics, "management_library", lambda: management(300 * MIB))
    return driver


def test_cards_are_listed_with_their_free_memory_and_without_a_context(simulated: SimulatedDriver) -> None:
    rest = {"rate": 256e9, "capability": (8, 9)}
    assert graphics.gpus() == tuple(Gpu(name=f"Simulated {i}", total=512 * MIB, free=300 * MIB, **rest) for i in (0, 1))
    assert "cuDevicePrimaryCtxRetain" not in simulated.calls
    assert "cuMemAlloc_v2" not in simulated.calls


def test_without_a_driver_there_are_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Driver:
        raise no_driver()

    monkeypatch.setattr(graphics, "open_driver", none)
    assert graphics.gpus() == graphics.measured() == ()


@pytest.mark.parametrize("refuses", ["nvmlInit_v2", "nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetMemoryInfo"])
def test_where_nobody_tells_what_is_free_all_of_it_may_be(refuses: str) -> None:
    assert free_memory(management(5, refuses=refuses), "0000:01:00.0") is None
    assert free_memory(None, "0000:01:00.0") is None
    assert free_memory(management(5), "0000:01:00.0") == 5
    assert free_memory(SimpleNamespace(nvmlInit_v2=ctypes.c_int), "") is None


def test_rates_are_measured_and_everything_is_given_back(simulated: SimulatedDriver) -> None:
    one, other = graphics.measured()
    assert one.pinned == graphics.SENT / 1e-3  # a copy takes a millisecond there
    assert one.rate == 2 * graphics.SENT / 1e-3
    assert other.pinned == one.pinned
    assert simulated.leaks == []


def test_a_card_too_full_to_be_measured_keeps_what_it_tells(simulated: SimulatedDriver) -> None:
    simulated.fail["cuMemAlloc_v2"] = [OUT_OF_MEMORY]
    one, other = graphics.measured()
    assert (one.pinned, one.rate) == (0.0, 256e9)
    assert other.pinned > 0
    assert simulated.leaks == []
