"""Writing a store: durable parts, one rename at the end, one writer at a time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from safetensors import safe_open

from engine.errors import Kind, UnderhillError
from engine.filesystem import UNFINISHED, put_in_place
from engine.store import writer as writers
from engine.store.journal import NAME, Journal
from engine.store.lock import FileLock
from engine.store.reader import Store
from engine.store.verify import verify
from engine.store.writer import StoreWriter, dense_key, record_key, remove
from tests.engine.store.tiny_store import DENSE, DESCRIPTION, LAYERS, SPEC, dense_bytes, fill, make, read, record
from tests.waiting import LONGEST


def contents(path: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in path.iterdir()}


def interrupted(path: Path, begin: Callable[[StoreWriter], None]) -> None:
    """A writer that begins like this and is then stopped."""

    def run() -> None:
        with StoreWriter(path, "x", LAYERS, DENSE) as writer:
            begin(writer)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run()


def test_records_lie_where_direct_io_wants_them(tmp_path: Path) -> None:
    path = make(tmp_path / "m")
    file = path / "experts-00001.safetensors"
    with safe_open(file, "np") as opened:
        assert list(opened.keys()) == ["layers.1.experts.0", "layers.1.experts.1", "layers.1.experts.2", "padding"]
        assert (opened.get_tensor("layers.1.experts.2") == record(1, 2)).all()
    data = file.read_bytes()
    last = Store.open(path).manifest.layers[0].records[-1].offset
    assert data[last : last + SPEC.layout.nbytes] == record(1, 2).tobytes()
    assert last % 4096 == 0
    rounded = -(-SPEC.layout.nbytes // 65536) * 65536
    assert last + rounded <= len(data), "a read rounded up to 64 KiB must stay inside the file"


def test_nothing_is_listed_before_it_is_whole(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as writer:
        fill(writer)
        assert not (tmp_path / "m").exists()
        writer.finish(DESCRIPTION)
    assert sorted(os.listdir(tmp_path)) == ["m"]
    assert NAME not in os.listdir(tmp_path / "m")


def test_a_part_that_was_never_written_is_not_papered_over(tmp_path: Path) -> None:
    with pytest.raises(TypeError), StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as writer:
        writer.finish(DESCRIPTION)
    assert not (tmp_path / "m").exists()


def test_parts_survive_and_keep_their_notes(tmp_path: Path) -> None:
    def begin(writer: StoreWriter) -> None:
        writer.write_record(1, 0, record(1, 0), {"error": 0.125})
        writer.write_dense("norm", [memoryview(dense_bytes(DENSE[0]))])
        writer.note("sha256 a", "beef")

    interrupted(tmp_path / "m", begin)
    with StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as writer:
        assert writer.done(record_key(1, 0))[1] == {"error": 0.125}
        assert writer.done(record_key(1, 1)) is None
        assert writer.done(dense_key("norm")) is not None
        assert writer.done("sha256 a") == "beef"
        fill(writer)
        writer.finish(DESCRIPTION)
    assert contents(tmp_path / "m") == contents(make(tmp_path / "other"))


def test_what_a_killed_process_was_replacing_does_not_get_into_the_store(tmp_path: Path) -> None:
    def begin(writer: StoreWriter) -> None:
        writer.write_record(1, 0, record(1, 0), None)
        writer.partial.joinpath(f"import.json.4711-1{UNFINISHED}").write_text("{")

    interrupted(tmp_path / "m", begin)
    with StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as writer:
        assert writer.done(record_key(1, 0)) is not None
        fill(writer)
        writer.finish(DESCRIPTION)
    assert contents(tmp_path / "m").keys() == contents(make(tmp_path / "other")).keys()


def test_another_import_under_the_same_name_starts_over(tmp_path: Path) -> None:
    interrupted(tmp_path / "m", lambda writer: writer.write_record(1, 0, record(1, 0), None))
    with StoreWriter(tmp_path / "m", "y", LAYERS, DENSE) as writer:
        assert writer.done(record_key(1, 0)) is None
        assert os.listdir(tmp_path / "m.partial") == [NAME]


def test_data_reaches_the_disk_before_it_is_called_finished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []
    fsync, append = os.fsync, Journal.append
    monkeypatch.setattr(writers, "BATCH", 1)
    monkeypatch.setattr("engine.store.output.os.fsync", lambda fd: (order.append("data"), fsync(fd)))

    def noting(self: Journal, parts: dict[str, object]) -> None:
        order.append("journal")
        append(self, parts)

    monkeypatch.setattr(Journal, "append", noting)
    with StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as writer:
        order.clear()
        writer.write_record(1, 0, record(1, 0), None)
    assert order[0] == "data"
    assert "journal" in order


def test_half_a_line_in_the_journal_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / NAME
    journal = Journal(path, "x")
    journal.append({"a": 1})
    journal.append({"b": 2})
    journal.close()
    path.write_bytes(path.read_bytes()[:-4])
    journal = Journal(path, "x")
    assert journal.entries == {"a": 1}
    journal.append({"c": 3})
    journal.close()
    assert Journal(path, "x").entries == {"a": 1, "c": 3}
    assert Journal(path, "z").entries == {}


def test_a_new_store_replaces_the_old_one_whole(tmp_path: Path) -> None:
    make(tmp_path / "m")
    (tmp_path / "m" / "stale").write_text("x", encoding="utf-8")
    make(tmp_path / "m")
    assert "stale" not in os.listdir(tmp_path / "m")
    assert verify(tmp_path / "m") == ()


def test_what_an_interrupted_replacement_left_is_cleared(tmp_path: Path) -> None:
    for name in ("new", "m", "m.old"):
        (tmp_path / name).mkdir()
        (tmp_path / name / name).write_text("", encoding="utf-8")
    put_in_place(tmp_path / "new", tmp_path / "m")
    assert os.listdir(tmp_path) == ["m"]
    assert os.listdir(tmp_path / "m") == ["new"]


# ---- one at a time ------------------------------------------------------------------------------------------------


def test_two_writers_of_one_store(tmp_path: Path) -> None:
    with StoreWriter(tmp_path / "m", "x", LAYERS, DENSE) as first:
        with pytest.raises(UnderhillError) as caught, StoreWriter(tmp_path / "m", "x", LAYERS, DENSE):
            pass
        with pytest.raises(UnderhillError), FileLock(tmp_path / "m.partial.lock", "An import"):
            pass
        with pytest.raises(UnderhillError):
            remove(tmp_path / "m")
        fill(first)
        first.finish(DESCRIPTION)
    assert caught.value.kind is Kind.BUSY
    assert read(Store.open(tmp_path / "m"), 1, 0) == record(1, 0).tobytes()


HOLD = """
import sys, time
from pathlib import Path
from engine.store.lock import FileLock
with FileLock(Path(sys.argv[1]), "It"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_outlives_no_process(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True, encoding="utf-8"
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "held\n"
    with pytest.raises(UnderhillError) as caught, FileLock(lock, "It"):
        pass
    assert caught.value.kind is Kind.BUSY
    other.kill()
    other.communicate()
    assert lock.exists()
    with FileLock(lock, "It"):
        pass
    assert not lock.exists()


def test_a_waiting_lock_is_granted_when_it_is_free(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLD.replace("60", "0.5"), str(tmp_path / "lock")],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert other.stdout is not None
    other.stdout.readline()
    with FileLock(tmp_path / "lock", "It", wait=LONGEST):
        assert other.wait(LONGEST) == 0


def test_removing_an_interrupted_import(tmp_path: Path) -> None:
    interrupted(tmp_path / "m", lambda writer: None)
    assert os.listdir(tmp_path) == ["m.partial"]
    remove(tmp_path / "m")
    assert os.listdir(tmp_path) == []


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_may_not_be_written(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(UnderhillError) as caught, StoreWriter(tmp_path / "m", "x", LAYERS, DENSE):
        pass
    assert caught.value.kind is Kind.DISK_ERROR


def test_a_destination_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(UnderhillError) as caught, StoreWriter(tmp_path / "file" / "m", "x", LAYERS, DENSE):
        pass
    assert caught.value.kind is Kind.DISK_ERROR
