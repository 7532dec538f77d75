"""A model's experts get fewer bits in the running app: measured, put in its place, stopped, and taken back."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import protocol
from engine.calibration import robustness
from engine.library import library, lowering, trash
from engine.store.reader import Store, load_manifest
from tests.engine.service.test_service import HELLO, SETTINGS, Desk

pytestmark = pytest.mark.long

SHORT = {"temperature": 0.0, "max_tokens": 8}
WIDE = 0.1


@pytest.fixture
def desk(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Desk]:
    """With a model called `mine`, a copy of the built-in one; whatever becomes of it is gone behind the test."""
    for name in ("TOKENS", "JUDGED"):
        monkeypatch.setattr(robustness, name, 150)
    shutil.copytree(home / "models" / "builtin", home / "models" / "mine")
    (home / "models" / "mine" / "lowering.json").unlink(missing_ok=True)
    made = Desk()
    yield made
    made.engine.close()
    for left in (home / "models" / "mine", home / "models" / ".trash"):
        shutil.rmtree(left, ignore_errors=True)
    assert not list((home / "models").glob(".mine*"))


def cards(desk: Desk) -> dict[str, protocol.ModelCard]:
    return {card.name: card for card in desk.result(protocol.ListModels)}


def test_it_says_what_it_would_save_and_then_saves_it(desk: Desk) -> None:
    offer = desk.result(protocol.MeasureLowering, "mine", WIDE)
    assert offer.tolerance == WIDE
    assert 0 < offer.after < offer.before == cards(desk)["mine"].expert_bytes
    assert sum(experts for _, experts in offer.bits) == 168
    assert 0 < offer.kl < WIDE
    assert offer.free > offer.needed > offer.after
    assert cards(desk)["mine"].expert_bits == ()
    card = desk.result(protocol.LowerModel, "mine", WIDE)
    assert (card.expert_bits, card.lowered_kl, card.expert_bytes) == (offer.bits, offer.kl, offer.after)
    assert cards(desk)["mine"].expert_bits == offer.bits
    assert [found.name for found in trash.deleted()] == ["mine"]
    desk.result(protocol.LoadModel, "mine", SETTINGS)
    assert desk.result(protocol.Generate, HELLO, SHORT).text
    plan = desk.engine.service.session.plan  # type: ignore[attr-defined]
    assert plan.dense == card.lowered_dense == f"int{offer.dense_bits}"
    assert offer.dense_after < offer.dense_before
    failed = desk.wait(desk.send(protocol.MeasureLowering, "mine", WIDE))
    assert isinstance(failed, protocol.Failed)
    assert "shrunk already" in failed.sentence


def test_what_was_measured_is_not_measured_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    first = desk.result(protocol.MeasureLowering, "mine", WIDE)
    monkeypatch.setattr(robustness, "choose", lambda *_: pytest.fail("measured again"))
    assert desk.result(protocol.MeasureLowering, "mine", WIDE).after == first.after
    assert desk.result(protocol.LowerModel, "mine", WIDE).expert_bytes == first.after


def test_the_open_model_is_opened_again_under_its_settings_and_goes_back(desk: Desk) -> None:
    before = cards(desk)["mine"].expert_bytes
    desk.result(protocol.LoadModel, "mine", SETTINGS)
    whole = desk.result(protocol.Generate, HELLO, SHORT)
    desk.result(protocol.UpdateSettings, {"cache_fraction": 0.5})
    desk.result(protocol.LowerModel, "mine", WIDE)
    session = desk.engine.service.session  # type: ignore[attr-defined]
    assert session.settings["cache_fraction"] == 0.5
    assert session.store.manifest.lowering is not None
    assert any(isinstance(e, protocol.ModelChanged) and e.card.lowered_kl is not None for e in desk.events)
    card = desk.result(protocol.RestoreOriginal, "mine")
    assert (card.expert_bits, card.expert_bytes) == ((), before)
    assert trash.deleted() == ()
    assert desk.result(protocol.Generate, HELLO, SHORT).token_ids == whole.token_ids
    failed = desk.wait(desk.send(protocol.RestoreOriginal, "mine"))
    assert isinstance(failed, protocol.Failed)


def test_another_model_stays_open_beside_it(desk: Desk) -> None:
    desk.result(protocol.LoadModel, "builtin", SETTINGS)
    first = desk.result(protocol.Generate, HELLO, SHORT)
    desk.result(protocol.MeasureLowering, "mine", WIDE)
    assert desk.result(protocol.Generate, HELLO, SHORT).token_ids == first.token_ids


@pytest.mark.parametrize("phase", ["Comparing", "Finding", "Writing"])
def test_stopped_it_leaves_the_model_as_it_was(desk: Desk, home: Path, phase: str) -> None:
    stopped = threading.Event()
    heard = desk.engine.service._library_worker._emit  # type: ignore[attr-defined]

    def stop(event: protocol.Event) -> None:
        heard(event)
        if isinstance(event, protocol.Progress) and event.text.startswith(phase) and not stopped.is_set():
            stopped.set()
            desk.engine.send(protocol.Stop("stop", event.id))

    desk.engine.service._library_worker._emit = stop  # type: ignore[attr-defined]
    ended = desk.wait(desk.send(protocol.LowerModel, "mine", WIDE))
    assert isinstance(ended, protocol.Cancelled), ended
    assert load_manifest(home / "models" / "mine").lowering is None
    assert not list((home / "models").glob(".mine*"))
    assert trash.deleted() == ()


def test_other_weights_get_as_few_bits_as_the_tolerance_bears(desk: Desk) -> None:
    found = [desk.result(protocol.MeasureLowering, "mine", tolerance) for tolerance in (0.002, 0.01, WIDE)]
    assert [offer.dense_bits for offer in found] == sorted((offer.dense_bits for offer in found), reverse=True)
    assert (found[0].dense_bits, found[-1].dense_bits) == (8, 4)
    sizes = [offer.after + offer.dense_after for offer in found]
    assert sizes == sorted(sizes, reverse=True)


def test_a_setting_by_hand_goes_before_what_was_found(desk: Desk) -> None:
    desk.result(protocol.LowerModel, "mine", WIDE)
    desk.result(protocol.LoadModel, "mine", {**SETTINGS, "dense": "bf16"})
    assert desk.engine.service.session.plan.dense == "bf16"  # type: ignore[attr-defined]


def test_a_full_disk_is_told_before_anything_is_written(
    desk: Desk, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.result(protocol.MeasureLowering, "mine", WIDE)
    usage = shutil.disk_usage
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(path)._replace(free=1 << 20))
    failed = desk.wait(desk.send(protocol.LowerModel, "mine", WIDE))
    assert isinstance(failed, protocol.Failed)
    assert failed.kind is protocol.Kind.DISK_FULL
    assert load_manifest(home / "models" / "mine").lowering is None


@pytest.mark.parametrize("tolerance", [0.0, 0.9, float("nan")])
def test_a_senseless_tolerance_is_refused(desk: Desk, tolerance: float) -> None:
    failed = desk.wait(desk.send(protocol.MeasureLowering, "mine", tolerance))
    assert isinstance(failed, protocol.Failed)
    assert "isn't possible" in failed.sentence


def test_a_copy_that_was_cut_off_between_two_renames_takes_its_place(desk: Desk, home: Path) -> None:
    path = home / "models" / "mine"
    found: dict[str, Any] = {"bits": {(0, 0): 2}}
    from engine.store.manifest import Lowering

    with Store.open(path) as store:
        lowering.write_beside(store, found["bits"], Lowering(0.02, 0.0, 0.001, 100), lambda *_: None)
    trash.put(path)
    library.tidy()
    assert load_manifest(path).lowering is not None
    assert not lowering.beside(path).exists()
    shutil.copytree(path, lowering.beside(path))  # one of which nothing became
    library.tidy()
    assert not lowering.beside(path).exists()
