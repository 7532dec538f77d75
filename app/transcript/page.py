"""The scrolling page of messages: what is shown, where it lies, painting what is in sight, and buttons on top."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QAbstractScrollArea, QFrame, QWidget

from app.i18n.translate import tr
from app.images.cache import image_cache
from app.storage.records import ScrollPosition, StoredMessage
from app.theme import sizes
from app.theme.theme import Theme
from app.transcript.blocks import DocumentBuilder
from app.transcript.focus_marker import FocusMarker
from app.transcript.item import MessageItem
from app.transcript.layout import BUTTON, Layout, button_column, left_in, width_in
from app.transcript.paint import PaintCache, foot_rect, left_edge, paint_message
from app.transcript.selection import Selection
from app.widgets.builders import hbox, make_label
from app.widgets.buttons import IconButton
from app.widgets.touch import scroll_by_touch

READ_ALOUD = "Ctrl+Shift+L"
_BELOW = 12  # pixels between the button to the end and the foot of the page


class TranscriptPage(QAbstractScrollArea):
    """Shows messages; `TranscriptView` adds what mouse and keyboard do with them.

    Everything that places itself on the page (scroll anchor, selection, details, search) takes this class.
    """

    moved = Signal()  # scrolled by hand

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("transcript")
        self.setAccessibleName(tr("Conversation"))
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.viewport().setMouseTracking(True)
        scroll_by_touch(self)
        self.viewport().setAutoFillBackground(False)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self._theme = theme
        self.builder = DocumentBuilder(theme, self)
        self.builder.highlighter.coloured.connect(self.renew)
        self.builder.formulas.ready.connect(self._formulas_ready)
        image_cache().ready.connect(self.renew)
        self.layout_ = Layout(self.builder)
        self.selection = Selection()
        self._painted = PaintCache()
        self._follow = True  # stay at the end as it grows
        self._moving = False  # the scroll bar is being set by us
        self.current = -1  # the message that is looked at: its buttons show, and keys are about it
        self.marker = FocusMarker(self)
        self.message_actions = MessageActions(theme, self.viewport())
        self.to_end = ScrollToEndButton(theme, self)
        self.to_end.clicked.connect(self.go_to_end)
        self.verticalScrollBar().valueChanged.connect(self._scrolled)

    # ---- what is shown ----------------------------------------------------------------------------------------

    @property
    def items(self) -> list[MessageItem]:
        """Messages on the page, the oldest first."""
        return self.layout_.items

    def set_messages(self, messages: list[StoredMessage]) -> None:
        """Show another conversation, at its end."""
        self.selection.clear()
        self.message_actions.hide()
        self.current = len(messages) - 1
        self._follow = True
        self.layout_.reset(_items(messages), width_in(self))
        self.arrange()

    def add(self, *messages: StoredMessage) -> None:
        """Append messages, and scroll to them; above them only the foot that had the buttons is painted again."""
        self._follow = True
        left = self.current
        before = self._foot_of(left)
        for message in messages:
            self.layout_.insert(self._item(message, len(self.items)))
        self.current = len(self.items) - 1
        self._arrange_as_before(left, before)

    def extend(self, message_id: int, text: str, status: str) -> None:
        """Append text to an answer that streams. status: the line below it."""
        index = self.index(message_id)
        if index >= 0:
            item = self.items[index]
            item.status = status
            if text:
                item.extend(text)
                self._grown(index)
            elif self._tells_time(index):
                self.renew()
            else:
                self._repaint_below(self._foot_of(index), 0.0)

    def finish(self, message: StoredMessage) -> None:
        """Replace a streaming answer by the message as it is in the end."""
        index = self.index(message.id)
        if index >= 0:
            self.items[index].finish(message)
            self._grown(index)

    def replace(self, message: StoredMessage) -> None:
        """Show a changed message in its place."""
        index = self.index(message.id)
        if index >= 0:
            self.selection.clear()
            self._follow = self._follow or index == len(self.items) - 1
            self.layout_.replace(self._item(message, index), index)
            self.arrange()

    def mark_start(self, message_id: int) -> None:
        """Mark the message from which on the model reads; 0: it reads everything."""
        items = self.items
        changed = [n for n, item in enumerate(items) if _reads_from(item) != (item.message.id == message_id)]
        if not changed:
            return
        seen = self.origin(changed[-1]).y() + items[changed[-1]].height > 0
        last = len(items) - 1
        before = self._foot_of(last)
        for index in changed:
            message = items[index].message
            stats = {k: v for k, v in message.stats.items() if k != "read_from_here"}
            marked = {"read_from_here": True} if message.id == message_id else {}
            items[index].message = replace(message, stats={**stats, **marked})
            items[index].moved()
            self.layout_.touch(index)
        if seen:
            self.arrange()
        else:
            self._arrange_as_before(last, before, float(self.viewport().height()))

    def remove(self, message_id: int) -> None:
        """Remove a message."""
        index = self.index(message_id)
        if index >= 0:
            self.selection.clear()
            self.layout_.remove(index)
            self.current = min(self.current, len(self.items) - 1)
            self.arrange()

    def _item(self, message: StoredMessage, index: int) -> MessageItem:
        item = MessageItem(message, self._model_before(index))
        item.asked_with = self.items[index - 1].message if index > 0 else None
        return item

    def _model_before(self, index: int) -> str:
        """What answered last before the message with this number."""
        earlier = (self.items[i].message for i in range(index - 1, -1, -1))
        return next((m.model for m in earlier if m.role == "assistant" and m.model), "")

    def index(self, message_id: int) -> int:
        """Number of a message in the list, or -1. Searched from the end."""
        for index in range(len(self.items) - 1, -1, -1):
            if self.items[index].message.id == message_id:
                return index
        return -1

    @Slot()
    def go_to_end(self) -> None:
        """Scroll to the end and stay there."""
        self._follow = True
        self.arrange()

    def place(self) -> ScrollPosition | None:
        """Scroll position; None at the end."""
        if self._follow or not self.items:
            return None
        y = self.verticalScrollBar().value()
        index = self.layout_.at(float(y))
        return ScrollPosition(self.items[index].message.id, round(y - self.layout_.top(index)))

    def _at_end(self) -> bool:
        """Whether the end of the page is in sight."""
        return self.verticalScrollBar().value() >= self.verticalScrollBar().maximum() - 4

    def go_to(self, place: ScrollPosition) -> None:
        """Scroll to a position; a message that is not here leaves the page as it is."""
        index = self.index(place.message_id)
        if index < 0:
            return
        self._follow = False
        self.current = index
        bar = self.verticalScrollBar()
        for _ in range(2):  # what is above has its true height only once it is in sight
            bar.setValue(round(self.layout_.top(index)) + place.pixels)
            self.arrange()
        self._follow = self._at_end()

    # ---- geometry ---------------------------------------------------------------------------------------------

    def arrange(self) -> None:
        """Lay out what is in sight, bring scroll bar and buttons into line, and paint all of it."""
        self._arrange()
        self.renew()

    @Slot()
    def renew(self) -> None:
        """Schedule a repaint of all that is in sight."""
        self._painted.drop()
        self.viewport().update()

    def _arrange(self) -> None:
        view = float(self.viewport().height())
        bar = self.verticalScrollBar()
        y = self.layout_.settle(float(bar.value()), view, self._follow)
        self._moving = True
        bar.setRange(0, max(0, round(self.layout_.height - view)))
        bar.setPageStep(int(view))
        bar.setSingleStep(40)
        bar.setValue(round(y))
        self._moving = False
        self.to_end.show_for(not self._follow and bar.value() < bar.maximum() - 200)
        self.place_controls()

    def origin(self, index: int) -> QPointF:
        """Top left of a message's column, in the viewport."""
        left = left_in(self, self.layout_.column)
        return QPointF(left, self.layout_.top(index) - self.verticalScrollBar().value())

    def make(self, index: int, first: int, last: int) -> None:
        """Make the documents of these blocks of a message, where they have none."""
        item = self.items[index]
        self.layout_.documents.seen(item.make(self.layout_.column, first, last, self.builder))

    def _grown(self, index: int) -> None:
        """Repaint the end of an answer that has grown; what is above its last lines is only moved."""
        item = self.items[index]
        blocks, unchanged = item.unchanged_blocks, item.unchanged_height
        before = self._end_of(index, blocks)
        self.layout_.touch(index)
        self._arrange()
        end = self._end_of(index, blocks)
        fresh = (
            max(end, self.origin(index).y() + item.views[blocks].top + unchanged) if item.views and unchanged else end
        )
        if item.views is None or self._tells_time(index):
            self.renew()
        else:
            self._repaint_below(fresh, before - end)

    def _tells_time(self, index: int) -> bool:
        """Whether the line that its thought is folded under is in sight, which tells for how long it was thought."""
        views = self.items[index].views
        return bool(views and views[0].is_fold and self._end_of(index, 1) > 0)

    def _repaint_below(self, y: float, moved: float) -> None:
        """Schedule a repaint of what is below y in the viewport, and move up what is above it by so many pixels."""
        if self._painted.grown(moved, y):
            size = self.viewport().size()
            self.viewport().update(QRect(QPoint(0, 0), size) if moved else self._painted.stale(size))
        else:
            self.renew()

    def _arrange_as_before(self, index: int, before: float, fresh: float | None = None) -> None:
        """Arrange the page, on which nothing in sight above the foot of this message has changed but its place.

        before: y of that foot until now. fresh: y of what has to be painted; None: from that foot on.
        """
        self._arrange()
        after = self._foot_of(index)
        if before > self.viewport().height():  # heights above it may have been estimates
            self.renew()
        else:
            self._repaint_below(after if fresh is None else fresh, before - after)

    def _end_of(self, index: int, blocks: int) -> float:
        """Where the first so many blocks of a message end, in the viewport."""
        item = self.items[index]
        last = item.views[blocks - 1] if item.views and blocks else None
        return self.origin(index).y() + (last.top + last.height if last is not None else 0.0)

    def _foot_of(self, index: int) -> float:
        """Where the line at the foot of a message begins, in the viewport; 0 where there is no such message."""
        return self.origin(index).y() + self.items[index].foot if 0 <= index < len(self.items) else 0.0

    def place_controls(self) -> None:
        """Put the buttons and the focus marker where the current message is."""
        if not 0 <= self.current < len(self.items):
            self.marker.place(0, 0, 0)
            self.message_actions.hide()
            return
        at, item = self.origin(self.current), self.items[self.current]
        self.marker.place(at.x() + left_edge(item, self.layout_.column), at.y(), item.foot)
        if item.streaming:
            self.message_actions.hide()
            return
        last = self.current == len(self.items) - 1
        self.message_actions.show_for(item.message, last=last, thought=item.has_thought, folded=item.folded)
        x = at.x() + self.layout_.column - self.message_actions.width() + 4
        line = foot_rect(item, self.layout_.column, 0.0)  # of figures, beside which they stand
        self.message_actions.move(round(x), round(at.y() + line.center().y() - self.message_actions.height() / 2))

    @Slot()
    def _scrolled(self) -> None:
        if not self._moving:
            self._follow = self._at_end()
            self.arrange()
            self.moved.emit()

    # ---- painting ---------------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self.viewport())
        self._painted.show(painter, self.viewport().size(), QColor(self._theme.palette.window), self._paint)
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
                selection=self.selection, buttons=self.beside(index),
            )  # fmt: skip
            painter.restore()
            index += 1

    def beside(self, index: int) -> float:
        """Width that the buttons take of the line at the foot of a message."""
        return self.message_actions.width() + 8.0 if index == self.current and self.message_actions.isVisible() else 0.0

    @Slot()
    def _formulas_ready(self) -> None:
        self.layout_.documents.drop_waiting()
        self.arrange()


