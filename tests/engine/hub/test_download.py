"""Downloads: what arrives, what is not fetched again, pausing, stopping, changes on the hub, full disks."""

from __future__ import annotations

import os
import shutil
import time
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import IO, Any

import pytest

from engine.errors import Kind, UnderhillError
from engine.formats import checkpoint
from engine.hub import control
from engine.hub.client import Hub
from engine.hub.control import Control, DiskSpaceGuard, DownloadProgress, Meter, RetryPolicy, Wait
from engine.hub.download import DownloadContext, RangeDownload, discard, download, folder_of
from engine.hub.outline import read_outline
from engine.store.lock import FileLock
from tests.engine.hub.conftest import QUICK
from tests.engine.hub.fetching import contents
from tests.hubserver import Fault, HubServer
from tests.waiting import until


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return folder_of(tmp_path / "home", "tiny/moe")


def fetched(server: HubServer) -> int:
    return sum(server.sent.values())


def sizes(folder: Path) -> list[int]:
    """Of the parts, once all small files are there; else nothing."""
    small = [p for p in folder.glob("*") if p.suffix in (".json", ".jinja")]
    return [p.stat().st_size for p in folder.glob("*.part")] if len(small) == 5 else []


def pull(hub: Hub, folder: Path, **how: Any) -> Path:
    return download(hub, read_outline(hub, "tiny/moe"), folder, retry_policy=QUICK, **how)


def test_everything_arrives_and_says_where_it_is_from(hub: Hub, server: HubServer, folder: Path) -> None:
    said: list[DownloadProgress] = []
    pull(hub, folder, report=said.append)
    repo = server.repos["tiny/moe"]
    assert contents(folder) == contents(repo.folder)
    assert checkpoint.origin(folder) == ("tiny/moe", repo.commit)
    assert (said[-1].done, said[-1].files_done) == (said[-1].total, said[-1].files)
    assert folder.name == "tiny--moe"


def test_what_is_there_is_not_fetched_again(hub: Hub, server: HubServer, folder: Path) -> None:
    outline = read_outline(hub, "tiny/moe")
    download(hub, outline, folder)
    before = len(server.requests)
    download(hub, outline, folder)
    assert len(server.requests) == before


