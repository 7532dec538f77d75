"""Documents of blocks: styled, harmless, and cheap to extend."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFont,
    QImage,
    QPainter,
    QPalette,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextTable,
)
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.markdown import document as documents
from app.markdown.highlight import Highlighter
from app.markdown.split import Block, Splitter, split
from app.markdown.typeset import spans
from app.theme.theme import LIGHT


@pytest.fixture(autouse=True)
def application(qapp: object) -> None:
    """Documents need fonts, and fonts an application."""


def test_markdown_becomes_text() -> None:
    document = documents.make(Block("text", "A **bold** `code` [link](https://example.org)"), LIGHT)
    assert document.toPlainText() == "A bold code link"
    assert "https://example.org" in document.toHtml()


def raised(document: QTextDocument) -> list[str]:
    runs = [it.fragment() for it in document.begin()]  # type: ignore[attr-defined]
    above = QTextCharFormat.VerticalAlignment.AlignSuperScript
    return [run.text() for run in runs if run.charFormat().verticalAlignment() == above]


@pytest.mark.parametrize(
    ("written", "shown", "marks"),
    [
        ("A word[^1], two[^note].", "A word1, twonote.", ["1", "note"]),
        ("[^1]: word", "1 word", ["1"]),
        ("In `a[^1]` and [^a-z] nothing", "In a[^1] and [^a-z] nothing", []),
    ],
)
def test_marks_of_footnotes_are_raised(written: str, shown: str, marks: list[str]) -> None:
    document = documents.make(Block("text", written), LIGHT)
    assert document.toPlainText() == shown
    assert raised(document) == marks


def test_code_that_somebody_types_has_its_face() -> None:
    document = documents.make(Block("text", "Use `x = 1`, *please*"), LIGHT, plain=True)
    assert document.toPlainText() == "Use `x = 1`, *please*"
    cursor = QTextCursor(document)
    cursor.setPosition(7)
    assert cursor.charFormat().fontFamilies()[0] == "JetBrains Mono"
    cursor.setPosition(2)
    assert not cursor.charFormat().fontFamilies()


def test_html_is_shown_and_not_interpreted() -> None:
    document = documents.make(Block("text", "a <b>tag</b> and <script>x</script>"), LIGHT)
    assert "<b>tag</b>" in document.toPlainText()


def test_images_open_no_file(tmp_path: Path) -> None:
    secret = tmp_path / "secret.png"
    assert QImage(4, 4, QImage.Format.Format_RGB32).save(str(secret))
    document = documents.make(Block("text", f"![x]({secret})"), LIGHT)
    for name in (QUrl.fromLocalFile(str(secret)), QUrl(str(secret))):
        assert document.resource(QTextDocument.ResourceType.ImageResource.value, name) is None


def test_the_users_words_stay_as_typed() -> None:
    document = documents.make(Block("text", "2 * 3 * 4 = *24*"), LIGHT, plain=True)
    assert document.toPlainText() == "2 * 3 * 4 = *24*"


@pytest.mark.parametrize("plain", [True, False])
def test_a_long_address_breaks_at_the_end_of_the_line(qapp: QApplication, plain: bool) -> None:
    document = documents.make(Block("text", f"See https://example.org/{'a1' * 200} there."), LIGHT, plain=plain)
    document.setTextWidth(400)
    assert document.size().width() == 400


def test_tables_are_tables() -> None:
    document = documents.make(Block("text", "| a | b |\n|---|--:|\n| 1 | 2 |"), LIGHT)
    tables = [f for f in document.rootFrame().childFrames() if isinstance(f, QTextTable)]
    assert (tables[0].rows(), tables[0].columns()) == (2, 2)


def test_lists_keep_their_numbers() -> None:
    document = documents.make(Block("item", "7. seven"), LIGHT)
    assert document.begin().textList().format().start() == 7


def test_growing_text_is_appended() -> None:
    document = documents.make(Block("open", "one"), LIGHT)
    documents.append(document, " two\nthree")
    assert document.toPlainText() == "one two\nthree"


def test_spans_name_the_parts_of_code() -> None:
    code = "def f():  # 😀 note\n    return 'x'"
    found = {code.encode("utf-16-le")[2 * a : 2 * (a + n)].decode("utf-16-le"): s for a, n, s in spans(code, "python")}
    assert found["def"] == "keyword"
    assert found["f"] == "name"
    assert found["# 😀 note"] == "comment"
    assert "string" in found.values()


def test_an_unknown_language_has_no_colours() -> None:
    assert spans("x", "no such language") == []


def test_code_gets_its_colours(qtbot: QtBot) -> None:
    highlighter = Highlighter()
    document = documents.make(Block("code", "return 1", "python"), LIGHT)
    with qtbot.waitSignal(highlighter.coloured):
        highlighter.add(document, "python", LIGHT.syntax)
    run = document.begin().begin().fragment()
    assert run.text() == "return"
    assert run.charFormat().foreground().color().name() == LIGHT.syntax["keyword"]
    highlighter.close()


def test_an_image_is_named_and_links_to_it(qtbot: QtBot) -> None:
    document = documents.make(Block("text", "See ![a cat](https://example.org/cat.png) here."), LIGHT)
    assert document.toPlainText() == "See a cat here."
    cursor = QTextCursor(document)
    cursor.setPosition(6)
    assert cursor.charFormat().anchorHref() == "https://example.org/cat.png"


def test_what_is_done_and_what_is_not_look_different_and_are_copied(qtbot: QtBot) -> None:
    texts = [
        documents.make(Block("item", text), LIGHT).toPlainText() for text in ("- [x] bread", "- [ ] milk", "- salt")
    ]
    assert texts == ["✓\u2002bread", "☐\u2002milk", "salt"]


def test_bold_italics_are_both(qtbot: QtBot) -> None:
    document = documents.make(Block("text", "***both***"), LIGHT)
    cursor = QTextCursor(document)
    cursor.setPosition(2)
    form = cursor.charFormat()
    assert form.fontItalic()
    assert form.fontWeight() >= QFont.Weight.Bold


@pytest.mark.parametrize(
    "text",
    ["**a** " * 60_000, "**a" * 60_000, "`a`" * 60_000, "[a](b)" * 60_000, "|a|b|\n|-|-|\n" + "|1|2|\n" * 60_000,
     "|a" * 60_000 + "|\n" + "|-" * 60_000 + "|\n"],
    ids=["bold", "open", "code", "links", "rows", "columns"],
)  # fmt: skip
def test_what_would_take_minutes_to_lay_out_is_shown_as_it_is_written(qapp: QApplication, text: str) -> None:
    document = documents.make(Block("text", text), LIGHT)
    assert document.toPlainText() == text
    assert not document.rootFrame().childFrames()  # no table


@pytest.mark.parametrize(
    ("text", "mirrored"),
    [("8. שלום", True), ("8. Hello", False), ("- Hello\n\n  8. שלום", True), ("8. Hi שלום", False)],
)
def test_the_dot_is_on_the_side_of_the_words(text: str, mirrored: bool) -> None:
    document = documents.make(Block("item", text), LIGHT)
    document.setTextWidth(200)
    picture = QImage(200, round(document.size().height()), QImage.Format.Format_RGB32)
    picture.fill(QColor("white"))
    painter, context = QPainter(picture), QAbstractTextDocumentLayout.PaintContext()
    context.palette.setColor(QPalette.ColorRole.Text, QColor("black"))
    document.documentLayout().draw(painter, context)
    painter.end()
    block = document.lastBlock()
    place = block.layout().lineAt(0).naturalTextRect().translated(block.layout().position()).toRect()
    beside = range(place.right() + 2, 200) if mirrored else range(place.left() - 1)
    rows = range(place.top(), place.bottom() + 1)
    high = [n for x in beside if (n := sum(picture.pixelColor(x, y).lightness() < 128 for y in rows))]
    assert len(high) > 5  # the number, and its dot
    assert (high[0] < high[-1]) is mirrored  # the dot is low


def grown(text: str, step: int = 1) -> list[documents.BlockDocument]:
    """The documents that the block at the end has while a text arrives in pieces, the last one the newest."""
    splitter, view, made = Splitter(), None, []
    for at in range(0, len(text), step):
        splitter.feed(text[at : at + step])
        block = splitter.open()
        if block is None:
            continue
        if view is not None and documents.only_appended(view[0], block):
            documents.append(view[1], block.text[len(view[0].text) :])
            view = block, view[1]
        else:
            view = block, documents.make(block, LIGHT)
            made.append(view[1])
    assert view is not None
    return [*made, view[1]]


@pytest.mark.parametrize("step", [1, 3, 7])
@pytest.mark.parametrize(
    "text",
    [
        "The **best** of `k` experts, and *their* weights, are the ones that count here, as it seems",
        "- An item with **bold** words, and then some that are not bold any more at all",
        "A [link](http://a.b/c) and words behind it, with a line\nthat goes on below, quite some words long",
        "# A heading that is long enough to be appended to",
        "> A quote with `code` and further words, which go on and on",
    ],
)
def test_what_grows_looks_as_it_will_when_it_is_closed(text: str, step: int) -> None:
    closed = documents.make(split(text)[-1], LIGHT)
    *made, last = grown(text, step)
    assert last.toPlainText() == closed.toPlainText()
    assert runs(last) == runs(closed)
    assert len(made) < len(text) // step  # words alone are appended


def runs(document: documents.BlockDocument) -> list[tuple[str, bool, bool]]:
    """Words of one look: which, bold, in the font of code."""
    found: list[tuple[str, bool, bool]] = []
    cursor = QTextCursor(document)
    for at in range(document.characterCount() - 1):
        cursor.setPosition(at + 1)
        form = cursor.charFormat()
        look = form.fontWeight() >= QFont.Weight.DemiBold, form.fontFixedPitch()
        letter = document.characterAt(at)
        if found and found[-1][1:] == look:
            found[-1] = (found[-1][0] + letter, *look)
        else:
            found.append((letter, *look))
    return found


def test_a_mark_alone_changes_nothing_above_it() -> None:
    for mark in ("-", "--", "---", "=", "*", "2", "2.", "#"):
        made = documents.make(Block("open", f"Some words\n{mark}", grows="text"), LIGHT)
        assert made.toPlainText() == "Some words"
        assert not made.firstBlock().blockFormat().headingLevel()


@pytest.mark.parametrize("text", ["| a | b |\n|---|---|\n| one | two |\n| three", "An $x_1$ and $y_2$ here"])
def test_tables_and_formulas_stand_as_written_until_they_are_closed(text: str) -> None:
    assert grown(text)[-1].toPlainText() == text
