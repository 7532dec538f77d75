"""Experts on the card give what they give on the processor, for one token and for many, in every legal order."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from contextlib import closing

import numpy as np
import pytest
import torch

from engine.cuda.arena import DeviceArena
from engine.cuda.device import CardDevice
from engine.cuda.driver import Driver
from engine.cuda.expert_kernels import CardExpert, CardWork, ExpertKernels, supports
from engine.cuda.ring import PinnedRing
from engine.kernels.activation import Activation
from engine.kernels.call import Parts, Work
from engine.kernels.native import NativeKernel
from engine.record.layout import ExpertSpec
from tests.engine.cuda.simulated_driver import SimulatedDriver
from tests.engine.cuda.stand_in import StandIn
from tests.engine.kernels.records import random_experts

SPEC = ExpertSpec(hidden=96, intermediate=80, top=8, group=32)
PLAIN = ExpertSpec(hidden=96, intermediate=80, top=4, group=32, has_gate=False, has_bias=True)
SILU, RELU = Activation(), Activation("relu2")


@pytest.fixture(params=[False, True], ids=["8 bits", "exact"])
def exact(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def compiler(exact: bool) -> Iterator[StandIn]:
    with closing(StandIn({SPEC: SILU, PLAIN: RELU}, exact)) as made:
        yield made


def placed(device: CardDevice, parts: Parts) -> CardExpert:
    """The expert on the card."""
    layout, driver = parts.spec.layout, device.driver
    at = {}
    for index, data in parts.parts.items():
        host = device.pinned(data.numel())
        ctypes.memmove(host, data.data_ptr(), data.numel())
        at[index] = device.memory(data.numel())
        driver.copy_in(at[index], host, data.numel(), device.copy)
    driver.synchronize(device.copy)
    codes = [at[part.index] for part in layout.codes_for(parts.tier)]
    return CardExpert((*(*codes, 0, 0)[:3], at[layout.params_for(parts.tier).index]), parts.planes)  # type: ignore[arg-type]


@pytest.mark.parametrize("counts", [(1, 1, 1), (3,), (4, 1), (9, 2), (40,)])
@pytest.mark.parametrize(("spec", "activation"), [(SPEC, SILU), (PLAIN, RELU)], ids=["gated", "plain"])
def test_it_gives_what_the_processor_gives(
    compiler: StandIn, exact: bool, spec: ExpertSpec, activation: Activation, counts: tuple[int, ...]
) -> None:
    experts = random_experts(spec, len(counts), [2, 4, spec.top])
    slots = sum(counts)
    one = counts == (1, 1, 1)
    x = torch.randn(1 if one else slots, spec.hidden, generator=torch.Generator().manual_seed(1))
    firsts = np.cumsum((0, *counts)).tolist()
    work = [Work(experts[i], list(range(firsts[i], firsts[i + 1]))) for i in range(len(counts))]
    expected = torch.empty(slots, spec.hidden)
    with closing(NativeKernel(1, exact=exact)) as kernel:
        kernel.run(spec, activation, work, x.expand(slots, -1).contiguous(), 1, expected)
    for seed in range(5):
        simulated = SimulatedDriver(seed, compiler=compiler)
        with closing(CardDevice(Driver(simulated), 0)) as device:
            there = [placed(device, experts[i]) for i in range(len(counts))]
            kernels = ExpertKernels(device, b"ptx", [SPEC, PLAIN], 64, exact=exact)
            for turn in range(3):  # the buffers serve again and again
                given = x.clone() if turn == 2 else torch.zeros_like(x)
                kernels.begin(CardWork(spec, activation, there, counts, given.data_ptr(), len(x)))
                given.fill_(torch.nan)  # it was read when `begin` returned
                found = kernels.finish().copy()
            assert torch.equal(torch.from_numpy(found), expected)
            assert kernels.seconds > 0
        assert simulated.leaks == []


def test_a_result_that_is_not_waited_for_is_poison(compiler: StandIn, exact: bool) -> None:
    simulated = SimulatedDriver(compiler=compiler, eagerness=0.0)
    with closing(CardDevice(Driver(simulated), 0)) as device:
        kernels = ExpertKernels(device, b"ptx", [SPEC, PLAIN], 64, exact=exact)
        there, x = placed(device, random_experts(SPEC, 1, [8])[0]), torch.ones(1, 96)
        kernels.begin(CardWork(SPEC, SILU, [there], [1], x.data_ptr(), 1))
        device.driver.wait_for = lambda event: None  # type: ignore[method-assign]
        assert np.isnan(kernels.finish()).all()
        del device.driver.wait_for


def test_more_slots_than_there_is_room_for_are_refused(compiler: StandIn, exact: bool) -> None:
    with closing(CardDevice(Driver(SimulatedDriver(compiler=compiler)), 0)) as device:
        kernels = ExpertKernels(device, b"ptx", [SPEC], 8, exact=exact)
        with pytest.raises(ValueError, match="at most 8"):
            kernels.begin(CardWork(SPEC, SILU, [CardExpert((0, 0, 0, 0), 1)], [9], 0, 9))


@pytest.mark.slow
def test_a_thousand_loads_leave_nothing(compiler: StandIn, exact: bool) -> None:
    simulated = SimulatedDriver(compiler=compiler, eagerness=1.0)
    driver = Driver(simulated)
    for turn in range(500):  # twice, by the fixture
        with closing(CardDevice(driver, 0)) as device:
            kernels = ExpertKernels(device, b"ptx", [SPEC], 8, exact=exact)
            arena, ring, crossed = DeviceArena(device, 1 << 16, 1 << 15), PinnedRing(device, 4096), device.event()
            block = arena.take(4096)
            assert block is not None
            ring.send(block, 4096, lambda host: None, crossed)
            if turn % 2:
                kernels.finish()
        assert simulated.leaks == []
    assert simulated.memory.used == 0


def test_raw_records_stay_on_the_processor() -> None:
    assert supports(SPEC)
    assert not supports(ExpertSpec(64, 64, 16))
