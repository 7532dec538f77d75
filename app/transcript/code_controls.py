"""What can be done with a block of code: its preview, copying, the switch that wraps long lines, its scroll bar."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QEvent, QObject, QPointF, Qt, Signal
from PySide6.QtGui import QTextLine, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QScrollBar, QToolButton, QWidget

from app.i18n.translate import tr
from app.theme import fonts, sizes
from app.transcript.blocks import CODE_HEAD, CODE_PAD, BlockView
from app.transcript.page import TranscriptPage
from app.widgets.builders import hbox

_LINE = 40  # pixels that an arrow of the scroll bar goes
_INSET = 6  # pixels between the panel's edges and the scroll bar


class CodeScrollBar(QScrollBar):
    """Leaves the wheel to the page, or scrolling through a chat would end on it."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class CodeControls(QFrame):
    """Buttons at the head of a block of code; `bar`, at its foot, is another child of the page."""

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page.viewport())
        self.setObjectName("code-controls")
        self.view: BlockView | None = None  # the block that it is about; None while it waits for one
        self.preview, self.wrap, self.copy = _button(self), _button(self), _button(self)
        self.preview.setText(tr("Preview"))
        self.preview.setToolTip(tr("Show what it looks like, without scripts, images and network"))
        self.preview.setCheckable(True)
        self.wrap.setText(tr("Wrap lines"))
        self.wrap.setToolTip(tr("Wrap long lines in all code"))
        self.wrap.setCheckable(True)
        self.show_copied(False)
        self.bar = CodeScrollBar(Qt.Orientation.Horizontal, page.viewport())
        self.bar.setAccessibleName(tr("Scroll code sideways"))
        self.bar.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.bar.setSingleStep(_LINE)
        self.bar.setInvertedControls(False)  # as they are at first, the right arrow key scrolls to the left
        self.bar.hide()
        hbox(self.preview, self.wrap, self.copy, parent=self, margins=0, spacing=2)

    def show_copied(self, done: bool) -> None:
        """Say that the code was copied, or offer it again."""
        self.copy.setText(tr("Copied") if done else tr("Copy"))
        self.copy.setAccessibleName(tr("Copied") if done else tr("Copy code"))

    def part_in_use(self) -> QWidget | None:
        """What of it has the focus."""
        now = QApplication.focusWidget()
        return now if now is not None and now in (self.preview, self.wrap, self.copy, self.bar) else None


