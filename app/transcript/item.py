"""Notices above or below a message: a box of one line, or of more in a narrow column."""

from __future__ import annotations

import math
import time
from bisect import bisect_right
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QTextLayout, QTextOption

from app.i18n.translate import tr
from app.markdown.split import Block, Splitter
from app.storage.records import Attachment, StoredMessage
from app.theme import fonts
from app.transcript import notes
from app.transcript.blocks import BlockView, DocumentBuilder, estimate
from app.transcript.image_rows import image_rows, rows_height
from engine.protocol import Passage

_HIGH = 38  # of one line with the room around it, beside text of the base size
_ROUND = 10  # of that around the chip
_CALL = "tool_call"  # language of the block in which the engine writes a call
_CALL_BLOCK = f"```{_CALL}\n"
_BESIDE = 44  # pixels of the column that are no words
_LEAST = 40.0  # pixels for words, however narrow the column
_FOOT = 34  # the line with the speed and the buttons; grows with the text
BUBBLE_PAD_X = 16.0  # pixels between a bubble's edge and its words
_PAD_TOP, _PAD_BOTTOM = 13, 6  # the same, beside text of the base size: lines carry their spacing below them
_TOOLS_GAP = 4.0  # pixels between the text and the calls of tools below it
_ABOVE = {"user": 20.0, "assistant": 8.0, "system": 8.0}


@dataclass(frozen=True)
class NoticeBox:
    """Lines of a notice and its size in pixels. height: with the margin around the box."""

    lines: tuple[str, ...]
    width: float
    height: float

    def rect(self, top: float) -> QRectF:
        """The box itself, where its margin begins at this y."""
        return QRectF(0, top + 4, self.width, self.height - fonts.pixels(_ROUND))


def pad_top() -> int:
    """Pixels between a bubble's upper edge and its words."""
    return fonts.pixels(_PAD_TOP)


def pad_bottom() -> int:
    """Pixels between a bubble's words, with the spacing below their last line, and its lower edge."""
    return fonts.pixels(_PAD_BOTTOM)


def foot_height() -> int:
    """Pixels of the line at the foot of a message, with room for its buttons."""
    return fonts.touchable(_FOOT)


def notice_box(text: str, column: float) -> NoticeBox:
    """Lay out a notice in a column of this width."""
    return _box(text, max(_LEAST, column - _BESIDE), fonts.points())


def notices_height(texts: list[str], column: float) -> float:
    """Height in pixels of notices, one below the other."""
    return sum(notice_box(text, column).height for text in texts)


@lru_cache(maxsize=256)  # a chat of thousands of messages has few notices that differ, and is laid out often
def _box(text: str, space: float, points: float) -> NoticeBox:
    """points: what the result depends on through the fonts."""
    font = fonts.text(0.92)
    metrics = QFontMetricsF(font)
    lines = (text,) if metrics.horizontalAdvance(text) <= space else tuple(_broken(text, space))
    widest = max(metrics.horizontalAdvance(line) for line in lines)
    high = fonts.pixels(_HIGH) + (len(lines) - 1) * metrics.lineSpacing()
    return NoticeBox(lines, min(widest, space) + _BESIDE - 2, high)


def _broken(text: str, space: float) -> list[str]:
    option = QTextOption()
    option.setWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
    layout = QTextLayout(text, fonts.text(0.92))
    layout.setTextOption(option)
    layout.beginLayout()
    signs, lines = text.encode("utf-16-le"), []  # as Qt counts them
    while (line := layout.createLine()).isValid():
        line.setLineWidth(space)
        start = 2 * line.textStart()
        lines.append(signs[start : start + 2 * line.textLength()].decode("utf-16-le").rstrip())
    layout.endLayout()
    return lines


