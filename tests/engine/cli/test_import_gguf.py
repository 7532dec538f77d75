"""A GGUF file through the command line: imported, said to be coarse, listed, and able to answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from gguf import GGMLQuantizationType as Type

from engine.cli.main import main
from engine.library import library
from tests.engine.formats.gguf_model import Array, write
from tests.engine.formats.test_gguf_families import saved
from tests.engine.formats.test_gguf_source import with_tokenizer
from tests.engine.formats.test_gguf_tokenizer import builtin


def kind_of(name: str, array: Array) -> Type:
    return Type.Q4_0 if "_exps" in name else Type.F16 if array.ndim > 1 and "gate_inp" not in name else Type.F32


def test_import_info_and_chat(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(library.HOME, str(tmp_path / "home"))
    words = len(builtin()[0]["tokenizer.ggml.tokens"])
    _, config = saved("qwen3moe", tmp_path / "hub", vocab_size=words, num_hidden_layers=2, rope_parameters=None)
    write(tmp_path / "hub", config, tmp_path / "tiny-Q4_0.gguf", "qwen3moe", kind_of, with_tokenizer)
    assert main(["import", str(tmp_path / "tiny-Q4_0.gguf"), "--top", "4", "--json"]) == 0
    card = json.loads(capsys.readouterr().out)
    assert card["name"] == "tiny-Q4_0"
    assert "GGUF Q4_0, about 4.5 bits" in card["note"]
    assert main(["chat", "tiny-Q4_0", "--prompt", "Hello", "--max-tokens", "3", "--json"]) == 0
    assert main(["verify", "tiny-Q4_0"]) == 0


def test_a_damaged_file_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(library.HOME, str(tmp_path / "home"))
    (tmp_path / "m.gguf").write_bytes(b"GGUF" + bytes(40))
    assert main(["import", str(tmp_path / "m.gguf")]) != 0
    assert "version 0" in capsys.readouterr().err
    assert not list((tmp_path / "home").rglob("*.partial"))
