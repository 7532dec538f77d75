"""What Can't load is listed too, with the reason why and what to do."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import library, listing, store_copy
from engine.library.entries import ModelCard
from engine.store.writer import store_lock
from engine.translatable import translated
from tests.engine.formats.tiny_checkpoint import contents, write_checkpoint
from tests.engine.library.test_folders import refused

Put = Callable[..., Path]


def only() -> ModelCard:
    (card,) = listing.listing()
    return card


def test_a_card_says_what_each_tier_takes(put: Put) -> None:
    store = put("m")
    card = only()
    assert [tier for tier, _ in card.tier_bytes] == [2, 4, 8]
    sizes = [nbytes for _, nbytes in card.tier_bytes]
    assert sizes == sorted(sizes)
    assert sizes[-1] < card.expert_bytes < card.disk_bytes
    assert card.source.endswith("source")
    assert card.path == str(store)


def test_a_store_of_an_older_version_says_so(put: Put) -> None:
    store = put("m")
    manifest = json.loads((store / "manifest.json").read_text(encoding="utf-8"))
    (store / "manifest.json").write_text(json.dumps({**manifest, "version": 1}), encoding="utf-8")
    card = only()
    assert (card.name, card.state, card.usable) == ("m", "old_format", False)
    assert "older version" in card.problem
    assert card.action.startswith("Import it again. (Made from ")
    assert card.disk_bytes > 0
    library.delete("m")
    assert listing.listing() == ()


@pytest.mark.parametrize("harm", ["{}", "[1]", "", '{"source": 5}', "\xff"])
def test_a_store_that_is_damaged_says_so(put: Put, harm: str) -> None:
    (put("m") / "manifest.json").write_text(harm, encoding="utf-8")
    card = only()
    assert card.state == "unusable"
    assert "damaged" in card.problem
    assert not library.cards()


def test_a_store_with_a_file_missing_says_which(put: Put) -> None:
    (put("m") / "dense.safetensors").unlink()
    assert "dense.safetensors is missing" in only().problem


def test_folders_that_are_no_models_are_left_out(models: Path) -> None:
    (models / "photos").mkdir()
    (models / "note.txt").write_text("", encoding="utf-8")
    (models / ".hidden").mkdir()
    assert listing.listing() == ()


def stop_halfway(phrase: str, done: int, total: int) -> None:
    if total and done > total // 2:
        raise UnderhillError(Kind.CANCELLED, translated("Stopped."))


def test_a_refused_import_is_listed_and_goes_on(models: Path, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "source", layers=2, experts=4)
    refused(Kind.CANCELLED, lambda: library.add(source, "m", 4, stop_halfway))
    card = only()
    assert (card.name, card.state, card.source) == ("m", "unfinished", str(source))
    assert "It failed: Stopped." in card.problem
    assert "to resume" in card.action
    assert card.disk_bytes > 0
    assert "Can't load" in refused(Kind.NOT_A_MODEL, lambda: library.prepare("m")).sentence
    steps: list[int] = []
    library.go_on("m", lambda phrase, done, total: steps.append(done) if "Quantizing" in phrase else None)
    assert only().tiers == (2, 4)
    whole = library.add(source, "whole", 4)
    assert contents(models / "m") == contents(whole)


def test_an_import_that_is_going_on_says_so(models: Path, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    seen: list[ModelCard] = []

    def look(phrase: str, done: int, total: int) -> None:
        if total and not seen:
            seen.append(only())

    library.add(source, "m", progress=look)
    assert "in progress" in seen[0].problem
    assert seen[0].action == ""


def test_what_weights_refuse_is_listed_with_its_sentence(models: Path, tmp_path: Path) -> None:
    import torch
    from safetensors.torch import load, save_file

    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    shard = source / "model-00000.safetensors"
    tensors = load(shard.read_bytes())
    tensors["model.layers.0.mlp.experts.1.up_proj.weight"][3, 3] = torch.inf
    save_file(tensors, shard)
    error = refused(Kind.BROKEN_FILE, lambda: library.add(source, "m"))
    assert error.sentence in only().problem
    assert not library.delete("m")
    assert listing.listing() == ()


def test_nothing_is_known_to_go_on_with(models: Path) -> None:
    refused(Kind.NOT_A_MODEL, lambda: library.go_on("m"))


def test_a_model_that_is_being_moved_can_be_used_meanwhile(put: Put, models: Path, other: Path) -> None:
    store = put("m")
    note = store_copy.CopyNote(str(store.resolve()), store_copy.file_sha256(store / "manifest.json"), True)
    store_copy.begin_copy(other / "m.copy", note)
    with store_lock(other / "m"):
        card = only()
        assert (card.state, card.usable) == ("moving", True)
        assert str(other) in card.problem
        assert library.prepare("m") == store
    assert only().state == "ready"


def test_a_copy_whose_original_is_gone_is_unfinished(put: Put, models: Path, other: Path) -> None:
    store = put("m.copy", other)
    (store / store_copy.NOTE).write_text(
        json.dumps(dataclasses.asdict(store_copy.CopyNote("/gone/m", "x", True))), encoding="utf-8"
    )
    card = only()
    assert (card.name, card.state) == ("m", "unfinished")
    library.delete("m")
    assert listing.listing() == ()
