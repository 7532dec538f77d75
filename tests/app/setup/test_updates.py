"""Updates in the window: asked for only where one allows it, offered and not taken, and ready for the next start."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from datetime import UTC, date, datetime
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from app.install import updates
from app.install.download import InstallProblem, PackageFile, Reason
from app.install.updates import Update, UpdatePart
from app.setup.updates import UpdateController
from tests.app.install.publisher import make_release

FOUND = Update("1.1", (UpdatePart("app", PackageFile("app", "", 2_000_000, ""), "new"),), {}, datetime.now(UTC))
OFFER = "Underhill 1.1 is available (2.0 MB)."


@pytest.fixture
def make(
    launch: Callable[..., Application], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[Application, UpdateController]]:
    """A window and its controller. calls: what was asked of app.install.updates."""

    def made(
        calls: list[str], allowed: bool, prepare: Callable[[], None] = bool
    ) -> tuple[Application, UpdateController]:
        underhill = launch()
        underhill.window.preferences.updates = allowed
        underhill.window.network.offline = False  # the environment of the tests says otherwise
        release = make_release(tmp_path / "release")
        note = release.note | {"updates": {"address": "http://127.0.0.1:9/", "keys": []}}
        (release.folder / "release.json").write_text(json.dumps(note))
        monkeypatch.setattr(updates, "settle", lambda *_: calls.append("settle"))
        monkeypatch.setattr(updates, "find_update", lambda *_: calls.append("find") or FOUND)
        monkeypatch.setattr(updates, "prepare", lambda *_: (calls.append("prepare"), prepare()))
        controller = UpdateController(
            underhill.window, release, tmp_path, models=underhill.models, network=underhill.window.network,
            preferences=underhill.window.preferences, main_queue=underhill.main_queue,
        )  # fmt: skip
        return underhill, controller

    return made


def said(underhill: Application) -> list[str]:
    return [banner.sentence for banner in underhill.window.banners.banners]


def download(qtbot: QtBot, underhill: Application) -> None:
    """Press the button of the offer, once it is there."""
    qtbot.waitUntil(lambda: OFFER in said(underhill))
    next(banner for banner in underhill.window.banners.banners if banner.sentence == OFFER).act()


def until_idle(qtbot: QtBot, underhill: Application) -> None:
    """Wait until the threads of updates have ended, and what they led to has been done: one may start another."""
    reached: list[int] = []
    for turn in range(3):
        for thread in [thread for thread in threading.enumerate() if thread.name == "updates"]:
            thread.join()
        underhill.main_queue.post(reached.append, turn)  # behind what those threads have posted
        qtbot.waitUntil(lambda turn=turn: turn in reached)


def test_nothing_is_asked_for_unless_allowed(qtbot, make) -> None:
    calls: list[str] = []
    underhill, controller = make(calls, False)
    underhill.models.listed.emit()
    until_idle(qtbot, underhill)
    assert calls == ["settle"]
    underhill.window.preferences.updates = True
    underhill.window.network.offline = True
    controller.look()
    until_idle(qtbot, underhill)
    assert calls == ["settle"]


def test_what_is_found_is_offered_and_downloaded_on_a_click(qtbot, make) -> None:
    calls: list[str] = []
    underhill, _ = make(calls, True)
    underhill.models.listed.emit()
    qtbot.waitUntil(lambda: OFFER in said(underhill))
    assert calls == ["settle", "find"]
    download(qtbot, underhill)
    qtbot.waitUntil(lambda: "Underhill 1.1 is ready." in said(underhill))
    assert calls == ["settle", "find", "prepare"]
    assert not any("available" in sentence or "Downloading" in sentence for sentence in said(underhill))


def test_one_that_fails_can_be_tried_again(qtbot, make) -> None:
    tries: list[bool] = []

    def fails_once() -> None:
        tries.append(True)
        if len(tries) == 1:
            raise InstallProblem(Reason.DAMAGED)

    underhill, _ = make([], True, fails_once)
    underhill.models.listed.emit()
    download(qtbot, underhill)
    failed = "Underhill 1.1 couldn't be installed."
    qtbot.waitUntil(lambda: failed in said(underhill))
    next(banner for banner in underhill.window.banners.banners if banner.sentence == failed).act()
    qtbot.waitUntil(lambda: "Underhill 1.1 is ready." in said(underhill))
    assert failed not in said(underhill)


def test_it_says_where_no_list_has_come_for_long(qtbot, make, monkeypatch) -> None:
    underhill, _ = make([], True)

    def nothing(*_: object) -> None:
        raise InstallProblem(Reason.OLD)

    asked: list[date] = []
    monkeypatch.setattr(updates, "find_update", nothing)
    monkeypatch.setattr(updates, "held_back_since", lambda program, today: asked.append(today) or date(2026, 3, 9))
    underhill.models.listed.emit()
    qtbot.waitUntil(lambda: "No update information since March 2026." in said(underhill))
    assert asked == [date.today()]


def test_it_is_asked_for_once_in_a_run(qtbot, make) -> None:
    calls: list[str] = []
    underhill, controller = make(calls, True)
    for _ in range(3):
        underhill.models.listed.emit()
        until_idle(qtbot, underhill)
        controller.look()
        until_idle(qtbot, underhill)
    assert calls == ["settle", "find"]
    controller.end()


def test_the_settings_offer_it_only_where_there_are_updates(qtbot, launch) -> None:
    window = launch().window
    assert window.settings.open().shared.updates.isHidden()
    window.settings.close()
    asked: list[bool] = []
    window.settings.find_updates = lambda: asked.append(True)
    box = window.settings.open().shared.updates
    assert not box.isHidden()
    assert not box.isChecked()
    box.setChecked(True)
    assert window.preferences.updates
    assert asked == [True]
    window.settings.close()
