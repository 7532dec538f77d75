"""What verifying a model's files found is told with the model, as long as the files are as they were."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from engine.errors import UnderhillError
from engine.library import library, lowering, relocation, trash, verification
from engine.library.entries import ModelCard, Verification
from engine.regular_file import FileMark, mark_of
from engine.store.manifest import Lowering
from engine.store.reader import Store
from engine.translatable import Translatable
from tests.waiting import PROCESS

pytestmark = pytest.mark.long

Put = Callable[..., Path]


@pytest.fixture
def store(put: Put) -> Path:
    """A store that was written a minute ago."""
    return aged(put("a"))


def aged(store: Path) -> Path:
    for file in store.iterdir():
        os.utime(file, (time.time() - 60, time.time() - 60))
    return store


def card() -> ModelCard:
    (found,) = library.listing()
    return found


def verify(store: Path) -> int:
    """How many parts are damaged."""
    damaged, _ = verification.verify_files(store, lambda text, done, total: None)
    return len(damaged)


def flip(store: Path) -> None:
    """Damage the last bytes of a data file, and let time pass."""
    with (store / "dense.safetensors").open("r+b") as data:
        data.seek(-1, 2)
        last = data.read(1)
        data.seek(-1, 2)
        data.write(bytes([last[0] ^ 1]))
    os.utime(store / "dense.safetensors", (time.time() - 30, time.time() - 30))


def test_it_is_told_with_the_model_until_a_file_changes(store: Path) -> None:
    assert card().verified is None
    before = time.time()
    assert verify(store) == 0
    found = card().verified
    assert found is not None
    assert before <= found.at <= time.time()
    assert (found.damaged, found.problem, found.action) == (0, "", "")
    flip(store)
    assert card().verified is None


def test_damage_is_told_with_what_to_do(store: Path) -> None:
    flip(store)
    assert verify(store) == 1
    found = card().verified
    assert found is not None
    assert found.damaged == 1
    assert found.problem
    assert isinstance(found.problem, Translatable)
    assert found.problem.key != found.problem  # it can be said in another language
    assert found.action == "Import it again."


@pytest.mark.parametrize("name", ["tokenizer.json", "manifest.json"])
def test_every_file_counts(store: Path, name: str) -> None:
    verify(store)
    os.utime(store / name, (time.time() - 30, time.time() - 30))
    assert card().verified is None


def test_a_file_that_is_gone_or_written_just_now_counts(store: Path) -> None:
    verify(store)
    os.utime(store / "tokenizer.json")
    assert card().verified is None
    (store / "tokenizer.json").unlink()
    assert verification.read(store) is None


def test_what_was_written_just_now_could_be_again_without_a_mark(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.regular_file.SETTLED", 1e9)
    assert verify(store) == 0
    assert not (store / verification.FILE).exists()


def test_another_process_knows_it(store: Path) -> None:
    verify(store)
    told = card().verified
    code = "from engine.library import library; print(library.listing()[0].verified.at)"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PROCESS, check=True)
    assert told is not None
    assert float(said.stdout) == told.at


def test_a_disk_that_has_another_number_after_a_restart_changes_nothing(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    verify(store)

    def moved(file: Path) -> FileMark | None:
        mark = mark_of(file)
        return None if mark is None else replace(mark, device=mark.device + 1, inode=mark.inode + 1)

    monkeypatch.setattr(verification, "mark_of", moved)
    assert verification.read(store) is not None


def test_the_trash_and_a_rename_leave_it_and_a_copy_does_not(store: Path, models: Path, other: Path) -> None:
    verify(store)
    library.rename("a", "Writer")
    library.delete("a")
    trash.restore("a")
    assert card().verified is not None
    shutil.copytree(store, models / "b")
    assert {one.name: one.verified is None for one in library.listing()} == {"a": False, "b": True}
    library.delete("b")
    relocation.move("a", other, lambda text, done, total: None)  # on the same disk
    assert card().verified is not None
    other.rename(other.with_name("unplugged"))
    assert (card().state, card().verified) == ("missing_disk", None)


def test_a_model_with_fewer_bits_was_not_verified(store: Path) -> None:
    verify(store)
    with Store.open(store) as opened:
        chosen = {(layer, 0): 2 for layer in opened.layers}
        lowering.write_beside(opened, chosen, Lowering(0.02, 0.0, 0.001, 100), lambda text, done, total: None)
    lowering.put_in_place(store)
    assert card().verified is None
    lowering.restore(store)
    assert card().verified is not None


@pytest.mark.parametrize(
    "change",
    [
        {"at": "soon"}, {"at": 1e300}, {"at": -1.0}, {"damaged": -1}, {"problem": 3}, {"action": {"key": 1}},
        {"files": {}}, {"files": []}, {"files": {"../a/manifest.json": [1, 2, 3]}},
    ],
)  # fmt: skip
def test_a_damaged_file_tells_nothing(store: Path, change: dict[str, object]) -> None:
    verify(store)
    file = store / verification.FILE
    whole = json.loads(file.read_text(encoding="utf-8"))
    assert verification.read(store) == Verification(whole["at"])
    file.write_text(json.dumps({**whole, **change}), encoding="utf-8")
    assert verification.read(store) is None
    file.write_text("[", encoding="utf-8")
    assert verification.read(store) is None


def test_what_cannot_be_opened_leaves_what_was_known(store: Path) -> None:
    verify(store)
    (store / "dense.safetensors").unlink()
    with pytest.raises(UnderhillError):
        verify(store)
    assert (store / verification.FILE).exists()


def test_a_store_that_cannot_be_written_to_is_verified_all_the_same(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(path: Path, data: bytes) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(verification, "replace_file", refused)
    assert verify(store) == 0
    assert card().verified is None
