"""Finds words in the open chat, marks them, selects one after the other and scrolls to it."""

from __future__ import annotations

import re
from collections.abc import Sequence

from PySide6.QtCore import QObject, Slot

from app.chat.conversation import Conversation
from app.markdown.split import without_thought
from app.shell import Shell
from app.storage.records import ScrollPosition
from app.transcript.code_controls import CodeBlocks
from app.transcript.page import TranscriptPage
from app.transcript.selection import TextPosition
from app.transcript.view import line_top

_Match = tuple[TextPosition, TextPosition]  # where a match begins and ends
_ABOVE = 0.3  # of the viewport, that is shown before a line that was found


class Finder:
    """Steps through the matches of a search.

    messages: numbers of those that have the words. at: which of them is looked at, -1 for none.
    """

    def __init__(self, page: TranscriptPage, code: CodeBlocks) -> None:
        self._page, self._code = page, code
        self._pattern: re.Pattern[str] | None = None
        self._places: list[_Match] = []  # in the message that is looked at
        self._place = -1
        self.messages: list[int] = []
        self.at = -1

    def look_for(self, words: Sequence[str], *, mark: bool = True) -> None:
        """Set the words to find, case-insensitively; none: nothing. Nothing is selected before `step` or `show`.

        mark: all that is in sight of them is marked.
        """
        self._pattern = re.compile("|".join(map(re.escape, words)), re.IGNORECASE) if words else None
        self.messages, self.at, self._places, self._place = [], -1, [], -1
        if self._pattern is not None:
            search, items = self._pattern.search, self._page.items
            self.messages = [i for i, item in enumerate(items) if search(without_thought(item.message.content))]
        selection = self._page.selection
        selection.wanted, selection.found = self._pattern if mark else None, None
        self._page.renew()

    def show(self, message_id: int) -> bool:
        """Select the first match in this message."""
        index = self._page.index(message_id)
        return index in self.messages and self._enter(self.messages.index(index), 1)

    def start(self) -> bool:
        """Select the first match at or below the top of what is in sight, or else the first of all."""
        top = self._page.layout_.at(float(self._page.verticalScrollBar().value()))
        after = next((n for n, index in enumerate(self.messages) if index >= top), 0)
        return self._from(after, 1)

    def step(self, by: int) -> bool:
        """Select the match after (1) or before (-1); behind the last comes the first."""
        if not self.messages:
            return False
        if 0 <= self._place + by < len(self._places):
            self._place += by
            self._select()
            return True
        return self._from(self.at + by if self.at >= 0 else min(0, by), by)

    def _from(self, first: int, by: int) -> bool:
        """From this message on, the first that shows the words: some have them only in the address of a link."""
        count = len(self.messages)
        return any(self._enter((first + by * n) % count, by) for n in range(count))

    def _enter(self, number: int, by: int) -> bool:
        self.at = number
        self._places = self._in(self.messages[number])
        self._place = 0 if by > 0 else len(self._places) - 1
        if self._places:
            self._select()
        return bool(self._places)

    def _in(self, index: int) -> list[_Match]:
        """Matches in a message."""
        assert self._pattern is not None
        found = []
        for number, block in enumerate(self._page.items[index].blocks()):
            if self._pattern.search(block.block.text):
                self._page.make(index, number, number)
                text = block.document.toPlainText() if block.document is not None else ""
                spans = [m.span() for m in self._pattern.finditer(text)]
                found += [
                    (TextPosition(index, number, start), TextPosition(index, number, end)) for start, end in spans
                ]
        return found

    def _select(self) -> None:
        page, (start, end) = self._page, self._places[self._place]
        item = page.items[start.message]
        for _ in range(2):  # what is above in the message has its true height only once it is in sight
            page.make(start.message, start.block, start.block)
            block = item.blocks()[start.block]
            if block.document is None:
                return
            y = line_top(block, start.position, block.text_rect(item.text_width(page.layout_.column)).top())
            if 8 <= page.origin(start.message).y() + y <= page.viewport().height() - 48:
                break  # it is in sight: nothing need move
            page.go_to(ScrollPosition(item.message.id, round(y - _ABOVE * page.viewport().height())))
        self._code.bring(block, start.position, end.position)
        page.selection.anchor, page.selection.head = start, end
        page.selection.found = start, end
        page.renew()


class FindController(QObject):
    """Serves the strip above the conversation."""

    def __init__(self, shell: Shell, conversation: Conversation) -> None:
        super().__init__(shell)
        self._shell, self._bar = shell, shell.find_bar
        self._finder = Finder(shell.transcript, shell.transcript.code)
        self._wanted: tuple[int, Sequence[str]] | None = None  # a message that is being opened, and the words in it
        self._bar.typed.connect(self._find)
        self._bar.stepped.connect(self._step)
        self._bar.closed.connect(self.close)
        conversation.opened.connect(self._opened)
        for changed in (conversation.added, conversation.finished, conversation.removed, conversation.replaced):
            changed.connect(self._changed)

    @Slot()
    def open(self) -> None:
        """Show the strip; what is selected is looked for."""
        view = self._shell.transcript
        if self._shell.pages.currentWidget() is not view:
            return
        selected = view.selection.text(view.items, view.make, False)
        if selected and "\n" not in selected:
            self._bar.edit.setText(selected)
        self._bar.show()
        self._bar.edit.setFocus()
        self._bar.edit.selectAll()

    @Slot()
    def close(self) -> bool:
        """Hide the strip; False where there was none."""
        if self._bar.isHidden():
            return False
        self._bar.hide()
        self._finder.look_for(())
        self._shell.transcript.setFocus()
        return True

    def want(self, message_id: int, words: Sequence[str]) -> None:
        """When the chat that has this message is open, select the words in it."""
        self._wanted = message_id, words

    @Slot(str)
    def _find(self, text: str) -> None:
        self._finder.look_for([text] if text else [])
        self._finder.start()
        self._show_count()

    @Slot(int)
    def _step(self, by: int) -> None:
        self._finder.step(by)
        self._show_count()

    @Slot()
    def _opened(self) -> None:
        wanted, self._wanted = self._wanted, None
        self._bar.hide()
        self._finder.look_for(wanted[1] if wanted is not None else (), mark=False)
        if wanted is not None:
            self._finder.show(wanted[0])

    @Slot()
    def _changed(self) -> None:
        """Messages came, went or ended: the next step shall know of them."""
        if not self._bar.isHidden() and self._bar.edit.text().strip():
            self._finder.look_for([self._bar.edit.text().strip()])
            self._show_count()

    def _show_count(self) -> None:
        self._bar.show_count(max(0, self._finder.at), len(self._finder.messages))
