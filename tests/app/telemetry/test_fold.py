"""What of the live panels is in sight in a window of the usual size, without scrolling."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.i18n import languages
from app.platform.logs import AppPaths
from app.settings import preferences
from app.settings.preferences import Preferences
from tests.app.acts import Launch, ask
from tests.app.fake_cards import LARGE
from tests.app.places import settle

_USUAL = (1280, 820)  # pixels, as app.shell makes the window


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    languages.install("en")


def is_in_sight(widget: QWidget) -> bool:
    return widget.isVisible() and widget.visibleRegion().boundingRect() == widget.rect()


@pytest.mark.parametrize("language", ["en", "zh_CN"])
def test_speed_hits_memory_and_heatmap_are_seen_without_scrolling(
    qtbot: QtBot, launch: Launch, tmp_path: Path, language: str
) -> None:
    preferences.save(Preferences(toured=True, language=language, model=LARGE.name), AppPaths(tmp_path).preferences)
    underhill = launch()
    window = underhill.window
    window.resize(*_USUAL)
    ask(qtbot, underhill, "Hello")
    qtbot.waitUntil(lambda: window.live.history.last is not None and bool(window.live.figures.memory.legend.text()))
    settle(qtbot, window)
    figures = window.live.figures
    for chart in (figures.speed_line, figures.fates, figures.fates_legend, figures.memory):
        assert is_in_sight(chart), chart.accessibleName()
    assert is_in_sight(window.live.experts.heatmap)


def test_the_disk_comes_below_them(qtbot: QtBot, launch: Launch) -> None:
    figures = launch().window.live.figures
    settle(qtbot, figures)
    tops = [widget.mapTo(figures, QPoint()).y() for widget in (figures.speed_line, figures.fates, figures.memory)]
    assert tops == sorted(tops)
    assert figures.disk.mapTo(figures, QPoint()).y() > tops[-1]
