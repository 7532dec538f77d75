"""The strips above an answer: its sources; and of a team its steps, who is working, and what each has said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QWidget

from app.i18n.translate import tr, tr_noop
from app.teams.words import step_name
from app.transcript.item import MessageItem
from app.transcript.notes import duration
from app.transcript.page import TranscriptPage
from app.widgets.builders import FlowLayout, hbox, make_button, make_label, vbox
from app.widgets.text import plain_tip
from engine.protocol import Passage

_GAP = 8.0  # pixels below a strip
_LONGEST = 20_000  # characters of a step that are shown
_CHIP = 32  # characters of a source's button
_MARKS = {"done": "✓", "working": "●", "waiting": "○", "skipped": "–", "failed": "✗", "stopped": "■"}
_STATES = {
    "done": tr_noop("Done"), "working": tr_noop("Working"), "waiting": tr_noop("Waiting"),
    "skipped": tr_noop("Skipped"), "failed": tr_noop("Failed"), "stopped": tr_noop("Stopped"),
}  # fmt: skip


class FoldingStrip(QFrame):
    """A row of buttons above an answer; one that is pressed shows facts and words below."""

    def __init__(self, parent: QWidget, name: str, resized: Callable[[], object]) -> None:
        """name: for screen readers. resized: called when its height may be another."""
        super().__init__(parent)
        self.setObjectName("entry")
        self.setAccessibleName(name)
        self.resized = resized
        self.chips: list[QToolButton] = []
        self.unfolded = -1
        self.row = FlowLayout(spacing=4)
        self.facts = make_label("", self, "muted", wrap=True)
        self.words = QLabel(self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.outer = vbox(self.row, self.facts, self.words, parent=self, margins=(10, 6, 10, 6), spacing=6)
        self.facts.hide()
        self.words.hide()

    def add_chip(self) -> QToolButton:
        """Append a button."""
        chip = QToolButton(self)
        chip.setObjectName("segment")
        chip.setCheckable(True)
        chip.clicked.connect(partial(self._toggle, len(self.chips)))
        self.chips.append(chip)
        self.row.addWidget(chip)
        chip.show()
        return chip

    def fit(self, width: int) -> int:
        """Set the width; returns the height."""
        self.setFixedWidth(width)
        self.outer.invalidate()
        self.setFixedHeight(self.outer.totalHeightForWidth(width))
        return self.height()

    def said(self, number: int) -> tuple[str, str]:
        """Facts and words to show below the button with this number."""
        raise NotImplementedError

    def show_words(self) -> None:
        """Show what belongs to the pressed button, and only that."""
        for number, chip in enumerate(self.chips):
            chip.setChecked(number == self.unfolded)
        shown = 0 <= self.unfolded < len(self.chips)
        self.facts.setVisible(shown)
        self.words.setVisible(shown)
        if shown:
            facts, words = self.said(self.unfolded)
            self.facts.setText(facts)
            self.words.setText(words[:_LONGEST])

    def _toggle(self, number: int) -> None:
        self.unfolded = -1 if number == self.unfolded else number
        self.show_words()
        self.resized()


class StepStrip(FoldingStrip):
    """The steps of one answer as buttons; one that is pressed shows what its step has said."""

    def __init__(self, parent: QWidget, resized: Callable[[], object]) -> None:
        super().__init__(parent, tr("Steps of the team"), resized)
        self._steps: list[Mapping[str, Any]] = []

    def show_steps(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Show how they are now."""
        self._steps = list(steps)
        while len(self.chips) < len(self._steps):
            self.add_chip()
        for chip, step in zip(self.chips, self._steps):
            state = str(step.get("state", ""))
            name = step_name(str(step.get("name", "")))
            chip.setText(f"{_MARKS.get(state, '')} {name}".replace("&", "&&"))
            told = tr(_STATES[state]) if state in _STATES else ""
            chip.setAccessibleName(tr("{name}: {value}", name=name, value=told))
            chip.setToolTip(plain_tip("\n".join(filter(None, (told, str(step.get("model", "")))))))
            chip.setEnabled(state not in ("waiting", "skipped"))
        self.show_words()

    def add_text(self, number: int, text: str) -> None:
        """More of what a step says."""
        if 0 <= number < len(self._steps):
            step = dict(self._steps[number])
            step["text"] = str(step.get("text", "")) + text
            self._steps[number] = step
            if number == self.unfolded:
                self.show_words()
                self.resized()

    def said(self, number: int) -> tuple[str, str]:
        step = self._steps[number]
        seconds = float(step.get("seconds", 0.0))
        parts = (
            str(step.get("model", "")) or tr("Selected model"),
            tr("Internal note") if step.get("note") else "",
            duration(seconds) if seconds else "",
        )
        return "  ·  ".join(filter(None, parts)), str(step.get("text", "")) or tr("No text yet")


