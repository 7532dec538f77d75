"""Folders, trash, moves and copies of models as scripts use them."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from engine.calibration import robustness
from engine.errors import Kind, UnderhillError
from engine.library import library
from engine.library.external_models import FILES, Place
from engine.translatable import translated
from tests.engine.cli.test_cli import MODEL, found, run

pytestmark = pytest.mark.long


def names(capsys: pytest.CaptureFixture[str]) -> list[str]:
    return [model["name"] for model in found(capsys, "list")]


def flip(store: Path) -> None:
    """Damage every part of every expert of a layer."""
    file = sorted(store.glob("experts-*"))[1]
    data = bytearray(file.read_bytes())
    for at in range(40_960, len(data), 4096):
        data[at] ^= 1
    file.write_bytes(data)


def test_deleted_brought_back_and_removed_for_good(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "rm", "m")
    assert (code, "restore" in out) == (0, True)
    assert names(capsys) == ["builtin"]
    (trashed,) = found(capsys, "trash")
    assert (trashed["name"], trashed["folder"]) == ("m", str(mine))
    assert "7 days" in run(capsys, "trash")[1]
    assert found(capsys, "restore", "m", "--as", "n")["name"] == "n"
    assert names(capsys) == ["builtin", "n"]
    assert found(capsys, "rm", "n") == {"deleted": "n", "restorable": True}
    assert found(capsys, "trash", "--empty")["freed"] == trashed["nbytes"]
    assert "empty" in run(capsys, "trash")[1]
    assert run(capsys, "restore", "n")[0] == 1


def test_folders_and_moves(mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    disk = tmp_path / "disk"
    assert run(capsys, "mv", "m", str(disk))[0] == 2
    assert [f["path"] for f in found(capsys, "folders", "--first", str(disk))] == [str(disk), str(mine)]
    assert found(capsys, "mv", "m", str(disk))["path"] == str(disk / "m")
    assert run(capsys, "info", "m")[1].count(" in all, ") == 3
    out = run(capsys, "folders")[1]
    assert "new models go here" in out
    disk.rename(tmp_path / "away")
    code, out, _ = run(capsys, "list")
    assert code == 0
    assert "m (" in out
    assert "isn't available" in out
    assert "isn't available" in run(capsys, "folders")[1]
    assert [f["path"] for f in found(capsys, "folders", "--forget", str(disk))] == [str(mine)]
    assert names(capsys) == ["builtin"]


def test_a_model_is_shown_under_another_name(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "rename", "m", "Anna's writer")[1] == "m is shown as Anna's writer now.\n"
    assert "m (Anna's writer)" in run(capsys, "list")[1]
    assert {model["name"]: model["title"] for model in found(capsys, "list")}["m"] == "Anna's writer"
    code, _, err = run(capsys, "rename", "m", " ")
    assert (code, "The name is empty." in err) == (2, True)
    assert run(capsys, "rename", "builtin", "Mine")[0] == 2
    assert found(capsys, "rename", "m", "m")["title"] == "m"
    assert "Anna" not in run(capsys, "list")[1]


def test_models_from_another_computer(mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stick = tmp_path / "stick"
    for name in ("a", "m"):
        shutil.copytree(mine / "m", stick / name)
    code, out, _ = run(capsys, "import", str(stick), "--json")
    results = {model["name"]: model for model in json.loads(out)}
    assert code == 1
    assert results["a"]["path"] == str(mine / "a")
    assert "already" in results["m"]["problem"]
    assert found(capsys, "import", str(stick / "a"), "--name", "b")["name"] == "b"
    assert names(capsys) == ["a", "b", "builtin", "m"] or names(capsys) == ["builtin", "a", "b", "m"]


def test_an_unfinished_import_goes_on_by_its_name(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def stop(phrase: str, done: int, total: int) -> None:
        if total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        library.add(MODEL, "half", 4, stop)
    listed = {model["name"]: model for model in found(capsys, "list")}
    assert listed["half"]["state"] == "unfinished"
    assert "to resume" in run(capsys, "list")[1]
    assert found(capsys, "import", "half")["tiers"] == [2, 4]
    assert "half.partial" not in os.listdir(mine)


def test_a_model_says_when_it_was_verified(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for file in (mine / "m").iterdir():
        os.utime(file, (1.6e9, 1.6e9))
    assert "Verified" not in run(capsys, "info", "m")[1]
    assert run(capsys, "verify", "m")[0] == 0
    assert ": all files are intact." in run(capsys, "info", "m")[1]
    flip(mine / "m")
    assert "Verified" not in run(capsys, "info", "m")[1]
    for file in (mine / "m").iterdir():
        os.utime(file, (1.6e9, 1.6e9))
    assert run(capsys, "verify", "m")[0] == 1
    assert " damaged: " in run(capsys, "info", "m")[1]


def test_a_damaged_built_in_model_is_made_anew(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("builtin", "m"):
        flip(mine / name)
    code, _, err = run(capsys, "chat", "m", "--prompt", "Hello!", "--greedy", "--threads", "1", "--max-tokens", "30")
    assert code == 1
    assert "Verify its files" in err
    code, out, err = run(capsys, "verify", "builtin")
    assert code == 1
    assert "expert" in out
    assert "rebuilt" in err
    assert found(capsys, "verify", "builtin") == {"damaged": [], "action": ""}


def test_what_other_apps_have_is_found_with_the_way_to_import_it(
    mine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.library.external_models.places", lambda *_: [])
    assert "No models of other apps" in run(capsys, "found")[1]
    shutil.copytree(MODEL, tmp_path / "studio" / "org" / "tiny")
    place = Place("LM Studio", FILES, tmp_path / "studio")
    monkeypatch.setattr("engine.library.external_models.places", lambda *_: [place])
    (model,) = found(capsys, "found")
    assert (model["title"], model["app"], model["can_open"]) == ("tiny", "LM Studio", True)
    assert f'import "{model["path"]}" --name "tiny"' in run(capsys, "found")[1]


def test_experts_get_fewer_bits_at_import_and_later_and_have_them_back(
    mine: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("TOKENS", "JUDGED"):
        monkeypatch.setattr(robustness, name, 150)
    whole = found(capsys, "info", "m")["model"]["expert_bytes"]
    lower = found(capsys, "lower", "m", "--tolerance", "10")
    assert lower["model"]["name"] == "m"
    assert lower["bytes"] == found(capsys, "info", "m")["model"]["expert_bytes"] < lower["bytes_before"] == whole
    assert found(capsys, "lower", "m", "--restore")["expert_bytes"] == whole
    code, out, _ = run(capsys, "import", str(MODEL), "--name", "small", "--tolerance", "10")
    assert code == 0
    assert "with 2 bits" in out  # of 150 tokens, 15 may come out otherwise
    assert found(capsys, "info", "small")["model"]["expert_bytes"] == lower["bytes"]
    assert run(capsys, "lower", "small")[0] == 2  # has fewer bits already


def test_nothing_is_made_of_the_built_in_model_to_look_at_the_library(
    mine: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = {command: found(capsys, *command) for command in (("list",), ("info", "builtin"), ("plan", "builtin"))}
    shutil.rmtree(mine / "builtin")

    def refuse(*_: object, **__: object) -> None:
        raise UnderhillError(Kind.DISK_FULL, translated("There is no space left."))

    monkeypatch.setattr(library, "import_checkpoint", refuse)
    assert run(capsys, "chat", "--prompt", "Hello!")[0] == 1
    listed, info, plan = (found(capsys, *command) for command in made)
    assert [model["name"] for model in listed] == ["builtin", "m"]
    assert (listed[0]["disk_bytes"], listed[0]["tiers"]) == (0, [2, 4, 8])
    assert listed[0]["problem"].startswith("Built when first used.")
    for known in ("family", "tier_bytes", "moe_layers", "experts", "context_length", "note"):
        assert info["model"][known] == made["info", "builtin"]["model"][known]
    assert info["model"]["parameters"] == pytest.approx(made["info", "builtin"]["model"]["parameters"], rel=0.01)
    assert plan["cache_bytes"] == made["plan", "builtin"]["cache_bytes"]
    assert run(capsys, "info", "builtin")[1].count(" in all\n") == 3
    assert run(capsys, "plan", "m")[0] == run(capsys, "rm", "m")[0] == 0
    assert not (mine / "builtin").exists()
