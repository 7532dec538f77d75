"""Paints messages: bubbles, code panels, notices, the line at the foot; and caches what was painted."""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QAbstractTextDocumentLayout,
    QColor,
    QFontMetricsF,
    QPainter,
    QPalette,
    QPen,
    QPixmap,
    QTextCharFormat,
    QTextCursor,
    QTextDocument,
)

from app.i18n.translate import tr, tr_noop
from app.images.view import paint_image
from app.theme import fonts
from app.theme.icons import pixmap
from app.theme.theme import Palette
from app.transcript import notes
from app.transcript.blocks import CODE_HEAD, BlockView
from app.transcript.image_rows import RADIUS
from app.transcript.item import BUBBLE_PAD_X, MessageItem, foot_height, notice_box, pad_bottom, pad_top
from app.transcript.selection import Selection

CHEVRON = 22  # width that the mark of a line takes which can be unfolded, beside text of the base size
_LONGEST = 400  # characters of a match, of which only a part may be in what is painted
_NOTHING_STALE = 1 << 30  # pixels
_BETWEEN = "  ·  "  # the figures under an answer, as notes.summary joins them
_BLOCKS = {"tool_call": tr_noop("Tool call"), "thought": tr_noop("More thinking")}
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight


class PaintCache:
    """Pixmap of the viewport as painted last: while the page grows, what is above its end is moved, not repainted.

    `drop` it whenever more changes than the end of the page.
    """

    def __init__(self) -> None:
        self._pixmap: QPixmap | None = None
        self._stale_from = 0  # pixels from the top; what is below has to be painted
        self._moved = 0  # pixels that the rest is to be moved up before

    def drop(self) -> None:
        """Drop the pixmap: all is painted again."""
        self._pixmap = None

    def grown(self, by: float, end: float) -> bool:
        """Move up by `by` what is above `end` (pixels from the top). False: all has to be painted."""
        pixmap = self._pixmap
        if pixmap is None:
            return False
        ratio = pixmap.devicePixelRatio()
        if by < 0 or not by.is_integer() or not (by * ratio).is_integer():
            self._pixmap = None
            return False
        if by:
            self._moved += int(by)
            self._stale_from = min(self._stale_from, int(pixmap.deviceIndependentSize().height()))  # below: bared
        self._stale_from = min(max(0, self._stale_from - int(by)), max(0, math.floor(end)))
        return True

    def stale(self, size: QSize) -> QRect:
        """Part of a viewport of this size that has to be painted."""
        return QRect(0, self._stale_from, size.width(), max(0, size.height() - self._stale_from))

    def show(
        self, onto: QPainter, size: QSize, ground: QColor, paint: Callable[[QPainter, QRect], object]
    ) -> None:  # fmt: skip
        """Draw the pixmap, after paint(painter, area) has painted the stale part."""
        ratio = onto.device().devicePixelRatioF()
        pixels = QSize(round(size.width() * ratio), round(size.height() * ratio))
        if self._pixmap is None or self._pixmap.size() != pixels or self._pixmap.devicePixelRatio() != ratio:
            self._pixmap = QPixmap(pixels)
            self._pixmap.setDevicePixelRatio(ratio)
            self._stale_from = self._moved = 0
        if self._moved:
            self._pixmap.scroll(0, -round(self._moved * ratio), self._pixmap.rect())
            self._moved = 0
        area = self.stale(size)
        if not area.isEmpty():
            painter = QPainter(self._pixmap)
            painter.setClipRect(area)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_Source)
            painter.fillRect(area, ground)
            painter.setCompositionMode(QPainter.CompositionMode.CompositionMode_SourceOver)
            paint(painter, area)
            painter.end()
            self._stale_from = _NOTHING_STALE
        onto.drawPixmap(0, 0, self._pixmap)


