"""The picture of all experts: a pixel each, what it means, and getting at one with mouse and keyboard."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetrics
from PySide6.QtWidgets import QToolTip
from pytestqt.qtbot import QtBot

from app.telemetry.experts_panel import (
    GATES,
    LOADED,
    MEANINGS,
    PLACE,
    RESIDENCY,
    USES,
    ExpertHeatmap,
    ExpertsPanel,
    draw,
    expert_facts,
    legend,
)
from app.theme.theme import LIGHT, Theme
from tests.app.telemetry.samples import BASE, FACTS


@pytest.mark.parametrize(("meaning", "most"), [(USES, (1, 0)), (LOADED, (1, 0)), (GATES, (1, 0))])
def test_the_map_has_a_pixel_per_expert(meaning: str, most: tuple[int, int]) -> None:
    image = draw(BASE, meaning, LIGHT)
    assert (image.width(), image.height()) == (2, 2)
    assert image.pixelColor(*most) == QColor(LIGHT.heat[-1])
    assert image.pixelColor(1, 1) == QColor(LIGHT.heat[0])
    assert image.pixelColor(0, 1) not in (QColor(LIGHT.heat[0]), QColor(LIGHT.heat[-1]))


def test_rare_is_not_never() -> None:
    image = draw(replace(BASE, uses=((1, 1_000_000), (0, 0))), LOADED, LIGHT)
    assert image.pixelColor(0, 0) != image.pixelColor(0, 1)


def test_residency_by_tier_and_by_place() -> None:
    held = draw(BASE, RESIDENCY, LIGHT)
    assert [held.pixelColor(x, y).name() for y in (0, 1) for x in (0, 1)] == [
        LIGHT.tiers[t] for t in ("8", "0", "2", "4")
    ]
    upper = replace(BASE, places=((2, 0), (1, 1)))
    colours = [draw(upper, PLACE, LIGHT).pixelColor(x, y).name() for y in (0, 1) for x in (0, 1)]
    assert len(set(colours)) == 3
    assert [words for _, words in legend(PLACE, LIGHT, upper)] == ["on disk", "in memory", "in GPU memory"]
    assert [words for _, words in legend(RESIDENCY, LIGHT, BASE)] == ["on disk", "2-bit", "4-bit", "8-bit"]


def test_tooltips_name_layer_expert_use_and_place(qtbot: QtBot, theme: Theme) -> None:
    heatmap = ExpertHeatmap(theme)
    qtbot.addWidget(heatmap)
    heatmap.resize(300, 120)
    heatmap.show_data(BASE)
    assert heatmap.describe(QPointF(280, 10)).splitlines() == [
        "Layer 1, expert 1", "used 4 times in this answer", "used 9 times since loading",
        "mean gate weight 0.50", "on disk",
    ]  # fmt: skip
    assert heatmap.describe(QPointF(60, 110)).splitlines()[-1] == "2-bit, in memory"
    assert heatmap.describe(QPointF(3, 10)) == ""


@pytest.mark.parametrize("left", [0, 500])
def test_a_tooltip_covers_no_square(qtbot: QtBot, theme: Theme, left: int) -> None:
    heatmap = ExpertHeatmap(theme)
    qtbot.addWidget(heatmap)
    heatmap.setGeometry(left, 100, 200, 120)
    heatmap.show()
    heatmap.show_data(BASE)
    point = QPoint(150, 40)
    text = heatmap.describe(QPointF(point))
    at = heatmap.beside(point, text).x()
    wide = QFontMetrics(QToolTip.font()).size(0, text).width()
    assert at + wide < left if left else at >= 200


def test_an_expert_is_reached_and_inspected_without_a_mouse(qtbot: QtBot, theme: Theme) -> None:
    experts = ExpertsPanel(theme)
    qtbot.addWidget(experts)
    experts.show()
    experts.show_data(BASE)
    asked: list[object] = []
    experts.inspected_changed.connect(lambda: asked.append(experts.inspected))
    qtbot.keyClick(experts.heatmap, Qt.Key.Key_Down)
    qtbot.keyClick(experts.heatmap, Qt.Key.Key_End)
    assert "Layer 3, expert 1" in experts.heatmap.accessibleDescription()
    assert asked == []
    qtbot.keyClick(experts.heatmap, Qt.Key.Key_Return)
    assert asked == [(3, 1)]
    experts.show_data(replace(BASE, expert=FACTS))
    assert experts.inspector.isVisible()
    assert "40 since loading" in experts.inspector.text()
    experts.inspector.end()
    assert asked == [(3, 1), None]
    assert not experts.inspector.isVisible()


def test_a_click_takes_the_expert_under_it(qtbot: QtBot, theme: Theme) -> None:
    experts = ExpertsPanel(theme)
    qtbot.addWidget(experts)
    experts.resize(320, 420)
    experts.show()
    experts.show_data(BASE)
    cell = experts.heatmap.cell(0, 1).center().toPoint()
    qtbot.mouseClick(experts.heatmap, Qt.MouseButton.LeftButton, pos=cell)
    assert experts.inspected == (1, 1)


def test_what_is_said_of_an_expert() -> None:
    said = dict(expert_facts(FACTS))
    assert said["Lower precision"] == "10 (25%)"
    assert said["Location"] == "4-bit, in memory; loading 8-bit"
    assert said["Gate weight"] == "last 0.250, average 0.310"
    nothing = dict(expert_facts(replace(FACTS, uses=0, answer=0, coarse=0, skipped=0, tier=0, place=0, coming=0)))
    assert (nothing["Lower precision"], nothing["Gate weight"]) == ("never", "none yet")
    assert "disk" in nothing["Location"]


def test_every_meaning_can_be_chosen(qtbot: QtBot, theme: Theme) -> None:
    experts = ExpertsPanel(theme)
    qtbot.addWidget(experts)
    experts.show_data(BASE)
    for meaning in MEANINGS:
        experts.meanings.setCurrentIndex(experts.meanings.findData(meaning))
        assert experts.heatmap.meaning == meaning
        assert experts.legend.text()


def test_one_sees_that_it_has_the_keyboard_before_there_is_anything_to_show(qtbot: QtBot, theme: Theme) -> None:
    heatmap = ExpertHeatmap(theme)
    qtbot.addWidget(heatmap)
    heatmap.resize(200, 100)
    heatmap.show()
    without = heatmap.grab().toImage()
    heatmap.activateWindow()
    qtbot.waitUntil(heatmap.isActiveWindow)
    heatmap.setFocus()
    qtbot.waitUntil(heatmap.hasFocus)
    assert heatmap.grab().toImage() != without
