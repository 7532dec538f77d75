"""The live panel: right figures, and no painting while it is hidden."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QPointF
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.panels.heatmap import RESIDENCY, USES, Heatmap, draw
from app.panels.history import History
from app.panels.live import LivePanel
from app.theme.theme import Theme
from app.theme.tokens import LIGHT
from engine import api

BASE = api.Telemetry(
    "", ((0, 4), (1, 0)), ((8, 0), (2, 4)), (1, 3), 10, 10, 1000, {"8": 15, "2": 5}, 5, 12.0, 2e6, 900, 1000, 5000,
    True, "Waiting for the disk.",
)  # fmt: skip


def test_rates_are_differences_between_snapshots() -> None:
    history = History()
    history.add(BASE)
    history.add(replace(BASE, hits=19, misses=11, precision={"8": 15, "2": 15}, tokens=6))
    last = history.samples[-1]
    assert last.hit_rate == pytest.approx(0.9)
    assert last.mix is not None
    assert last.mix["2"] == pytest.approx(1.0)
    assert history.overall_hit_rate() == pytest.approx(19 / 30)


def test_without_uses_there_is_no_rate() -> None:
    history = History()
    history.add(BASE)
    history.add(BASE)
    assert history.samples[-1].hit_rate is None
    assert history.samples[-1].mix is None


def test_another_model_begins_anew() -> None:
    history = History()
    history.add(BASE)
    history.add(replace(BASE, hits=1, misses=0, tokens=0))
    assert len(history.samples) == 1
    assert history.samples[0].hit_rate == 1.0


def test_history_is_bounded() -> None:
    history = History()
    for number in range(1000):
        history.add(replace(BASE, hits=10 + number))
    assert len(history.samples) <= 150


def test_the_map_has_a_pixel_per_expert() -> None:
    image = draw(BASE, USES, LIGHT)
    assert (image.width(), image.height()) == (2, 2)
    assert image.pixelColor(1, 0) == QColor(LIGHT.heat[-1])
    assert image.pixelColor(0, 0) == QColor(LIGHT.heat[0])
    held = draw(BASE, RESIDENCY, LIGHT)
    assert [held.pixelColor(x, y).name() for y in (0, 1) for x in (0, 1)] == [
        LIGHT.tiers[t] for t in ("8", "0", "2", "4")
    ]


def test_tooltips_name_layer_expert_use_and_place(qtbot: QtBot, theme: Theme) -> None:
    heatmap = Heatmap(theme)
    qtbot.addWidget(heatmap)
    heatmap.resize(226, 120)
    heatmap.show_data(BASE)
    assert heatmap.describe(QPointF(200, 10)) == "Layer 1, expert 1\nused 4 times in this answer\non disk"
    assert heatmap.describe(QPointF(40, 110)) == "Layer 3, expert 0\nused once in this answer\nin memory at 2 bits"
    assert heatmap.describe(QPointF(3, 10)) == ""


def test_figures(qtbot: QtBot, theme: Theme) -> None:
    panel = LivePanel(theme)
    qtbot.addWidget(panel)
    panel.show()
    panel.take(BASE)
    assert panel._why.text() == "Waiting for the disk."
    assert panel._speed.text() == "12.0"
    assert panel._hits.text() == "50 %"
    assert panel._disk.text() == "2.0 MB/s"
    assert "75" in panel._mix_legend.text()
    panel.take(replace(BASE, generating=False))
    assert panel._speed.text() == "–"


def test_hidden_it_gathers_but_does_not_paint(qtbot: QtBot, theme: Theme) -> None:
    panel = LivePanel(theme)
    qtbot.addWidget(panel)
    looks: list[api.Look] = []
    panel.looking.connect(looks.append)
    panel.show()
    panel.take(BASE)
    panel.hide()
    assert [look.maps for look in looks] == [True, False]
    painted = panel.painted
    for number in range(10):
        panel.take(replace(BASE, hits=11 + number))
    assert panel.painted == painted
    assert len(panel.history.samples) == 11
    panel.show()
    assert panel.painted > painted
