"""The config by a GGUF file's first kilobytes: sizes are those that the whole file says."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.formats.gguf_source import GLANCE, glanced_config
from engine.formats.opening import open_source
from engine.library.config_facts import config_facts
from tests.engine.formats.gguf_model import FAMILIES, write
from tests.engine.formats.test_gguf_families import saved
from tests.engine.formats.test_gguf_source import with_tokenizer


def made(folder: Path, architecture: str) -> Path:
    _, config = saved(architecture, folder)
    write(folder, config, folder / "model.gguf", architecture, extra=with_tokenizer)
    return folder / "model.gguf"


@pytest.mark.parametrize("architecture", FAMILIES)
def test_sizes_are_those_of_the_whole_file(architecture: str, tmp_path: Path) -> None:
    file = made(tmp_path, architecture)
    whole = open_source(file).config
    first = file.read_bytes()
    first = first[: first.index(b"tokenizer.ggml.tokens") + 64]  # what comes behind is not needed
    glanced = glanced_config(file, first)
    assert glanced["model_type"] == whole["model_type"]
    # The test's vocabulary and the embeddings of its tiny model are not of one length, as they are in published files.
    glanced["vocab_size"] = whole["vocab_size"]
    found, right = config_facts(glanced, "glanced"), config_facts(whole, "whole")
    assert (found.expert_bytes, found.experts, found.experts_per_token, found.moe_layers) == (
        right.expert_bytes, right.experts, right.experts_per_token, right.moe_layers,
    )  # fmt: skip
    assert (found.state_bytes, found.context_length) == (right.state_bytes, right.context_length)
    output = 2 * whole["vocab_size"] * whole["hidden_size"]  # whether there is one is presumed
    if architecture == "glm-dsa":  # which layers share another's indexer only the tensors say: as if none did
        assert found.kv_bytes > right.kv_bytes
        assert found.dense_bytes["bf16"] >= right.dense_bytes["bf16"] - output
        return
    assert found.kv_bytes == right.kv_bytes
    assert abs(found.dense_bytes["bf16"] - right.dense_bytes["bf16"]) <= output


def test_the_vocabulary_is_counted_where_it_begins(tmp_path: Path) -> None:
    file = made(tmp_path, "qwen3moe")
    first = file.read_bytes()
    cut = first[: first.index(b"tokenizer.ggml.tokens") + 64]
    assert glanced_config(file, cut)["vocab_size"] == len(with_tokenizer_tokens())


def with_tokenizer_tokens() -> list[str]:
    from tests.engine.formats.test_gguf_tokenizer import builtin

    return list(builtin()[0]["tokenizer.ggml.tokens"])


def test_what_is_no_such_file_or_ends_before_its_sizes_is_refused(tmp_path: Path) -> None:
    file = made(tmp_path, "qwen3moe")
    data = file.read_bytes()
    for wrong in (b"", b"<html>" * 100, data[:40], data[: data.index(b"expert_count")]):
        with pytest.raises(UnderhillError) as refused:
            glanced_config(file, wrong[:GLANCE])
        assert refused.value.kind in (Kind.BROKEN_FILE, Kind.UNSUPPORTED_MODEL)


@pytest.mark.parametrize(("key", "number"), [("block_count", 1 << 24), ("expert_count", 1 << 20)])
def test_a_few_bytes_that_claim_millions_are_refused_before_anybody_lists_them(key: str, number: int) -> None:
    sizes = {"block_count": 4, "expert_count": 8, "embedding_length": 64, "full_attention_interval": 1, key: number}
    with pytest.raises(UnderhillError, match=f"{number}") as caught:
        glanced_config(Path("m.gguf"), beginning("qwen3next", sizes))
    assert caught.value.kind is Kind.BROKEN_FILE


def beginning(architecture: str, numbers: dict[str, int]) -> bytes:
    """Of a GGUF file with these numbers in its metadata, and no tensors."""

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    pairs = [text("general.architecture") + struct.pack("<I", 8) + text(architecture)]
    pairs += [text(f"{architecture}.{key}") + struct.pack("<II", 4, value) for key, value in numbers.items()]
    return b"GGUF" + struct.pack("<IQQ", 3, 0, len(pairs)) + b"".join(pairs)
