"""A thousand histories on a disk that fails: nothing that was said to be kept is lost, and nothing damaged is believed.

Each is made from its seed, so that one which ends badly is played again by it.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
import sys
from contextlib import closing, suppress
from pathlib import Path

import pytest

from app.storage.records import Chat, StoredMessage
from app.storage.store import ChatStore
from engine.convert.importer import import_checkpoint
from engine.errors import UnderhillError
from engine.library import library, settings_file, store_copy, trash
from engine.library.home import HOME
from engine.store import journal
from engine.store import manifest as manifests
from engine.store.verify import verify
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.faulty_disk import FaultyDisk

NOTES, IMPORTS, MOVES, CHATS = 500, 200, 200, 100
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="descriptors are looked up in /proc"),
]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("given") / "checkpoint", layers=1, experts=2)


@pytest.fixture(scope="module")
def reference(checkpoint: Path) -> Path:
    import_checkpoint(checkpoint, checkpoint.with_name("reference"), top=8)
    return checkpoint.with_name("reference")


def contents(store: Path) -> dict[str, bytes]:
    """But for the manifest, which says where it was made, and the journal, which the library removes later."""
    return {p.name: p.read_bytes() for p in store.iterdir() if p.name not in (manifests.NAME, journal.NAME)}


def emptied(folder: Path) -> Path:
    for one in (folder, folder.with_name(folder.name + ".aside")):
        shutil.rmtree(one, ignore_errors=True)
    folder.mkdir()
    return folder


def test_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What `change` has returned for is there; what it has not is there whole or not at all."""
    home = tmp_path / "home"
    monkeypatch.setenv(HOME, str(home))
    for seed in range(NOTES):
        emptied(home)
        possible = [""]
        disk = FaultyDisk(home, seed, calls=30)
        with disk:
            for number in range(8):
                value = f"http://proxy{number}"
                possible.append(value)
                with suppress(UnderhillError):
                    settings_file.change({"proxy": value})
                    possible = [value]
        if disk.off:
            disk.lose()
        assert settings_file.read()["proxy"] in possible, f"seed {seed}"
        settings_file.change({"proxy": "http://after"})
        assert settings_file.read()["proxy"] == "http://after", f"seed {seed}"


def test_imports(tmp_path: Path, checkpoint: Path, reference: Path) -> None:
    """One that failed, or was cut off, twice, goes on to the very same store."""
    for seed in range(IMPORTS):
        top = emptied(tmp_path / "models")
        for turn in range(2):
            disk = FaultyDisk(top, 1000 * turn + seed, calls=40)
            with suppress(UnderhillError, OSError), disk:
                import_checkpoint(checkpoint, top / "m", top=8)
            if disk.off:
                disk.lose()
            if (top / "m").exists():
                assert verify(top / "m") == (), f"seed {seed}"
        if not (top / "m").exists():
            import_checkpoint(checkpoint, top / "m", top=8)
        assert verify(top / "m") == (), f"seed {seed}"
        assert contents(top / "m") == contents(reference), f"seed {seed}"


def test_deleting_restoring_and_copying(tmp_path: Path, reference: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is whole somewhere, whatever came between."""
    home = tmp_path / "home"
    monkeypatch.setenv(HOME, str(home))
    models = home / "models"
    for seed in range(MOVES):
        emptied(home)
        shutil.copytree(reference, models / "m")
        rng, disk = random.Random(seed), FaultyDisk(home, seed, calls=50)
        with disk:
            for _ in range(5):
                do = rng.choice((
                    lambda: library.delete("m"),
                    lambda: trash.restore("m"),
                    lambda: store_copy.copy(models / "m", models / "c", lambda *_: None),
                    lambda: library.delete("c"),
                    library.tidy,
                ))  # fmt: skip
                with suppress(UnderhillError, OSError):
                    do()
        if disk.off:
            disk.lose()
        library.tidy()
        with suppress(UnderhillError):
            trash.restore("m")
        assert verify(models / "m") == (), f"seed {seed}"
        assert contents(models / "m") == contents(reference), f"seed {seed}"


def test_chats_whose_log_is_torn(tmp_path: Path) -> None:
    """Of SQLite's log nothing is sure beyond what was synced; what was said to be kept is in that."""
    for seed in range(CHATS):
        rng, folder = random.Random(seed), emptied(tmp_path / "chats")
        store = ChatStore(folder / "chats.db")
        log = folder / "chats.db-wal"
        store.create(Chat(id=1, title="It", updated_at=1.0))
        said: list[tuple[int, int]] = []  # message, and the length of the log when it was kept
        for number in range(rng.randrange(1, 12)):
            text = "x" * rng.randrange(5000)
            store.add(
                StoredMessage(
                    id=number + 1, chat_id=1, parent_id=number or None, role="user", content=text, created_at=1.0
                )
            )
            said.append((number + 1, log.stat().st_size))
        cut = rng.randrange(said[0][1], log.stat().st_size + 1)
        data = log.read_bytes()[:cut] + rng.randbytes(rng.choice((0, 100, 5000)))
        after = emptied(tmp_path / "after")
        shutil.copy(folder / "chats.db", after)
        (after / "chats.db-wal").write_bytes(data)
        store.close()
        with closing(sqlite3.connect(after / "chats.db")) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",), f"seed {seed}"
            there = {row[0] for row in db.execute("SELECT id FROM messages")}
        assert there >= {number for number, length in said if length <= cut}, f"seed {seed}"
