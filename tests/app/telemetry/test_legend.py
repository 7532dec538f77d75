"""The words under a chart."""

from __future__ import annotations

import pytest
from PySide6.QtGui import QColor
from pytestqt.qtbot import QtBot

from app.telemetry.charts import LegendLabel, MemoryBar, swatches
from app.theme.theme import Theme
from tests.app.telemetry.samples import MEMORY


@pytest.mark.parametrize("mode", ["light", "dark"])
@pytest.mark.parametrize("percent", [100, 150])
@pytest.mark.usefixtures("normal_size")
def test_its_squares_have_the_outline_of_the_bar(qtbot: QtBot, theme: Theme, mode: str, percent: int) -> None:
    theme.set_mode(mode)
    theme.set_percent(percent)
    bar = MemoryBar(theme)
    qtbot.addWidget(bar)
    bar.resize(300, 400)
    bar.show_use(MEMORY)
    bar.show()
    label = bar.legend.findChild(LegendLabel)
    assert isinstance(label, LegendLabel)
    _, found = label.laid_out()
    assert len(found) == 8
    assert len({square.top() for square, _ in found}) > 1  # on several lines
    picture = label.grab().toImage()
    for square, colour in found:
        edges = {picture.pixelColor(point).name() for point in (square.topLeft(), square.bottomRight())}
        assert edges == {QColor(theme.palette.muted).name()}
        assert picture.pixelColor(square.center()) == colour


def test_words_are_shown_as_they_are() -> None:
    assert "Used&nbsp;&lt;1%" in swatches([("#123456", "Used <1%")])