def paint_message(
    painter: QPainter, item: MessageItem, number: int, column: float, clip: QRectF, palette: Palette,
    *, selection: Selection, buttons: float,
) -> None:  # fmt: skip
    """Paint a message whose column begins at the painter's origin. clip: what of it must be painted.

    buttons: width that those at its foot take.
    """
    painter.setRenderHints(QPainter.RenderHint.Antialiasing | QPainter.RenderHint.SmoothPixmapTransform)
    at = item.steps_top() - (pad_top() if item.is_user else 0.0)
    if at > clip.top():
        for note in reversed(item.notices_above()):
            at -= notice_box(note, column).height
            _note(painter, note, at, column, palette, right=item.is_user)
    for image, rect in item.thumbnails(column):
        if rect.intersects(clip):
            paint_image(painter, rect, image, palette, RADIUS)
    width = item.text_width(column)
    left = item.text_left(column)
    if item.is_user and item.message.content:  # it may be an attachment alone
        _bubble(painter, item, column, palette)
    painter.translate(left, 0)
    for index, view in item.between(clip.top(), clip.bottom()):
        _block(painter, item, view, width, clip, palette, selection=selection, message=number, block=index)
    painter.translate(-left, 0)
    if item.foot + foot_height() > clip.top() and item.tools_top() < clip.bottom():
        _end(painter, item, column, palette, buttons)


def _end(painter: QPainter, item: MessageItem, column: float, palette: Palette, buttons: float) -> None:
    """Paint the notices below a message and the line at its foot."""
    foot = item.foot
    for note in reversed(notes.after(item.message)):
        foot -= notice_box(note, column).height
        _note(painter, note, foot, column, palette)
    if not buttons and item.message.versions > 1:
        buttons = _versions(painter, item, column, palette)
    if not item.is_user:
        line = item.status if item.streaming else notes.summary(item.message)
        space = foot_rect(item, column, buttons)
        if item.has_details:
            _chevron(painter, "chevron-down" if item.details_height else "chevron-right", space, palette)
            space.setLeft(fonts.pixels(CHEVRON))
        painter.setFont(fonts.text(0.86))
        painter.setPen(QColor(palette.muted))
        metrics = QFontMetricsF(painter.font())
        while (wide := metrics.horizontalAdvance(line) > space.width()) and _BETWEEN in line:
            line = line.rpartition(_BETWEEN)[0]  # whole figures; the button beside them tells all
        if wide:  # half a figure would be none
            line = metrics.elidedText(line, Qt.TextElideMode.ElideRight, space.width()) if item.streaming else ""
        painter.drawText(space, _LEFT, line)


def _block(
    painter: QPainter, item: MessageItem, view: BlockView, width: float, clip: QRectF, palette: Palette,
    *, selection: Selection, message: int, block: int,
) -> None:  # fmt: skip
    """Paint one block of a message, from the left edge of its text on."""
    if view.document is None:
        return
    if view.is_fold:
        _fold(painter, item, view, palette)
        return
    if view.block.thought and not view.is_code:
        painter.fillRect(QRectF(4, view.top - 4, 2, view.height + 9), QColor(palette.border))
    if view.is_code:
        _code_panel(painter, view, width, palette)
    if view.preview is not None:
        painter.fillRect(view.preview_rect(width), QColor("white"))
        painter.drawImage(view.preview_rect(width), view.preview)
        return
    if view.block.kind == "rule":
        painter.fillRect(QRectF(0, math.floor(view.top + view.height / 2), width, 1), QColor(palette.border))
        return
    if view.is_quote:
        edge = width - 5 if view.right_to_left else 2.0
        painter.fillRect(QRectF(edge, view.top - 1, 3, view.height - 4), QColor(palette.accent_soft))
    _text(painter, view, width, clip, palette, selection, message=message, block=block)


