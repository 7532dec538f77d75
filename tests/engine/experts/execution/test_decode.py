"""One token at a time, a real store, native readers and a native table: the same bits, and nothing left behind."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.errors import Kind, UnderhillError
from engine.experts.backend import Step
from engine.experts.execution.decode import DecodeExecutor
from engine.experts.keys import ExpertKey
from engine.experts.precision import EXACT, Thresholds
from engine.experts.runtime import ExpertRuntime, open_runtime
from engine.kernels.activation import Activation
from engine.record.layout import ExpertSpec
from engine.store.reader import Store
from tests.engine.experts.sources import MemorySource, stored

SPEC = ExpertSpec(96, 64, 8, 32)
LAYERS, EXPERTS, K = (0, 1), 6, 3
HALF = torch.tensor([[0.5, 0.5]])


@pytest.fixture
def source() -> MemorySource:
    """What the store holds."""
    return MemorySource(SPEC, layers=LAYERS, experts=EXPERTS)


@pytest.fixture
def path(source: MemorySource, tmp_path: Path) -> Path:
    """A store of the source's records."""
    return stored(source, tmp_path / "store")


@contextmanager
def opened(path: Path, experts: float, nbytes: int, readers: int = 2) -> Iterator[ExpertRuntime]:
    """A runtime with room for so many experts."""
    with Store.open(path) as store:
        runtime = open_runtime(store, Activation(), int(experts * nbytes), readers=readers)
        try:
            yield runtime
        finally:
            runtime.close()


def stepped(runtime: ExpertRuntime, layer: int, x: Tensor, ids: Tensor, weights: Tensor) -> Tensor:
    step = Step(x.clone(), ids.clone(), weights.clone(), torch.full_like(x, float("nan")))
    runtime.moe_step(layer, step)
    return step.y


def pinned(runtime: ExpertRuntime) -> list[ExpertKey]:
    """Experts that cannot leave."""
    cache = runtime.cache
    table = cache.table
    return [key for key in cache.residency() if table.library.uh_cache_pins(table.address, cache.number(key))]


@pytest.mark.parametrize("experts", [1, 2, 3, 5.5, 12])
@pytest.mark.parametrize("readers", [1, 4])
def test_the_bits_do_not_hang_on_what_was_cached(
    source: MemorySource, path: Path, experts: float, readers: int
) -> None:
    size = source.expert_bytes
    with opened(path, 12, size) as full, opened(path, experts, size, readers) as small:
        for seed in range(40):
            for layer in LAYERS:
                x, ids, weights = source.routing(1, K, 10 * seed + layer)
                assert torch.equal(stepped(small, layer, x, ids, weights), full.moe(layer, x, ids, weights))
        found = small.snapshot()
        assert found.hits + found.misses == 40 * len(LAYERS) * K
        assert found.misses >= EXPERTS * len(LAYERS)
        assert found.bytes_read == found.reads * size
        assert pinned(small) == []


def test_dials_and_capacities_that_change_on_the_way_leave_exact_exact(source: MemorySource, path: Path) -> None:
    size = source.expert_bytes
    dials = [Thresholds(0.5, 0.8), EXACT, Thresholds(0.3, 1.0), EXACT]
    with opened(path, 12, size) as full, opened(path, 5, size, 3) as small:
        for seed in range(60):
            dial = dials[seed // 3 % len(dials)]
            small.set_thresholds(dial)
            small.set_capacity(int((2 + seed % 5) * size))
            for layer in LAYERS:
                x, ids, weights = source.routing(1, K, 10 * seed + layer)
                y = stepped(small, layer, x, ids, weights)
                assert y.isfinite().all()
                if dial == EXACT:
                    assert torch.equal(y, full.moe(layer, x, ids, weights))
        assert pinned(small) == []


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_damage_names_the_expert_spares_the_others_and_pins_nobody(source: MemorySource, path: Path) -> None:
    size, x = source.expert_bytes, torch.randn(1, 96)
    wrong = source.records[ExpertKey(1, 4)][2].numpy().tobytes()
    with opened(path, 12, size) as runtime:
        stepped(runtime, 1, x, torch.tensor([[0, 1]]), HALF)
        file = next(f for f in path.iterdir() if wrong in f.read_bytes())
        whole = file.read_bytes()
        with file.open("r+b") as damaged:
            damaged.seek(whole.index(wrong))
            damaged.write(bytes(len(wrong)))
        for others in ([0, 4], [2, 4], [4, 3]):  # one that is there, and two that come with it
            with pytest.raises(UnderhillError, match="expert 4 of layer 1") as caught:
                stepped(runtime, 1, x, torch.tensor([others]), HALF)
            assert caught.value.kind is Kind.BROKEN_FILE
        assert stepped(runtime, 1, x, torch.tensor([[5, 0]]), HALF).isfinite().all()
        assert runtime.snapshot().residency[1][4] == 0
        assert pinned(runtime) == []


def test_where_nothing_can_come_nobody_stays_pinned(
    source: MemorySource, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    size, x, ids = source.expert_bytes, torch.randn(1, 96), torch.tensor([[0, 2]])
    with opened(path, 12, size) as runtime, opened(path, 12, size) as full:
        stepped(runtime, 0, x, torch.tensor([[0, 1]]), HALF)
        with monkeypatch.context() as patched:
            patched.setattr(DecodeExecutor, "_compute_and_wait", lambda *_: 0)
            with pytest.raises(UnderhillError, match="is busy"):
                stepped(runtime, 0, x, ids, HALF)
        assert torch.equal(stepped(runtime, 0, x, ids, HALF), full.moe(0, x, ids, HALF))
        assert pinned(runtime) == []
