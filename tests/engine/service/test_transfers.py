"""Models on their way through the engine's commands: queued, halted, cut off, killed, gone on with, given up."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine import protocol
from engine.hub import control, download
from engine.library import folders, library
from engine.library.home import home
from engine.service import transfers
from tests.engine.formats.tiny_checkpoint import write_checkpoint
from tests.engine.hub.test_gguf import quantized
from tests.engine.service.test_hub_worker import failed, server
from tests.engine.service.test_service import Desk, desk
from tests.hubserver import Fault, HubServer
from tests.waiting import until as until_true

pytestmark = pytest.mark.long

__all__ = ["desk", "server"]

SHARD = "model.safetensors"
SLOW = 1_000_000  # bytes a second and connection: the whole would take ten seconds


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small steps, and no patience."""
    monkeypatch.setattr(download, "CHUNK", 1 << 20)
    monkeypatch.setattr(control.RetryPolicy.__init__, "__defaults__", (0.01, 0.05, 2, 600.0))


def changes(desk: Desk, transfer: str) -> list[protocol.Transfer]:
    """All that was told of one."""
    return [e.transfer for e in desk.events if isinstance(e, protocol.TransferChanged) and e.transfer.id == transfer]


def until(desk: Desk, transfer: str, wanted: Callable[[protocol.Transfer], bool]) -> protocol.Transfer:
    event: Any = desk.first(
        lambda e: isinstance(e, protocol.TransferChanged) and e.transfer.id == transfer and wanted(e.transfer)
    )
    return event.transfer  # type: ignore[no-any-return]


def state(desk: Desk, transfer: str, *wanted: str) -> protocol.Transfer:
    return until(desk, transfer, lambda t: t.state in wanted)


def moving(t: protocol.Transfer) -> bool:
    return t.state == "running" and 0 < t.done < t.total


def sent(server: HubServer) -> int:
    server.settle()
    return server.sent.get(SHARD, 0)


