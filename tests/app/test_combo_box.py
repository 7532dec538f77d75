"""Boxes of choices that have less room than their text."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from app.theme.theme import Theme
from app.widgets.builders import make_combo

LONG = "A model of a very long name that nobody could ever read at one glance"


def test_a_box_ends_with_dots_what_it_has_no_room_for(qtbot: QtBot, theme: Theme) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    box = make_combo(holder, "Model", [(LONG, 0)])
    box.resize(160, box.sizeHint().height())
    cut = box.grab().toImage()
    pictures = []
    for text in (f"{LONG[:letters]}…" for letters in range(6, 24)):
        box.setItemText(0, text)
        pictures.append(box.grab().toImage())
    assert cut in pictures


@pytest.mark.parametrize("percent", [85, 100, 115, 130, 150, 175])
@pytest.mark.usefixtures("normal_size")
def test_a_box_as_wide_as_it_likes_to_be_shows_all_of_its_text(qtbot: QtBot, theme: Theme, percent: int) -> None:
    holder = QWidget()
    qtbot.addWidget(holder)
    theme.set_percent(percent)
    for text in ("Best first", "Any license", "推荐优先", "不限用途"):
        box = make_combo(holder, "Order", [(text, 0)])
        box.resize(box.sizeHint())
        shown = box.grab().toImage()
        for shorter in (text[:-1], text[:-2]):
            box.setItemText(0, f"{shorter}…")
            assert box.grab().toImage() != shown