def _reads_from(item: MessageItem) -> bool:
    """Whether the model is said to read from this message on."""
    return bool(item.message.stats.get("read_from_here"))


def _items(messages: list[StoredMessage]) -> list[MessageItem]:
    """Messages of a conversation from its beginning on."""
    found, model = [], ""
    for number, message in enumerate(messages):
        found.append(MessageItem(message, model))
        found[-1].asked_with = messages[number - 1] if number else None
        if message.role == "assistant":
            model = message.model or model
    return found


class MessageActions(QFrame):
    """Bar of buttons, real widgets for keyboard and screen readers, at the foot of the current message.

    Signals carry that message's id; `step` also -1 for the version before or 1 for the one after.
    """

    copy = Signal(object)
    regenerate = Signal(object)
    compare = Signal(object)  # answers to it, or to its question
    edit = Signal(object)
    continue_answer = Signal(object)
    branch = Signal(object)
    delete_message = Signal(object)
    thought = Signal(object)  # show or hide it
    details = Signal(object)
    files = Signal(object)  # read what is attached
    image = Signal(object, object)  # that is attached: show it large
    read_aloud = Signal(object)  # or stop reading it
    step = Signal(object, int)

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("actions")
        self._theme = theme
        self._message: StoredMessage | None = None
        self.has_voice = False  # to read answers aloud with
        self.reading = 0  # id of the answer that is being read
        self._row = hbox(parent=self, margins=0, spacing=0)
        self._before = self._add("chevron-left", tr("Previous version"), lambda i: self.step.emit(i, -1))
        self._which = make_label("", self, "muted")
        self._row.addWidget(self._which)
        self._after = self._add("chevron-right", tr("Next version"), lambda i: self.step.emit(i, 1))
        self._thought = self._add("thought", tr("Show thinking"), self.thought.emit, "Ctrl+T")
        self._details = self._add("info", tr("Answer details"), self.details.emit, "Ctrl+I")
        self._continue = self._add("go-on", tr("Continue"), self.continue_answer.emit, "Ctrl+Shift+R")
        self._files = self._add("attach", tr("View attachment"), self.files.emit)
        self._copy = self._add("copy", tr("Copy"), self.copy.emit, "Ctrl+Shift+C")
        self._read = self._add("speaker", tr("Read aloud"), self.read_aloud.emit, READ_ALOUD)
        self._edit = self._add("edit", tr("Edit"), self.edit.emit)
        self._regenerate = self._add("refresh", tr("Regenerate"), self.regenerate.emit, "Ctrl+R")
        self._add("branch", tr("Branch from here"), self.branch.emit)
        self._add("trash", tr("Delete message"), self.delete_message.emit)
        self.hide()

    def _add(self, icon: str, label: str, act: Callable[[int], object], shortcut: str = "") -> IconButton:
        button = IconButton(self._theme, icon, label, self, shortcut, size=15)
        button.setFocusPolicy(Qt.FocusPolicy.TabFocus)  # by mouse the page takes the focus, and keys scroll it
        button.clicked.connect(lambda: act(self._message.id) if self._message is not None else None)
        self._row.addWidget(button)
        return button

    def show_for(self, message: StoredMessage, *, last: bool, thought: bool, folded: bool) -> None:
        """Fit the buttons to this message. last: nothing follows it, so that a question, too, can be answered again.

        thought: the model thought first; folded: that is not shown.
        """
        self._message = message
        self._thought.setVisible(thought)
        self._thought.set_label(tr("Show thinking") if folded else tr("Hide thinking"), "Ctrl+T")
        self._details.setVisible(bool(message.stats))
        self._files.setVisible(bool(message.attachments))
        for widget in (self._before, self._which, self._after):
            widget.setVisible(message.versions > 1)
        self._before.setEnabled(message.version > 1)
        self._after.setEnabled(message.version < message.versions)
        self._which.setText(f"{message.version}/{message.versions}")
        self._fit_read(message)
        mine = message.role == "user"
        self._edit.set_label(tr("Edit") if mine else tr("Edit answer"))
        self._regenerate.setVisible(message.role == "assistant" or last)
        self._continue.setVisible(message.unfinished and last)
        self.adjustSize()
        self.show()

    def show_reading(self, message_id: int) -> None:
        """Say of an answer that it is being read aloud; 0: of none."""
        self.reading = message_id
        if self._message is not None:
            self._fit_read(self._message)

    def reads(self, message: StoredMessage) -> bool:
        """Whether a message can be read aloud."""
        return self.has_voice and message.role == "assistant" and bool(message.content)

    def _fit_read(self, message: StoredMessage) -> None:
        reading = message.id == self.reading
        self._read.setVisible(self.reads(message))
        self._read.set_icon("stop" if reading else "speaker")
        self._read.set_label(tr("Stop reading") if reading else tr("Read aloud"), READ_ALOUD)

    def show_copied(self, done: bool) -> None:
        """Show a tick instead of the copy icon, or the icon again."""
        self._copy.set_icon("check" if done else "copy")


class ScrollToEndButton(IconButton):
    """Round button back to the end of a conversation, shown while the page is away from it; it covers no text."""

    def __init__(self, theme: Theme, view: QAbstractScrollArea) -> None:
        super().__init__(theme, "chevron-down", tr("Scroll to bottom"), view, "End")
        self._view = view
        self.setObjectName("latest")
        sizes.set_square(self, BUTTON)
        self.hide()

    def show_for(self, away: bool) -> None:
        """Show it where the end is far from what is in sight."""
        if away and self.isHidden():
            self.raise_()
        self.setVisible(away)

    def place(self) -> None:
        """Move it to the foot of the page, behind the column of text."""
        page, side = self._view.viewport().geometry(), self.width()
        self.move(round(page.right() + 1 - (button_column() + side) / 2), page.bottom() + 1 - side - _BELOW)
