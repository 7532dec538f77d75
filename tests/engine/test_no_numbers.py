"""Numbers that are none, and numbers that point nowhere: a sentence each, wherever a model holds them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load, save_file

from engine import resources
from engine.calibration.calibrator import open_calibrated
from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.generation.messages import Message
from engine.generation.sampling import Sampler, Sampling
from engine.library.facts import spec_of
from engine.store import manifest as manifests
from engine.store.manifest import DenseTensor
from engine.store.reader import Store, load_manifest
from engine.store.table import TensorTable
from tests.engine.formats.tiny_checkpoint import write_checkpoint


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize(
    "name", ["model.norm.weight", "model.embed_tokens.weight", "model.layers.1.self_attn.q_proj.weight"]
)
def test_what_is_no_number_is_not_imported(name: str, bad: float, tmp_path: Path) -> None:
    path = write_checkpoint(tmp_path / "checkpoint")
    shard = path / json.loads((path / "model.safetensors.index.json").read_text(encoding="utf-8"))["weight_map"][name]
    tensors = load(shard.read_bytes())
    tensors[name].view(-1)[-1] = bad
    save_file(tensors, shard)
    with pytest.raises(UnderhillError, match=f"{name} holds numbers that are not finite") as refused:
        import_checkpoint(path, tmp_path / "store")
    assert refused.value.kind is Kind.BROKEN_FILE
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_an_output_that_is_no_number_is_the_model_s_fault(bad: float) -> None:
    with pytest.raises(UnderhillError, match="weights are damaged") as refused:
        Sampler(Sampling()).next(torch.tensor([0.0, bad, 1.0]))
    assert refused.value.kind is Kind.BROKEN_FILE


def test_a_row_of_an_embedding_on_the_disk_that_is_no_number(tmp_path: Path) -> None:
    from engine.native.crc32 import crc32
    from engine.store.disk import open_file

    rows = torch.randn(4, 8)
    rows[2, 3] = float("nan")
    data = rows.numpy().tobytes()
    (tmp_path / "dense").write_bytes(data)
    entry = DenseTensor("embed", "F32", (4, 8), 0, len(data), crc32(memoryview(data)))
    file = open_file(tmp_path / "dense", direct=False)
    table = TensorTable(file, tmp_path / "dense", entry)
    assert torch.equal(table.rows(torch.tensor([1, 3])), rows[[1, 3]])
    with pytest.raises(UnderhillError, match="embed holds numbers that are not finite"):
        table.rows(torch.tensor([2]))
    file.close()


def changed_config(store: Path, change: Callable[[dict[str, object]], None]) -> None:
    manifest = load_manifest(store)
    change(manifest.config)
    (store / manifests.NAME).write_bytes(manifests.dumps(replace(manifest)))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A store of the built-in checkpoint that may be spoiled."""
    import_checkpoint(resources.path("builtin", "model"), tmp_path / "own", top=8)
    return tmp_path / "own"


def test_a_config_with_fewer_layers_than_are_stored(own: Path) -> None:
    with Store.open(own) as store:
        last = max(store.layers)
        assert spec_of(store) is not None
    changed_config(own, lambda config: config.update(num_hidden_layers=last))
    with Store.open(own) as store, pytest.raises(UnderhillError, match=f"experts of layer {last}, which should"):
        spec_of(store)


def test_a_tokenizer_that_makes_tokens_which_the_model_does_not_know(own: Path) -> None:
    with open_calibrated(str(own), {"threads": 1, "dial": "exact"}) as session:
        known = session.vocabulary
        with pytest.raises(UnderhillError, match=f"token {known} of {known}") as refused:
            session.logits([1, 2, known], one_by_one=False)
        assert refused.value.kind is Kind.BROKEN_FILE
        assert len(session.logits([1, 2], one_by_one=False)) == 2  # it stays usable


def test_a_tokenizer_that_gives_one_number_twice(tmp_path: Path) -> None:
    from engine.generation.chat import ChatFormat

    folder = shutil.copytree(resources.path("builtin", "model"), tmp_path / "model")
    found = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    some = sorted(found["model"]["vocab"])
    found["model"]["vocab"][some[-1]] = found["model"]["vocab"][some[-2]]
    (folder / "tokenizer.json").write_text(json.dumps(found), encoding="utf-8")
    with pytest.raises(UnderhillError, match="two of its tokens the same number"):
        ChatFormat(folder).prompt([Message("user", "Hello")])