class MessageItem:
    """Splits the message into blocks when it first comes into sight, and lays them out one by one as they do."""

    def __init__(self, message: StoredMessage, model_before: str = "") -> None:
        """model_before: what answered the question before this one, as StoredMessage.model."""
        self.message = message
        self.model_before = model_before
        self.asked_with: StoredMessage | None = None  # the message before it
        self.is_user = message.role == "user"  # the user's own words: a bubble, shown as typed
        self.views: list[BlockView] | None = None
        self.folded = True  # a thought is not shown
        self._thinking_since = 0.0
        self.status = ""  # while the answer is being made: what goes on
        self._splitter: Splitter  # from the first cut on
        self._open: BlockView | None = None
        self._width = 0.0  # that the tops of the blocks hold for
        self._column = math.inf  # that all of it stands in
        self._changed = 0  # number of the first block whose top may be wrong
        self.height = 0.0
        self.details_height = 0.0  # what its figures take below its foot, where they are unfolded
        self.steps_height = 0.0  # what its sources and the steps of a team take above its text
        self.tools_height = 0.0  # what calls of tools take below it

    @property
    def has_details(self) -> bool:
        """Whether there are figures of how it was made."""
        return not self.is_user and not self.streaming and bool(self.message.stats)

    @property
    def steps(self) -> list[Any]:
        """Steps of the team that answered, as messages.StepReport has them; none of a single model."""
        found = self.message.stats.get("steps")
        return [step for step in found if isinstance(step, dict)] if isinstance(found, list | tuple) else []

    @property
    def sources(self) -> tuple[Passage, ...]:
        """Passages of documents that an answer was made with."""
        return self.asked_with.sources if self.asked_with is not None and not self.is_user else ()

    @property
    def images(self) -> tuple[Attachment, ...]:
        """Images that are attached to it, which stand above its text."""
        return tuple(file for file in self.message.attachments if file.image)

    def thumbnails(self, column: float) -> list[tuple[Attachment, QRectF]]:
        """Those images with their rectangles, relative to the message."""
        top = self.steps_top() - (pad_top() if self.is_user else 0.0)
        placed = zip(self.images, image_rows(self.images, column))
        return [(image, rect.translated(0, top)) for image, rect in placed]

    @property
    def foot(self) -> float:
        """Y of the line with the speed and the buttons."""
        return self.height - self.details_height - foot_height()

    @property
    def streaming(self) -> bool:
        """Whether it is still being written."""
        return self.message.state == "streaming"

    def text_width(self, column: float) -> float:
        """Width of the text in a column of this width."""
        return round(column * 0.84 - 2 * BUBBLE_PAD_X) if self.is_user else round(column)

    def guess(self, column: float) -> None:
        """Estimate the height from the length of the text alone: thousands of messages are estimated at opening."""
        width, self._column = self.text_width(column), column
        if self.views is None:
            self.height = self.first_block_top() + self._below() + estimate(self.message.content, width)
        else:
            self._place(width)

    def settle(self, column: float, top: float, bottom: float, builder: DocumentBuilder) -> list[BlockView]:
        """Lay out the blocks between top and bottom (relative to the message); returns those blocks.

        Blocks above are not looked at, and those below only moved: a message may have thousands.
        """
        width, self._column = self.text_width(column), column
        self._cut()
        assert self.views is not None
        self._place(width)
        start = index = self._first_below(top)
        previous = self.views[index - 1] if index else None
        at = previous.top + previous.height if previous else self.first_block_top()
        while index < len(self.views):
            view = self.views[index]
            at += view.gap_after(previous)
            if at > bottom:
                break
            if not view.measured(width):
                view.measure(width, builder)
            view.top = at
            at += view.height
            previous = view
            index += 1
        if index < len(self.views) and at != self.views[index].top:
            shift = at - self.views[index].top
            for view in self.views[index:]:
                view.top += shift
        self.height = self._end()
        if self.is_user:
            inner = self.bubble_width(column) - 2 * BUBBLE_PAD_X
            for view in self.views[start:index]:
                view.align_right_to_left(inner)
        return self.views[start:index]

    def blocks(self) -> list[BlockView]:
        """All blocks, whether they were ever in sight or not."""
        self._cut()
        return self.views or []

    def make(self, column: float, first: int, last: int, builder: DocumentBuilder) -> list[BlockView]:
        """Make the documents of the blocks from first to last, where they have none."""
        chosen = self.blocks()[first : last + 1]
        for view in chosen:
            if view.document is None:
                view.measure(self.text_width(column), builder)
                self._changed = 0
        return chosen

    def between(self, top: float, bottom: float) -> list[tuple[int, BlockView]]:
        """Blocks that reach into [top, bottom], relative to the message, with their numbers."""
        found = []
        for index in range(self._first_below(top), len(self.views or ())):
            view = (self.views or [])[index]
            if view.top > bottom:
                break
            found.append((index, view))
        return found

    def _first_below(self, y: float) -> int:
        """The first block whose end lies below y."""
        return bisect_right(self.views or [], y, key=lambda v: v.top + v.height)

    def extend(self, text: str) -> None:
        """Append text to a streaming answer."""
        self.message = replace(self.message, content=self.message.content + text)
        if self.views is not None:
            closed = len(self._splitter.closed)
            self._splitter.feed(text)
            self._take(closed)

    def finish(self, message: StoredMessage) -> None:
        """Set the message as it is in the end."""
        same = message.content == self.message.content and _CALL_BLOCK not in message.content  # which was not shown
        self.message = message
        self.status = ""
        self._changed = 0  # there may be notices above now
        if self.views is None:
            return
        if same:
            closed = len(self._splitter.closed)
            self._splitter.finish()
            self._take(closed)
        else:
            self.release()
            self.views = None

    @property
    def unchanged_blocks(self) -> int:
        """Number of blocks, from the first on, that the last `extend` left as they were."""
        return min(self._changed, len(self.views or ()))

    @property
    def unchanged_height(self) -> float:
        """Pixels of the block after those that the last `extend` left as they were, too."""
        grown = self.views[self.unchanged_blocks : self.unchanged_blocks + 1] if self.views else []
        return grown[0].unchanged if grown and grown[0] is self._open else 0.0

    def release(self) -> None:
        """Drop the documents; they are made again when needed."""
        for view in self.views or ():
            view.drop()

    def forget(self) -> None:
        """Drop the documents and all heights: the text has another size."""
        for view in self.views or ():
            view.forget()
        self._width = 0.0

    def steps_top(self) -> float:
        """Y of the steps of a team, which stand below the notices and above the text."""
        top = _ABOVE[self.message.role] + (pad_top() if self.is_user else 0.0)
        return top + notices_height(self.notices_above(), self._column)

    def tools_top(self) -> float:
        """Y of its calls of tools, which stand below the text and above the notices."""
        return self.foot - notices_height(notes.after(self.message), self._column) - self.tools_height + _TOOLS_GAP

    def notices_above(self) -> list[str]:
        """Notices above the message."""
        model = self.message.model if not self.is_user else ""
        other = [notes.answered_by(model)] if model and self.model_before not in ("", model) else []
        return [*notes.before(self.message), *other]

    def first_block_top(self) -> float:
        """Y of the first block."""
        return self.steps_top() + self.steps_height + rows_height(self.images, self._column)

    def moved(self) -> None:
        """What stands above the text has another height."""
        self._changed = 0

    def _below(self) -> float:
        pad = pad_bottom() if self.is_user else 0.0
        after = notices_height(notes.after(self.message), self._column)
        return pad + self.tools_height + after + foot_height() + self.details_height

    def _place(self, width: float) -> None:
        """Set the tops of the blocks that have changed, and of all after them."""
        if width != self._width:
            self._width, self._changed = width, 0
        views = self.views or []
        previous = views[self._changed - 1] if self._changed else None
        at = previous.top + previous.height if previous else self.first_block_top()
        for view in views[self._changed :]:
            view.guess(width)
            at += view.gap_after(previous)
            view.top = at
            at += view.height
            previous = view
        self._changed = len(views)
        self.height = self._end()

    def _end(self) -> float:
        last = self.views[-1] if self.views else None
        return (last.top + last.height if last else self.first_block_top()) + self._below()

    def _cut(self) -> None:
        if self.views is None:
            self._splitter = Splitter(not self.is_user)
            self._open = None
            self._changed = 0
            self.views = []
            self._splitter.feed(self.message.content)
            if not self.streaming:
                self._splitter.finish()
            self._take(0)

    def _take(self, known: int) -> None:
        """Views for the blocks the splitter has closed since `known`, and for the one that is open."""
        assert self.views is not None
        self._changed = min(self._changed, len(self.views) - (self._open is not None))
        if self._splitter.thought and not (self.views and self.views[0].is_fold):
            self.views.insert(0, BlockView(Block("fold", ""), False))
            self._changed = 0
            self._thinking_since = self._thinking_since or time.monotonic()
        fresh = [b for b in self._splitter.closed[known:] if not self._hides(b)]
        if fresh and self._open is not None:
            self.views.pop().drop()
            self._open = None
        self.views.extend(BlockView(block, self.is_user) for block in fresh)
        block = self._splitter.open()
        if block is not None and self._hides(block):
            block = None
        if block is None:
            if self._open is not None:
                self.views.pop().drop()
                self._open = None
        elif self._open is None:
            self._open = BlockView(block, self.is_user)
            self.views.append(self._open)
        elif block != self._open.block:
            self._open.grow(block)

    def _hides(self, block: Block) -> bool:
        """Whether a block is not shown: of a thought that is folded, or a call of a tool that is being written."""
        calls = self.streaming and block.language == _CALL and block.code
        return calls or (block.thought and self.folded)

    def fold(self, folded: bool) -> None:
        """Hide or show the thought."""
        if folded != self.folded:
            self.folded = folded
            self.release()
            self.views = None

    @property
    def has_thought(self) -> bool:
        """Whether the model thought before it answered."""
        return not self.is_user and self.message.content.lstrip().startswith("<think>")

    def thought_line(self) -> str:
        """Text of the line that the thought is folded under."""
        if self._splitter.thinking and self.streaming:
            return tr("Thinking… {time}", time=notes.whole(time.monotonic() - self._thinking_since))
        seconds = float(self.message.stats.get("thinking_seconds", 0.0))
        return tr("Thought for {time}", time=notes.whole(seconds)) if seconds else tr("Thoughts")

    def bubble_width(self, column: float) -> float:
        """Width of the user's bubble: as narrow as its words allow."""
        width = self.text_width(column)
        documents = [v.document for v in self.views or () if v.document is not None]
        if not documents or any(v.is_code for v in self.views or ()):
            return width + 2 * BUBBLE_PAD_X
        return min(width, max(d.idealWidth() for d in documents) + 1) + 2 * BUBBLE_PAD_X

    def text_left(self, column: float) -> float:
        """X of the text, relative to the column."""
        return column - self.bubble_width(column) + BUBBLE_PAD_X if self.is_user else 0.0