class CodeBlocks(QObject):
    """Controls for each block of code in sight, as real widgets for keyboard and screen readers.

    copied: the BlockView whose code is wanted. wrap_toggled: the BlockView, and whether long lines are to be wrapped.
    preview_toggled: the BlockView, and whether it is to show what its code looks like.
    """

    copied = Signal(object)
    wrap_toggled = Signal(object, bool)
    preview_toggled = Signal(object, bool)

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page)
        self._page = page
        self._shown: dict[int, CodeControls] = {}  # by id() of the block
        self._free: list[CodeControls] = []
        self.held = False  # `place` waits: the page is on its way to another place
        page.viewport().installEventFilter(self)

    def of(self, view: BlockView) -> CodeControls | None:
        """The controls of a block; None while it is out of sight."""
        return self._shown.get(id(view))

    def show_copied(self, view: BlockView | None) -> None:
        """Say of a block that it was copied; None: of none any more."""
        for controls in self._shown.values():
            controls.show_copied(controls.view is view)

    def place(self) -> None:
        """Follow the page: other blocks are in sight, or they have moved."""
        if self.held:
            return
        seen = self._in_sight()
        if not seen and not self._shown:
            return
        there = {id(view) for view, _, _ in seen}
        for key in [key for key in self._shown if key not in there]:
            self._put_away(self._shown.pop(key))
        fresh = [view for view, _, _ in seen if id(view) not in self._shown]
        for view in fresh:
            self._shown[id(view)] = self._taken(view)
        for view, at, width in seen:
            self._fit(self._shown[id(view)], view, at, width)
        if fresh:
            self._order([self._shown[id(view)] for view, _, _ in seen])

    def _in_sight(self) -> list[tuple[BlockView, QPointF, float]]:
        """Blocks of code in sight, with the origin of their message's text in the viewport, and its width."""
        page, high, found = self._page, float(self._page.viewport().height()), []
        index = page.layout_.at(float(page.verticalScrollBar().value()))
        while 0 <= index < len(page.items):
            item, at = page.items[index], page.origin(index)
            if at.y() > high:
                break
            column = page.layout_.column
            at += QPointF(item.text_left(column), 0)
            width = item.text_width(column)
            for _, view in item.between(-at.y(), high - at.y()):
                if view.is_code and view.document is not None:
                    found.append((view, at, width))
            index += 1
        return found

    def _taken(self, view: BlockView) -> CodeControls:
        if self._free:
            controls = self._free.pop()
        else:
            controls = CodeControls(self._page)
            controls.preview.clicked.connect(lambda on, c=controls: self.preview_toggled.emit(c.view, on))
            controls.wrap.clicked.connect(lambda on, c=controls: self.wrap_toggled.emit(c.view, on))
            controls.copy.clicked.connect(lambda _, c=controls: self.copied.emit(c.view))
            controls.bar.valueChanged.connect(lambda value, c=controls: self._scrolled(c, value))
        controls.view = view
        controls.show_copied(False)
        return controls

    def _put_away(self, controls: CodeControls) -> None:
        if controls.part_in_use() is not None:
            self._page.setFocus()
        controls.view = None
        controls.bar.setValue(0)  # or the block that has it next would begin there
        controls.hide()
        controls.bar.hide()
        self._free.append(controls)

    def _fit(self, controls: CodeControls, view: BlockView, at: QPointF, width: float) -> None:
        self._show(controls, controls.copy, view.block.kind == "code")  # not while it is being written
        self._show(controls, controls.preview, bool(view.preview_kind))
        controls.preview.setChecked(view.previewed)
        controls.wrap.setChecked(self._page.builder.wraps_code)
        self._show(controls, controls.wrap, view.has_long_lines)  # there is nothing to wrap in others
        controls.adjustSize()
        head = fonts.pixels(CODE_HEAD)
        x = at.x() + width - _INSET - controls.width()
        controls.move(round(x), round(at.y() + view.top + 1 + (head - controls.height()) / 2))
        controls.show()
        bar = controls.bar
        view.shift = min(view.shift, view.beyond)
        bar.setPageStep(round(width - 2 * CODE_PAD))
        bar.setMaximum(view.beyond)
        bar.setValue(view.shift)
        self._show(controls, bar, view.beyond > 0)
        high = bar.sizeHint().height()
        bar.setGeometry(
            round(at.x()) + _INSET, round(at.y() + view.top + view.height) - high - 2, round(width) - 2 * _INSET, high
        )

    def _show(self, controls: CodeControls, part: QWidget, shown: bool) -> None:
        if part.isHidden() == shown:
            if controls.part_in_use() is part:
                self._page.setFocus()
            part.setVisible(shown)

    def _order(self, shown: list[CodeControls]) -> None:
        """Tab goes from the page through the blocks from top to bottom, whichever was made first."""
        before: QWidget = self._page
        for controls in shown:
            for part in (controls.preview, controls.wrap, controls.copy, controls.bar):
                QWidget.setTabOrder(before, part)
                before = part

    def _scrolled(self, controls: CodeControls, value: int) -> None:
        if controls.view is not None and controls.view.shift != value:
            controls.view.shift = value
            self._page.renew()

    def bring(self, view: BlockView, first: int, last: int) -> None:
        """Scroll a block sideways until what lies between two characters of one line is in sight."""
        controls = self.of(view)
        if controls is None or controls.bar.isHidden() or view.document is None:
            return
        block = view.document.findBlock(first)
        line = block.layout().lineForTextPosition(first - block.position())
        if not line.isValid():
            return
        left, right = (_x_of(line, position - block.position()) for position in (first, last))
        page, bar = controls.bar.pageStep(), controls.bar
        if left < bar.value() or right > bar.value() + page:
            bar.setValue(round(min(left, max(left - page / 3, right - page))))

    def push(self, view: BlockView, by: float) -> bool:
        """Scroll a block sideways by so many pixels. False: it has nothing more there."""
        controls = self.of(view)
        if controls is None:
            return False
        before = controls.bar.value()
        controls.bar.setValue(before + round(by))
        return controls.bar.value() != before

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The wheel over code that is wider than its panel, sideways or with Shift, scrolls that."""
        if not isinstance(event, QWheelEvent):
            return False
        controls = next((c for c in self._shown.values() if self._is_over(c, event.position())), None)
        if controls is None or controls.bar.isHidden():
            return False
        turned, pixels = event.angleDelta(), event.pixelDelta()
        shifted = bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if not shifted and abs(turned.x()) <= abs(turned.y()):
            return False
        by = pixels.x() if not pixels.isNull() else (turned.x() or turned.y()) * _LINE * 3 / 120
        controls.bar.setValue(controls.bar.value() - round(by or pixels.y()))
        event.accept()
        return True

    def _is_over(self, controls: CodeControls, point: QPointF) -> bool:
        bar, view = controls.bar.geometry(), controls.view
        top = bar.bottom() - (view.height if view is not None else 0.0)
        return bar.left() <= point.x() <= bar.right() and top <= point.y() <= bar.bottom()


def _x_of(line: QTextLine, position: int) -> float:
    found: Any = line.cursorToX(position)  # with the position, for those that cannot be stood at
    return float(found[0])


def _button(parent: QWidget) -> QToolButton:
    button = QToolButton(parent)
    button.setObjectName("code")
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # by mouse the page takes the focus, and keys scroll it
    sizes.set_font(button, 0.84)
    return button
