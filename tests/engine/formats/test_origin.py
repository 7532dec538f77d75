"""Where a checkpoint came from, and what travels along."""

from __future__ import annotations

from pathlib import Path

from engine.formats.checkpoint import origin, small_files

REVISION = "0123456789abcdef0123456789abcdef01234567"


def test_a_snapshot_of_the_hub_cache_names_repository_and_revision(tmp_path: Path) -> None:
    path = tmp_path / "models--allenai--OLMoE-1B-7B-0125" / "snapshots" / REVISION
    path.mkdir(parents=True)
    assert origin(path) == ("allenai/OLMoE-1B-7B-0125", REVISION)


def test_a_download_into_a_folder_names_the_revision(tmp_path: Path) -> None:
    notes = tmp_path / ".cache" / "huggingface" / "download"
    notes.mkdir(parents=True)
    (notes / "config.json.metadata").write_text(f"{REVISION}\netag\n1.0\n", encoding="utf-8")
    assert origin(tmp_path) == ("", REVISION)
    (notes / "config.json.metadata").write_bytes(b"\xff rubbish")
    assert origin(tmp_path) == ("", "")


def test_an_unknown_origin(tmp_path: Path) -> None:
    assert origin(tmp_path) == ("", "")


def test_only_what_chat_needs_travels_along(tmp_path: Path) -> None:
    wanted = ["LICENSE", "chat_template.jinja", "config.json", "generation_config.json", "merges.txt",
              "tokenizer.json", "tokenizer.model", "vocab.json"]  # fmt: skip
    for name in [*wanted, "model.safetensors", "modeling_x.py", "pytorch_model.bin", ".gitattributes", "x.png",
                 ".hidden.jinja", "..model", "model.safetensors.index.json", "training_args.json"]:  # fmt: skip
        (tmp_path / name).write_text("x", encoding="utf-8")
    (tmp_path / "added_tokens.json").mkdir()
    assert [p.name for p in small_files(tmp_path)] == wanted
