"""Columns are as wide as what is in them asks for."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from app.markdown.document import fit_tables, make, shared_widths, tables_of
from app.markdown.split import Block
from app.theme.theme import LIGHT

NOTE = "A note that goes on for quite a while about what it is good at, and what it is not good at"
WIDE = f"| Model | Experts | Licence | Notes |\n|---|---|---|---|\n| Mixtral-8x7B-Instruct | 8 | Apache | {NOTE} |"


def test_words_fit_and_the_rest_goes_to_who_lacks_it() -> None:
    widths = shared_widths([(160.0, 150.0), (30.0, 30.0), (800.0, 60.0)], 500.0)
    assert sum(widths) == pytest.approx(500.0)
    assert widths[0] >= 150.0
    assert widths[1] == pytest.approx(30.0, abs=1.0)
    assert widths[2] > 290.0


def test_where_not_even_the_words_fit_each_column_gives_way() -> None:
    widths = shared_widths([(300.0, 300.0)] * 10, 500.0)
    assert sum(widths) == pytest.approx(500.0)
    assert widths == pytest.approx([50.0] * 10)
    prose, number = shared_widths([(900.0, 90.0), *[(90.0, 90.0)] * 9], 500.0)[:2]
    assert prose > 2 * number  # or it would be a tower of single letters


def lines(width: float) -> dict[str, int]:
    """Of each cell of WIDE, by its text."""
    document = make(Block("text", WIDE), LIGHT)
    fit_tables(document, width)
    document.setTextWidth(width)
    document.documentLayout().documentSize()
    found, block = {}, document.begin()
    while block.isValid():
        found[block.text()] = block.layout().lineCount()
        block = block.next()
    return found


def test_a_name_is_not_broken_beside_a_column_with_room(qtbot: QtBot) -> None:
    found = lines(480.0)
    assert found["Mixtral-8x7B-Instruct"] == 1
    assert found["Licence"] == 1
    assert 2 <= found[NOTE] <= 8


def test_another_width_is_shared_out_anew(qtbot: QtBot) -> None:
    assert lines(1400.0)[NOTE] == 1


@pytest.mark.parametrize(("text", "right"), [("| שם | ערך |\n|---|---|\n| אלף | 1 |", True), (WIDE, False)])
def test_a_table_stands_where_its_writing_begins(qtbot: QtBot, text: str, right: bool) -> None:
    document = make(Block("text", text), LIGHT)
    (table,) = tables_of(document)
    assert bool(table.format().alignment() & Qt.AlignmentFlag.AlignRight) == right
