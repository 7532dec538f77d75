"""Models imported while they arrive: the same store as of a download, and little else on the disk."""

from __future__ import annotations

import contextlib
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.convert.importer import import_checkpoint
from engine.errors import Kind, UnderhillError
from engine.hub import control, download, stream, streaming
from engine.hub.client import Hub
from engine.hub.control import Control, DownloadProgress
from engine.hub.outline import read_outline
from engine.store import manifest as manifests
from engine.store.reader import load_manifest
from engine.store.verify import verify
from tests.engine.formats.tiny_checkpoint import contents, write_checkpoint
from tests.engine.hub.conftest import QUICK
from tests.hubserver import Fault, HubServer, handler
from tests.waiting import LONGEST

pytestmark = pytest.mark.long

SMALL = 1 << 15  # bytes of a chunk


@pytest.fixture(autouse=True)
def _many_chunks(monkeypatch: pytest.MonkeyPatch, server: HubServer, tmp_path: Path) -> None:
    """Of a model of 1.6 MB in two files, reported on at every turn."""
    monkeypatch.setattr(download, "CHUNK", SMALL)
    monkeypatch.setattr(stream, "TICK", 0.01)
    server.add("tiny/moe", write_checkpoint(tmp_path / "larger", experts=8, hidden=128, inner=128))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "downloads" / "tiny--moe"


@pytest.fixture
def bring(hub: Hub, folder: Path, tmp_path: Path) -> Callable[..., Path]:
    """Imports what the hub has as tmp_path / 'store'."""

    def run(
        repo: str = "tiny/moe", control: Control | None = None, report: Callable[[DownloadProgress], None] | None = None
    ) -> Path:
        outline = read_outline(hub, repo)
        assert streaming.hindrance(outline, folder) == ""
        with streaming.opened(hub, outline, folder, True, control, report, retry_policy=QUICK) as incoming:
            return import_checkpoint(incoming, tmp_path / "store", 4)

    return run


def data(store: Path) -> dict[str, bytes]:
    """Everything but the manifest, which names where it is from."""
    return {name: held for name, held in contents(store).items() if name != manifests.NAME}


def same(store: Path, local: Path) -> bool:
    """Whether two stores are the same but for where they came from."""
    first, second = load_manifest(store), load_manifest(local)
    files = {f.name: f for f in first.source.files} == {f.name: f for f in second.source.files if f.name in
                                                        {g.name for g in first.source.files}}  # fmt: skip
    return data(store) == data(local) and first.layers == second.layers and first.quality == second.quality and files


def held(folder: Path) -> int:
    """Bytes that have arrived and are not in the store yet."""
    total = 0
    for path in (folder / "arriving").glob("*"):
        with contextlib.suppress(FileNotFoundError):  # dropped just now
            total += path.stat().st_size
    return total


def shards(server: HubServer, repo: str = "tiny/moe") -> int:
    """Bytes of weights handed out."""
    server.settle()
    return sum(n for name, n in server.sent.items() if name.endswith((".safetensors", ".gguf")))


def weights(server: HubServer, repo: str = "tiny/moe") -> int:
    return sum(p.stat().st_size for p in server.repos[repo].files.values() if p.suffix in (".safetensors", ".gguf"))


def headers(hub: Hub, server: HubServer, repo: str = "tiny/moe") -> int:
    """Bytes of weights' files that a look at the model takes."""
    before = shards(server)
    read_outline(hub, repo)
    return shards(server) - before


def test_the_store_is_that_of_a_download(bring: Callable[..., Path], server: HubServer, hub: Hub, tmp_path: Path,
                                          folder: Path) -> None:  # fmt: skip
    looked = headers(hub, server)
    server.forget()
    told: list[DownloadProgress] = []
    store = bring(report=told.append)
    local = import_checkpoint(server.repos["tiny/moe"].folder, tmp_path / "local", 4)
    assert same(store, local)
    assert verify(store) == ()
    assert shards(server) == weights(server) + looked
    assert not any((folder / "arriving").iterdir())
    assert not list(folder.glob("*.safetensors"))
    assert (told[-1].done, told[-1].files_done) == (told[-1].total, 2)
    source = load_manifest(store).source
    assert (source.repo, source.revision) == ("tiny/moe", server.repos["tiny/moe"].commit)


