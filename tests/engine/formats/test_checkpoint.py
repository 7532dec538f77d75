"""Checkpoint directories: what is wrong with them is said in a sentence, before anything is allocated."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from engine.errors import Kind, UnderhillError
from engine.formats.checkpoint import Checkpoint
from engine.formats.safetensors_header import read_header

CONFIG = {"model_type": "qwen3_moe", "num_hidden_layers": 2}
TENSORS = {"a": torch.arange(24, dtype=torch.float32).reshape(2, 3, 4), "b": torch.ones(5, dtype=torch.bfloat16)}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    save_file(TENSORS, tmp_path / "model.safetensors")
    return tmp_path


@pytest.fixture
def sharded(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
    save_file({"a": TENSORS["a"]}, tmp_path / "model-1.safetensors")
    save_file({"b": TENSORS["b"]}, tmp_path / "model-2.safetensors")
    index = {"weight_map": {"a": "model-1.safetensors", "b": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    return tmp_path


def refused(path: Path) -> UnderhillError:
    with pytest.raises(UnderhillError) as caught:
        Checkpoint.open(path)
    return caught.value


def test_tensors_are_read_whole_and_in_parts(model: Path) -> None:
    checkpoint = Checkpoint.open(model)
    a = TENSORS["a"]
    assert torch.equal(checkpoint.tensor("a"), a)
    assert torch.equal(checkpoint.tensor("b"), TENSORS["b"])
    assert torch.equal(checkpoint.part("a", (1,)), a[1])
    assert torch.equal(checkpoint.part("a", (1, 2)), a[1, 2])
    assert torch.equal(checkpoint.part("a", (1,), (1, 3)), a[1, 1:3])
    assert torch.equal(checkpoint.part("a", (), (1, 2)), a[1:2])


def test_streaming_gives_the_same_bytes(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.formats.checkpoint.CHUNK", 10)
    pieces = [bytes(c) for c in Checkpoint.open(model).chunks("a")]
    assert b"".join(pieces) == TENSORS["a"].numpy().tobytes()
    assert max(map(len, pieces)) == 10


def test_shards_are_found_through_the_index(sharded: Path) -> None:
    checkpoint = Checkpoint.open(sharded)
    assert torch.equal(checkpoint.tensor("b"), TENSORS["b"])
    assert [f.name for f in checkpoint.files] == ["model-1.safetensors", "model-2.safetensors"]


def test_not_a_model_directory(tmp_path: Path) -> None:
    (tmp_path / "file.bin").touch()
    said = {"": "has no config.json", "nowhere": "on this computer", "file.bin": "no GGUF file"}
    for name, words in said.items():
        error = refused(tmp_path / name)
        assert (error.kind, words in error.sentence) == (Kind.NOT_A_MODEL, True)


def test_missing_shard_is_named(sharded: Path) -> None:
    (sharded / "model-2.safetensors").unlink()
    error = refused(sharded)
    assert error.kind is Kind.MISSING_FILE
    assert "model-2.safetensors" in error.sentence


def test_no_weights_at_all(model: Path) -> None:
    (model / "model.safetensors").unlink()
    assert refused(model).kind is Kind.MISSING_FILE


def test_pickled_weights_are_refused(model: Path) -> None:
    (model / "model.safetensors").rename(model / "pytorch_model.bin")
    error = refused(model)
    assert error.kind is Kind.UNSUPPORTED_MODEL
    assert "safetensors" in error.sentence


def test_truncated_shard_says_how_long_it_should_be(model: Path) -> None:
    file = model / "model.safetensors"
    whole = file.read_bytes()
    file.write_bytes(whole[:-7])
    error = refused(model)
    assert error.kind is Kind.BROKEN_FILE
    assert str(len(whole)) in error.sentence


@pytest.mark.parametrize("length", [0, 4, 8, 20])
def test_shard_cut_inside_its_header(length: int, model: Path) -> None:
    file = model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:length])
    assert refused(model).kind is Kind.BROKEN_FILE


def test_file_that_shrinks_after_opening_is_noticed(model: Path) -> None:
    checkpoint = Checkpoint.open(model)
    file = model / "model.safetensors"
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(UnderhillError) as caught:
        checkpoint.tensor("a")
    assert caught.value.kind is Kind.BROKEN_FILE


@pytest.mark.parametrize("config", [b"{", b"\xff\xfe", b"[1]", b'"x"', b'{"model_type": 3}', b"{}", b"[" * 100_000])
def test_unreadable_config(config: bytes, model: Path) -> None:
    (model / "config.json").write_bytes(config)
    error = refused(model)
    assert error.kind is Kind.BROKEN_FILE
    assert "config.json" in error.sentence


@pytest.mark.parametrize(
    "index",
    [
        {"weight_map": {"a": "../model-1.safetensors"}},
        {"weight_map": {"a": "/etc/passwd"}},
        {"weight_map": {"c": "model-1.safetensors"}},
        {"weight_map": ["model-1.safetensors"]},
        {},
    ],
)
def test_an_index_that_leads_astray_is_refused(index: Any, sharded: Path) -> None:
    (sharded / "model.safetensors.index.json").write_text(json.dumps(index), encoding="utf-8")
    assert refused(sharded).kind is Kind.BROKEN_FILE


# ---- headers ------------------------------------------------------------------------------------------------------


def write(path: Path, header: Any, data: bytes = b"\0" * 64, length: int | None = None) -> Path:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text) if length is None else length) + text + data)
    return path


def entry(dtype: Any = "F32", shape: Any = (4,), offsets: Any = (0, 16)) -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


@pytest.mark.parametrize(
    "header",
    [
        {"a": entry(dtype="F31")},
        {"a": entry(dtype=4)},
        {"a": entry(shape=[5])},
        {"a": entry(shape=[-4])},
        {"a": entry(shape=[2.0, 2])},
        {"a": entry(shape=[True, 4])},
        {"a": entry(shape=[2**62, 2**62])},
        {"a": entry(shape="4")},
        {"a": entry(shape=[1] * 40 + [4])},
        {"a": entry(offsets=[16, 0])},
        {"a": entry(offsets=[-16, 0])},
        {"a": entry(offsets=[0, 16, 32])},
        {"a": entry(offsets=[0.0, 16.0])},
        {"a": entry(dtype="U8", shape=[1], offsets=[False, True])},
        {"\ud800": entry()},
        {"a": entry(offsets=[2**63, 2**63 + 16])},
        {"a": entry(offsets=[56, 72])},  # past the end
        {"a": entry(), "b": entry(offsets=[8, 24])},  # overlap
        {"a": [1]},
        {"a": {}},
        [entry()],
        b"{" * 50_000,
        b"\xff",
    ],
)
def test_lying_headers_are_refused(header: Any, tmp_path: Path) -> None:
    with pytest.raises(UnderhillError) as caught:
        read_header(write(tmp_path / "x.safetensors", header))
    assert caught.value.kind is Kind.BROKEN_FILE
    assert "x.safetensors" in caught.value.sentence


@pytest.mark.parametrize("length", [2**64 - 1, 2**63, 2**40, 200_000_000, 500])
def test_header_lengths_are_not_believed(length: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", {"a": entry()}, length=length)
    with pytest.raises(UnderhillError) as caught:
        read_header(path)
    assert caught.value.kind is Kind.BROKEN_FILE


def test_a_sparse_file_with_a_huge_header_is_not_read(tmp_path: Path) -> None:
    path = write(tmp_path / "x.safetensors", {"a": entry()}, length=2 << 30)
    with path.open("r+b") as file:
        file.truncate(3 << 30)
    with pytest.raises(UnderhillError, match="huge"):
        read_header(path)


def test_an_honest_header_passes(tmp_path: Path) -> None:
    header = {"__metadata__": {"format": "pt"}, "a": entry(), "e": entry(shape=[0], offsets=[16, 16])}
    entries = read_header(write(tmp_path / "x.safetensors", header))
    assert entries["a"].nbytes == 16
    assert entries["e"].nbytes == 0
