"""The conversation: what mouse, keyboard and menus do with the messages on the page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from PySide6.QtCore import QPoint, QPointF, Qt, Signal, Slot
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.i18n.translate import tr
from app.images.files import ask_and_save, copy_image
from app.markdown.split import without_thought
from app.storage.records import Attachment, ScrollPosition, StoredMessage, ToolUse
from app.theme.theme import Theme
from app.transcript.blocks import CODE_PAD, BlockView
from app.transcript.code_controls import CodeBlocks
from app.transcript.details import DetailsPanels
from app.transcript.item import MessageItem
from app.transcript.layout import width_in
from app.transcript.mouse import MouseSelection, hit_test
from app.transcript.page import READ_ALOUD, TranscriptPage
from app.transcript.readable import ReadableMessages, spoken
from app.transcript.steps import StepStrips
from app.transcript.tools import ToolStrips
from app.widgets.builders import make_timer
from app.widgets.menus import make_menu
from app.widgets.screen_reader import announce
from engine.protocol import Passage

_EDGE = 3  # pixels of a line that are not enough to call it the first in sight
_TRIES = 4  # what is above in the message has its true height only once it is in sight
_LINE = 40  # pixels that an arrow key scrolls
_COPIED_FOR = 1500  # milliseconds that a button says "Copied"


class ScrollAnchor(NamedTuple):
    """A character of a message's block, and how far below the top of the page its line begins, by the size of text."""

    message_id: int
    block: int
    position: int
    below: float


@contextmanager
def anchored(page: TranscriptPage) -> Iterator[None]:
    """Keep what is at the top of the page there while heights change inside."""
    anchor = take_anchor(page)
    yield
    restore_anchor(page, anchor)


def take_anchor(page: TranscriptPage) -> ScrollAnchor | None:
    """Anchor at the first line in sight; None in an empty chat, and where the page stays at the end."""
    y = float(page.verticalScrollBar().value())
    index = page.layout_.at(y)
    if page.place() is None or index < 0:
        return None
    item, top = page.items[index], page.layout_.top(index)
    for number, block in item.between(y - top, y - top + page.viewport().height()):
        if block.document is not None:
            rect = block.text_rect(item.text_width(page.layout_.column))
            spot = QPointF(4, max(0.0, y + _EDGE - top - rect.top()))
            position = max(0, block.document.documentLayout().hitTest(spot, Qt.HitTestAccuracy.FuzzyHit))
            below = top + line_top(block, position, rect.top()) - y
            return ScrollAnchor(item.message.id, number, position, below / _text_size(block))
    return ScrollAnchor(item.message.id, -1, 0, top - y)


def restore_anchor(page: TranscriptPage, anchor: ScrollAnchor | None) -> None:
    """Scroll until the anchor is as far below the top as it was. None, or its message is gone: to the end."""
    page.arrange()
    index = page.index(anchor.message_id) if anchor is not None else -1
    if anchor is None or index < 0:
        return
    item = page.items[index]
    for _ in range(_TRIES):
        y, below = 0.0, anchor.below
        if 0 <= anchor.block < len(item.blocks()):
            page.make(index, anchor.block, anchor.block)
            block = item.blocks()[anchor.block]
            y = line_top(block, anchor.position, block.text_rect(item.text_width(page.layout_.column)).top())
            below *= _text_size(block)
        if round(page.origin(index).y() + y) == round(below):
            return
        page.go_to(ScrollPosition(anchor.message_id, round(y - below)))


def _text_size(block: BlockView) -> float:
    return block.document.defaultFont().pointSizeF() if block.document is not None else 1.0


def line_top(block: BlockView, position: int, top: float) -> float:
    """Y of the line of a character, in a block whose text begins at `top`."""
    if block.document is None:
        return top
    text = block.document.findBlock(position)
    line = text.layout().lineForTextPosition(position - text.position())
    within = line.y() if line.isValid() else 0.0
    return top + block.document.documentLayout().blockBoundingRect(text).top() + within


