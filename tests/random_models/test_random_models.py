"""Random models: stores hold the checkpoint's experts, and tokens are drawn and routed as they should be."""

from __future__ import annotations

import filecmp
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from torch import Tensor

from engine.calibration.calibrator import open_calibrated
from engine.formats.checkpoint import Checkpoint
from engine.session import Session
from engine.store.reader import Store
from engine.store.verify import verify
from tests.engine.quantization.reference import decode_expert
from tests.random_models.checkpoint import write_checkpoint
from tests.random_models.predicting import QWEN35, predicting_store
from tests.random_models.quantized import write_store
from tests.random_models.rolled import RolledEncoder, import_rolled
from tests.random_models.shapes import SHAPES, Shape, small
from tests.random_models.tokens import routing, stream

pytestmark = pytest.mark.long


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


def test_a_store_from_first_experts_is_the_one_that_importing_all_gives(tmp_path: Path) -> None:
    shape = small("qwen3")
    write_checkpoint(shape, tmp_path / "seed", first_only=True)
    store = write_store(shape, tmp_path / "seed", tmp_path / "store", 8, lambda what: None)
    write_checkpoint(shape, tmp_path / "checkpoint")
    import_rolled(shape, tmp_path / "checkpoint", tmp_path / "imported", lambda phrase, done, total: None)
    names = sorted(p.name for p in store.glob("*.safetensors"))
    assert len(names) == 1 + shape.layers
    assert filecmp.cmpfiles(store, tmp_path / "imported", names, shallow=False) == (names, [], [])
    assert verify(store) == ()


def test_a_store_that_was_begun_is_continued(tmp_path: Path) -> None:
    shape = small("olmoe")
    write_checkpoint(shape, tmp_path / "seed", first_only=True)

    class Enough(Exception):
        pass

    def stop_at_second(what: str) -> None:
        if what.startswith("Layer 2"):
            raise Enough

    with pytest.raises(Enough):
        write_store(shape, tmp_path / "seed", tmp_path / "store", 4, stop_at_second)
    said: list[str] = []
    write_store(shape, tmp_path / "seed", tmp_path / "store", 4, said.append)
    assert said == ["Layer 2 of 2"]
    assert verify(tmp_path / "store") == ()


def test_words_of_a_text_come_again_soon_and_of_its_law_alone_seldom() -> None:
    def near(kind: str) -> float:
        tokens = stream(kind, 32_000, 500)
        return sum(tokens[at] in tokens[at - 8 : at] for at in range(8, 500)) / 492

    assert near("uniform") < 0.01
    assert near("zipf") < 0.1
    assert 0.2 < near("text") < 0.35


def test_a_model_that_predicts_further_tokens_is_drafted_with(tmp_path: Path) -> None:
    shape = replace(
        QWEN35, layers=4, hidden=256, intermediate=256, experts=8, top_k=2, heads=8, kv_heads=4, head_dim=32,
        vocabulary=512, k_heads=2, v_heads=4, linear_dim=32,
    )  # fmt: skip
    said: list[str] = []
    store = predicting_store(shape, tmp_path, said.append)
    with Session.open(str(store), {"dial": "exact", "threads": 1, "memory_gb": 3.0}) as session:
        assert session.mtp is not None
        assert not session.context.sequences()[0].state.cuts_anywhere
        session.context.read([5, 6, 7, 8])
        assert len(session.mtp.propose(session.context.sequences()[0].state, 9, 2)[0]) == 2
    assert len(said) == 1 + len([*range(shape.layers), *shape.mtp])
    assert predicting_store(shape, tmp_path, said.append) == store
    assert len(said) == 1 + len([*range(shape.layers), *shape.mtp])
