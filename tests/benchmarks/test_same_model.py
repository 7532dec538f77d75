"""What is compared is the same model: in our store and, where llama.cpp is at hand (UNDERHILL_PEER), in its files."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.calibration.calibrator import open_calibrated
from engine.formats.checkpoint import Checkpoint
from engine.store.reader import Store
from engine.store.verify import verify
from tests.benchmarks.peer.client import Peer
from tests.benchmarks.peer.environment import PEER
from tests.benchmarks.prepare import prepare_pair
from tests.engine.quantization.reference import decode_expert
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.rolled import RolledEncoder, import_rolled
from tests.random_models.shapes import SHAPES, Shape
from tests.random_models.tokens import routing, stream

with_peer = pytest.mark.skipif(not os.environ.get(PEER), reason=f"{PEER} names no environment with llama.cpp")


def small(name: str) -> Shape:
    """A shape of the same family in which everything can go wrong that can in the large one."""
    return dataclasses.replace(
        SHAPES[name], layers=2, hidden=256, intermediate=256, experts=8, top_k=2,
        heads=8, kv_heads=8 if name == "olmoe" else 4, head_dim=32, vocabulary=512,
    )  # fmt: skip


def quiet(phrase: str, done: int, total: int) -> None:
    pass


def distance(a: Tensor, b: Tensor) -> float:
    return float((a - b).norm() / b.norm())


@pytest.fixture(scope="module", params=tuple(SHAPES))
def written(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Shape, Path, Path]:
    """A shape, its checkpoint, its store."""
    shape, folder = small(request.param), tmp_path_factory.mktemp(request.param)
    write_checkpoint(shape, folder / "checkpoint")
    import_rolled(shape, folder / "checkpoint", folder / "store", quiet)
    return shape, folder / "checkpoint", folder / "store"


def test_stored_experts_are_those_of_the_checkpoint(written: tuple[Shape, Path, Path]) -> None:
    shape, checkpoint, path = written
    tensors = Checkpoint.open(checkpoint)
    assert verify(path) == ()
    with Store.open(path, "off") as store:
        for layer, expert in ((0, 0), (1, 7), (1, 3)):
            spec = store.spec(layer, expert)
            record = bytearray(spec.layout.nbytes)
            views = [memoryview(record)[p.offset : p.offset + p.nbytes] for p in spec.layout.parts]
            store.read_parts(layer, expert, range(len(views)), views)
            found = decode_expert(record, spec, 8)
            for matrix in shape.matrices():
                original = tensors.tensor(shape.expert_tensor(layer, expert, matrix)).float()
                assert distance(found[matrix], original) < 0.01


def test_experts_that_are_no_rows_of_one_another_are_refused(written: tuple[Shape, Path, Path]) -> None:
    shape, _, path = written
    with Store.open(path, "off") as store:
        spec = store.spec(0)
    encoder = RolledEncoder(shape)
    torch.manual_seed(0)
    encoder({m.name: torch.randn(m.rows, m.cols) for m in spec.matrices}, spec, 0, 0)
    with pytest.raises(ValueError, match="in another order"):
        encoder({m.name: torch.randn(m.rows, m.cols) for m in spec.matrices}, spec, 0, 1)


def test_no_two_experts_are_the_same() -> None:
    for shape in SHAPES.values():
        shifts = {tuple(shape.shift(m, e) for m in shape.matrices()) for e in range(shape.experts)}
        assert len(shifts) == shape.experts


def test_routing_varies_with_the_token_and_less_so_along_a_text(written: tuple[Shape, Path, Path]) -> None:
    shape, _, path = written
    with open_calibrated(str(path), {"dial": "exact", "threads": 1}) as session:
        even = routing(session, stream("uniform", shape.vocabulary, 128))
    assert even["entropy"] > 0.9
    assert even["distinct"] == shape.experts
    assert 0.5 * even["repeated_even"] < even["repeated"] < 2 * even["repeated_even"]


def test_a_zipf_stream_says_a_few_words_most_of_the_time() -> None:
    drawn = torch.tensor(stream("zipf", 32_000, 4096)).bincount(minlength=32_000).sort(descending=True).values
    assert 0.25 < float(drawn[:100].sum()) / 4096 < 0.75
    assert stream("zipf", 32_000, 64) == stream("zipf", 32_000, 64)


@with_peer
@pytest.mark.slow
@pytest.mark.parametrize("name", tuple(SHAPES))
def test_llama_cpp_computes_the_same(name: str, tmp_path: Path) -> None:
    """Within what its own quantization does to its own logits; ours at 8 bits lies nearest to the original."""
    shape = small(name)
    model, rival = prepare_pair(shape, 8, tmp_path, ("F16", "Q8_0", "Q4_0", "Q4_K_M", "Q2_K"))
    ids = stream("uniform", shape.vocabulary, 24)
    with open_calibrated(str(model.store), {"dial": "exact", "dense": "f32", "threads": 1}) as session:
        ours = session.logits(ids, one_by_one=True).double()
    theirs = {}
    for kind, path in rival.files.items():
        with Peer(rival.python, path, 2, 64, repack=True) as peer:
            theirs[kind] = torch.tensor(peer.logits(ids)).double()
    assert distance(ours, theirs["F16"]) < 0.01
    for kind, most in (("Q8_0", 0.05), ("Q4_0", 0.3), ("Q4_K_M", 0.25), ("Q2_K", 0.6)):
        assert 1e-4 < distance(theirs[kind], theirs["F16"]) < most