def test_from_the_hub_into_the_library(server: HubServer, desk: Desk, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "engine")
    server.faults = [Fault(SHARD, rate=20_000_000)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    assert (begun.repo, begun.name, begun.top, begun.endpoint) == ("owner/small-moe", "mine", 4, server.url)
    ended = state(desk, begun.id, "finished", "failed")
    assert (ended.state, ended.problem) == ("finished", "")
    told = changes(desk, begun.id)
    assert [t.state for t in told][:2] == ["queued", "running"]
    assert any(moving(t) and t.rate > 0 for t in told)
    for line in ("small-moe: queued", "small-moe: running", "Import of mine is done", "small-moe: finished"):
        assert line in caplog.text
    assert all(t.revision == server.repos["owner/small-moe"].commit for t in told[-3:])
    (card,) = [card for card in desk.result(protocol.ListModels) if card.name == "mine"]
    assert (card.tiers, card.source, card.fit is not None) == ((2, 4), "owner/small-moe", True)
    (model,) = desk.result(protocol.SearchModels, "small").models
    assert model.here == "mine"
    assert [t.state for t in desk.result(protocol.ListTransfers)] == ["finished"]
    assert transfers.read_transfers() == ()
    assert failed(desk, protocol.PullModel, "owner/small-moe", "mine").kind is protocol.Kind.BAD_REQUEST
    desk.result(protocol.CancelTransfer, begun.id)
    assert desk.result(protocol.ListTransfers) == ()
    assert "mine" in {card.name for card in desk.result(protocol.ListModels)}
    assert failed(desk, protocol.ResumeTransfer, begun.id).kind is protocol.Kind.BAD_REQUEST


def test_halted_and_gone_on_with_nothing_comes_twice(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault(SHARD, rate=SLOW)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    until(desk, begun.id, moving)
    assert desk.result(protocol.PauseTransfer, begun.id).state == "paused"
    server.rest()
    size = (server.repos["owner/small-moe"].folder / SHARD).stat().st_size
    assert sent(server) < size / 2
    assert changes(desk, begun.id)[-1].state == "paused"
    assert [t.state for t in transfers.read_transfers()] == ["paused"]
    server.faults = []
    desk.result(protocol.ResumeTransfer, begun.id)
    assert state(desk, begun.id, "finished", "failed").state == "finished"
    assert size <= sent(server) <= size + download.CHUNK


def test_two_at_once_and_the_others_in_the_order_in_which_they_came(
    server: HubServer, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transfers, "AT_ONCE", 1)
    server.faults = [Fault(SHARD, rate=SLOW)]
    first = desk.result(protocol.PullModel, "owner/small-moe", "one", 4)
    server.add("owner/third-moe", write_checkpoint(tmp_path / "third"))
    second = desk.result(protocol.PullModel, "owner/tiny-moe", "two")
    third = desk.result(protocol.PullModel, "owner/third-moe", "three")
    assert [t.state for t in desk.result(protocol.ListTransfers)] == ["running", "queued", "queued"]
    for busy in (("owner/tiny-moe", "other"), ("owner/else", "two")):
        assert failed(desk, protocol.PullModel, *busy).kind is protocol.Kind.BUSY
    until(desk, first.id, moving)
    desk.result(protocol.PauseTransfer, first.id)  # which makes room for the next
    for other in (second, third):
        state(desk, other.id, "finished", "failed")
    order = [
        e.transfer.id for e in desk.events if isinstance(e, protocol.TransferChanged) and e.transfer.state == "running"
    ]
    assert list(dict.fromkeys(order)) == [first.id, second.id, third.id]
    server.faults = []
    desk.result(protocol.ResumeTransfer, first.id)
    assert state(desk, first.id, "finished", "failed").state == "finished"


def test_what_goes_wrong_is_said_and_can_be_tried_again(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault(SHARD, cut=3_000_000, times=1), Fault(SHARD, status=503)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    broken = state(desk, begun.id, "failed", "finished")
    assert (broken.state, broken.kind) == ("failed", "server_error")
    assert broken.problem
    assert broken.action
    assert "mine" not in {card.name for card in desk.result(protocol.ListModels) if card.usable}
    assert [t.problem for t in transfers.read_transfers()] == [broken.problem]
    server.faults = []
    again = desk.result(protocol.ResumeTransfer, begun.id)
    assert (again.state, again.problem) == ("running", "")
    assert state(desk, begun.id, "finished").problem == ""
    gated = server.repos["owner/tiny-moe"]
    gated.gated = "auto"
    refused = desk.result(protocol.PullModel, "owner/tiny-moe")
    assert state(desk, refused.id, "failed").kind == "no_access"
    assert desk.result(protocol.CancelTransfer, refused.id).state == "cancelled"


@pytest.mark.parametrize("paused", [False, True])
def test_given_up_nothing_is_left_of_it(server: HubServer, desk: Desk, paused: bool) -> None:
    server.faults = [Fault(SHARD, rate=SLOW)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    until(desk, begun.id, moving)
    if paused:
        desk.result(protocol.PauseTransfer, begun.id)
    assert desk.result(protocol.CancelTransfer, begun.id).state == "cancelled"
    assert desk.result(protocol.ListTransfers) == ()
    assert transfers.read_transfers() == ()
    until_true(lambda: not left(), "something is left")
    assert {card.name for card in desk.result(protocol.ListModels)} == {"builtin", "m"}


def left() -> list[Path]:
    """What there is of downloads and of unfinished models."""
    places = (home() / "downloads", folders.own())
    # Unlike rglob, walk bears that a folder is being removed meanwhile.
    found = (Path(at, name) for place in places for at, folders_, files in os.walk(place) for name in folders_ + files)
    return [p for p in found if "mine" in str(p) or "small-moe" in p.name]


def test_going_offline_halts_what_is_on_its_way(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault(SHARD, rate=SLOW)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    until(desk, begun.id, moving)
    desk.result(protocol.KeepSettings, {"offline": True})
    halted = state(desk, begun.id, "paused", "failed")
    assert (halted.state, halted.kind) == ("paused", "offline")
    before = len(server.requests)
    desk.result(protocol.ResumeTransfer, begun.id)
    until(desk, begun.id, lambda t: t.kind == "offline" and t is not halted)
    assert len(server.requests) == before
    server.faults = []
    desk.result(protocol.KeepSettings, {"offline": False})
    desk.result(protocol.ResumeTransfer, begun.id)
    state(desk, begun.id, "finished")


def test_closed_or_killed_it_is_known_again_and_goes_on(server: HubServer, desk: Desk) -> None:
    server.faults = [Fault(SHARD, rate=SLOW)]
    begun = desk.result(protocol.PullModel, "owner/small-moe", "mine", 4)
    until(desk, begun.id, lambda t: moving(t) and t.done > 2_000_000)
    at_kill = (home() / "transfers.json").read_bytes()
    desk.engine.close()
    server.rest()
    arrived = sent(server)
    assert json.loads((home() / "transfers.json").read_bytes())[0]["state"] == "paused"
    (home() / "transfers.json").write_bytes(at_kill)  # as a killed process leaves it
    assert b'"running"' in at_kill
    server.faults = []
    second = Desk()
    try:
        (known,) = second.result(protocol.ListTransfers)
        assert (known.id, known.state, known.name, known.top) == (begun.id, "paused", "mine", 4)
        assert sent(server) == arrived  # nothing moves unasked
        second.result(protocol.ResumeTransfer, begun.id)
        assert state(second, begun.id, "finished", "failed").state == "finished"
    finally:
        second.engine.close()
    assert sent(server) - arrived < (server.repos["owner/small-moe"].folder / SHARD).stat().st_size - 1_000_000
    assert library.location("mine").is_dir()


@pytest.mark.parametrize("content", ["{", "{}", '[1, {"id": "x"}, {"id": 3, "repo": []}]', '[{"unknown": 1}]'])
def test_a_damaged_list_is_an_empty_one(mine: Path, content: str) -> None:
    transfers.transfers_file().write_text(content, encoding="utf-8")
    assert transfers.read_transfers() == ()


def test_one_of_several_gguf_models(server: HubServer, desk: Desk, tmp_path: Path) -> None:
    for kind in ("Q8_0", "Q4_0"):
        folder = quantized(tmp_path / "made", kind)
    server.add("owner/tiny-gguf", folder)
    told = desk.result(protocol.DescribeModel, "owner/tiny-gguf")
    assert [name for name, _ in told.ggufs] == ["model-Q4_0", "model-Q8_0"]
    assert dict(told.files).keys() == {"model-Q8_0.gguf"}
    other = desk.result(protocol.DescribeModel, "owner/tiny-gguf", gguf="Q4_0")
    assert dict(other.files).keys() == {"model-Q4_0.gguf"}
    begun = desk.result(protocol.PullModel, "owner/tiny-gguf", gguf="Q4_0")
    assert state(desk, begun.id, "finished", "failed").problem == ""
    assert server.sent.get("model-Q8_0.gguf", 0) < 1_000_000  # its header at most
    assert "tiny-gguf" in {card.name for card in desk.result(protocol.ListModels) if card.usable}


def test_names_and_bits_that_cannot_be_are_refused_at_once(server: HubServer, desk: Desk) -> None:
    for wrong in (("../x",), ("owner/small-moe", "a/b"), ("owner/small-moe", "", 5), ("owner/small-moe", "m")):
        assert failed(desk, protocol.PullModel, *wrong).kind is protocol.Kind.BAD_REQUEST
    assert desk.result(protocol.ListTransfers) == ()


def test_downloads_count_in_what_folders_take(server: HubServer, desk: Desk) -> None:
    begun = desk.result(protocol.PullModel, "owner/small-moe", "kept", 4, keep_source=True)
    assert state(desk, begun.id, "finished", "failed").problem == ""
    (folder,) = desk.result(protocol.ListFolders)
    assert folder.downloads > (server.repos["owner/small-moe"].folder / SHARD).stat().st_size
