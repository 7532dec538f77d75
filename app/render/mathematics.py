"""Puts pictures of formulas into a document, on the line of writing, and their sources back into what is copied."""

from __future__ import annotations

from PySide6.QtCore import QRect, QUrl
from PySide6.QtGui import (
    QColor,
    QFontMetricsF,
    QImage,
    QPainter,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
    QTextImageFormat,
)

from app.render.formula import Formulas, Found, Picture, stand_in
from app.theme import fonts
from app.theme.tokens import Palette

_SCHEME = "formula:"
_OBJECT = "\ufffc"  # what Qt has in the text where a picture is


def put_in(document: QTextDocument, found: list[Found], formulas: Formulas, palette: Palette, room: float) -> bool:
    """Replace stand-ins by pictures no wider than `room`, or by the source; True: some are still being made."""
    waiting = False
    for number, formula in enumerate(found):
        cursor = document.find(stand_in(number))
        if cursor.isNull():
            continue
        picture = formulas.picture(formula, palette.text)
        if picture is not None:
            alone = cursor.block().text().strip() == stand_in(number)
            _insert(document, cursor, number, picture, room, alone)
            continue
        waiting = formulas.waiting(formula, palette.text) or waiting
        form = QTextCharFormat(cursor.charFormat())
        form.setFontFamilies(fonts.code().families())
        form.setForeground(QColor(palette.muted))
        cursor.insertText(formula.source, form)
    return waiting


def text_of(cursor: QTextCursor, sources: list[str]) -> str:
    """The selected text as typed: formulas as their sources."""
    text = cursor.selection().toPlainText()
    if _OBJECT not in text:
        return text
    parts = text.split(_OBJECT)
    numbers = _numbers(cursor)
    shown = [sources[n] if n < len(sources) else "" for n in numbers]
    shown += [""] * (len(parts) - 1 - len(shown))
    return "".join(a + b for a, b in zip(parts, [*shown, ""]))


def _numbers(cursor: QTextCursor) -> list[int]:
    """Which formulas are selected, in order."""
    document = cursor.document()
    found = []
    for position in range(cursor.selectionStart(), cursor.selectionEnd()):
        if document.characterAt(position) == _OBJECT:
            at = QTextCursor(document)
            at.setPosition(position + 1)
            name = at.charFormat().toImageFormat().name()
            found.append(int(name.removeprefix(_SCHEME)) if name.startswith(_SCHEME) else len(document.toPlainText()))
    return found


def _insert(
    document: QTextDocument, cursor: QTextCursor, number: int, picture: Picture, room: float, alone: bool
) -> None:
    """Qt can set a picture's middle half an x above the line of writing, and no other height but that of its foot: so
    the picture gets what it lacks above or below, until that is where its line of writing lies. alone: there is no
    line of writing to be on.
    """
    shrink = min(1.0, room / picture.width)
    width, height, below = picture.width * shrink, picture.height * shrink, picture.below * shrink
    lacking = 0.0 if alone else height - 2 * below - QFontMetricsF(fonts.text()).xHeight()
    above, under = max(0.0, -lacking), max(0.0, lacking)
    name = f"{_SCHEME}{number}"
    document.addResource(
        QTextDocument.ResourceType.ImageResource.value, QUrl(name), _padded(picture, above / shrink, under / shrink)
    )
    form = QTextImageFormat()
    form.setName(name)
    form.setWidth(width)
    form.setHeight(height + above + under)
    form.setVerticalAlignment(QTextCharFormat.VerticalAlignment.AlignMiddle)
    cursor.insertImage(form)


def _padded(picture: Picture, above: float, under: float) -> QImage:
    scale = picture.image.height() / picture.height
    top, bottom = round(above * scale), round(under * scale)
    if not top and not bottom:
        return picture.image
    size = picture.image.size()
    image = QImage(size.width(), size.height() + top + bottom, picture.image.format())
    image.fill(QColor(0, 0, 0, 0))
    painter = QPainter(image)
    painter.drawImage(QRect(0, top, size.width(), size.height()), picture.image)
    painter.end()
    return image
