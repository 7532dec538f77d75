"""The conversation: scrolls, paints what is in sight, and answers the mouse and the keyboard."""

from __future__ import annotations

from dataclasses import replace

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import (
    QColor,
    QContextMenuEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QTextDocument,
)
from PySide6.QtWidgets import QAbstractScrollArea, QWidget

from app.chats.records import Place, StoredMessage
from app.i18n.translate import tr
from app.render.formula import Formulas
from app.render.highlight import Highlighter
from app.theme import fonts
from app.theme.theme import Theme
from app.transcript import keys
from app.transcript.actions import MessageActions
from app.transcript.blocks import Workshop
from app.transcript.column import left_in, width_in
from app.transcript.copying import Copier
from app.transcript.item import FOOT, MessageItem
from app.transcript.layout import Layout
from app.transcript.mark import CurrentMark
from app.transcript.menu import menu_of, place_of
from app.transcript.mouse import Hit, TextMouse, hit_test
from app.transcript.paint import paint_message
from app.transcript.picture import PagePicture
from app.transcript.selection import Selection
from app.transcript.sight import Sights, kept_in_sight
from app.transcript.to_end import ToEnd
from app.transcript.unfolded import Unfolded


class TranscriptView(QAbstractScrollArea):
    """Shows a list of messages. Signals bear message ids."""

    again = Signal(object)
    edit = Signal(object)
    step = Signal(object, int)
    go_on = Signal(object)
    branch = Signal(object)
    erase = Signal(object)
    attached = Signal(object)  # what is attached to it is to be read
    link = Signal(str)  # the address of one that was clicked
    moved = Signal()  # scrolled by hand

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme = theme
        self._highlighter = Highlighter(self)
        self._highlighter.coloured.connect(self._coloured)
        self._formulas = Formulas(self)
        self._formulas.ready.connect(self._formulas_ready)
        self._workshop = Workshop(self._highlighter, self._formulas)
        self.layout_ = Layout(self._workshop)
        self.selection = Selection()
        self._mouse = TextMouse(self, self.selection)
        self._page = PagePicture()
        self._unfolded = Unfolded(self)
        self._follow = True  # stay at the end as it grows
        self._moving = False  # the scroll bar is being set by us
        self.current = -1  # the message that is looked at: its buttons show, and keys are about it
        self._mark = CurrentMark(self)
        self._actions = MessageActions(theme, self.viewport())
        self._actions.copy.connect(self.copy_message)
        self._actions.again.connect(self.again)
        self._actions.edit.connect(self.edit)
        self._actions.step.connect(self.step)
        self._actions.thought.connect(self.toggle_thought)
        self._actions.details.connect(self.toggle_details)
        self._actions.go_on.connect(self.go_on)
        self._actions.branch.connect(self.branch)
        self._actions.erase.connect(self.erase)
        self._actions.files.connect(self.attached)
        self._copier = Copier(self, self._actions)
        self.to_end = ToEnd(theme, self)
        self.to_end.clicked.connect(self.go_to_end)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)
        self._sights = Sights(self, theme)

    # ---- what is shown ----------------------------------------------------------------------------------------

    @property
    def items(self) -> list[MessageItem]:
        """The messages, the oldest first."""
        return self.layout_.items

    def set_messages(self, messages: list[StoredMessage]) -> None:
        """Show another conversation, at its end."""
        self.selection.clear()
        self._actions.hide()
        self.current = len(messages) - 1
        self._follow = True
        surely = len(messages) * fonts.pixels(FOOT) > self.viewport().height()  # more than a screen
        self.layout_.reset([MessageItem(m) for m in messages], width_in(self, surely))
        self.arrange()
        column = width_in(self, self.verticalScrollBar().maximum() > 0)
        if column != self.layout_.column:
            self.layout_.reflow(column)
            self.arrange()

    def add(self, message: StoredMessage) -> None:
        """One more message at the end; the view goes there."""
        self._follow = True
        self.layout_.insert(MessageItem(message))
        self.current = len(self.items) - 1
        self.arrange()

    def extend(self, message_id: int, text: str, status: str) -> None:
        """More text of an answer that streams, and what to write below it."""
        index = self.index(message_id)
        if index >= 0:
            item = self.items[index]
            item.status = status
            if text:
                item.extend(text)
            self._grown(index)

    def finish(self, message: StoredMessage) -> None:
        """An answer as it is in the end."""
        index = self.index(message.id)
        if index >= 0:
            self.items[index].finish(message)
            self._grown(index)

    def replace(self, message: StoredMessage) -> None:
        """A message as it is now, in the place of what it was."""
        index = self.index(message.id)
        if index >= 0:
            self.selection.clear()
            self._follow = self._follow or index == len(self.items) - 1
            self.layout_.replace(MessageItem(message), index)
            self.arrange()

    def mark_start(self, message_id: int) -> None:
        """Say above this message that the model reads from there on; 0: it reads everything."""
        for item in list(self.items):
            marked = bool(item.message.stats.get("read_from_here"))
            if marked != (item.message.id == message_id):
                stats = {k: v for k, v in item.message.stats.items() if k != "read_from_here"}
                self.replace(replace(item.message, stats=stats if marked else {**stats, "read_from_here": True}))

    def remove(self, message_id: int) -> None:
        """Take a message away."""
        index = self.index(message_id)
        if index >= 0:
            self.selection.clear()
            self.layout_.remove(index)
            self.current = min(self.current, len(self.items) - 1)
            self.arrange()

    def index(self, message_id: int) -> int:
        """Where a message is in the list, or -1. The end is looked at first."""
        for index in range(len(self.items) - 1, -1, -1):
            if self.items[index].message.id == message_id:
                return index
        return -1

    @Slot()
    def go_to_end(self) -> None:
        """Scroll to the end and stay there."""
        self._follow = True
        self.arrange()

    def place(self) -> Place | None:
        """Where it is scrolled to; None at the end."""
        if self._follow or not self.items:
            return None
        y = self.verticalScrollBar().value()
        index = self.layout_.at(float(y))
        return Place(self.items[index].message.id, round(y - self.layout_.top(index)))

    def go_to(self, place: Place) -> None:
        """Scroll to where `place` said; a message that is not here leaves the page as it is."""
        index = self.index(place.message_id)
        if index < 0:
            return
        self._follow = False
        self.current = index
        bar = self.verticalScrollBar()
        for _ in range(2):  # what is above has its true height only once it is in sight
            bar.setValue(round(self.layout_.top(index)) + place.pixels)
            self.arrange()
        self._follow = bar.value() >= bar.maximum() - 4

    @Slot()
    def prepare(self) -> None:
        """There is a moment to spare: load what the first answer will want."""
        self._highlighter.prepare()

    def end(self) -> None:
        """The window closes: end the threads that colour code and set formulas."""
        self._highlighter.close()
        self._formulas.close()

    # ---- geometry ---------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        """Lay out what is in sight, bring scroll bar and buttons into line, and paint all of it."""
        self._arrange()
        self.renew()

    def renew(self) -> None:
        """Paint all that is in sight, soon."""
        self._page.drop()
        self.viewport().update()

    def _arrange(self) -> None:
        view = float(self.viewport().height())
        bar = self.verticalScrollBar()
        y = self.layout_.settle(float(bar.value()), view, self._follow, self._theme.palette)
        self._moving = True
        bar.setRange(0, max(0, round(self.layout_.height - view)))
        bar.setPageStep(int(view))
        bar.setSingleStep(40)
        bar.setValue(round(y))
        self._moving = False
        self.to_end.show_for(not self._follow and bar.value() < bar.maximum() - 200)
        self._place_actions()
        self._unfolded.place()

    def origin(self, index: int) -> QPointF:
        """Top left of a message's column, in the viewport."""
        left = left_in(self, self.layout_.column)
        return QPointF(left, self.layout_.top(index) - self.verticalScrollBar().value())

    def make(self, index: int, first: int, last: int) -> None:
        """See to it that these blocks of a message have documents."""
        item = self.items[index]
        self.layout_.kept.seen(item.make(self.layout_.column, first, last, self._theme.palette, self._workshop))

    def _grown(self, index: int) -> None:
        """The end of an answer has changed: what is above its last lines is not painted again."""
        item = self.items[index]
        steady, settled = item.steady, item.settled
        before = self._end_of(index, steady)
        self.layout_.touch(index)
        self._arrange()
        end = self._end_of(index, steady)
        timed = bool(item.views and item.views[0].is_fold and self._end_of(index, 1) > 0)  # its line tells the time
        fresh = max(end, self.origin(index).y() + item.views[steady].top + settled) if item.views and settled else end
        if item.views is None or timed or not self._page.grown(before - end, fresh):
            self.renew()
        else:
            size = self.viewport().size()
            self.viewport().update(QRect(QPoint(0, 0), size) if before != end else self._page.stale(size))

    def _end_of(self, index: int, blocks: int) -> float:
        """Where the first so many blocks of a message end, in the viewport."""
        item = self.items[index]
        last = item.views[blocks - 1] if item.views and blocks else None
        return self.origin(index).y() + (last.top + last.height if last is not None else 0.0)

    def _place_actions(self) -> None:
        if 0 <= self.current < len(self.items):
            at = self.origin(self.current)
            self._mark.stand(at.x(), at.y(), self.items[self.current].foot)
        else:
            self._mark.stand(0, 0, 0)
        if not 0 <= self.current < len(self.items) or self.items[self.current].streaming:
            self._actions.hide()
            return
        item = self.items[self.current]
        last = self.current == len(self.items) - 1
        self._actions.show_for(item.message, last, item.has_thought, item.folded)
        at = self.origin(self.current)
        x = at.x() + self.layout_.column - self._actions.width() + 4
        self._actions.move(round(x), round(at.y() + item.foot + 1))

    @Slot()
    def _scrolled(self) -> None:
        if not self._moving:
            bar = self.verticalScrollBar()
            self._follow = bar.value() >= bar.maximum() - 4
            self.arrange()
            self.moved.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if width_in(self) != self.layout_.column:
            with kept_in_sight(self):
                self._unfolded.measure(width_in(self))
                self.layout_.reflow(width_in(self))
        else:
            self.arrange()
        self.to_end.place()

    # ---- painting ---------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._page.show(painter, self.viewport().size(), QColor(self._theme.palette.window), self._paint)
        painter.end()

    def _paint(self, painter: QPainter, area: QRect) -> None:
        """The messages in a part of the viewport."""
        seen = QRectF(area)
        index = self.layout_.at(float(self.verticalScrollBar().value() + area.top()))
        while 0 <= index < len(self.items):
            at = self.origin(index)
            if at.y() > seen.bottom():
                break
            painter.save()
            painter.translate(at)
            paint_message(
                painter, self.items[index], index, self.layout_.column, seen.translated(-at), self._theme.palette,
                self.selection, self._copier.copied, self.beside(index),
            )  # fmt: skip
            painter.restore()
            index += 1

    def beside(self, index: int) -> float:
        """How much of the line at the foot of a message its buttons take."""
        return self._actions.width() + 8.0 if index == self.current and self._actions.isVisible() else 0.0

    @Slot(object)
    def _coloured(self, _document: QTextDocument) -> None:
        self.renew()

    @Slot()
    def _formulas_ready(self) -> None:
        self.layout_.kept.look_again()
        self.arrange()

    def make_anew(self) -> None:
        """Colours, or the size of text, are others: nothing that was made holds."""
        self._unfolded.measure(width_in(self))
        self.layout_.anew(width_in(self))
        self.to_end.place()

    # ---- mouse and keyboard -----------------------------------------------------------------------------------

    def hit(self, point: QPointF, exact: bool = True) -> Hit | None:
        """What lies at a point of the viewport. exact False: the nearest text."""
        return hit_test(self, point, exact)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._mouse.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self._mouse.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self._mouse.move(event)
        if hovered >= 0 and hovered != self.current:
            self.current = hovered
            self._place_actions()
            self.renew()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        hit = self._mouse.release(event)
        if hit is None:
            return
        if hit.copies is not None:
            self._copier.block(hit.copies)
        elif hit.files:
            self.attached.emit(self.items[hit.place.message].message.id)
        elif hit.folds:
            self._fold(hit.place.message)
        elif hit.figures:
            self.toggle_details(self.items[hit.place.message].message.id)
        elif hit.link:
            self.link.emit(hit.link)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not keys.press(self, event):
            super().keyPressEvent(event)

    def select_all(self) -> None:
        """Everything from the first message to the last."""
        self._mouse.select_all()

    def choose(self, index: int) -> None:
        """Make a message the current one: its buttons show, and screen readers are told its text."""
        if not 0 <= index < len(self.items):
            return
        self.current = index
        self._follow = index == len(self.items) - 1
        if not self._follow:
            self.verticalScrollBar().setValue(round(self.layout_.top(index)))
        message = self.items[index].message
        mine, text = message.role == "user", message.content
        self.setAccessibleDescription(tr("You: {text}", text=text) if mine else tr("Answer: {text}", text=text))
        self.arrange()

    @Slot(object)
    def toggle_thought(self, message_id: int) -> None:
        """Show or hide what a model thought before it answered."""
        index = self.index(message_id)
        if index >= 0:
            self._fold(index)

    @Slot(object)
    def toggle_details(self, message_id: int) -> None:
        """Show or hide, below an answer, how it was made."""
        index = self.index(message_id)
        if index >= 0 and self.items[index].told:
            self._follow = False
            self._unfolded.toggle(self.items[index])

    def _fold(self, index: int) -> None:
        item = self.items[index]
        if not item.has_thought:
            return
        item.fold(not item.folded)
        self.selection.clear()
        self._follow = False
        self.layout_.touch(index)
        self.arrange()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if 0 <= self.current < len(self.items):
            at = place_of(self, self.current, event)
            hit = self.hit(QPointF(at))
            menu_of(self, self.items[self.current], hit.link if hit is not None else "").popup(self.mapToGlobal(at))

    # ---- copying ----------------------------------------------------------------------------------------------

    @Slot()
    def copy(self) -> None:
        """The selection, or the current message where nothing is selected."""
        self._copy(False)

    @Slot()
    def copy_as_written(self) -> None:
        """The same as Markdown."""
        self._copy(True)

    def _copy(self, as_written: bool) -> None:
        if not self._copier.selected(as_written) and 0 <= self.current < len(self.items):
            self.copy_message(self.items[self.current].message.id)

    @Slot(object)
    def copy_message(self, message_id: int) -> None:
        """A message as it was written, Markdown and all."""
        index = self.index(message_id)
        if index >= 0:
            self._copier.message(self.items[index].message.content)