class TranscriptView(TranscriptPage):
    """The page with its interactions. What is asked for by mouse or menu comes by the signals of `message_actions`."""

    link = Signal(str)  # the address of one that was clicked
    wrap_toggled = Signal(bool)  # whether long lines of code are wrapped from now on
    failed = Signal(str)  # why an image was not saved

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.code = CodeBlocks(self)
        self.code.copied.connect(self._copy_block)
        self.code.wrap_toggled.connect(self._toggle_wrap)
        self.code.preview_toggled.connect(self._toggle_preview)
        self.builder.previews.drawn.connect(self._take_preview)
        self.mouse = MouseSelection(self, self.code)
        self._details = DetailsPanels(self)
        self._details.hidden.connect(self.toggle_details)
        self.strips = StepStrips(self)
        self._readable = ReadableMessages(self)
        self.tools = ToolStrips(self)
        self._anchor: ScrollAnchor | None = None
        theme.about_to_change.connect(self._take_anchor)
        theme.changed.connect(self._restyle)
        self._copied_timer = make_timer(self, _COPIED_FOR, self._copied_over)
        self.message_actions.copy.connect(self.copy_message)
        self.message_actions.thought.connect(self.toggle_thought)
        self.message_actions.details.connect(self.toggle_details)

    def place_controls(self) -> None:
        super().place_controls()
        self._details.place()
        self.strips.place()
        self._readable.place()
        self.tools.place()
        self.code.place()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if width_in(self) != self.layout_.column:
            with anchored(self):
                self._details.measure(width_in(self))
                self.strips.measure(width_in(self))
                self.tools.measure(width_in(self))
                self.layout_.reflow(width_in(self))
        else:
            self.arrange()
        self.to_end.place()

    @Slot()
    def _take_anchor(self) -> None:
        self._anchor = take_anchor(self)

    @Slot()
    def _restyle(self) -> None:
        """Make all documents and heights again: colours, or the size of text, are others."""
        self._details.measure(width_in(self))
        self.layout_.rebuild(width_in(self))
        self.to_end.place()
        restore_anchor(self, self._anchor)

    # ---- long lines of code -----------------------------------------------------------------------------------

    def wrap_code(self, wraps: bool, pressed: BlockView | None = None) -> None:
        """Wrap long lines of code, or have them scroll sideways.

        pressed: the block whose head stays where it is; otherwise the first line in sight does.
        """
        if wraps == self.builder.wraps_code:
            return
        anchor = self._anchor_of(pressed) or take_anchor(self)
        self.builder.wraps_code = wraps
        self.code.held = True  # on the way the blocks in sight are others, and their buttons would lose the focus
        self.layout_.rewrap(wraps)
        restore_anchor(self, anchor)
        self.code.held = False
        self.arrange()

    def _anchor_of(self, pressed: BlockView | None) -> ScrollAnchor | None:
        for index, item in enumerate(self.items):
            views = item.views or []
            if pressed is not None and pressed in views and not (self.place() is None and item.streaming):
                number, rect = views.index(pressed), pressed.text_rect(0)
                below = self.origin(index).y() + line_top(pressed, 0, rect.top())
                return ScrollAnchor(item.message.id, number, 0, below / _text_size(pressed))
        return None

    @Slot(object, bool)
    def _toggle_wrap(self, pressed: BlockView, wraps: bool) -> None:
        self.wrap_code(wraps, pressed)
        self.wrap_toggled.emit(wraps)

    # ---- what code looks like ---------------------------------------------------------------------------------

    @Slot(object, bool)
    def _toggle_preview(self, pressed: BlockView, shown: bool) -> None:
        """Show what code looks like in its place, once that is drawn, or the code again."""
        pressed.previewed = shown
        if not shown:
            self._show_preview(pressed, False)
            return
        width = self.layout_.column - 2 * CODE_PAD
        block, ratio = pressed.block, self.devicePixelRatioF()
        self.builder.previews.draw(pressed, pressed.preview_kind, block.text, width, ratio)

    @Slot(object, object)
    def _take_preview(self, pressed: BlockView, image: QImage) -> None:
        if not pressed.previewed:
            return  # not wanted any more
        if image.isNull():
            self.failed.emit(tr("Can't show a preview of this code"))
        pressed.set_preview(None if image.isNull() else image)
        self._show_preview(pressed, not image.isNull())

    def _show_preview(self, pressed: BlockView, shown: bool) -> None:
        anchor = self._anchor_of(pressed)
        pressed.show_preview(shown)
        index = next((n for n, item in enumerate(self.items) if pressed in (item.views or ())), -1)
        if index >= 0:
            self.items[index].moved()
            self.layout_.touch(index)
            restore_anchor(self, anchor)

    # ---- mouse and keyboard -----------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.mouse.press(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        self.mouse.double_click(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        hovered = self.mouse.move(event)
        if hovered >= 0 and hovered != self.current:
            self.current = hovered
            super().place_controls()
            self.renew()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        hit = self.mouse.release(event)
        if hit is None:
            return
        if hit.image is not None:
            self.message_actions.image.emit(self.items[hit.place.message].message.id, hit.image)
        elif hit.files:
            self.message_actions.files.emit(self.items[hit.place.message].message.id)
        elif hit.folds:
            self._fold(hit.place.message)
        elif hit.figures:
            self.toggle_details(self.items[hit.place.message].message.id)
        elif hit.link:
            self.link.emit(hit.link)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not self._press(event):
            super().keyPressEvent(event)

    def _press(self, event: QKeyEvent) -> bool:
        """Do what the key stands for; False where it stands for nothing."""
        bar, key = self.verticalScrollBar(), event.key()
        jumps = {
            Qt.Key.Key_Home: -bar.maximum(), Qt.Key.Key_End: bar.maximum(), Qt.Key.Key_PageUp: -bar.pageStep() + _LINE,
            Qt.Key.Key_PageDown: bar.pageStep() - _LINE, Qt.Key.Key_Up: -_LINE, Qt.Key.Key_Down: _LINE,
        }  # fmt: skip
        control = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        current = self.items[self.current].message.id if 0 <= self.current < len(self.items) else 0
        if event.matches(QKeySequence.StandardKey.Copy):
            self.copy()
        elif event.matches(QKeySequence.StandardKey.SelectAll):
            self.mouse.select_all()
        elif control and current and key == Qt.Key.Key_T:
            self.toggle_thought(current)
        elif control and current and key == Qt.Key.Key_I:
            self.toggle_details(current)
        elif alt and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self.choose(self.current + (1 if key == Qt.Key.Key_Down else -1))
        elif key in jumps:
            bar.setValue(bar.value() + jumps[Qt.Key(key)])
        else:
            return False
        return True

    def choose(self, index: int) -> None:
        """Make a message the current one: its buttons show, and screen readers read its text."""
        if not 0 <= index < len(self.items):
            return
        self.current = index
        self._follow = index == len(self.items) - 1
        if not self._follow:
            self.verticalScrollBar().setValue(round(self.layout_.top(index)))
        words = spoken(self.items[index].message)
        self.setAccessibleDescription(words)
        announce(self, words)
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
        if index >= 0 and self.items[index].has_details:
            self._follow = False
            self._details.toggle(self.items[index])
            self._follow = self._at_end()

    @Slot(object, object)
    def show_steps(self, message_id: int, steps: Sequence[dict[str, Any]]) -> None:
        """Show how the steps of a team are, whose answer is being made."""
        index = self.index(message_id)
        if index >= 0:
            item = self.items[index]
            item.message = replace(item.message, stats={**item.message.stats, "steps": list(steps)})
            self.strips.show_steps(item)
            self.arrange()

    @Slot(object, object)
    def show_tools(self, message_id: int, uses: Sequence[ToolUse]) -> None:
        """Show how the calls of an answer are."""
        index = self.index(message_id)
        if index >= 0:
            item = self.items[index]
            item.message = replace(item.message, tools=tuple(uses))
            self.tools.show_uses(item)
            self.arrange()

    @Slot(object, object)
    def show_sources(self, question_id: int, sources: Sequence[Passage]) -> None:
        """Show the passages that were found for a question, at the answer that is being made."""
        index = self.index(question_id)
        if index >= 0:
            question = self.items[index]
            question.message = replace(question.message, sources=tuple(sources))
            if index + 1 < len(self.items):
                self.items[index + 1].asked_with = question.message
            self.arrange()

    @Slot(object, int, str)
    def add_step_text(self, message_id: int, number: int, text: str) -> None:
        """More of what a step of a team says."""
        index = self.index(message_id)
        if index >= 0:
            self.strips.add_text(self.items[index], number, text)

    def finish(self, message: StoredMessage) -> None:
        super().finish(message)
        index = self.index(message.id)
        if index >= 0 and self.items[index].steps:
            self.strips.show_steps(self.items[index])
        if index >= 0 and message.tools:
            self.tools.show_uses(self.items[index])
        if index >= 0:
            announce(self, spoken(message))

    def _fold(self, index: int) -> None:
        item = self.items[index]
        if not item.has_thought:
            return
        item.fold(not item.folded)
        self.selection.clear()
        self._follow = False
        self.layout_.touch(index)
        self.arrange()
        self._follow = self._at_end()

    # ---- the context menu -------------------------------------------------------------------------------------

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if 0 <= self.current < len(self.items):
            at = self.menu_position(self.current, event)
            hit = hit_test(self, QPointF(at))
            menu = self.menu_of(self.items[self.current], hit.link if hit is not None else "")
            if hit is not None and hit.image is not None:
                self.add_image(menu, self.items[self.current].message.id, hit.image)
            menu.popup(self.mapToGlobal(at))

    def menu_position(self, index: int, event: QContextMenuEvent) -> QPoint:
        """Where the menu of a message opens, in the view: at the pointer, or by keys below its first line."""
        if event.reason() != QContextMenuEvent.Reason.Keyboard:
            return event.pos()
        top = self.origin(index).toPoint() + QPoint(0, self.fontMetrics().lineSpacing())
        return QPoint(top.x(), max(0, min(top.y(), self.viewport().height())))

    def add_image(self, menu: QMenu, message_id: int, image: Attachment) -> None:
        """Put what can be done with an image at the head of a menu."""
        first = menu.actions()[0]
        for text, act in (
            (tr("View image"), partial(self.message_actions.image.emit, message_id, image)),
            (tr("Copy image"), partial(copy_image, image)),
            (tr("Save image as…"), partial(self._save_image, image)),
        ):
            action = QAction(text, menu)
            action.triggered.connect(act)
            menu.insertAction(first, action)
        menu.insertSeparator(first)

    def _save_image(self, image: Attachment) -> None:
        if why := ask_and_save(image, self):
            self.failed.emit(why)

    def menu_of(self, item: MessageItem, link: str) -> QMenu:
        """Menu for a message, the selection, and the link under the mouse, if there is one."""
        message, actions = item.message, self.message_actions
        menu = make_menu(self, once=True)
        if link:
            menu.addAction(tr("Copy link"), partial(QGuiApplication.clipboard().setText, link))
            menu.addSeparator()
        menu.addAction(tr("Copy selection"), self.copy).setEnabled(not self.selection.empty)
        as_written = menu.addAction(tr("Copy selection as Markdown"), lambda: self.copy(True))
        as_written.setEnabled(not self.selection.empty)
        menu.addAction(tr("Copy"), partial(self.copy_message, message.id))
        if actions.reads(message) and not item.streaming:
            words = tr("Stop reading") if actions.reading == message.id else tr("Read aloud")
            read = menu.addAction(words, partial(actions.read_aloud.emit, message.id))
            read.setShortcut(QKeySequence(READ_ALOUD))
            read.setShortcutVisibleInContextMenu(True)
        if message.attachments:
            menu.addAction(tr("View attachment"), partial(actions.files.emit, message.id))
        menu.addSeparator()
        if item.is_user:
            menu.addAction(tr("Edit"), partial(actions.edit.emit, message.id))
        elif not item.streaming:
            menu.addAction(tr("Edit answer"), partial(actions.edit.emit, message.id))
            menu.addAction(tr("Regenerate"), partial(actions.regenerate.emit, message.id))
        if not item.streaming:
            menu.addAction(tr("Compare answers…"), partial(actions.compare.emit, message.id))
        if message.unfinished and self.items[-1] is item:
            menu.addAction(tr("Continue"), partial(actions.continue_answer.emit, message.id))
        if not item.streaming:
            menu.addAction(tr("Branch from here"), partial(actions.branch.emit, message.id))
        if item.has_details:
            shown = tr("Hide figures") if item.details_height else tr("Answer details")
            menu.addAction(shown, partial(self.toggle_details, message.id))
        if not item.streaming:
            menu.addSeparator()
            menu.addAction(tr("Delete message"), partial(actions.delete_message.emit, message.id))
        return menu

    # ---- copying ----------------------------------------------------------------------------------------------

    @Slot()
    def copy(self, as_written: bool = False) -> None:
        """Copy the selection, as it is shown or as Markdown, or the current message where nothing is selected."""
        text = self.selection.text(self.items, self.make, as_written)
        self.layout_.documents.trim()
        if text:
            QGuiApplication.clipboard().setText(text)
        elif 0 <= self.current < len(self.items):
            self.copy_message(self.items[self.current].message.id)

    @Slot(object)
    def copy_message(self, message_id: int) -> None:
        """Copy a message as it was written, Markdown and all, without what the model thought."""
        index = self.index(message_id)
        if index >= 0:
            QGuiApplication.clipboard().setText(without_thought(self.items[index].message.content))
            self.message_actions.show_copied(True)
            self._copied_timer.start()

    @Slot(object)
    def _copy_block(self, block: BlockView) -> None:
        """Copy a block of code."""
        QGuiApplication.clipboard().setText(block.block.text)
        self.code.show_copied(block)
        self._copied_timer.start()

    @Slot()
    def _copied_over(self) -> None:
        self.code.show_copied(None)
        self.message_actions.show_copied(False)
