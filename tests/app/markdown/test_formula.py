"""Formulas: what is one and what is not, and images of them that never keep the window waiting."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor, QImage, QPainter, QTextCursor
from pytestqt.qtbot import QtBot

from app.markdown import document as documents
from app.markdown.formula import FormulaRenderer, FormulaSource, extract_formulas
from app.markdown.split import Block, split
from app.theme.theme import LIGHT, Theme


@pytest.fixture
def formulas(theme: Theme) -> Iterator[FormulaRenderer]:
    made = FormulaRenderer()
    yield made
    made.close()


@pytest.mark.parametrize(
    ("text", "latex"),
    [
        ("so $x^2$ and \\(y\\)", ["x^2", "y"]),
        ("\\[ a \\] $$b\nc$$", ["a", "b\nc"]),
        ("it costs $5 or $10, at most $20.", []),
        ("`$x$` and ``a ` $y$``", []),
        ("set $HOME/bin:$PATH now", []),
        ("\\$x$ and $ y $", []),
        ("($a_i$, $b$)", ["a_i", "b"]),
        ("no formula \\(", []),
        ("\\begin{align*}a &= b\\end{align*} $c$", ["\\begin{align*}a &= b\\end{align*}", "c"]),
        ("\\begin{align}a \\end{gather} \\begin{itemize}", []),
    ],
)
def test_what_is_a_formula(text: str, latex: list[str]) -> None:
    left, found = extract_formulas(text)
    assert [f.latex for f in found] == latex
    assert all(f.source in text and f.source not in left for f in found)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("a\n$$\nx\n\ny\n$$\nb", ["text", "math", "text"]),
        ("\\[ x \\]", ["math"]),
        ("\\[ x \\].\nmore", ["math", "text"]),
        ("$$x$$ is a formula", ["text"]),
        ("```\n$$\n```", ["code"]),
        ("$$\nnever closed", ["math"]),
    ],
)
def test_formulas_on_their_own_lines_are_blocks(text: str, kinds: list[str]) -> None:
    assert [b.kind for b in split(text)] == kinds


def selected(document: documents.BlockDocument) -> str:
    cursor = QTextCursor(document)
    cursor.select(QTextCursor.SelectionType.Document)
    return document.selected(cursor)


def test_the_source_is_shown_until_the_image_is_there_and_copied_from_it(
    qtbot: QtBot, formulas: FormulaRenderer
) -> None:
    block = Block("text", "First $a+b$, then **bold** and \\(\\frac{1}{2}\\).")
    first = documents.make(block, LIGHT, formulas=formulas)
    assert first.waiting
    assert "$a+b$" in first.toPlainText()
    known = [FormulaSource("a+b", False, ""), FormulaSource("\\frac{1}{2}", False, "")]
    with qtbot.waitSignal(formulas.ready):
        pass
    qtbot.waitUntil(lambda: not any(formulas.waiting(f, LIGHT.text) for f in known))
    second = documents.make(block, LIGHT, formulas=formulas)
    assert not second.waiting
    assert second.toPlainText().count("\ufffc") == 2
    assert selected(second) == "First $a+b$, then bold and \\(\\frac{1}{2}\\)."


def test_a_wrong_formula_stays_as_it_was_written(qtbot: QtBot, formulas: FormulaRenderer) -> None:
    block = Block("text", "see $\\frac{1$ here")
    assert documents.make(block, LIGHT, formulas=formulas).waiting
    qtbot.waitUntil(lambda: not formulas.waiting(FormulaSource("\\frac{1", False, ""), LIGHT.text))
    document = documents.make(block, LIGHT, formulas=formulas)
    assert not document.waiting
    assert document.toPlainText() == "see $\\frac{1$ here"


def test_images_lie_on_the_line_of_writing_and_fit_the_page(qtbot: QtBot, formulas: FormulaRenderer) -> None:
    wide = FormulaSource("x" + "+x" * 300, True, "")
    raised = FormulaSource("\\begin{pmatrix} a & b \\\\ c & d \\end{pmatrix}^{-1}", True, "")
    for formula in (wide, raised):
        formulas.image(formula, LIGHT.text)
    qtbot.waitUntil(lambda: not formulas.waiting(wide, LIGHT.text) and not formulas.waiting(raised, LIGHT.text))
    drawn = formulas.image(raised, LIGHT.text)
    assert drawn is not None
    assert 0 < drawn.below < drawn.height
    document = documents.make(Block("math", f"$${wide.latex}$$"), LIGHT, formulas=formulas, space=500.0)
    document.setTextWidth(540)
    assert document.size().width() <= 540
    assert document.idealWidth() <= 520


@pytest.mark.parametrize("latex", ["1", "X", "X + 1"])
def test_a_formula_stands_on_the_line_of_the_words_beside_it(
    qtbot: QtBot, formulas: FormulaRenderer, latex: str
) -> None:
    formula = FormulaSource(latex, False, "")
    formulas.image(formula, LIGHT.text)
    qtbot.waitUntil(lambda: not formulas.waiting(formula, LIGHT.text))
    drawn = formulas.image(formula, LIGHT.text)
    assert drawn is not None
    document = documents.make(Block("text", f"${latex}$ HHHH"), LIGHT, formulas=formulas, space=500.0)
    document.setTextWidth(540)
    image = QImage(540, 60, QImage.Format.Format_RGB32)
    image.fill(0xFFFFFF)
    painter = QPainter(image)
    document.drawContents(painter)
    painter.end()
    left = round(document.documentMargin())
    middle = left + round(drawn.width) + 2

    def foot(begin: int, end: int) -> int:
        """The lowest row with ink in it."""
        return max(y for y in range(60) for x in range(begin, end) if QColor(image.pixel(x, y)).lightness() < 150)

    assert abs(foot(left, middle) - foot(middle, 300)) <= 1


def test_the_same_formula_is_set_once(qtbot: QtBot, theme: Theme) -> None:
    calls = []

    def setter(latex: str, display: bool, size: float, colour: str) -> str:
        calls.append(latex)
        return ""

    formulas = FormulaRenderer(setter=setter)
    try:
        for _ in range(3):
            formulas.image(FormulaSource("x", False, ""), "#000000")
            qtbot.waitUntil(lambda: not formulas.waiting(FormulaSource("x", False, ""), "#000000"))
        assert calls == ["x"]
    finally:
        formulas.close()