def _versions(painter: QPainter, item: MessageItem, column: float, palette: Palette) -> float:
    """Draw which version it is, where the buttons appear that step between them. Returns its width."""
    which = f"{item.message.version}/{item.message.versions}"
    painter.setFont(fonts.text(0.86))
    painter.setPen(QColor(palette.muted))
    painter.drawText(foot_rect(item, column, 6.0), _RIGHT, which)
    return QFontMetricsF(painter.font()).horizontalAdvance(which) + 20.0


def foot_rect(item: MessageItem, column: float, buttons: float) -> QRectF:
    """Rectangle of the line under an answer, beside its buttons, relative to the message."""
    return QRectF(0, item.foot + 3, column - buttons, foot_height() - fonts.pixels(8))


def files_rect(item: MessageItem, column: float) -> QRectF | None:
    """Rectangle of the line that names what is attached, relative to the message."""
    if len(item.images) == len(item.message.attachments):
        return None
    bottom = item.steps_top() - (pad_top() if item.is_user else 0.0)
    names = notice_box(item.notices_above()[-1], column)
    found = names.rect(bottom - names.height)
    if item.is_user:
        found.moveRight(column)
    return found


def left_edge(item: MessageItem, column: float) -> float:
    """X of the leftmost of what a message shows, relative to its column: a question stands at the right."""
    if not item.is_user or any(not isinstance(note, notes.PlainNote) for note in item.notices_above()):
        return 0.0
    edges = [rect.left() for _, rect in item.thumbnails(column)]
    edges += [column - notice_box(note, column).width for note in item.notices_above()]
    if item.message.content:
        edges.append(item.text_left(column) - BUBBLE_PAD_X)
    return min(edges, default=0.0)


def fold_rect(view: BlockView, width: float) -> QRectF:
    """Rectangle in which a click unfolds the thought, relative to the message's text."""
    return QRectF(0, view.top, min(width, fonts.pixels(320)), view.height)


def _fold(painter: QPainter, item: MessageItem, view: BlockView, palette: Palette) -> None:
    painter.setFont(fonts.text(0.92))
    painter.setPen(QColor(palette.muted))
    name = "chevron-right" if item.folded else "chevron-down"
    _chevron(painter, name, QRectF(0, view.top, 22, view.height), palette)
    painter.drawText(
        QRectF(fonts.pixels(CHEVRON), view.top, fonts.pixels(400), view.height), _LEFT, item.thought_line()
    )


def _chevron(painter: QPainter, name: str, line: QRectF, palette: Palette) -> None:
    """Draw the chevron at the beginning of a line that can be unfolded."""
    side = fonts.pixels(16)
    mark = pixmap(name, palette.muted, side, painter.device().devicePixelRatioF())
    painter.drawPixmap(QPointF(line.left(), line.center().y() - side / 2), mark)


def _bubble(painter: QPainter, item: MessageItem, column: float, palette: Palette) -> None:
    top = item.first_block_top() - pad_top()
    last = item.views[-1] if item.views else None
    bottom = (last.top + last.height if last else top + pad_top()) + pad_bottom()
    left = item.text_left(column) - BUBBLE_PAD_X
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.bubble))
    painter.drawRoundedRect(QRectF(left, top, column - left, bottom - top), 16, 16)


def _code_panel(painter: QPainter, view: BlockView, width: float, palette: Palette) -> None:
    panel = QRectF(0.5, view.top + 0.5, width - 1, view.height - 1)
    painter.setPen(QPen(QColor(palette.border), 1))
    painter.setBrush(QColor(palette.code))
    painter.drawRoundedRect(panel, 10, 10)
    painter.setFont(fonts.text(0.84))
    painter.setPen(QColor(palette.muted))
    painter.drawText(
        QRectF(14, view.top + 2, width / 2, fonts.pixels(CODE_HEAD)), _LEFT, _language(view.block.language)
    )


def _language(name: str) -> str:
    """Head of a block of code; the engine's own kinds of blocks in words."""
    if name in _BLOCKS:
        return tr(_BLOCKS[name])
    return name or tr("text", about="code in no known language")


