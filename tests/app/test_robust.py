"""What goes wrong around the window has a sentence and a button that helps."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from app.application import Application
from app.platform import logs
from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.dialog import SettingsDialog
from app.storage.store import ChatStore
from app.widgets.messages import Banner
from engine import protocol
from tests.app.acts import Launch, ask, contents, on_disk
from tests.app.conftest import close, engine_of
from tests.app.fake_engine import SENTENCE
from tests.app.fake_hub import QWEN

pytestmark = pytest.mark.long


def banner(qtbot: QtBot, underhill: Application, words: str) -> Banner:
    shown = underhill.window.banners
    qtbot.waitUntil(lambda: any(words in b.sentence for b in shown.banners))
    return next(b for b in shown.banners if words in b.sentence)


def test_a_database_that_is_held_is_opened_later_with_what_was_written_meanwhile(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ChatStore(tmp_path / "chats.db").close()
    holder = sqlite3.connect(tmp_path / "chats.db", isolation_level=None)
    holder.execute("PRAGMA locking_mode = EXCLUSIVE")
    holder.execute("BEGIN EXCLUSIVE")
    holder.execute("CREATE TABLE t (x)")
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda path, timeout=0.05, **more: real(path, timeout=0.05, **more))
    underhill = launch()
    held = banner(qtbot, underhill, "Another app has locked")
    ask(qtbot, underhill, "written in memory")
    held.act()
    held = banner(qtbot, underhill, "Another app has locked")  # it still is
    assert not underhill.window.toast.isVisible()
    holder.close()
    held.act()
    qtbot.waitUntil(lambda: underhill.window.toast.accessibleName() == "Chats are being saved again")
    ask(qtbot, underhill, "written on disk")
    (chat,) = on_disk(underhill, tmp_path)
    assert [content for _, content, _ in chat] == [
        "written in memory", SENTENCE * 3, "written on disk", SENTENCE * 3,
    ]  # fmt: skip


def full(*_: object) -> None:
    raise OSError(28, "No space left on device")


def test_an_answer_that_found_the_disk_full_is_written_when_there_is_room(
    qtbot: QtBot, launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    monkeypatch.setattr(ChatStore, "update", full)
    ask(qtbot, underhill, "precious")
    full_disk = banner(qtbot, underhill, "disk is full")
    assert contents(underhill)[-1] == SENTENCE * 3
    full_disk.act()
    full_disk = banner(qtbot, underhill, "disk is full")  # it still is
    monkeypatch.undo()
    full_disk.act()
    qtbot.waitUntil(lambda: underhill.window.toast.accessibleName() == "Chats are being saved again")
    assert on_disk(underhill, tmp_path)[0][1] == ("assistant", SENTENCE * 3, "whole")


def test_a_full_disk_leads_to_what_can_be_deleted(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    monkeypatch.setattr(ChatStore, "update", full)
    ask(qtbot, underhill, "precious")
    banner(qtbot, underhill, "disk is full").act(1)
    assert underhill.window.pages.currentWidget() is underhill.window.library.page
    monkeypatch.undo()


@pytest.mark.parametrize("kind", [protocol.Kind.DISK_ERROR, protocol.Kind.MISSING_FILE, protocol.Kind.NOT_A_MODEL])
def test_a_model_that_is_gone_can_be_tried_again_or_another_chosen(
    qtbot: QtBot, launch: Launch, kind: protocol.Kind
) -> None:
    gone = protocol.Failed("", kind, "The folder /media/disk isn't available.", "Connect its disk.")
    underhill = launch(ready=False, fail={protocol.LoadModel: gone})
    banner(qtbot, underhill, "isn't available").act(1)
    assert underhill.window.pages.currentWidget() is underhill.window.library.page
    engine_of(underhill).fail[protocol.LoadModel] = gone
    underhill.window.model_controller.reload()
    banner(qtbot, underhill, "isn't available").act()
    qtbot.waitUntil(lambda: underhill.models.state == "ready")


@pytest.mark.parametrize(
    ("kind", "setting"), [(protocol.Kind.OUT_OF_MEMORY, "memory_gb"), (protocol.Kind.OFFLINE, "offline"),
                          (protocol.Kind.NO_NETWORK, "proxy")],
)  # fmt: skip
def test_where_a_setting_helps_it_is_one_click_away(
    qtbot: QtBot, launch: Launch, kind: protocol.Kind, setting: str
) -> None:
    underhill = launch()
    engine_of(underhill).fail[protocol.PullModel] = protocol.Failed("", kind, "That did not work.", "See the settings.")
    underhill.library.pull(QWEN, 8)
    banner(qtbot, underhill, "did not work").act()
    dialog = underhill.window.findChildren(SettingsDialog)[-1]
    page = dialog.pages[dialog.stack.currentIndex()]
    assert setting in [e.setting.name for e in page.editors]
    dialog.reject()


def test_an_engine_that_died_is_replaced(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch()
    ask(qtbot, underhill, "one")
    before = engine_of(underhill)
    qtbot.waitUntil(lambda: underhill.window.live.history.last is not None)
    before.dead = True
    underhill.conversation.send("two")
    stopped = banner(qtbot, underhill, "engine stopped")
    qtbot.waitUntil(lambda: not underhill.conversation.working)  # the engine may have been asked something else before
    assert len(underhill.window.banners.banners) == 1
    assert "stopped" in underhill.window.header.state.text()
    live = underhill.window.live
    assert live.history.last is None  # nothing is told of what is gone
    assert live.figures.why.text() == "Idle"
    stopped.act()
    underhill.models.refresh()  # asked for while there is none: kept for the next
    qtbot.waitUntil(lambda: engine_of(underhill) is not before and underhill.models.state == "ready")
    ask(qtbot, underhill, "three")
    assert contents(underhill)[-1] == SENTENCE * 3
    sent = engine_of(underhill).received
    assert len([c for c in sent if isinstance(c, protocol.ListModels)]) >= 2
    close(underhill)
    assert logs.take_crash_log(AppPaths(tmp_path).engine_log)[0].count("engine stopped") == 1  # for the next start


def test_the_window_can_be_closed_while_the_engine_is_replaced(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch()
    underhill.link.restart()  # nothing of it may be left running: see the fixtures


def test_settings_that_could_not_be_saved_are_tried_again(
    qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    underhill = launch()
    monkeypatch.setattr(preferences, "save", full)
    underhill.window.state.save()
    unsaved = banner(qtbot, underhill, "save your settings")
    unsaved.act()
    banner(qtbot, underhill, "save your settings")  # the disk is still full
    monkeypatch.undo()
    underhill.window.storage_controller._worked()  # as when chats found room again
    qtbot.waitUntil(lambda: not underhill.window.banners.banners)
