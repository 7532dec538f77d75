"""Loads in flight: taken over by whoever needs them, out of the way when room is short, silent when nobody cares."""

from __future__ import annotations

import gc
import threading
import weakref
from collections.abc import Callable, Iterator

import pytest
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.backend import Step
from engine.experts.keys import ExpertKey, Urgency
from engine.experts.runtime import ExpertRuntime
from engine.native.memory import Arena
from engine.record.layout import ExpertSpec
from tests.engine.experts.sources import MemorySource

SPEC = ExpertSpec(48, 40, 8, 16)
Open = Callable[..., ExpertRuntime]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens runtimes whose capacity is given in whole experts."""
    made: list[tuple[ExpertRuntime, MemorySource]] = []

    def make(source: MemorySource, experts: float, readers: int = 1) -> ExpertRuntime:
        made.append((source.open(experts, readers), source))
        return made[-1][0]

    yield make
    for runtime, source in made:
        source.gate.set()
        runtime.close()
    while _timers:
        _timers.pop().join()


def stepped(runtime: ExpertRuntime, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
    step = Step(x.clone(), ids.clone(), weights.clone(), torch.full_like(x, float("nan")))
    runtime.moe_step(layer, step)
    return step.y


_timers: list[threading.Timer] = []


def later(source: MemorySource) -> None:
    """Reads go on once whoever is about to wait for them surely waits."""
    _timers.append(threading.Timer(0.05, source.gate.set))
    _timers[-1].start()


def test_what_is_on_its_way_is_taken_over_not_read_again(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 12), source.routing(1, 3)
    expected = stepped(opened(source, 12), 0, *routing)
    source.reads.clear()
    source.gate.clear()
    for expert in routing[1][0].tolist():
        assert runtime.pending.prefetch(ExpertKey(0, expert), 8)
        assert not runtime.pending.prefetch(ExpertKey(0, expert), 8)
    later(source)
    assert torch.equal(stepped(runtime, 0, *routing), expected)
    assert len(source.reads) == 3
    assert (runtime.snapshot().hits, runtime.snapshot().misses) == (0, 3)


def test_what_has_come_in_advance_is_a_hit(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 12), source.routing(1, 3)
    expected = stepped(opened(source, 12), 0, *routing)
    for expert in routing[1][0].tolist():
        runtime.pending.prefetch(ExpertKey(0, expert), 8)
    assert torch.equal(stepped(runtime, 2, *routing), stepped(opened(source, 12), 2, *routing))
    assert torch.equal(stepped(runtime, 0, *routing), expected)
    assert (runtime.snapshot().hits, runtime.snapshot().misses) == (3, 3)


def test_a_coarser_one_on_its_way_is_completed(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 12), source.routing(1, 3)
    expected = stepped(opened(source, 12), 0, *routing)
    source.reads.clear()
    source.gate.clear()
    key = ExpertKey(0, int(routing[1][0, 1]))
    runtime.pending.prefetch(key, 2)
    later(source)
    assert torch.equal(stepped(runtime, 0, *routing), expected)
    fine = SPEC.layout.parts_for(8)
    assert sorted(parts for found, parts in source.reads if found == key) == [
        SPEC.layout.parts_for(2), tuple(p for p in fine if p not in SPEC.layout.parts_for(2)),
    ]  # fmt: skip


@pytest.mark.parametrize("tokens", [1, 4])
def test_room_that_only_hopes_hold_goes_to_whoever_needs_it(opened: Open, tokens: int) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 2), source.routing(tokens, 3)
    expected = opened(source, 12).moe(0, *routing)
    source.gate.clear()
    for expert in range(2):
        assert runtime.pending.prefetch(ExpertKey(2, expert), 8)
    assert not runtime.pending.prefetch(ExpertKey(2, 3), 8)
    later(source)
    assert torch.equal(runtime.moe(0, *routing), expected)
    assert runtime.cache.nbytes <= runtime.cache.capacity


def test_a_hope_that_fails_is_silent_and_its_room_comes_back(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 3), source.routing(1, 3)
    expected = stepped(opened(source, 12), 2, *routing)
    source.failing.add(ExpertKey(0, 1))
    runtime.pending.prefetch(ExpertKey(0, 1), 8, Urgency.UPGRADE)
    assert torch.equal(stepped(runtime, 2, *routing), expected)
    with pytest.raises(UnderhillError, match="could not read"):
        stepped(runtime, 0, routing[0], torch.tensor([[1, 2, 3]]), routing[2])
    source.failing.clear()
    assert stepped(runtime, 0, routing[0], torch.tensor([[1, 2, 3]]), routing[2]).isfinite().all()
    runtime.set_capacity(source.expert_bytes)  # possible only when no room is held
    assert runtime.cache.nbytes <= source.expert_bytes


def test_a_failed_one_that_was_taken_over_fails_the_answer(opened: Open) -> None:
    source = MemorySource(SPEC)
    runtime, routing = opened(source, 12, readers=2), source.routing(1, 3)
    key = ExpertKey(0, int(routing[1][0, 2]))
    source.failing.add(key)
    source.gate.clear()
    runtime.pending.prefetch(key, 8)
    later(source)
    with pytest.raises(UnderhillError, match="could not read"):
        stepped(runtime, 0, *routing)
    source.failing.clear()
    assert torch.equal(stepped(runtime, 0, *routing), stepped(opened(source, 12), 0, *routing))


def test_a_read_that_was_cancelled_keeps_nothing_alive_that_its_canceller_held(opened: Open) -> None:
    """A context of gigabytes, say: an error that was raised remembers its callers, whoever remembers the error."""

    class Context:
        pass

    source = MemorySource(SPEC)
    source.gate.clear()
    runtime = opened(source, 4)
    seen: list[weakref.ref[Context]] = []

    def cancel() -> None:
        context = Context()
        seen.append(weakref.ref(context))
        assert runtime.pending.prefetch(ExpertKey(0, 0), 8)
        assert runtime.pending.prefetch(ExpertKey(0, 1), 8)
        later(source)
        runtime.pending.cancel_all()

    gc.disable()
    try:
        cancel()
        assert seen[0]() is None
    finally:
        gc.enable()


class System:
    """Gives memory for experts, unless it refuses."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.refuses = False
        take = Arena.take

        def taken(arena: Arena, nbytes: int) -> Tensor:
            if self.refuses:
                raise MemoryError
            return take(arena, nbytes)

        monkeypatch.setattr(Arena, "take", taken)


