"""Downloads: resumed where they were cut, tried again, refused where the hash is another, stopped at once."""

from __future__ import annotations

import hashlib
import os
import threading
from pathlib import Path

import pytest

from app.install import download
from app.install.download import Downloader, InstallProblem, PackageFile, Reason
from tests.app.install.publisher import Publisher


@pytest.fixture(autouse=True)
def _short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(download, "_WAITS", (0.0, 0.0))


def serve(publisher: Publisher, name: str = "one.whl", size: int = 600_000) -> PackageFile:
    data = publisher.files[name] = os.urandom(size)
    return PackageFile(name, publisher.address + name, size, hashlib.sha256(data).hexdigest())


def fetch(folder: Path, *files: PackageFile, stop: threading.Event | None = None) -> list[int]:
    told: list[int] = []
    Downloader(folder, stop or threading.Event(), told.append).fetch_all(files)
    return told


def test_all_files_come_and_every_byte_is_told_once(tmp_path: Path, publisher: Publisher) -> None:
    files = [serve(publisher, f"{n}.whl") for n in range(6)]
    told = fetch(tmp_path, *files)
    assert {f.name: (tmp_path / f.name).read_bytes() for f in files} == publisher.files
    assert max(told) == sum(f.size for f in files)


def test_a_cut_download_goes_on_where_it_was_cut(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    publisher.cuts = [100_000, 250_000]
    told = fetch(tmp_path, file)
    assert publisher.requests == [("one.whl", ""), ("one.whl", "bytes=100000-"), ("one.whl", "bytes=350000-")]
    assert (tmp_path / "one.whl").read_bytes() == publisher.files["one.whl"]
    assert max(told) == file.size


def test_what_another_run_has_begun_is_taken_up(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    (tmp_path / f"{file.sha256}.part").write_bytes(publisher.files["one.whl"][:400_000])
    fetch(tmp_path, file)
    assert publisher.requests == [("one.whl", "bytes=400000-")]
    fetch(tmp_path, file)
    assert len(publisher.requests) == 1


def test_a_server_without_ranges_sends_all_of_it(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    publisher.ranges = False
    publisher.cuts = [100_000]
    fetch(tmp_path, file)
    assert (tmp_path / "one.whl").read_bytes() == publisher.files["one.whl"]


def test_another_hash_is_refused_and_not_kept(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    publisher.files["one.whl"] = bytes(file.size)
    with pytest.raises(InstallProblem) as caught:
        fetch(tmp_path, file)
    assert caught.value.reason is Reason.DAMAGED
    assert list(tmp_path.iterdir()) == []


def test_a_part_longer_than_the_file_is_thrown_away(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    unknown = PackageFile(file.name, file.url, 0, file.sha256)
    (tmp_path / f"{file.sha256}.part").write_bytes(bytes(700_000))
    fetch(tmp_path, unknown)
    assert (tmp_path / "one.whl").read_bytes() == publisher.files["one.whl"]


def test_a_server_that_cuts_every_answer_is_given_up(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher)
    publisher.cuts = [0] * 20
    with pytest.raises(InstallProblem) as caught:
        fetch(tmp_path, file)
    assert caught.value.reason is Reason.NETWORK
    assert len(publisher.requests) == 3


def test_a_missing_file_is_not_asked_for_again(tmp_path: Path, publisher: Publisher) -> None:
    with pytest.raises(InstallProblem) as caught:
        fetch(tmp_path, PackageFile("gone.whl", publisher.address + "gone.whl", 5, "0" * 64))
    assert caught.value.reason is Reason.NETWORK
    assert len(publisher.requests) == 1


def test_one_that_is_stopped_keeps_what_came(tmp_path: Path, publisher: Publisher) -> None:
    file = serve(publisher, size=3 << 20)
    stop = threading.Event()
    with pytest.raises(InstallProblem) as caught:
        Downloader(tmp_path, stop, lambda done: stop.set() if done > 1 << 20 else None).fetch_all([file])
    assert caught.value.reason is Reason.STOPPED
    kept = (tmp_path / f"{file.sha256}.part").read_bytes()
    assert len(kept) > 1 << 20
    assert publisher.files["one.whl"].startswith(kept)


def test_a_full_disk_is_told_as_one(tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch) -> None:
    file = serve(publisher)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(download.os, "fsync", full)
    with pytest.raises(InstallProblem) as caught:
        fetch(tmp_path, file)
    assert caught.value.reason is Reason.DISK_FULL
