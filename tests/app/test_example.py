"""A button whose words wrap."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from app.chat.welcome import Example
from app.theme.theme import Theme

LONG = "Explain how a Mixture-of-Experts model works, with an everyday comparison."


@pytest.mark.parametrize("words", [LONG, "用一个日常的比喻，解释混合专家模型是怎样工作的。" * 2])
def test_it_is_as_high_as_its_words_need_at_every_width(qtbot: QtBot, theme: Theme, words: str) -> None:
    button = Example()
    qtbot.addWidget(button)
    button.setText(words)
    heights = [button.heightForWidth(width) for width in (1000, 320, 160, button.minimumSizeHint().width())]
    assert heights == sorted(heights)
    assert heights[0] < heights[-1]
    for width in (320, 160):
        needed = button._words(width - 32)
        assert needed.width() <= width - 32
        assert needed.height() <= button.heightForWidth(width)


def test_what_is_short_takes_one_line(qtbot: QtBot, theme: Theme) -> None:
    button = Example()
    qtbot.addWidget(button)
    button.setText("Hi & bye")
    assert button.sizeHint().height() == button.heightForWidth(1000)
