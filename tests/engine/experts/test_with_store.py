"""The runtime over a real store on disk: real reads into real slots, and real damage."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from engine.errors import Kind, UnderhillError
from engine.experts.keys import ExpertKey
from engine.experts.runtime import open_runtime
from engine.kernels.activation import Activation
from engine.record.layout import ExpertSpec
from engine.store.reader import Store
from tests.engine.experts.sources import MemorySource, stored
from tests.engine.kernels.reference import moe_forward

SPEC = ExpertSpec(96, 64, 8, 32)


@pytest.fixture
def source() -> MemorySource:
    """What the store holds."""
    return MemorySource(SPEC, layers=(1, 2), experts=5)


@pytest.fixture
def path(source: MemorySource, tmp_path: Path) -> Path:
    """A store of the source's records."""
    return stored(source, tmp_path / "store")


@pytest.mark.parametrize("direct", ["auto", "off"])
def test_what_is_read_is_what_was_written(source: MemorySource, path: Path, direct: str) -> None:
    with Store.open(path, direct) as store:
        runtime = open_runtime(store, Activation(), 2 * source.expert_bytes, readers=2, exact=True)
        for layer in source.layers:
            x, ids, weights = source.routing(6, 3, layer)
            parts = source.parts(layer, dict.fromkeys(range(5), 8))
            ours = runtime.moe(layer, x, ids, weights)
            oracle = moe_forward(x.double(), ids, weights, parts, SPEC, Activation())
            assert (ours.double() - oracle).norm() <= 1e-5 * oracle.norm()
        assert runtime.snapshot().bytes_read == 10 * source.expert_bytes
        runtime.close()


def flip(file: Path) -> None:
    data = bytearray(file.read_bytes())
    at = data.index(bytes([201]) * 64)
    data[at] ^= 8
    file.write_bytes(data)


def cut(file: Path) -> None:
    data = file.read_bytes()
    file.write_bytes(data[: data.index(bytes([201]) * 64)])


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
@pytest.mark.parametrize("damage", [flip, cut])
def test_damage_on_disk_names_the_expert_and_spares_the_others(
    source: MemorySource, path: Path, damage: Callable[[Path], None], tmp_path: Path
) -> None:
    with Store.open(path) as store:  # opened whole; the damage comes while it is in use
        runtime = open_runtime(store, Activation(), 10 * source.expert_bytes)
        mark = source.records[ExpertKey(2, 4)][2].numpy().tobytes()
        file = next(f for f in path.iterdir() if mark in f.read_bytes())
        data = file.read_bytes()
        file.write_bytes(data.replace(mark, bytes([201]) * len(mark)))
        damage(file)
        x = torch.randn(1, 96)
        with pytest.raises(UnderhillError, match="expert 4 of layer 2") as caught:
            runtime.moe(2, x, torch.tensor([[1, 4]]), torch.tensor([[0.5, 0.5]]))
        assert caught.value.kind is Kind.BROKEN_FILE
        assert runtime.moe(2, x, torch.tensor([[1, 0]]), torch.tensor([[0.5, 0.5]])).isfinite().all()
        assert runtime.snapshot().residency[1][4] == 0
        runtime.close()
