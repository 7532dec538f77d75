"""The library through the engine's commands: each with its one end, and pauses, stops and quick answers beside them."""

from __future__ import annotations

import os
import shutil
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine import protocol
from engine.library import folders, store_copy
from engine.library.external_models import FILES, Place
from engine.server.serving_engine import ServingEngine
from engine.service import library_worker
from engine.service.library_worker import LibraryWorker
from tests.engine.service.test_service import GREEDY, HELLO, SETTINGS, TERMINAL, Desk, desk
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

__all__ = ["desk"]


@pytest.fixture
def disk(mine: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another folder, to which a move has to copy, in small steps."""
    folders.add(tmp_path / "disk")
    monkeypatch.setattr(store_copy, "renamed_at_once", lambda source, destination: False)
    monkeypatch.setattr(store_copy, "CHUNK", 1 << 16)
    return tmp_path / "disk"


@pytest.fixture
def go_on(monkeypatch: pytest.MonkeyPatch) -> threading.Event:
    """What takes long rests after its first step until this is set, however late a test says what it has to say."""
    go = threading.Event()
    made = LibraryWorker.reporter

    def reporter(self: LibraryWorker, *how: Any) -> Callable[[str, int, int], None]:
        report = made(self, *how)

        def told(text: str, done: int, total: int) -> None:
            report(text, done, total)
            assert total == 0 or go.wait(LONGEST)

        return told

    monkeypatch.setattr(LibraryWorker, "reporter", reporter)
    return go


def states(desk: Desk) -> dict[str, str]:
    return {card.name: card.state for card in desk.result(protocol.ListModels)}


def kept_open(desk: Desk) -> list[Path]:
    assert isinstance(desk.engine, ServingEngine)
    return [one.session.store.path for one in desk.engine.service.models.pool]


def progress_of(command: str) -> Callable[[protocol.Event], bool]:
    return lambda e: e.id == command and isinstance(e, protocol.Progress)


def test_the_list_says_what_fits(mine: Path, desk: Desk) -> None:
    for _ in range(2):
        assert {card.name: card.fit.pill for card in desk.result(protocol.ListModels)} == {
            "builtin": "fits",
            "m": "fits",
        }


def test_deleted_and_brought_back(mine: Path, desk: Desk) -> None:
    assert desk.result(protocol.DeleteModel, "m") is True
    (gone,) = desk.result(protocol.ListDeleted)
    assert (gone.name, gone.folder) == ("m", str(mine))
    assert states(desk) == {"builtin": "ready"}
    assert desk.result(protocol.RestoreModel, "m").name == "m"
    assert states(desk) == {"builtin": "ready", "m": "ready"}
    desk.result(protocol.DeleteModel, "m")
    assert desk.result(protocol.EmptyTrash) == gone.nbytes
    assert desk.result(protocol.ListDeleted) == ()
    event = desk.wait(desk.send(protocol.RestoreModel, "m"))
    assert isinstance(event, protocol.Failed)
    assert event.kind is protocol.Kind.NOT_A_MODEL


def test_a_renamed_model_is_shown_so_also_where_it_is_open(mine: Path, desk: Desk) -> None:
    desk.result(protocol.LoadModel, "m", SETTINGS)
    assert desk.result(protocol.RenameModel, "m", "Writer").title == "Writer"
    told = desk.first(lambda e: isinstance(e, protocol.ModelChanged) and e.card.title == "Writer")
    assert isinstance(told, protocol.ModelChanged)
    assert (told.card.name, told.card.loaded) == ("m", True)
    assert told.card.plan
    assert {card.name: card.title for card in desk.result(protocol.ListModels)}["m"] == "Writer"
    desk.result(protocol.LoadModel, "builtin", SETTINGS)
    desk.result(protocol.RenameModel, "m", "Poet")
    assert desk.result(protocol.LoadModel, "m", SETTINGS).title == "Poet"  # which was kept open
    refused = desk.wait(desk.send(protocol.RenameModel, "m", ""))
    assert isinstance(refused, protocol.Failed)
    assert refused.kind is protocol.Kind.BAD_REQUEST


def test_folders_come_and_go(mine: Path, tmp_path: Path, desk: Desk) -> None:
    found = desk.result(protocol.AddFolder, str(tmp_path / "disk"), first=True)
    assert [(f.path, f.first) for f in found] == [(str(tmp_path / "disk"), True), (str(mine), False)]
    listed = desk.result(protocol.ListFolders)
    assert [replace(f, free=0) for f in listed] == [replace(f, free=0) for f in found]  # others write on this disk, too
    assert [f.path for f in desk.result(protocol.ForgetFolder, str(tmp_path / "disk"))] == [str(mine)]


def test_moved_while_it_is_paused_and_stopped_and_gone_on_with(
    mine: Path, disk: Path, desk: Desk, go_on: threading.Event
) -> None:
    command = desk.send(protocol.MoveModel, "m", str(disk))
    desk.first(progress_of(command))
    assert desk.result(protocol.Pause, command) is True
    go_on.set()
    desk.first(lambda e: progress_of(command)(e) and e.text.startswith("Paused: "))
    assert states(desk)["m"] == "moving"
    assert len(desk.result(protocol.ListFolders)) == 2  # answered meanwhile
    assert desk.result(protocol.LoadModel, "m", SETTINGS).name == "m"
    assert desk.result(protocol.Generate, HELLO, GREEDY).text
    assert desk.result(protocol.Resume, command) is True
    busy = desk.wait(command)
    assert isinstance(busy, protocol.Failed)  # now that it is loaded
    assert busy.kind is protocol.Kind.BUSY
    assert states(desk)["m"] == "ready"
    desk.result(protocol.LoadModel, "builtin", SETTINGS)
    assert mine / "m" in kept_open(desk)
    card = desk.result(protocol.MoveModel, "m", str(disk))
    assert card.path == str(disk / "m")
    assert kept_open(desk) == [mine / "builtin"]  # Windows removes no folder of open files
    assert not (mine / "m").exists()
    assert desk.result(protocol.LoadModel, "m", SETTINGS).path == str(disk / "m")
    assert desk.result(protocol.Generate, HELLO, GREEDY).text


def test_a_paused_move_can_be_stopped(mine: Path, disk: Path, desk: Desk, go_on: threading.Event) -> None:
    command = desk.send(protocol.MoveModel, "m", str(disk))
    desk.first(progress_of(command))
    desk.result(protocol.Pause, command)
    go_on.set()
    desk.result(protocol.Stop, command)
    assert isinstance(desk.wait(command), protocol.Cancelled)
    assert [type(e) for e in desk.of(command) if isinstance(e, TERMINAL)] == [protocol.Cancelled]
    assert states(desk)["m"] == "ready"
    assert desk.result(protocol.Resume, command) is False
    assert desk.result(protocol.Pause, command) is False


def test_an_import_rests_stops_and_goes_on(mine: Path, root: Path, desk: Desk, go_on: threading.Event) -> None:
    source = str(root / "resources" / "builtin" / "model")
    command = desk.send(protocol.ImportModel, source, "half", 4)
    desk.first(lambda e: progress_of(command)(e) and e.total > 0)
    desk.result(protocol.Pause, command)
    go_on.set()
    desk.first(lambda e: progress_of(command)(e) and e.text.startswith("Paused: "))
    (half,) = [card for card in desk.result(protocol.ListModels) if card.name == "half"]
    assert (half.state, half.usable) == ("unfinished", False)
    assert "in progress" in half.problem
    desk.result(protocol.Stop, command)
    assert isinstance(desk.wait(command), protocol.Cancelled)
    (half,) = [card for card in desk.result(protocol.ListModels) if card.name == "half"]
    assert half.source == source
    assert desk.result(protocol.ContinueImport, "half").tiers == (2, 4)
    assert states(desk)["half"] == "ready"


def test_nothing_rests_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where somebody halts it right between two looks at who has been halted."""
    events: list[protocol.Event] = []
    told: list[str] = []
    librarian = LibraryWorker(events.append, lambda: None, lambda target: True, lambda store: True)
    report = librarian.reporter(protocol.MoveModel("a", "m", "/disk"), lambda: False)

    class Halted(set[str]):
        looks = 0

        def __contains__(self, command: object) -> bool:
            self.looks += 1
            return self.looks in (2, 5)

    monkeypatch.setattr(librarian, "_resting", Halted())
    monkeypatch.setattr("engine.service.library_worker.time.sleep", lambda _: told.append(events[-1].text))  # type: ignore[attr-defined]
    for done in range(3):
        report("Copying", done, 3)
    assert told
    assert all(text == "Paused: Copying" for text in told)


def test_models_are_verified_and_adopted(mine: Path, tmp_path: Path, desk: Desk) -> None:
    shutil.copytree(mine / "m", tmp_path / "stick" / "n")
    (adopted,) = desk.result(protocol.AdoptModels, str(tmp_path / "stick"))
    assert (adopted.name, adopted.problem) == ("n", "")
    assert desk.result(protocol.VerifyModel, "n") == protocol.VerifyReport(())
    with (mine / "n" / "dense.safetensors").open("r+b") as data:
        data.seek(-1, 2)
        data.write(b"\x55")
    report: Any = desk.result(protocol.VerifyModel, "n")
    assert len(report.damaged) == 1
    assert "Import it again" in report.action
    for file in (mine / "m").iterdir():
        os.utime(file, (1.6e9, 1.6e9))
    assert desk.result(protocol.VerifyModel, "m") == protocol.VerifyReport(())
    found = {card.name: card.verified for card in desk.result(protocol.ListModels)}["m"]
    assert found is not None
    assert found.damaged == 0


@pytest.mark.skipif(sys.platform == "win32", reason="an open data file is locked against writing there")
def test_damage_found_in_an_answer_of_the_built_in_model_is_mended_by_opening_it_again(mine: Path, desk: Desk) -> None:
    settings = {**SETTINGS, "cache_fraction": 0.0}
    desk.result(protocol.LoadModel, "builtin", settings)
    file = sorted((mine / "builtin").glob("experts-*"))[1]
    data = bytearray(file.read_bytes())
    for at in range(40_960, len(data), 4096):  # in every part of every expert, after opening has looked at some
        data[at] ^= 1
    with file.open("r+b") as opened:
        opened.write(data)
    failed = desk.wait(desk.send(protocol.Generate, HELLO, GREEDY))
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is protocol.Kind.BROKEN_FILE
    assert "rebuilt" in failed.action
    desk.result(protocol.LoadModel, "builtin", settings)
    assert desk.result(protocol.Generate, HELLO, GREEDY).text


def test_what_other_apps_have_is_found(
    mine: Path, tmp_path: Path, root: Path, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    shutil.copytree(root / "resources" / "builtin" / "model", tmp_path / "studio" / "org" / "tiny")
    place = Place("LM Studio", FILES, tmp_path / "studio")
    monkeypatch.setattr("engine.library.external_models.places", lambda *_: [place])
    command = desk.send(protocol.FindModels)
    (model,) = desk.wait(command).result  # type: ignore[attr-defined]
    assert isinstance(model, protocol.FoundModel)
    assert model.can_open
    assert model.fit is not None
    assert any(isinstance(e, protocol.Progress) and e.unit == "models" for e in desk.of(command))


def test_progress_comes_at_a_pace_and_at_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """However many steps there are: an import of a small model takes thousands in a second."""
    now: list[float] = [0.0]
    heard: list[protocol.Event] = []
    monkeypatch.setattr(library_worker, "time", SimpleNamespace(monotonic=lambda: now[0]))
    desk = LibraryWorker(heard.append, lambda: None, lambda command: True, lambda store: True)
    report = desk.reporter(protocol.ListModels("c"), lambda: False, "experts")
    for done in range(1, 1001):
        now[0] = done / 1000
        report("Importing", done, 1000)
    report("Writing", 1, 2)
    report("Writing", 1, 2)
    said = [(e.text, e.done) for e in heard if isinstance(e, protocol.Progress)]
    assert said[0] == ("Importing", 1)
    assert said[-2:] == [("Importing", 1000), ("Writing", 1)]
    assert len(said) <= 2 + 1 / library_worker.PACE