@pytest.fixture
def system(monkeypatch: pytest.MonkeyPatch) -> System:
    return System(monkeypatch)


def test_where_the_system_has_no_memory_others_leave_for_who_is_needed(opened: Open, system: System) -> None:
    source = MemorySource(SPEC)

    def needed(runtime: ExpertRuntime, *experts: int) -> None:
        for expert in experts:
            assert runtime.pending.demand(ExpertKey(0, expert), 8)
            ((_, lease),) = runtime.pending.wait([ExpertKey(0, expert)])
            assert lease is not None
            lease.release()

    runtime = opened(source, 4)
    cache = runtime.cache
    needed(runtime, 0, 1)
    system.refuses, held = True, cache.nbytes
    needed(runtime, 2, 3)
    assert (cache.capacity, cache.nbytes) == (held, held)
    assert len(cache.residency()) == 2
    assert cache.refusals == 1
    system.refuses = False
    needed(runtime, 0)
    assert cache.nbytes == held  # until somebody says that there is more
    cache.set_capacity(4 * source.expert_bytes)
    needed(runtime, 1)
    assert len(cache.residency()) == 3
    assert cache.refusals == 1


def test_where_the_system_has_no_memory_only_who_needs_one_is_told(opened: Open, system: System) -> None:
    source = MemorySource(SPEC)
    runtime = opened(source, 4)
    system.refuses = True
    assert not runtime.pending.prefetch(ExpertKey(0, 1), 8)
    with pytest.raises(UnderhillError, match="Not enough memory") as caught:
        runtime.pending.demand(ExpertKey(0, 1), 8)
    assert caught.value.kind is Kind.OUT_OF_MEMORY
    system.refuses = False
    assert runtime.pending.prefetch(ExpertKey(0, 1), 8)
    ((key, lease),) = runtime.pending.wait([ExpertKey(0, 1)])
    assert key == ExpertKey(0, 1)
    assert lease is not None
    lease.release()
