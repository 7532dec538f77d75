"""Several folders on several disks: order, unplugged disks, names, and the settings that keep them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import folders, library, listing, settings_file
from tests.engine.formats.tiny_checkpoint import write_checkpoint

Put = Callable[..., Path]


def refused(kind: Kind, action: Callable[[], object]) -> UnderhillError:
    with pytest.raises(UnderhillError) as caught:
        action()
    assert caught.value.kind is kind
    return caught.value


def test_at_first_there_is_only_the_own_folder(models: Path) -> None:
    assert folders.paths() == (models,)
    assert not settings_file.file().exists()


def test_folders_keep_their_order_and_the_first_takes_new_models(models: Path, tmp_path: Path) -> None:
    folders.add(tmp_path / "a")
    folders.add(tmp_path / "b", first=True)
    assert folders.paths() == (tmp_path / "b", models, tmp_path / "a")
    folders.add(tmp_path / "a", first=True)
    assert folders.paths() == (tmp_path / "a", tmp_path / "b", models)
    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    assert library.add(source, "m").parent == tmp_path / "a"
    assert library.prepare("m") == tmp_path / "a" / "m"
    assert [f.first for f in listing.model_folders()] == [True, False, False]
    folders.forget(tmp_path / "a")
    assert folders.paths() == (tmp_path / "b", models)
    assert (tmp_path / "a" / "m").is_dir()
    assert os.listdir(tmp_path / "a") == ["m"]


def test_a_folder_is_known_by_any_of_its_names(models: Path, tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "disk")
    folders.add(tmp_path / "disk")
    folders.add(tmp_path / "link")
    assert folders.paths() == (models, tmp_path / "disk")
    assert folders.known(tmp_path / "link") == tmp_path / "disk"
    refused(Kind.BAD_REQUEST, lambda: folders.known(tmp_path))
    refused(Kind.BAD_REQUEST, lambda: folders.forget(models))


def test_a_model_is_no_folder_of_models(put: Put) -> None:
    assert "itself a model" in refused(Kind.BAD_REQUEST, lambda: folders.add(put("m"))).sentence


def test_a_folder_in_none_says_which_is_missing(models: Path, tmp_path: Path) -> None:
    error = refused(Kind.BAD_REQUEST, lambda: folders.add(tmp_path / "not" / "there"))
    assert f"{tmp_path / 'not'} doesn't exist." in error.sentence
    assert "connect its disk" in error.action
    assert folders.paths() == (models,)


def test_room_and_sizes_are_told(put: Put, other: Path) -> None:
    stored = put("m", other)
    first, second = listing.model_folders()
    assert (first.own, second.own) == (True, False)
    assert second.models == sum(p.stat().st_size for p in stored.iterdir())
    assert 0 < second.free <= second.total
    assert second.writable


def test_an_unplugged_disk_is_shown_and_not_forgotten(put: Put, other: Path, tmp_path: Path) -> None:
    put("m", other)
    before = next(c for c in listing.listing() if c.name == "m")
    other.rename(tmp_path / "away")
    card = next(c for c in listing.listing() if c.name == "m")
    assert (card.state, card.parameters, card.tier_bytes) == ("missing_disk", before.parameters, before.tier_bytes)
    assert library.cards() == ()
    folder = next(f for f in listing.model_folders() if not f.own)
    assert (folder.there, folder.path) == (False, str(other))
    assert "isn't available" in folder.problem
    assert "isn't available" in refused(Kind.DISK_ERROR, lambda: library.prepare("m")).sentence
    assert "isn't available" in refused(Kind.DISK_ERROR, lambda: library.delete("m")).sentence
    (tmp_path / "away").rename(other)
    assert [c.name for c in library.cards()] == ["m"]


def test_an_empty_mount_point_is_not_the_disk(put: Put, other: Path, tmp_path: Path) -> None:
    put("m", other)
    listing.listing()
    other.rename(tmp_path / "away")
    other.mkdir()
    assert not folders.is_there(other)
    assert next(c for c in listing.listing() if c.name == "m").state == "missing_disk"
    folders.add(other, first=True)  # the person says that this is the folder
    assert folders.is_there(other)
    assert [c for c in listing.listing() if c.name == "m"] == []


def test_new_models_do_not_go_where_the_first_disk_would_be(models: Path, tmp_path: Path) -> None:
    folders.add(tmp_path / "disk", first=True)
    shutil.rmtree(tmp_path / "disk")
    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    error = refused(Kind.DISK_ERROR, lambda: library.add(source, "m"))
    assert "isn't available" in error.sentence
    assert not (tmp_path / "disk").exists()


def test_a_folder_that_cannot_be_written_can_be_read_from(
    put: Put, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    put("m", disk)
    write = Path.write_text

    def denied(path: Path, *args: str, **how: str) -> int:
        if path.parent == disk:
            raise OSError(30, "Read-only file system")
        return write(path, *args, **how)  # type: ignore[arg-type]

    monkeypatch.setattr(Path, "write_text", denied)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(str(disk)))
    folders.add(disk, first=True)
    assert library.prepare("m") == disk / "m"
    assert not listing.model_folders()[0].writable
    source = write_checkpoint(tmp_path / "source", layers=1, experts=2)
    assert "Can't write to" in refused(Kind.DISK_ERROR, lambda: library.add(source, "new")).sentence


def test_a_folder_that_cannot_be_written_and_holds_no_model_is_refused(
    put: Put, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_mark", lambda folder: False)
    (tmp_path / "closed").mkdir()
    error = refused(Kind.BAD_REQUEST, lambda: folders.add(tmp_path / "closed"))
    assert "isn't writable" in error.sentence
    assert folders.paths() == (models,)
    put("m")
    shutil.copytree(models / "m", tmp_path / "closed" / "m")
    folders.add(tmp_path / "closed")
    assert folders.paths() == (models, tmp_path / "closed")


def test_what_lies_beside_models_is_neither_measured_nor_in_the_way(put: Put, other: Path) -> None:
    put("m", other)
    alone = listing.model_folders()[1].models
    (other / "photos").mkdir()
    (other / "photos" / "summer").write_bytes(b"x" * 1000)
    assert listing.model_folders()[1].models == alone > 0


def test_damaged_settings_are_told_and_not_overwritten(models: Path) -> None:
    settings_file.file().write_text('{"model_folders": "/mnt', encoding="utf-8")
    refused(Kind.BROKEN_FILE, folders.paths)
    refused(Kind.BROKEN_FILE, lambda: settings_file.change({"model_folders": ""}))
    assert settings_file.file().read_text(encoding="utf-8") == '{"model_folders": "/mnt'


def test_settings_of_a_newer_version_are_used_as_far_as_they_are_known(models: Path) -> None:
    newer = {"proxy": "http://127.0.0.1:9", "odd": [1, 2]}
    settings_file.file().write_text(json.dumps(newer))
    assert settings_file.read()["proxy"] == "http://127.0.0.1:9"
    settings_file.change({"proxy": ""})
    assert json.loads(settings_file.file().read_text()) == {"odd": [1, 2]}
    text = json.dumps(newer | {"format": settings_file.FORMAT + 1})
    settings_file.file().write_text(text)
    assert settings_file.read()["proxy"] == "http://127.0.0.1:9"
    with pytest.raises(UnderhillError, match="newer version of Underhill"):
        settings_file.change({"proxy": ""})
    assert settings_file.file().read_text() == text


def test_a_folder_that_is_no_whole_path_is_refused(models: Path) -> None:
    settings_file.change({"model_folders": "somewhere"})
    assert "isn't a full path" in refused(Kind.BAD_REQUEST, folders.paths).sentence
