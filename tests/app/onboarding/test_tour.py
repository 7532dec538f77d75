"""The first five minutes with Underhill."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QFileDialog, QPushButton
from pytestqt.qtbot import QtBot

from app.application import Application
from app.dialogs import PrivacyDialog
from app.onboarding import ComputerDialog, Tour
from app.settings import preferences
from app.settings.preferences import Preferences
from engine import protocol
from tests.app.acts import Launch, ask, contents
from tests.app.conftest import close, engine_of
from tests.app.fake_cards import BUILTIN
from tests.app.fake_engine import SENTENCE
from tests.app.fake_hub import GPT_OSS, QWEN
from tests.app.places import settle

pytestmark = pytest.mark.long


@pytest.fixture(autouse=True)
def free_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)


def tour_of(underhill: Application) -> Tour:
    assert underhill.onboarding.tour is not None
    return underhill.onboarding.tour


def shown(underhill: Application) -> bool:
    return underhill.window.pages.currentWidget() is underhill.onboarding.tour


def chosen(qtbot: QtBot, underhill: Application) -> Tour:
    """The tour at its last step, with everything known."""
    tour = tour_of(underhill)
    tour.show_step(2)
    qtbot.waitUntil(lambda: underhill.onboarding.probe.computer is not None and len(tour.choice.entries) >= 2)
    qtbot.waitUntil(lambda: "" in tour.choice.entries)
    return tour


def sent(underhill: Application, kind: type[protocol.Command]) -> list[protocol.Command]:
    return [c for c in engine_of(underhill).received if isinstance(c, kind)]


def test_from_the_welcome_to_a_chat(qtbot: QtBot, launch: Launch, tmp_path: Path) -> None:
    underhill = launch(new=True)
    assert shown(underhill)
    assert not underhill.window.composer.isVisible()
    tour = tour_of(underhill)
    assert not sent(underhill, protocol.ProbeComputer)  # before one goes on
    qtbot.keyClick(tour.next, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: underhill.onboarding.probe.computer is not None)
    qtbot.waitUntil(lambda: tour.computer.verdict.isVisible())
    assert "AMD Ryzen 7 7840U, 8 cores" in tour.computer.facts.text()
    assert "runs models much bigger than memory" in tour.computer.facts.text()
    assert not tour.computer.figures.isVisible()
    tour.computer.more.click()
    assert "Disk reads: 3.1 GB/s" in tour.computer.figures.text()
    assert tour.computer.figures.isVisible()
    assert tour.computer.verdict.text().startswith("2 of 4 recommended models")
    tour.next.click()
    assert list(tour.choice.entries) == [QWEN.repo, ""]
    assert "download, about 2.7 h" in tour.choice.entries[QWEN.repo].facts.text()
    tour.next.click()
    assert not shown(underhill)
    assert underhill.window.composer.edit.hasFocus() or not underhill.window.isActiveWindow()
    ask(qtbot, underhill, "hello")
    assert contents(underhill) == ["hello", SENTENCE * 3]
    close(underhill)
    assert preferences.load(tmp_path / "window.json")[0].toured


@pytest.mark.parametrize("way", ["skip", "new chat", "library"])
def test_once_skipped_it_does_not_come_again(qtbot: QtBot, launch: Launch, way: str) -> None:
    underhill = launch(new=True)
    if way == "skip":
        tour_of(underhill).skip.click()
    elif way == "new chat":
        underhill.window.sidebar.button.click()
    else:
        underhill.window.library.show()
    assert not shown(underhill)
    close(underhill)
    again = launch(new=True)
    assert again.onboarding.tour is None
    again.window.header.tour.trigger()
    assert shown(again)
    assert tour_of(again).step == 0


def test_about_this_computer_is_a_dialog_of_its_own(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=False)
    underhill.window.header.computer.trigger()
    (dialog,) = underhill.window.findChildren(ComputerDialog)
    qtbot.waitUntil(lambda: "AMD Ryzen 7 7840U, 8 cores" in dialog.step.facts.text())
    assert underhill.onboarding.tour is None
    assert underhill.window.on_chat
    dialog.reject()


def test_killed_in_the_middle_it_comes_again(launch: Launch, tmp_path: Path) -> None:
    preferences.save(Preferences(), tmp_path / "window.json")
    assert shown(launch(new=True))


def test_who_comes_from_a_version_without_a_tour_is_not_new(launch: Launch, tmp_path: Path) -> None:
    (tmp_path / "window.json").write_text('{"theme": "dark"}')
    assert launch(new=True).onboarding.tour is None


def test_an_answer_goes_before_the_measurement(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    engine_of(underhill).goes_on.clear()
    tour_of(underhill).next.click()
    probe = underhill.onboarding.probe
    qtbot.waitUntil(lambda: probe.progress is not None and probe.progress.total > 0)
    tour_of(underhill).skip.click()
    ask(qtbot, underhill, "are you there")
    assert contents(underhill)[-1] == SENTENCE * 3
    engine_of(underhill).goes_on.set()
    qtbot.waitUntil(lambda: probe.computer is not None)
    assert len(sent(underhill, protocol.ProbeComputer)) == 2


def test_the_buttons_stay_where_they_are_when_the_measurement_ends(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    underhill.window.resize(1280, 900)
    engine_of(underhill).goes_on.clear()
    tour = tour_of(underhill)
    tour.next.click()
    probe = underhill.onboarding.probe
    qtbot.waitUntil(lambda: probe.progress is not None and probe.progress.total > 0)
    settle(qtbot, underhill.window)
    assert tour.computer.patience.isVisible()
    before = tour.next.mapTo(tour, QPoint()).y()
    engine_of(underhill).goes_on.set()
    qtbot.waitUntil(lambda: tour.computer.facts.isVisible())
    settle(qtbot, underhill.window)
    assert tour.next.mapTo(tour, QPoint()).y() == before
    assert not tour.computer.patience.isVisible()


def test_a_measurement_that_fails_says_why_and_is_tried_again(qtbot: QtBot, launch: Launch) -> None:
    full = protocol.Failed("", protocol.Kind.DISK_FULL, "The disk is full.", "Free some space, then try again.")
    underhill = launch(new=True, fail={protocol.ProbeComputer: full})
    tour = tour_of(underhill)
    tour.next.click()
    qtbot.waitUntil(lambda: tour.computer.again.isVisible())
    assert tour.computer.doing.text() == "The disk is full. Free some space, then try again."
    tour.computer.again.click()
    qtbot.waitUntil(lambda: tour.computer.facts.isVisible())
    assert not tour.computer.doing.isVisible()


def test_the_recommended_model_is_fetched_while_one_chats(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    tour = chosen(qtbot, underhill)
    hub = engine_of(underhill).hub
    tour.choice.entries[QWEN.repo].buttons["Download"].click()
    qtbot.waitUntil(lambda: "Pause" in tour.choice.entries[QWEN.repo].buttons)
    (pull,) = sent(underhill, protocol.PullModel)
    assert isinstance(pull, protocol.PullModel)
    assert (pull.repo, pull.top) == (QWEN.repo, 4)
    hub.tell("t1", state=protocol.RUNNING, done=3_000_000_000, total=12_000_000_000, rate=4e7, left=225.0)
    qtbot.waitUntil(lambda: "3.0 GB of 12.0 GB" in tour.choice.entries[QWEN.repo].facts.text().replace("\u00a0", " "))
    hub.tell(
        "t1",
        state=protocol.FAILED,
        problem="The hub can't be reached.",
        action="Check the network.",
        kind="no_network",
    )
    qtbot.waitUntil(lambda: "Try again" in tour.choice.entries[QWEN.repo].buttons)
    assert "The hub can't be reached." in tour.choice.entries[QWEN.repo].sentence.text()
    tour.choice.entries[QWEN.repo].buttons["Try again"].click()
    qtbot.waitUntil(lambda: "Pause" in tour.choice.entries[QWEN.repo].buttons)
    tour.next.click()
    hub.tell(
        "t1",
        state=protocol.FAILED,
        problem="The hub can't be reached.",
        action="Check the network.",
        kind="no_network",
    )
    banners = underhill.window.banners
    qtbot.waitUntil(lambda: any(b.sentence.startswith("Download failed") for b in banners.banners))
    (failed,) = (b for b in banners.banners if "failed" in b.sentence)
    failed.act()
    qtbot.waitUntil(lambda: hub.transfers["t1"].state == protocol.RUNNING)
    qtbot.waitUntil(lambda: not any("failed" in b.sentence for b in banners.banners))
    hub.tell("t1", state=protocol.FINISHED)
    qtbot.waitUntil(lambda: any("downloaded" in b.sentence for b in banners.banners))


def filled(tour: Tour) -> list[str]:
    """Names of the main buttons in sight."""
    buttons = (b for b in tour.findChildren(QPushButton) if b.isVisibleTo(tour) and b.objectName() == "primary")
    return [b.accessibleName() or b.text() for b in buttons]


def test_every_step_has_one_main_button(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    tour = chosen(qtbot, underhill)
    hub, choice = engine_of(underhill).hub, tour.choice
    start = choice.entries[""].buttons["Start chatting"].accessibleName()
    download = choice.entries[QWEN.repo].buttons["Download"].accessibleName()
    qtbot.waitUntil(lambda: filled(tour) == [download])
    tour.show_step(1)
    assert filled(tour) == ["Select a model"]
    tour.show_step(2)
    choice.entries[QWEN.repo].buttons["Download"].click()  # entries are made anew when models are told of
    qtbot.waitUntil(lambda: "Pause" in choice.entries[QWEN.repo].buttons)
    qtbot.waitUntil(lambda: filled(tour) == [start])
    for state, deed in ((protocol.PAUSED, "Resume"), (protocol.FINISHED, "Start chatting")):
        hub.tell("t1", state=state)
        qtbot.waitUntil(lambda deed=deed: deed in choice.entries[QWEN.repo].buttons)
        main = choice.entries[QWEN.repo].buttons[deed].accessibleName()
        qtbot.waitUntil(lambda main=main: filled(tour) == [main])  # a layout shows what is new in it a little later


def test_offline_it_says_so_and_offers_what_works(qtbot: QtBot, launch: Launch) -> None:
    offline = {s.name: s.default for s in protocol.settings.SHARED} | {"offline": True}
    underhill = launch(new=True, shared=offline)
    tour = chosen(qtbot, underhill)
    assert "Offline mode is on" in tour.choice.notice.text()
    assert tour.choice.setting.isVisible()
    assert not tour.choice.entries[QWEN.repo].buttons["Download"].isEnabled()
    built_in = tour.choice.entries[""].buttons["Start chatting"]
    assert built_in.objectName() == "primary"
    built_in.click()
    assert not shown(underhill)
    assert underhill.models.card is not None
    assert underhill.models.card.name == BUILTIN.name
    assert len(sent(underhill, protocol.LoadModel)) == 1  # it was open already


def test_where_nothing_fits_the_built_in_model_is_offered(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    engine_of(underhill).hub.catalogue = ()
    underhill.library.refresh_catalogue()
    tour = tour_of(underhill)
    tour.show_step(2)
    qtbot.waitUntil(
        lambda: list(tour.choice.entries) == [""] and tour.choice.notice.text().startswith("No listed model")
    )
    assert tour.choice.entries[""].buttons["Start chatting"].objectName() == "primary"


def test_a_model_of_one_s_own(qtbot: QtBot, launch: Launch, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", staticmethod(lambda *_: asked.append("folder") or ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileName", staticmethod(lambda *_: asked.append("file") or ("", "")))
    underhill = launch(new=True)
    choice = tour_of(underhill).choice
    choice.import_folder.emit()
    choice.import_file.emit()
    assert asked == ["folder", "file"]


def test_what_is_sent_can_be_read_on_the_first_page(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(new=True)
    tour_of(underhill).welcome.privacy.click()
    page = underhill.window.findChildren(PrivacyDialog)[-1]
    assert page.isVisible()
    page.reject()
    assert shown(underhill)


def test_gpt_oss_is_no_alternative_where_it_is_no_quicker(qtbot: QtBot, launch: Launch) -> None:
    tour = chosen(qtbot, launch(new=True))
    assert GPT_OSS.repo not in tour.choice.entries


@pytest.mark.parametrize(("width", "height"), [(1280, 780), (900, 600), (640, 480), (1600, 1400)])
def test_the_buttons_of_every_step_are_in_sight(qtbot: QtBot, launch: Launch, width: int, height: int) -> None:
    underhill = launch(new=True)
    tour = chosen(qtbot, underhill)
    underhill.window.resize(width, height)
    for step in range(3):
        tour.show_step(step)
        settle(qtbot, underhill.window)
        for button in (tour.next, tour.back):
            place = button.rect().translated(button.mapTo(tour, QPoint()))
            assert button.isHidden() or tour.rect().contains(place)
        page = tour.sheet.widget()
        assert tour.sheet.verticalScrollBar().maximum() == max(0, page.height() - tour.sheet.height())
        if height == 1400:
            assert tour.sheet.height() == page.height()  # nothing scrolls where there is room
            assert tour.next.mapTo(tour, QPoint()).y() < page.height() + tour.sheet.y() + 60
