"""Links of a chat, and folders, are opened by other programs, or a sentence says why not."""

from __future__ import annotations

import html
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from pytestqt.qtbot import QtBot

from app.platform import files
from app.platform.logs import AppPaths
from app.transcript.mouse import hit_test
from app.transcript.view import TranscriptView
from tests.app.acts import Launch, ask


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What other programs were given."""
    found: list[str] = []

    class Services:
        @staticmethod
        def openUrl(url: QUrl) -> bool:
            found.append(url.toString())
            return "nothing" not in url.toString()

    monkeypatch.setattr(files, "QDesktopServices", Services)
    return found


def point_of(view: TranscriptView, link: str) -> QPoint:
    """Where a link is on the page."""
    for y in range(0, view.viewport().height(), 4):
        for x in range(0, view.viewport().width(), 8):
            hit = hit_test(view, QPointF(x, y))
            if hit is not None and hit.link == link:
                return QPoint(x, y)
    raise AssertionError(link)


@pytest.mark.qt_log_ignore("This plugin does not support")  # to raise a tooltip, which comes up where the test is slow
def test_a_click_opens_a_link_and_nothing_else_does(qtbot: QtBot, launch: Launch, opened: list[str]) -> None:
    links = ("https://example.org/?a=1&b=2", "mailto:a@example.org", "file:///bin/sh", "javascript:alert(1)",
             "https://nothing.example.org")  # fmt: skip
    written = "\n\n".join(f"[here]({link})" for link in links)
    underhill = launch(script=lambda messages: written)
    window = underhill.window
    ask(qtbot, underhill, "Links?")
    view, toast = window.transcript, window.toast
    for link in links:
        at = point_of(view, link)
        qtbot.mouseMove(view.viewport(), at)
        assert html.escape(link) in view.viewport().toolTip()
    assert opened == []
    for number, link in enumerate(links):
        toast.end()
        qtbot.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=point_of(view, link))
        if number < 2:
            assert opened[-1] == link
            assert toast.isHidden()
        else:
            assert link in toast.accessibleName()
    assert opened == [links[0], links[1], links[4]]


def test_a_folder_that_nothing_shows_is_named(qtbot: QtBot, launch: Launch, opened: list[str]) -> None:
    window = launch().window
    window.open_folder(Path("/some/where"))
    assert opened == ["file:///some/where"]
    assert window.toast.isHidden()
    window.open_folder(Path("/for/nothing"))
    assert str(Path("/for/nothing")) in window.toast.accessibleName()


def test_the_menu_opens_the_folder_of_the_logs_also_before_there_is_any(
    qtbot: QtBot, launch: Launch, opened: list[str]
) -> None:
    window = launch().window
    folder = AppPaths(window.paths.folder).logs
    assert not folder.exists()
    (entry,) = (a for a in window.header.more.menu().actions() if a.text() == "Open log folder")
    entry.trigger()
    assert opened == [QUrl.fromLocalFile(str(folder)).toString()]
    assert folder.is_dir()
    assert window.toast.isHidden()
