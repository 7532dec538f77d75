"""Copies and moves: every byte checked, killed at any moment, disks that are full, unplugged or failing."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import random
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.errors import Kind, UnderhillError
from engine.library import folders, home, library, listing, relocation, store_copy, trash
from engine.store.verify import verify
from engine.store.writer import store_lock
from engine.translatable import translated
from tests.engine.formats.tiny_checkpoint import contents
from tests.engine.library.test_folders import refused

Put = Callable[..., Path]


def quiet(phrase: str, done: int, total: int) -> None:
    pass


@pytest.fixture
def disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders count as different disks, so that a move has to copy."""
    monkeypatch.setattr(store_copy, "renamed_at_once", lambda source, destination: False)


def move(name: str, folder: Path, report: Callable[[str, int, int], None] = quiet) -> Path:
    return relocation.move(name, folder, report)


def test_within_a_disk_a_move_is_a_rename(put: Put, models: Path, other: Path) -> None:
    whole, inode = contents(put("m")), (models / "m").stat().st_ino
    assert move("m", other) == other / "m"
    assert ((other / "m").stat().st_ino, contents(other / "m")) == (inode, whole)
    assert os.listdir(models) == []
    assert library.prepare("m") == other / "m"


@pytest.mark.usefixtures("disks")
def test_to_another_disk_it_is_copied_checked_and_removed(put: Put, models: Path, other: Path) -> None:
    (put("m") / "warm.json").write_text("{}", encoding="utf-8")  # what is kept beside a store goes along
    whole = contents(models / "m")
    phrases: dict[str, list[tuple[int, int]]] = {}
    move("m", other, lambda phrase, done, total: phrases.setdefault(phrase, []).append((done, total)))
    assert contents(other / "m") == whole
    assert os.listdir(models) == []
    assert list(phrases) == ["Copying", "Checking the copy"]
    for steps in phrases.values():
        assert [done for done, _ in steps] == sorted(done for done, _ in steps)
        assert steps[-1][0] <= steps[-1][1]


@pytest.mark.usefixtures("disks")
def test_stopped_it_goes_on_where_it_was(put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(put("m"))
    monkeypatch.setattr(store_copy, "CHUNK", 4096)
    total = sum(map(len, whole.values()))

    def stop(phrase: str, done: int, total: int) -> None:
        if done > total // 2:
            raise UnderhillError(Kind.CANCELLED, translated("Stopped."))

    refused(Kind.CANCELLED, lambda: move("m", other, stop))
    (card,) = listing.listing()
    assert card.usable
    assert "interrupted" in card.problem
    assert library.prepare("m") == models / "m"
    steps: list[int] = []
    move("m", other, lambda phrase, done, total: steps.append(done) if phrase == "Copying" else None)
    assert len(steps) < 0.7 * total / store_copy.CHUNK
    assert contents(other / "m") == whole
    assert os.listdir(models) == []


@pytest.mark.usefixtures("disks")
def test_an_interrupted_move_can_be_taken_back(put: Put, models: Path, other: Path) -> None:
    put("m")
    refused(Kind.CANCELLED, lambda: move("m", other, stopped))
    assert (other / "m.copy").is_dir()
    assert move("m", models) == models / "m"
    assert not (other / "m.copy").exists()
    assert listing.listing()[0].problem == ""


@pytest.mark.usefixtures("disks")
def test_a_move_that_was_killed_and_taken_back_leaves_nothing(put: Put, models: Path, other: Path) -> None:
    """Whoever was killed could not take its locks away."""
    put("m")
    before = sorted(os.listdir(models)), sorted(os.listdir(other))
    refused(Kind.CANCELLED, lambda: move("m", other, stopped))
    for folder in (models, other):
        (folder / "m.partial.lock").touch()
    move("m", models)
    assert (sorted(os.listdir(models)), sorted(os.listdir(other))) == before


def test_locks_of_the_dead_are_swept_and_those_of_the_living_are_not(put: Put, models: Path) -> None:
    put("m")
    for name in ("m", "gone"):
        (models / f"{name}.partial.lock").touch()
    with store_lock(models / "busy"):
        library.tidy()
        assert {path.name for path in models.glob("*.lock")} == {"busy.partial.lock"}


def stopped(phrase: str, done: int, total: int) -> None:
    raise UnderhillError(Kind.CANCELLED, translated("Stopped."))


@pytest.mark.usefixtures("disks")
def test_a_copy_of_another_model_is_not_gone_on_with(put: Put, models: Path, other: Path) -> None:
    put("m")
    refused(Kind.CANCELLED, lambda: move("m", other, stopped))
    note = json.loads((other / "m.copy" / store_copy.NOTE).read_text(encoding="utf-8"))
    (other / "m.copy" / store_copy.NOTE).write_text(json.dumps({**note, "manifest": "another"}), encoding="utf-8")
    (other / "m.copy" / "stale").write_text("x", encoding="utf-8")
    move("m", other)
    assert "stale" not in os.listdir(other / "m")


@pytest.mark.usefixtures("disks")
def test_a_damaged_model_stays_where_it_is(put: Put, models: Path, other: Path) -> None:
    file = sorted(put("m").glob("experts-*"))[0]
    data = bytearray(file.read_bytes())
    data[50_000] ^= 1
    file.write_bytes(data)
    error = refused(Kind.BROKEN_FILE, lambda: move("m", other))
    assert "expert" in error.sentence
    assert "Verify it" in error.action
    assert (models / "m").is_dir()
    assert [p for p in os.listdir(other) if p.startswith("m")] == []


@pytest.mark.usefixtures("disks")
def test_a_disk_that_writes_wrong_bytes_is_found_out(
    put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contents(put("m"))
    copied = store_copy.copy_bytes

    def failing(source: Path, target: Path, start: int):  # type: ignore[no-untyped-def]
        yield from copied(source, target, start)
        if target.name == "dense.safetensors":
            data = bytearray(target.read_bytes())
            data[-1] ^= 1
            target.write_bytes(data)

    monkeypatch.setattr(store_copy, "copy_bytes", failing)
    refused(Kind.BROKEN_FILE, lambda: move("m", other))
    assert contents(models / "m") == whole


@pytest.mark.usefixtures("disks")
def test_space_is_checked_first(put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("m")
    usage = shutil.disk_usage(other)
    with monkeypatch.context() as patch:
        patch.setattr(store_copy.shutil, "disk_usage", lambda path: usage._replace(free=1000))
        error = refused(Kind.DISK_FULL, lambda: move("m", other))
    assert "MB, or choose" in error.action
    assert (models / "m").is_dir()
    assert not list(other.glob("m*"))
    assert [(c.name, c.problem) for c in listing.listing() if c.name == "m"] == [("m", "")]  # nothing was interrupted
    move("m", other)


@pytest.mark.usefixtures("disks")
def test_a_disk_that_fills_up_meanwhile(put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = contents(put("m"))
    fsync = os.fsync
    count = 0

    def full(fd: int) -> None:
        nonlocal count
        count += 1
        if count == 4:
            raise OSError(errno.ENOSPC, "No space left on device")
        fsync(fd)

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        refused(Kind.DISK_FULL, lambda: move("m", other))
    assert contents(models / "m") == whole
    move("m", other)
    assert contents(other / "m") == whole


def test_names_that_clash(put: Put, models: Path, other: Path) -> None:
    put("m")
    put("m", other)
    refused(Kind.BAD_REQUEST, lambda: move("m", other))
    states = {(c.path, c.state) for c in listing.listing()}
    assert states == {(str(models / "m"), "ready"), (str(other / "m"), "name_clash")}
    assert [c.path for c in library.cards()] == [str(models / "m")]


@pytest.mark.parametrize("folder", [True, False], ids=["folder", "file"])
def test_what_is_only_called_like_a_model_is_not_taken_for_it(
    put: Put, models: Path, other: Path, folder: bool
) -> None:
    put("m")
    move("m", other)
    here = models / "m"
    here.mkdir() if folder else here.write_text("mine", encoding="utf-8")
    if folder:
        (here / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(UnderhillError, match="already exists") as error:
        move("m", models)
    assert error.value.kind is Kind.BAD_REQUEST
    assert str(here) in error.value.sentence
    assert "choose another folder" in error.value.action
    assert library.prepare("m") == other / "m"
    assert library.delete("m")
    assert not (other / "m").exists()
    assert ((here / "notes.txt") if folder else here).read_text(encoding="utf-8") == "mine"


def test_what_cannot_be_moved(put: Put, models: Path, other: Path, tmp_path: Path) -> None:
    put("m")
    refused(Kind.BAD_REQUEST, lambda: move("m", tmp_path / "unknown"))
    refused(Kind.NOT_A_MODEL, lambda: move("nobody", other))
    refused(Kind.BAD_REQUEST, lambda: move("builtin", other))
    with store_lock(models / "m"):
        refused(Kind.BUSY, lambda: move("m", other))
    shutil.rmtree(other)
    refused(Kind.DISK_ERROR, lambda: move("m", other))
    assert (models / "m").is_dir()


@pytest.mark.usefixtures("disks")
def test_a_model_on_a_disk_that_cannot_be_written_is_copied_rather_than_moved(
    put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put("m", other)
    monkeypatch.setattr(os, "access", lambda path, mode: not str(path).startswith(str(other)))
    assert "Import it under another name" in refused(Kind.DISK_ERROR, lambda: move("m", models)).action
    assert "isn't writable" in refused(Kind.DISK_ERROR, lambda: library.delete("m")).sentence
    assert contents(library.add(other / "m", "copy")) == contents(other / "m")
    assert library.location("copy").parent == models


@pytest.mark.usefixtures("disks")
def test_an_old_copy_that_cannot_be_removed_is_removed_later(
    put: Put, models: Path, other: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = contents(put("m"))

    def in_use(path: Path) -> None:
        raise UnderhillError(Kind.DISK_ERROR, translated(f"{path} cannot be written."))

    with monkeypatch.context() as patch:
        patch.setattr(store_copy, "remove", in_use)
        assert "old copy" in refused(Kind.DISK_ERROR, lambda: move("m", other)).sentence
    (card,) = listing.listing()
    assert (card.path, card.state) == (str(other / "m"), "ready")
    library.tidy()
    assert os.listdir(models) == []
    assert contents(other / "m") == whole


def test_an_original_that_has_become_another_model_is_not_removed(put: Put, models: Path, other: Path) -> None:
    put("m")
    put("m", other)
    (other / "m" / store_copy.NOTE).write_text(
        json.dumps({"source": str(models / "m"), "manifest": "of another", "move": True}),
        encoding="utf-8",
    )
    library.tidy()
    assert (models / "m").is_dir()


def test_a_folder_that_was_itself_renamed_after_a_move_does_not_remove_itself(put: Put, models: Path) -> None:
    store = put("m")
    digest = store_copy.file_sha256(store / "manifest.json")
    (store / store_copy.NOTE).write_text(
        json.dumps({"source": str(store.resolve()), "manifest": digest, "move": True}), encoding="utf-8"
    )
    library.tidy()
    assert verify(store) == ()


def test_stores_from_another_computer(put: Put, models: Path, tmp_path: Path) -> None:
    stick = tmp_path / "stick"
    for name in ("a", "b", "old"):
        put(name, stick)
    manifest = json.loads((stick / "old" / "manifest.json").read_text(encoding="utf-8"))
    (stick / "old" / "manifest.json").write_text(json.dumps({**manifest, "version": 1}), encoding="utf-8")
    put("b")
    results = {a.name: a for a in relocation.adopt(stick, quiet)}
    assert results["a"].path == str(models / "a")
    assert "already" in results["b"].problem
    assert "older version" in results["old"].problem
    assert contents(models / "a") == contents(stick / "a")
    assert sorted(os.listdir(models)) == ["a", "b"]
    refused(Kind.NOT_A_MODEL, lambda: relocation.adopt(stick / "a", quiet))


def slowly(task: str, data: str, folder: str) -> None:
    """In a process of its own, to be killed."""
    os.environ[home.HOME] = data
    if task == "delete":
        library.delete("m")
    elif task == "verify":
        verify(library.prepare("m"), lambda done, total: time.sleep(0.002))
    else:
        store_copy.CHUNK = 4096
        store_copy.renamed_at_once = lambda source, destination: False
        relocation.move("m", folder, lambda phrase, done, total: time.sleep(0.002))


@pytest.fixture
def killed(models: Path, other: Path) -> Callable[[str, float], None]:
    """Begins a task in another process, and kills that after so many seconds."""
    context = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
    context.set_forkserver_preload(["tests.engine.library.test_store_copy"])

    def kill(task: str, seconds: float) -> None:
        process = context.Process(target=slowly, args=(task, str(models.parent), str(other)))
        process.start()
        process.join(seconds)
        process.kill()
        process.join()

    kill("verify", 0.0)  # what all processes share is started
    return kill


@pytest.mark.slow
def test_killed_at_any_moment_a_move_loses_nothing(
    put: Put, models: Path, other: Path, killed: Callable[[str, float], None]
) -> None:
    whole = contents(put("m"))
    chance = random.Random(5)
    for _ in range(12):
        killed("move", chance.uniform(0.0, 0.25))
        (card,) = listing.listing()
        assert card.usable
        assert verify(library.prepare("m")) == ()
    library.tidy()
    if (models / "m").exists():
        move("m", other)
    assert contents(other / "m") == whole
    assert [p for p in os.listdir(models) if not p.endswith(".lock")] == []


def test_a_copy_that_was_killed_as_it_began_is_not_listed(put: Put, models: Path, other: Path) -> None:
    """A copy is there only with its note: between the two it has another name, which no list shows."""
    store = put("m")
    begun = store_copy.CopyNote(str(store.resolve()), store_copy.file_sha256(store / "manifest.json"), True)
    (other / ".m.copy").mkdir(parents=True)
    (other / ".m.copy" / "half").write_bytes(b"a note that was never whole")
    folders.add(other)
    assert [card.name for card in listing.listing()] == ["m"]
    store_copy.begin_copy(other / "m.copy", begun)
    assert store_copy.read(other / "m.copy") == begun
    assert [name for name in os.listdir(other) if name.endswith(".copy")] == ["m.copy"]
    assert [card.name for card in listing.listing()] == ["m"]


@pytest.mark.slow
def test_killed_while_deleting_or_verifying_it_is_whole_or_in_the_trash(
    put: Put, models: Path, killed: Callable[[str, float], None]
) -> None:
    whole = contents(put("m"))
    for seconds in (0.002, 0.005, 0.01, 0.02, 0.2):
        killed("verify", seconds)
        killed("delete", seconds)
        if not (models / "m").exists():
            trash.restore("m")
        assert contents(models / "m") == whole