def test_little_is_held_however_large_the_model(
    bring: Callable[..., Path], server: HubServer, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.add("large/moe", write_checkpoint(tmp_path / "large", layers=3, experts=16, hidden=128, inner=128))
    monkeypatch.setattr(stream, "HEADROOM", 6 * SMALL)
    most = 0

    def look(_: DownloadProgress) -> None:
        nonlocal most
        most = max(most, held(folder))

    store = bring("large/moe", report=look)
    outline = streaming.parts_to_read(
        streaming.weight_source(read_outline(Hub(server.url), "large/moe"), folder, lambda *_: None)
    )
    planned = stream.held_bytes(stream.plan_chunks(read_outline(Hub(server.url), "large/moe").weights, outline))
    assert 0 < most <= planned + 2 * SMALL
    assert planned < weights(server, "large/moe") / 3
    assert same(store, import_checkpoint(tmp_path / "large", tmp_path / "local", 4))


@pytest.fixture
def coming(hub: Hub, folder: Path, tmp_path: Path, server: HubServer) -> Callable[..., Path]:
    """As `bring`, with these faults once the model has been looked at."""

    def run(
        *faults: Fault, control: Control | None = None, report: Callable[[DownloadProgress], None] | None = None
    ) -> Path:
        server.faults = []
        outline = read_outline(hub, "tiny/moe")
        server.forget()
        server.faults = list(faults)
        with streaming.opened(hub, outline, folder, True, control, report, retry_policy=QUICK) as incoming:
            return import_checkpoint(incoming, tmp_path / "store", 4)

    return run


@pytest.fixture
def local(server: HubServer, tmp_path: Path) -> Path:
    return import_checkpoint(server.repos["tiny/moe"].folder, tmp_path / "local", 4)


def test_what_arrived_damaged_is_fetched_again(coming: Callable[..., Path], local: Path, server: HubServer) -> None:
    store = coming(Fault("model-00000.safetensors", corrupt=True, times=2))
    assert same(store, local)
    first, second = (f.stat().st_size for f in sorted(server.repos["tiny/moe"].folder.glob("*.safetensors")))
    server.settle()
    assert server.sent["model-00001.safetensors"] <= second + stream.FETCHERS * SMALL  # what was on the way
    assert first < server.sent["model-00000.safetensors"] <= 2 * first


def test_what_arrives_damaged_twice_never_becomes_a_model(
    coming: Callable[..., Path], local: Path, tmp_path: Path, folder: Path
) -> None:
    with pytest.raises(UnderhillError, match="is damaged") as error:
        coming(Fault("model-00001.safetensors", corrupt=True))
    assert error.value.kind is Kind.BROKEN_FILE
    assert not (tmp_path / "store").exists()
    journal = (tmp_path / "store.partial" / "journal.jsonl").read_text(encoding="utf-8")
    noted = dict(eval(line.replace("null", "None")) for line in journal.splitlines())
    assert noted["record 0 0"] is not None
    assert all(noted[f"record 1 {e}"] is None for e in range(8) if f"record 1 {e}" in noted)
    assert same(coming(), local)


FAULTS = {
    "cut": ([Fault("model-0", cut=20_000, times=4), Fault("model-0", cut=0)], Kind.NO_NETWORK, "was lost"),
    "refused": ([Fault("model-0", status=503)], Kind.SERVER_ERROR, "Server error"),
    "too many": (
        [Fault("model-0", status=429, headers={"Retry-After": "3600"})],
        Kind.SERVER_ERROR,
        "Too many requests",
    ),
    "gated": ([Fault("model-0", status=403, headers={"X-Error-Code": "GatedRepo"})], Kind.NO_ACCESS, "has a license"),
    "token": ([Fault("model-0", status=401)], Kind.NO_ACCESS, "needs a token"),
    "gone": ([Fault("model-0", status=404, headers={"X-Error-Code": "EntryNotFound"})], Kind.NOT_FOUND, "no file"),
    "size": ([Fault("model-0", extra=64)], Kind.SERVER_ERROR, "wrong size"),
    "ranges": ([Fault("model-0", whole=True)], Kind.SERVER_ERROR, "partial downloads"),
    "changed": ([Fault("model-0", etag="0" * 64)], Kind.CHANGED, "changed on the hub"),
}


@pytest.mark.parametrize("what", FAULTS)
def test_whatever_goes_wrong_is_said_and_the_next_try_goes_on(
    what: str, coming: Callable[..., Path], local: Path, tmp_path: Path, server: HubServer, folder: Path
) -> None:
    faults, kind, words = FAULTS[what]
    with pytest.raises(UnderhillError) as error:
        coming(*faults)
    assert error.value.kind is kind
    assert words in f"{error.value.sentence} {error.value.action}"
    assert error.value.action
    passing = kind in (Kind.NO_NETWORK, Kind.SERVER_ERROR, Kind.NO_ACCESS)
    assert error.value.action.endswith("The download so far is kept.") == passing  # the small files have
    assert not (tmp_path / "store").exists()
    server.settle()
    had = held(folder)
    assert same(coming(), local)
    if what == "cut":
        assert had > 0
        assert shards(server) == weights(server) - had


def test_a_short_interruption_is_passed_over(coming: Callable[..., Path], local: Path, server: HubServer) -> None:
    store = coming(Fault("model-0", cut=10_000, times=2), Fault("model-0", status=500, times=2))
    assert same(store, local)
    assert shards(server) == weights(server)


def test_a_pause_rests_and_a_stop_keeps_what_there_is(
    coming: Callable[..., Path], local: Path, server: HubServer, tmp_path: Path
) -> None:
    control = Control()
    paused = threading.Event()

    def look(progress: DownloadProgress) -> None:
        if not paused.is_set() and progress.done > progress.total // 2:
            control.pause()
            paused.set()

    failed: list[UnderhillError] = []

    def run() -> None:
        try:
            coming(Fault("model-0", rate=200_000), control=control, report=look)
        except UnderhillError as error:
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert paused.wait(LONGEST)
    server.rest()
    before = shards(server)
    assert before < weights(server)
    assert not failed
    control.cancel()
    thread.join(LONGEST)
    assert failed[0].kind is Kind.CANCELLED
    assert same(coming(), local)
    assert shards(server) <= weights(server) - before + stream.FETCHERS * handler.BLOCK  # what was on the way


def test_a_full_disk_is_told_before_anything_is_fetched(
    coming: Callable[..., Path], local: Path, server: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    needed = weights(server) + sum(p.stat().st_size for p in local.glob("*.safetensors"))
    monkeypatch.setattr(control.shutil, "disk_usage", lambda _: usage(0, 0, control.RESERVE + needed - 1))
    with pytest.raises(UnderhillError) as error:
        coming()
    assert (error.value.kind, shards(server)) == (Kind.DISK_FULL, 0)
    monkeypatch.setattr(control.shutil, "disk_usage", lambda _: usage(0, 0, 10**12))
    assert same(coming(), local)


def test_a_disk_that_others_fill_meanwhile(
    coming: Callable[..., Path], local: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    free = iter([10**12] * 3)
    monkeypatch.setattr(control, "CHECK_EVERY", 50_000)
    monkeypatch.setattr(control.shutil, "disk_usage", lambda _: usage(0, 0, next(free, 1000)))
    with pytest.raises(UnderhillError) as error:
        coming()
    assert error.value.kind is Kind.DISK_FULL
    monkeypatch.setattr(control.shutil, "disk_usage", lambda _: usage(0, 0, 10**12))
    assert same(coming(), local)


def test_chunks_that_a_crash_has_spoilt_are_noticed(
    coming: Callable[..., Path], local: Path, folder: Path, server: HubServer
) -> None:
    """They were hashed before, so the hash of the file would not tell."""

    def stop(progress: DownloadProgress) -> None:
        if progress.done > progress.total * 0.6:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        coming(Fault("model-0", rate=200_000), report=stop)
    spoilt = sorted((folder / "arriving").iterdir())
    assert spoilt
    for path in spoilt:
        held = bytearray(path.read_bytes())
        held[:100] = bytes(100)
        path.write_bytes(held)
    assert same(coming(), local)