class SourceStrip(FoldingStrip):
    """The passages that an answer was made with, by number; one that is pressed is shown, and can be opened."""

    opened = Signal(object)  # Passage: its document is to be shown

    def __init__(self, parent: QWidget, sources: Sequence[Passage], resized: Callable[[], object]) -> None:
        super().__init__(parent, tr("Sources"), resized)
        self._sources = tuple(sources)
        title = make_label(tr("Sources"), self, "muted")
        self.row.addWidget(title)
        for number, source in enumerate(self._sources, 1):
            chip = self.add_chip()
            text = f"{number}  {source.name.rpartition('/')[2]}"
            chip.setText((text if len(text) <= _CHIP else f"{text[: _CHIP - 1]}…").replace("&", "&&"))
            chip.setAccessibleName(tr("Source {number}: {place}", number=number, place=place_of(source)))
            chip.setToolTip(plain_tip(place_of(source)))
        title.setFixedHeight(self.chips[0].sizeHint().height())  # in line with the buttons
        self.open = make_button(tr("Open file"), self, self._open)
        self.outer.addLayout(hbox(self.open, ...))
        self.open.hide()

    def said(self, number: int) -> tuple[str, str]:
        source = self._sources[number]
        return place_of(source), source.text

    def show_words(self) -> None:
        super().show_words()
        self.open.setVisible(self.unfolded >= 0 and bool(self._sources[self.unfolded].file))  # an import has none

    @Slot()
    def _open(self) -> None:
        self.opened.emit(self._sources[self.unfolded])


def place_of(source: Passage) -> str:
    """Where a passage stands: 'notes/guide.md  ·  Settings › Memory  ·  lines 10–20'."""
    if source.page:
        where = tr("page {number}", number=f"{source.page:,}")
    elif source.line == source.last_line:
        where = tr("line {number}", number=f"{source.line:,}")
    else:
        where = tr("lines {first}–{last}", first=f"{source.line:,}", last=f"{source.last_line:,}")
    return "  ·  ".join(part for part in (source.name, source.heading, where) if part)


class AnswerStrips(QWidget):
    """What stands above the text of one answer: its sources, and the steps of a team."""

    def __init__(self, parent: QWidget, item: MessageItem, resized: Callable[[], object]) -> None:
        super().__init__(parent)
        self.sources = SourceStrip(self, item.sources, resized) if item.sources else None
        self.steps = StepStrip(self, resized) if item.steps else None
        if self.steps is not None:
            self.steps.show_steps(item.steps)

    def fit(self, width: int) -> int:
        """Set the width; returns the height."""
        top = 0
        for strip in (self.sources, self.steps):
            if strip is not None:
                strip.move(0, top)
                top += strip.fit(width) + round(_GAP)
        self.setFixedSize(width, max(0, top - round(_GAP)))
        return self.height()


