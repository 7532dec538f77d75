"""The library: what is listed, how models are found, and the built-in model at its first use."""

from __future__ import annotations

import dataclasses
import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import library, listing, settings_file
from engine.library.entries import ModelCard
from engine.store.lock import FileLock
from engine.store.manifest import dumps
from engine.store.reader import Store, load_manifest
from tests.engine.formats.tiny_checkpoint import contents, write_checkpoint
from tests.waiting import PROCESS

pytestmark = pytest.mark.long


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(library.HOME, str(tmp_path / "home"))
    return tmp_path / "home"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "source", layers=1, experts=2)


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small checkpoint in place of the built-in model."""
    path = write_checkpoint(tmp_path / "resources" / "builtin" / "model", layers=1, experts=2)
    monkeypatch.setattr(library.resources, "path", lambda *parts: (tmp_path / "resources").joinpath(*parts))
    return path


def names() -> list[str]:
    return [c.name for c in library.cards()]


def test_an_empty_library(home: Path) -> None:
    assert library.cards() == ()
    assert library.models() == ()
    assert not home.exists()


def test_home_without_the_variable_is_the_users_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(library.HOME, raising=False)
    assert library.home().name == "underhill"


def test_add_list_open_delete(home: Path, source: Path) -> None:
    path = library.add(source, "My model")
    assert path == home / "models" / "My model"
    (card,) = library.cards()
    assert (card.name, card.family, card.experts, card.moe_layers) == ("My model", "qwen3_moe", 2, 1)
    assert (card.tiers, card.experts_per_token, card.context_length) == ((2, 4, 8), 2, 64)
    experts, dense = 2 * 3 * 64 * 64, 64 * 64 + 100 * 64 + 64
    assert (card.parameters, card.active_parameters) == (experts + dense, experts + dense)
    assert card.backend == "lean"
    assert card.disk_bytes == sum(f.stat().st_size for f in path.iterdir())
    assert [tier for tier, _, _ in library.tier_report(path)] == [2, 4, 8]
    assert library.prepare("My model") == path
    assert not library.delete("My model", now=True)
    assert library.cards() == ()
    assert os.listdir(home / "models") == []


def test_only_what_is_complete_can_be_opened(home: Path, source: Path) -> None:
    good = library.add(source, "good")
    for name in ("no-manifest", "bad-manifest", "no-data", "half.partial", "gone.old"):
        shutil.copytree(good, home / "models" / name)
    (home / "models" / "no-manifest" / "manifest.json").unlink()
    (home / "models" / "bad-manifest" / "manifest.json").write_text("{}", encoding="utf-8")
    (home / "models" / "no-data" / "dense.safetensors").unlink()
    (home / "models" / "stray.txt").write_text("", encoding="utf-8")
    assert names() == ["good"]


def test_a_model_that_vanishes_while_it_is_listed_does_not_hide_the_others(
    home: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        library.add(source, name)
    whole = listing.describe

    def removed_meanwhile(path: Path, outline: listing.StoreOutline) -> ModelCard:
        if path.name == "a":
            shutil.rmtree(path)
        return whole(path, outline)

    monkeypatch.setattr(listing, "describe", removed_meanwhile)
    assert names() == ["b"]


def test_a_model_that_may_not_be_read_does_not_hide_the_others(
    home: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        library.add(source, name)
    whole = Path.stat

    def refused(path: Path, **how: bool) -> os.stat_result:
        if path.parent.name == "a":
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return whole(path, **how)

    monkeypatch.setattr(Path, "stat", refused)
    assert names() == ["b"]


def test_a_model_that_vanishes_while_a_checkpoint_looks_for_its_store(
    home: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.prepare(str(source))
    whole = library.models

    def removed_meanwhile() -> tuple[Path, ...]:
        found = whole()
        library.delete("source")
        return found

    monkeypatch.setattr(library, "models", removed_meanwhile)
    assert library.prepare(str(source)).is_dir()


def test_nonsense_in_a_config_stays_out_of_the_card(home: Path, source: Path) -> None:
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    nonsense = {"num_experts_per_tok": -3, "max_position_embeddings": 10**30, "num_hidden_layers": [-1, True]}
    manifest = load_manifest(library.add(source, "m"))
    path = home / "models" / "m"
    (path / "manifest.json").write_bytes(dumps(dataclasses.replace(manifest, config={**config, **nonsense})))
    card = library.card(path)
    assert (card.experts_per_token, card.context_length, card.layers) == (1, 0, 1)
    assert card.active_parameters > 0


def test_a_name_that_is_taken(home: Path, source: Path) -> None:
    library.add(source, "m")
    for name in ("m", "builtin"):
        with pytest.raises(UnderhillError) as caught:
            library.add(source, name)
        assert caught.value.kind is Kind.BAD_REQUEST


@pytest.mark.parametrize("name", ["../x", "a/b", "a\\b", "", " ", ".hidden", "x.partial", "x.old", "a:b", "a\0b", "x."])
def test_impossible_names(name: str, home: Path) -> None:
    with pytest.raises(UnderhillError) as caught:
        library.location(name)
    assert caught.value.kind is Kind.BAD_REQUEST


def test_deleting_what_is_not_there(home: Path) -> None:
    with pytest.raises(UnderhillError) as caught:
        library.delete("nothing")
    assert caught.value.kind is Kind.NOT_A_MODEL
    assert caught.value.action == "Import one first."


def test_deleting_an_unfinished_import(home: Path, source: Path) -> None:
    def stop(phrase: str, done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(source, "m", progress=lambda phrase, done, total: stop(phrase, done, total) if done else None)
    assert os.listdir(home / "models") == ["m.partial"]
    library.delete("m")
    assert os.listdir(home / "models") == []


def killed_while_deleting(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def killed(path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", killed)
        with pytest.raises(KeyboardInterrupt):
            library.delete(name, now=True)


def test_a_removal_that_was_cut_off_is_ended_by_deleting_again(
    home: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    library.add(source, "m")
    killed_while_deleting("m", monkeypatch)
    assert os.listdir(home / "models") == ["m.old"]
    library.delete("m")
    assert os.listdir(home / "models") == []


def test_a_removal_that_was_cut_off_is_ended_by_the_next_import_or_first_use(
    home: Path, source: Path, shipped: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for following in (lambda: library.prepare("builtin"), lambda: library.add(source, "other")):
        library.add(source, "my.model")
        killed_while_deleting("my.model", monkeypatch)
        following()
        assert "my.model.old" not in os.listdir(home / "models")
    assert names() == ["builtin", "other"]


def test_what_is_just_being_removed_or_replaced_is_not_swept(home: Path, source: Path) -> None:
    old = home / "models" / "m.old"
    old.mkdir(parents=True)
    with FileLock(home / "models" / "m.partial.lock", "The replacement of m"):
        library.add(source, "other")
        assert old.exists()
    library.add(source, "another")
    assert not old.exists()


def test_unknown_models(home: Path, tmp_path: Path) -> None:
    for model in ("nobody", str(tmp_path), str(tmp_path / "nowhere" / "x")):
        with pytest.raises(UnderhillError) as caught:
            library.prepare(model)
        assert caught.value.kind is Kind.NOT_A_MODEL


# ---- checkpoints and stores given by path -------------------------------------------------------------------------


def test_a_store_given_by_path_is_opened_where_it_is(home: Path, source: Path, tmp_path: Path) -> None:
    path = shutil.move(library.add(source, "m"), tmp_path / "elsewhere")
    assert library.prepare(str(path)) == Path(path)


def test_a_store_from_another_computer_is_copied_into_the_library(home: Path, source: Path, tmp_path: Path) -> None:
    path = Path(shutil.move(library.add(source, "m"), tmp_path / "elsewhere"))
    assert library.add(path, "again") == home / "models" / "again"
    assert contents(home / "models" / "again") == contents(path)
    with pytest.raises(UnderhillError, match="A model named again already exists") as caught:
        library.add(home / "models" / "again")
    assert caught.value.kind is Kind.BAD_REQUEST


def test_a_checkpoint_is_imported_on_demand_and_only_once(home: Path, source: Path) -> None:
    phrases: list[str] = []
    path = library.prepare(str(source), lambda phrase, done, total: phrases.append(phrase))
    assert path == home / "models" / "source"
    assert phrases
    phrases.clear()
    assert library.prepare(str(source), lambda phrase, done, total: phrases.append(phrase)) == path
    assert not phrases


def test_a_checkpoint_that_has_changed_is_imported_anew(home: Path, source: Path) -> None:
    first = library.prepare(str(source))
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (source / "config.json").write_text(json.dumps(config).replace("64", "65", 1), encoding="utf-8")
    os.utime(source / "config.json", (2e9, 2e9))
    second = library.prepare(str(source))
    assert second.name == "source-2"
    assert first.exists()
    os.utime(source / "config.json", (2.1e9, 2.1e9))  # touched, but the same
    assert library.prepare(str(source)) == second


# ---- the built-in model -------------------------------------------------------------------------------------------


def test_the_builtin_model_is_imported_at_its_first_use(home: Path, shipped: Path) -> None:
    path = library.prepare("builtin")
    made = (path / "manifest.json").stat().st_mtime_ns
    assert names() == ["builtin"]
    assert library.prepare("builtin") == path
    assert (path / "manifest.json").stat().st_mtime_ns == made
    assert os.listdir(home / "models") == ["builtin"]


def test_it_is_imported_again_when_another_one_is_shipped(home: Path, shipped: Path) -> None:
    library.prepare("builtin")
    (shipped / "chat_template.jinja").write_text("new", encoding="utf-8")
    path = library.prepare("builtin")
    assert (path / "chat_template.jinja").read_text(encoding="utf-8") == "new"


def test_it_is_imported_again_when_its_store_is_damaged(home: Path, shipped: Path) -> None:
    path = library.prepare("builtin")
    (path / "dense.safetensors").unlink()
    with Store.open(library.prepare("builtin")) as store:
        assert store.layers == (0,)


def of_an_older_version(store: Path) -> None:
    manifest = json.loads((store / "manifest.json").read_text(encoding="utf-8"))
    (store / "manifest.json").write_text(json.dumps({**manifest, "version": 1}), encoding="utf-8")


def test_it_is_imported_again_when_its_store_is_of_an_older_version(home: Path, shipped: Path) -> None:
    path = library.prepare("builtin")
    whole = contents(path)
    of_an_older_version(path)
    library.prepare("builtin")
    assert contents(path)["manifest.json"] == whole["manifest.json"]


def test_a_model_of_an_older_version_says_so_when_it_is_asked_for(home: Path, source: Path) -> None:
    of_an_older_version(library.add(source, "good"))
    assert names() == []
    with pytest.raises(UnderhillError, match="made by an older version") as caught:
        Store.open(library.prepare("good"))
    assert caught.value.action == "Import it again."


def test_a_store_that_only_looks_whole_can_be_made_anew(home: Path, shipped: Path) -> None:
    path = library.prepare("builtin")
    whole = contents(path)
    damaged = bytearray(whole["dense.safetensors"])
    damaged[-1] ^= 1
    (path / "dense.safetensors").write_bytes(damaged)
    assert library.renew_builtin() == path
    assert contents(path)["dense.safetensors"] == whole["dense.safetensors"]
    assert os.listdir(home / "models") == ["builtin"]


def test_the_builtin_model_can_be_deleted_and_comes_back_at_its_next_use(home: Path, shipped: Path) -> None:
    path = library.prepare("builtin")
    library.delete("builtin")
    assert os.listdir(home / "models") == []
    assert library.prepare("builtin") == path
    assert names() == ["builtin"]


def test_two_processes_at_the_first_use(home: Path, shipped: Path, tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from engine.library import library; "
        "library.resources.path = lambda *p: Path(sys.argv[1]).joinpath(*p); print(library.prepare('builtin'))"
    )
    environment = {**os.environ, library.HOME: str(home), "OMP_NUM_THREADS": "1"}
    both = [
        subprocess.Popen(
            [sys.executable, "-c", script, str(tmp_path / "resources")],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
            encoding="utf-8",
        )
        for _ in range(2)
    ]  # fmt: skip
    for process in both:
        out, err = process.communicate(timeout=PROCESS)
        assert out.strip() == str(home / "models" / "builtin"), err
    assert os.listdir(home / "models") == ["builtin"]
    assert contents(home / "models" / "builtin")


def test_the_model_that_is_really_shipped_can_be_imported(home: Path) -> None:
    with Store.open(library.prepare("builtin")) as store:
        assert store.spec(store.layers[0]).tiers == (2, 4, 8)
        assert {q.tier: q.relative_error for q in store.manifest.quality}[8] < 0.01


def test_an_import_rests_on_a_low_battery_unless_told_not_to(
    home: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def report(phrase: str, done: int, total: int) -> None:
        if phrase.startswith("Paused at 12%"):
            raise RuntimeError("rests")

    monkeypatch.setattr("psutil.sensors_battery", lambda: SimpleNamespace(percent=12.0, power_plugged=False))
    with pytest.raises(RuntimeError, match="rests"):
        library.add(source, "a", progress=report)
    assert library.go_on("a", report, battery=10).name == "a"
    settings_file.change({"import_battery": 12})
    assert library.add(source, "b", progress=report).name == "b"