def _text(
    painter: QPainter, view: BlockView, width: float, clip: QRectF, palette: Palette, selection: Selection,
    *, message: int, block: int,
) -> None:  # fmt: skip
    assert view.document is not None
    place = view.text_rect(width)
    context = QAbstractTextDocumentLayout.PaintContext()
    ink = palette.muted if view.block.thought else palette.text
    context.palette.setColor(QPalette.ColorRole.Text, QColor(ink))
    context.clip = clip.translated(-place.topLeft()).adjusted(-200, -4, 200, 4)
    cursor = selection.cursor(message, block, view.document)
    marks = _wanted(view.document, selection.wanted, context.clip, cursor, palette)
    if cursor is not None:
        form = QTextCharFormat()
        form.setBackground(QColor(palette.accent if selection.is_found else palette.selection))
        if selection.is_found:
            form.setForeground(QColor(palette.on_accent))
        marks.append(_marked(cursor, form))
    context.selections = marks
    painter.save()
    if view.is_code:  # which may be wider than its panel
        inside = QRectF(1, place.top() - 4, width - 2, view.top + view.height - place.top())
        painter.setClipRect(inside, Qt.ClipOperation.IntersectClip)
    painter.translate(place.topLeft())
    view.document.documentLayout().draw(painter, context)
    painter.restore()


def _wanted(
    document: QTextDocument, words: re.Pattern[str] | None, clip: QRectF, chosen: QTextCursor | None, palette: Palette
) -> list[QAbstractTextDocumentLayout.Selection]:
    """Marks for the words that are looked for in what is painted of a document, but for what is selected."""
    if words is None:
        return []
    form = QTextCharFormat()
    form.setBackground(QColor(palette.warning_soft))
    form.setFontUnderline(True)  # so that it is seen without colours, too
    form.setUnderlineColor(QColor(palette.warning))
    layout, text, marks = document.documentLayout(), document.toPlainText(), []
    first = layout.hitTest(QPointF(0, clip.top()), Qt.HitTestAccuracy.FuzzyHit)
    last = layout.hitTest(QPointF(clip.right(), clip.bottom()), Qt.HitTestAccuracy.FuzzyHit)
    for match in words.finditer(text, max(0, first - _LONGEST), last + _LONGEST):
        if chosen is None or match.span() != (chosen.selectionStart(), chosen.selectionEnd()):
            cursor = QTextCursor(document)
            cursor.setPosition(match.start())
            cursor.setPosition(match.end(), QTextCursor.MoveMode.KeepAnchor)
            marks.append(_marked(cursor, form))
    return marks


def _marked(cursor: QTextCursor, form: QTextCharFormat) -> QAbstractTextDocumentLayout.Selection:
    made = QAbstractTextDocumentLayout.Selection()
    made.cursor, made.format = cursor, form
    return made


def _note(
    painter: QPainter, text: str, top: float, column: float, palette: Palette, *, right: bool = False
) -> None:  # fmt: skip
    """right: what is attached to a question stands above its bubble, at the right."""
    painter.setFont(fonts.text(0.92))
    found = notice_box(text, column)
    rect = found.rect(top)
    plain = isinstance(text, notes.PlainNote)
    if plain and right:
        rect.moveRight(column)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(palette.hover if plain else palette.warning_soft))
    painter.drawRoundedRect(rect, 9, 9)
    painter.setBrush(QColor(palette.muted if plain else palette.warning))
    spacing = QFontMetricsF(painter.font()).lineSpacing()
    line = QRectF(rect.left() + 28, 0, rect.width() - 28, spacing)
    line.moveTop(rect.center().y() - len(found.lines) * spacing / 2)
    painter.drawEllipse(QPointF(rect.left() + 15, line.center().y()), 3, 3)
    painter.setPen(QColor(palette.muted if plain else palette.warning))
    for words in found.lines:
        painter.drawText(line, _LEFT | Qt.TextFlag.TextDontClip, words)
        line.translate(0, spacing)
