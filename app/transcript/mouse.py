"""Hit tests in the conversation, and selecting text with the mouse."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, QPointF, Qt, QTimer, Slot
from PySide6.QtGui import QInputDevice, QMouseEvent, QTextCursor

from app.storage.records import Attachment
from app.transcript.code_controls import CodeBlocks
from app.transcript.page import TranscriptPage
from app.transcript.paint import files_rect, fold_rect, foot_rect
from app.transcript.selection import END, TextPosition
from app.widgets.text import plain_tip


@dataclass(frozen=True, kw_only=True)
class HitResult:
    """Result of a hit test. place: the character. link: its address.

    folds: it is the line that a thought is folded under. figures: that with the speed, which unfolds, too.
    files: it is the line that names what is attached. image: that is there.
    """

    place: TextPosition
    link: str = ""
    on_text: bool = False
    folds: bool = False
    figures: bool = False
    files: bool = False
    image: Attachment | None = None


def hit_test(page: TranscriptPage, point: QPointF, exact: bool = True) -> HitResult | None:
    """Find what lies at a point of the viewport; with exact False the nearest text above or at it."""
    layout = page.layout_
    index = layout.at(point.y() + page.verticalScrollBar().value())
    if index < 0:
        return None
    item = layout.items[index]
    shown = item.thumbnails(layout.column) if exact else []
    image = next((each for each, rect in shown if rect.contains(point - page.origin(index))), None)
    if image is not None:
        return HitResult(place=TextPosition(index, 0, 0), image=image)
    files = files_rect(item, layout.column)
    if exact and files is not None and files.contains(point - page.origin(index)):
        return HitResult(place=TextPosition(index, 0, 0), files=True)
    if not item.views:
        return None
    width = item.text_width(layout.column)
    local = point - page.origin(index) - QPointF(item.text_left(layout.column), 0)
    views = item.views
    number = next((i for i, v in enumerate(views) if local.y() <= v.top + v.height), len(views) - 1)
    block = views[number]
    if block.document is None:
        return None
    rect = block.text_rect(width)
    inside = -4 <= local.x() <= width + 4 and block.top <= local.y() <= block.top + block.height
    if exact and not inside:
        foot = item.has_details and foot_rect(item, layout.column, page.beside(index)).contains(local)
        return HitResult(place=TextPosition(index, number, 0), figures=True) if foot else None
    spot = local - rect.topLeft()
    layout_of = block.document.documentLayout()
    position = max(0, layout_of.hitTest(spot, Qt.HitTestAccuracy.FuzzyHit))
    if local.y() > block.top + block.height:
        position = block.document.characterCount() - 1
    on_text = layout_of.hitTest(spot, Qt.HitTestAccuracy.ExactHit) >= 0 and block.preview is None
    link = layout_of.anchorAt(spot) if inside and on_text else ""
    folds = block.is_fold and fold_rect(block, width).contains(local)
    return HitResult(place=TextPosition(index, number, position), link=link, on_text=on_text and inside, folds=folds)


class MouseSelection(QObject):
    """Turns press, drag and release into a selection; dragging past an edge of the page, or of long code, scrolls."""

    def __init__(self, page: TranscriptPage, code: CodeBlocks) -> None:
        super().__init__(page)
        self._page, self._code, self._selection = page, code, page.selection
        self._pressed_at: QPointF | None = None
        self._last = QPointF()
        self._scroll = QTimer(self, interval=30)
        self._scroll.timeout.connect(self._scroll_on)

    def press(self, event: QMouseEvent) -> None:
        """Begin a selection, or extend the one there is with Shift."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        hit = hit_test(self._page, event.position(), exact=False)
        self._pressed_at = event.position()
        if hit is not None and event.modifiers() & Qt.KeyboardModifier.ShiftModifier and self._selection.anchor:
            self._selection.head = hit.place
        else:
            self._selection.anchor = self._selection.head = hit.place if hit else None
        self._page.renew()

    def double_click(self, event: QMouseEvent) -> None:
        """Select the word."""
        hit = hit_test(self._page, event.position())
        if hit is None:
            return
        document = self._page.items[hit.place.message].blocks()[hit.place.block].document
        if document is None:
            return
        cursor = QTextCursor(document)
        cursor.setPosition(hit.place.position)
        cursor.select(QTextCursor.SelectionType.WordUnderCursor)
        self._selection.anchor = hit.place._replace(position=cursor.selectionStart())
        self._selection.head = hit.place._replace(position=cursor.selectionEnd())
        self._pressed_at = None
        self._page.renew()

    def move(self, event: QMouseEvent) -> int:
        """Extend the selection, or set the cursor's shape. Returns the message under the mouse, or -1."""
        self._last = event.position()
        if self._pressed_at is not None and event.device().type() == QInputDevice.DeviceType.TouchScreen:
            return -1  # a finger that moves scrolls
        if self._pressed_at is not None:
            self._extend()
            if not self._page.viewport().rect().contains(event.position().toPoint()) or self._push():
                self._scroll.start()
            return -1
        hit = hit_test(self._page, event.position())
        shapes = Qt.CursorShape
        shape = shapes.ArrowCursor
        if hit is not None and (hit.link or hit.folds or hit.figures or hit.files or hit.image):
            shape = shapes.PointingHandCursor
        elif hit is not None and hit.on_text:
            shape = shapes.IBeamCursor
        self._page.viewport().setCursor(shape)
        tip = hit.image.name if hit is not None and hit.image is not None else hit.link if hit is not None else ""
        self._page.viewport().setToolTip(plain_tip(tip))
        return self._page.layout_.at(event.position().y() + self._page.verticalScrollBar().value())

    def release(self, event: QMouseEvent) -> HitResult | None:
        """End a drag or a click; returns what was clicked."""
        self._scroll.stop()
        began = self._pressed_at
        self._pressed_at = None
        if began is None or event.button() != Qt.MouseButton.LeftButton:
            return None
        if (event.position() - began).manhattanLength() > 4:
            return None
        return hit_test(self._page, event.position())

    def select_all(self) -> None:
        """Select everything from the first message to the last."""
        if not self._page.items:
            return
        self._selection.anchor = TextPosition(0, 0, 0)
        self._selection.head = TextPosition(len(self._page.items) - 1, END, 0)
        self._page.renew()

    def _extend(self) -> None:
        hit = hit_test(self._page, self._last, exact=False)
        if hit is not None:
            if self._selection.anchor is None:
                self._selection.anchor = hit.place
            self._selection.head = hit.place
            self._page.renew()

    @Slot()
    def _scroll_on(self) -> None:
        height = self._page.viewport().height()
        beyond = min(0.0, self._last.y()) or max(0.0, self._last.y() - height)
        if not self._push() and not beyond:
            self._scroll.stop()
            return
        bar = self._page.verticalScrollBar()
        bar.setValue(bar.value() + int(beyond / 2))
        self._extend()

    def _push(self) -> bool:
        """Scroll the code that is being selected sideways, where the mouse is beside its panel and there is more."""
        hit = hit_test(self._page, self._last, exact=False)
        if hit is None:
            return False
        item, column = self._page.items[hit.place.message], self._page.layout_.column
        view = item.blocks()[hit.place.block]
        left = self._page.origin(hit.place.message).x() + item.text_left(column)
        beyond = min(0.0, self._last.x() - left) or max(0.0, self._last.x() - left - item.text_width(column))
        return view.is_code and bool(beyond) and self._code.push(view, beyond / 2)