class AnswerPanels(QObject):
    """One widget for each answer in sight that needs one, made as it comes into it; it keeps its place as the page
    scrolls."""

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page)
        self._page = page
        self._shown: dict[int, tuple[MessageItem, Any]] = {}  # by id() of the item
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._grown)

    def needed(self, item: MessageItem) -> bool:
        """Whether an answer needs one."""
        raise NotImplementedError

    def made(self, item: MessageItem) -> QWidget:
        """A new one. fit(width) sets its width, and returns its height."""
        raise NotImplementedError

    def fits(self, item: MessageItem, panel: Any) -> bool:
        """Whether the one that there is can show all of the answer."""
        return True

    def height(self, item: MessageItem) -> float:
        """The height that the answer leaves for it."""
        raise NotImplementedError

    def set_height(self, item: MessageItem, height: float) -> None:
        """Have the answer leave so much room."""
        raise NotImplementedError

    def top(self, item: MessageItem) -> float:
        """Its y in the answer."""
        raise NotImplementedError

    def panel(self, item: MessageItem) -> Any:
        """That of an answer; None where there is none, as it was never in sight."""
        found = self._shown.get(id(item))
        return found[1] if found is not None else None

    def measure(self, column: float) -> None:
        """Set the heights for a column of this width."""
        for item, panel in self._shown.values():
            self.set_height(item, panel.fit(round(column)) + _GAP)

    def place(self) -> None:
        """Make panels for what has come into sight, and move all to where the page has scrolled to."""
        if self._shown:
            there = {id(item) for item in self._page.items}
            for key in [key for key in self._shown if key not in there]:
                _, panel = self._shown.pop(key)
                panel.hide()
                panel.deleteLater()
        page, high = self._page, self._page.viewport().height()
        index = page.layout_.at(float(page.verticalScrollBar().value()))
        while 0 <= index < len(page.items) and page.origin(index).y() < high:
            item = page.items[index]
            known = self._shown.get(id(item))
            if self.needed(item) and (known is None or not self.fits(item, known[1])):
                if known is not None:
                    known[1].deleteLater()
                self._shown[id(item)] = item, self.made(item)
                self._later.start()
            index += 1
        if not self._shown:
            return
        numbers = {id(item): number for number, item in enumerate(page.items)}
        for key, (item, panel) in self._shown.items():
            origin = page.origin(numbers[key])
            top = round(origin.y() + self.top(item))
            panel.move(round(origin.x()), top)
            panel.setVisible(-panel.height() < top < high and self.height(item) > 0)

    @Slot()
    def _grown(self) -> None:
        before = [self.height(item) for item, _ in self._shown.values()]
        self.measure(self._page.layout_.column)
        if before != [self.height(item) for item, _ in self._shown.values()]:
            for index, item in enumerate(self._page.items):
                if id(item) in self._shown:
                    item.moved()
                    self._page.layout_.touch(index)
        self._page.arrange()


class StepStrips(AnswerPanels):
    """The sources and steps above the answers in sight. opened: Passage whose document is to be shown."""

    opened = Signal(object)

    def needed(self, item: MessageItem) -> bool:
        return bool(item.steps or item.sources)

    def made(self, item: MessageItem) -> AnswerStrips:
        strips = AnswerStrips(self._page.viewport(), item, self._later.start)
        if strips.sources is not None:
            strips.sources.opened.connect(self.opened)
        return strips

    def fits(self, item: MessageItem, panel: AnswerStrips) -> bool:
        """Steps may come after its sources."""
        return bool(item.steps) == (panel.steps is not None) and bool(item.sources) == (panel.sources is not None)

    def height(self, item: MessageItem) -> float:
        return item.steps_height

    def set_height(self, item: MessageItem, height: float) -> None:
        item.steps_height = height

    def top(self, item: MessageItem) -> float:
        return item.steps_top()

    def strip(self, item: MessageItem) -> StepStrip | None:
        """The steps of an answer; None where it has none, or was never in sight."""
        found = self.panel(item)
        return found.steps if found is not None else None

    def sources(self, item: MessageItem) -> SourceStrip | None:
        """The sources of an answer; None where it has none, or was never in sight."""
        found = self.panel(item)
        return found.sources if found is not None else None

    def add_text(self, item: MessageItem, number: int, text: str) -> None:
        """More of what a step says."""
        if (strip := self.strip(item)) is not None:
            strip.add_text(number, text)

    def show_steps(self, item: MessageItem) -> None:
        """Other states of an answer's steps."""
        if (strip := self.strip(item)) is not None:
            strip.show_steps(item.steps)
        self._later.start()
