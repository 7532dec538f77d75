"""The page of the first start: it installs, shows how far it is, pauses, and says what to do where it stops."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit
from pytestqt.qtbot import QtBot

from app.install import download
from app.install.download import InstallProblem, Reason
from app.install.environment import EngineEnvironment, InstallProgress, Options, load_options, save_options
from app.setup.page import SetupPage, SetupWindow, TransferRate, engine_python
from tests.app.install.publisher import Publisher, make_release, make_wheel, publish


def open_window(qtbot: QtBot, environment: EngineEnvironment) -> SetupWindow:
    window = SetupWindow(environment)
    qtbot.addWidget(window)
    window.show()
    return window


def mirror_line(page: SetupPage) -> QLineEdit:
    """Where the address of a mirror is written: the first of the options."""
    return page.form.findChildren(QLineEdit)[0]


def test_a_click_installs_and_the_window_makes_way(qtbot: QtBot, tmp_path: Path, publisher: Publisher) -> None:
    release = make_release(tmp_path / "release")
    program = tmp_path / "program"
    save_options(Options(mirror=str(publish(publisher, release, tmp_path / "index"))), program / "options.json")
    window = open_window(qtbot, EngineEnvironment(release, program))
    assert publisher.requests == []  # nothing is asked for before a person wants it
    assert window.page.halt.isHidden()
    window.page.go.click()
    assert window.page.halt.isVisible()
    assert not window.page.go.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert window.work.environment.is_ready


def test_enter_presses_what_has_the_focus(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, EngineEnvironment(make_release(tmp_path / "release"), tmp_path / "program"))
    begun: list[Options] = []
    window.work.start = begun.append  # type: ignore[method-assign]
    qtbot.waitUntil(lambda: window.focusWidget() is window.page.go, timeout=5000)
    qtbot.keyClick(window.page.go, Qt.Key.Key_Return)
    assert len(begun) == 1


def test_a_fat_installer_begins_by_itself(qtbot: QtBot, tmp_path: Path) -> None:
    release = make_release(tmp_path / "release")
    make_wheel(release.folder / "packages" / "torch-1.0-py3-none-any.whl")
    window = open_window(qtbot, EngineEnvironment(release, tmp_path / "program"))
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert window.work.environment.is_ready


def test_a_fat_installer_says_what_its_packages_need(qtbot: QtBot, tmp_path: Path) -> None:
    release = make_release(tmp_path / "release")
    make_wheel(release.folder / "packages" / "torch-1.0-py3-none-any.whl", 50_000_000)
    window = open_window(qtbot, EngineEnvironment(release, tmp_path / "program"))
    assert "They need about 200 MB in" in " ".join(label.text() for label in window.page.findChildren(QLabel))
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)


def test_what_fails_is_said_and_can_be_tried_again(
    qtbot: QtBot, tmp_path: Path, publisher: Publisher, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(download, "_WAITS", ())
    release = make_release(tmp_path / "release")
    index = publish(publisher, release, tmp_path / "index")
    window = open_window(qtbot, EngineEnvironment(release, tmp_path / "program"))
    page = window.page
    mirror_line(page).setText(str(index))
    publisher.cuts = [0] * 9
    page.go.click()
    qtbot.waitUntil(page.trouble.isVisible, timeout=20_000)
    assert page.trouble.text().startswith("The packages can't be reached.")
    assert "cut after" in page.details.text()
    assert page.form.isVisible()  # where a mirror can be named
    assert page.go.text() == "Try again"
    publisher.cuts = []
    page.go.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)
    assert load_options(tmp_path / "program" / "options.json").mirror == str(index)


def test_a_pause_keeps_what_came(qtbot: QtBot, tmp_path: Path, publisher: Publisher) -> None:
    release = make_release(tmp_path / "release")
    index = publish(publisher, release, tmp_path / "index")
    publisher.cuts = [1000] * 3
    window = open_window(qtbot, EngineEnvironment(release, tmp_path / "program"))
    page = window.page
    mirror_line(page).setText(str(index))
    page.go.click()
    assert publisher.on_request.wait(20)  # now it waits a second before it tries again
    page.halt.click()
    qtbot.waitUntil(lambda: page.go.isVisible(), timeout=20_000)
    assert page.go.text() == "Resume"
    assert page.doing.text() == "Paused. The download so far is kept."
    assert not window.work.environment.is_ready
    page.go.click()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=20_000)


@pytest.mark.parametrize("reason", [r for r in Reason if r is not Reason.STOPPED])
def test_every_problem_has_a_sentence(qtbot: QtBot, tmp_path: Path, reason: Reason) -> None:
    window = open_window(qtbot, EngineEnvironment(make_release(tmp_path / "release"), tmp_path / "program"))
    window.work.failed.emit(InstallProblem(reason, "something"))
    assert len(window.page.trouble.text()) > 15
    assert window.page.details.text() == "something"


def test_bytes_rate_and_time_are_shown(qtbot: QtBot, tmp_path: Path) -> None:
    window = open_window(qtbot, EngineEnvironment(make_release(tmp_path / "release"), tmp_path / "program"))
    window.work.progressed.emit(InstallProgress("download", 50_000_000, 200_000_000))
    assert window.page.doing.text() == "Downloading: 50.0 MB of 200 MB"
    assert window.page.bar.value() == 250
    window.work.progressed.emit(InstallProgress("install"))
    assert window.page.bar.maximum() == 0


def test_the_rate_is_that_of_the_last_seconds() -> None:
    rate = TransferRate()
    assert rate.add(0, 10.0) == 0.0
    assert rate.add(1000, 11.0) == 1000.0
    assert rate.add(9000, 16.5) == pytest.approx(8000 / 5.5)
    assert rate.add(100, 18.0) == 0.0  # begun anew


def test_closing_leaves_no_thread_behind(qtbot: QtBot, tmp_path: Path, publisher: Publisher) -> None:
    release = make_release(tmp_path / "release")
    index = publish(publisher, release, tmp_path / "index")
    publisher.cuts = [10] * 99
    window = open_window(qtbot, EngineEnvironment(release, tmp_path / "program"))
    mirror_line(window.page).setText(str(index))
    window.page.go.click()
    (thread,) = [t for t in threading.enumerate() if t.name == "install"]
    window.close()
    assert not thread.is_alive()


def test_in_a_checkout_there_is_nothing_to_install(qtbot: QtBot, tmp_path: Path) -> None:
    assert engine_python(None, None, tmp_path, None) == Path(sys.executable)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []
