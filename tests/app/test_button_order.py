"""The buttons at the foot of dialogs: what does something else at the left, then Cancel, the main one at the right."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from app.application import no_answer_box
from app.widgets.builders import confirm
from tests.app import places
from tests.app.acts import Launch

_LEAVES = {"Cancel", "Close"}


def in_order(root: QWidget) -> list[QPushButton]:
    """Buttons in the rows of a dialog's main button, or of its button box, from left to right."""
    shown = [b for b in root.findChildren(QPushButton) if not b.visibleRegion().isEmpty() and b.window() is root]
    foot = [b for b in shown if b.text() in _LEAVES]
    rows = {b.mapTo(root, b.rect().center()).y() for b in foot}
    same = [b for b in shown if any(abs(b.mapTo(root, b.rect().center()).y() - y) <= 2 for y in rows)]
    return sorted(same, key=lambda b: b.mapTo(root, b.rect().topLeft()).x())


@pytest.mark.long
def test_the_main_button_is_last_and_cancel_before_it(qtbot: QtBot, launch: Launch) -> None:
    underhill = launch(**places.ENGINE)
    for _ in places.pages(qtbot, underhill):
        pass
    seen = 0
    for name, dialog in places.dialogs(qtbot, underhill):
        texts = [button.text() for button in in_order(dialog)]
        mains = [b.text() for b in in_order(dialog) if b.objectName() == "primary"]
        if texts:
            seen += 1
            if mains:
                assert texts[-len(mains) :] == mains, f"{name}: {texts}"
            else:
                assert texts[-1] in _LEAVES, f"{name}: {texts}"
            if "Cancel" in texts and mains and mains != ["Cancel"]:
                assert texts.index("Cancel") == len(texts) - 2, f"{name}: {texts}"
    assert seen > 12


def test_questions_have_their_deed_at_the_right(qtbot: QtBot, launch: Launch) -> None:
    box = confirm(launch().window, "Delete it?", "It can't be restored.", "Delete", lambda: None)
    qtbot.waitUntil(box.isVisible)
    assert [button.text() for button in in_order(box)] == ["Cancel", "Delete"]
    assert box.defaultButton().text() == "Cancel"
    box.reject()


def test_a_second_start_offers_to_try_again_at_the_right(qtbot: QtBot, launch: Launch) -> None:
    box = no_answer_box(7)
    qtbot.addWidget(box)
    box.show()
    qtbot.waitUntil(box.isVisible)
    assert [button.text() for button in in_order(box)] == ["Close", "Try again"]