def test_it_goes_on_at_the_byte_where_it_was_cut(
    hub: Hub, server: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("engine.hub.download.CHUNK", 10_000)
    outline = read_outline(hub, "tiny/moe")
    server.forget()
    server.faults = [Fault("safetensors", cut=7_001, times=5)]
    download(hub, outline, folder, retry_policy=QUICK)
    assert contents(folder) == contents(server.repos["tiny/moe"].folder)
    server.settle()
    assert fetched(server) == outline.download_bytes


def test_parts_of_an_earlier_try_are_continued(hub: Hub, server: HubServer, folder: Path) -> None:
    outline = read_outline(hub, "tiny/moe")
    server.faults = [Fault("model-00001.safetensors", cut=30_000, times=1), Fault("model-00001", cut=0)]
    with pytest.raises(UnderhillError):
        download(hub, outline, folder, retry_policy=QUICK)
    assert (folder / "model-00001.safetensors.part").stat().st_size == 30_000
    assert not (folder / "model-00001.safetensors").exists()
    server.faults = []
    server.forget()
    download(hub, outline, folder)
    server.settle()
    assert server.sent["model-00001.safetensors"] == outline.files[-1].size - 30_000
    assert contents(folder) == contents(server.repos["tiny/moe"].folder)


@pytest.mark.skipif(os.name == "nt", reason="there are no pipes among files")
@pytest.mark.parametrize("what", ["pipe", "link"])
def test_what_is_no_file_in_the_place_of_a_part_is_neither_waited_for_nor_written(
    hub: Hub, server: HubServer, folder: Path, tmp_path: Path, what: str
) -> None:
    part, others = folder / "model-00001.safetensors.part", tmp_path / "others"
    others.write_bytes(b"not ours")
    outline = read_outline(hub, "tiny/moe")
    server.faults = [Fault("model-00001.safetensors", cut=30_000, times=1), Fault("model-00001", cut=0)]
    with pytest.raises(UnderhillError):
        download(hub, outline, folder, retry_policy=QUICK)
    server.faults = []
    part.unlink()
    os.mkfifo(part) if what == "pipe" else part.symlink_to(others)
    with pytest.raises(UnderhillError, match="not a regular file") as caught:
        download(hub, outline, folder, retry_policy=QUICK)
    assert caught.value.kind is Kind.DISK_ERROR
    assert others.read_bytes() == b"not ours"


def test_that_something_is_kept_is_said_where_something_has_arrived(
    hub: Hub, server: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outline = read_outline(hub, "tiny/moe")

    def said() -> str:
        with pytest.raises(UnderhillError) as ended:
            download(hub, outline, folder, retry_policy=QUICK)
        return ended.value.action

    server.faults = [Fault("resolve", status=503)]
    assert said() == "Try again later."
    server.faults = [Fault("model-00001.safetensors", cut=30_000, times=1), Fault("model-00001", cut=0)]
    assert said() == "Try again. The download so far is kept."
    monkeypatch.setattr(control, "RESERVE", 1 << 60)
    assert said().endswith("MB, then try again. The download so far is kept.")


def test_only_what_changed_on_the_hub_is_fetched_again(hub: Hub, server: HubServer, folder: Path) -> None:
    pull(hub, folder)
    served = server.repos["tiny/moe"].folder
    (served / "chat_template.jinja").write_text("{{ other }}", encoding="utf-8")
    (served / "tokenizer.json").unlink()
    outline = read_outline(hub, "tiny/moe")
    server.forget()
    download(hub, outline, folder)
    server.settle()
    assert set(server.sent) == {"chat_template.jinja"}
    assert contents(folder) == contents(served)


def test_a_pause_closes_the_connections_and_loses_nothing(hub: Hub, server: HubServer, folder: Path) -> None:
    control, outline = Control(), read_outline(hub, "tiny/moe")
    server.forget()
    server.faults = [Fault("model-0", cut=20_000, stall=600, times=2)]  # silence that only hanging up ends
    first = outline.download_bytes - sum(file.size for file in outline.weights) + 40_000
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(download, hub, outline, folder, control=control)
        until(lambda: running.done() or (sorted(sizes(folder)) == [20_000, 20_000] and fetched(server) == first))
        control.pause()
        time.sleep(0.2)
        assert fetched(server) == first
        assert not running.done()
        control.resume()
        running.result()
    assert contents(folder) == contents(server.repos["tiny/moe"].folder)
    server.settle()
    assert fetched(server) == outline.download_bytes


def test_a_pause_that_is_over_at_once_is_no_failure(hub: Hub, server: HubServer, folder: Path) -> None:
    control, outline = Control(), read_outline(hub, "tiny/moe")
    server.faults = [Fault("model-0", cut=20_000, stall=600, times=2)]
    said: list[Wait | None] = []
    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(
            download,
            hub,
            outline,
            folder,
            control=control,
            report=lambda p: said.append(p.waiting),
            retry_policy=RetryPolicy(tries=1),
        )
        until(lambda: running.done() or sorted(sizes(folder)) == [20_000, 20_000])
        control.pause()
        control.resume()
        running.result()
    assert contents(folder) == contents(server.repos["tiny/moe"].folder)
    assert not any(said)


def test_what_had_been_received_before_a_pause_is_kept(hub: Hub, server: HubServer, folder: Path) -> None:
    control, outline = Control(), read_outline(hub, "tiny/moe")
    file = outline.weights[0]
    server.forget()
    server.faults = [Fault(file.name, cut=40_000, stall=600, rate=200_000, times=1)]
    folder.mkdir(parents=True)
    meter, room = Meter(file.size, 1), DiskSpaceGuard(folder)
    context = DownloadContext(
        hub=hub,
        repo=outline.repo,
        commit=outline.commit,
        folder=folder,
        control=control,
        meter=meter,
        room=room,
        retry_policy=QUICK,
    )
    got = bytearray()

    def take(data: memoryview) -> None:
        if not got:
            until(lambda: server.sent.get(file.name) == 40_000)
            control.pause()
        got.extend(data)

    with ThreadPoolExecutor(1) as thread:
        running = thread.submit(RangeDownload(context, file, whole=True).get, 0, file.size, take)
        try:
            until(lambda: running.done() or len(got) == 40_000)
        finally:
            control.resume()
        running.result()
    server.settle()
    assert bytes(got) == (server.repos["tiny/moe"].folder / file.name).read_bytes()
    assert fetched(server) == file.size


def test_stopping_keeps_what_has_arrived(hub: Hub, server: HubServer, folder: Path) -> None:
    control, outline = Control(), read_outline(hub, "tiny/moe")
    server.faults = [Fault("model-0", cut=20_000, stall=600)]

    def stop(_: DownloadProgress) -> None:
        if sorted(sizes(folder)) == [20_000, 20_000]:
            control.cancel()

    with pytest.raises(UnderhillError) as error:
        download(hub, outline, folder, control=control, report=stop)
    assert error.value.kind is Kind.CANCELLED
    assert sorted(sizes(folder)) == [20_000, 20_000]
    discard(folder)
    assert not folder.exists()


def test_a_rate_a_person_can_believe() -> None:
    now = 0.0
    meter = Meter(10_000, 2, lambda: now)
    meter.had(2_000)
    for _ in range(8):
        now += 1
        meter.fetched("a", 500)
    said = meter.progress()
    assert (said.done, said.rate, said.eta) == (6_000, 500, 8)
    now += 60
    assert meter.progress().rate < 10
    meter.wait("a", Wait("The hub is busy.", 5))
    assert str(meter.progress().waiting) == "The hub is busy. Retrying in 5 s."
    meter.fetched("b", 1)
    assert meter.progress().waiting
    meter.fetched("a", 1)
    assert not meter.progress().waiting


def test_a_full_disk_is_told_before_anything_is_fetched(
    hub: Hub, server: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outline = read_outline(hub, "tiny/moe")
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, control.RESERVE + outline.download_bytes - 1))
    before = len(server.requests)
    with pytest.raises(UnderhillError, match="Free 1 MB") as error:
        download(hub, outline, folder)
    assert error.value.kind is Kind.DISK_FULL
    assert len(server.requests) == before
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, control.RESERVE + outline.download_bytes))
    with pytest.raises(UnderhillError):
        download(hub, outline, folder, room=1)  # what comes after it needs room, too
    download(hub, outline, folder)


def test_a_disk_that_others_fill_meanwhile(
    hub: Hub, server: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outline = read_outline(hub, "tiny/moe")
    free = iter([10**12])
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(control, "CHECK_EVERY", 50_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: usage(0, 0, next(free, 1000)))
    with pytest.raises(UnderhillError) as error:
        download(hub, outline, folder)
    assert error.value.kind is Kind.DISK_FULL
    assert any(folder.glob("*.part"))


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no device that is always full")
def test_a_write_that_finds_the_disk_full(
    hub: Hub, server: HubServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    outline = read_outline(hub, "tiny/moe")

    def full(part: Path) -> IO[bytes]:
        part.touch()
        return open("/dev/full", "ab", buffering=0)

    monkeypatch.setattr("engine.hub.download.open_to_append", full)
    with pytest.raises(UnderhillError) as error:
        download(hub, outline, folder)
    assert error.value.kind is Kind.DISK_FULL


def test_two_downloads_of_one_model_do_not_mix(hub: Hub, folder: Path) -> None:
    folder.parent.mkdir(parents=True)
    with FileLock(folder.with_name("tiny--moe.lock"), "A download"), pytest.raises(UnderhillError) as error:
        pull(hub, folder)
    assert error.value.kind is Kind.BUSY
