"""The strip above an answer of a team: its steps, who is working, and what each has said."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QFrame, QLabel, QToolButton, QWidget

from app.i18n.translate import tr, tr_noop
from app.teams.words import step_name
from app.transcript.item import MessageItem
from app.transcript.notes import duration
from app.transcript.page import TranscriptPage
from app.widgets.builders import FlowLayout, make_label, vbox
from app.widgets.text import plain_tip

_GAP = 8.0  # pixels below a strip
_LONGEST = 20_000  # characters of a step that are shown
_MARKS = {"done": "✓", "working": "●", "waiting": "○", "skipped": "–", "failed": "✗", "stopped": "■"}
_STATES = {
    "done": tr_noop("Done"), "working": tr_noop("Working"), "waiting": tr_noop("Waiting"),
    "skipped": tr_noop("Skipped"), "failed": tr_noop("Failed"), "stopped": tr_noop("Stopped"),
}  # fmt: skip


class StepStrip(QFrame):
    """The steps of one answer as buttons; one that is pressed shows what its step has said."""

    def __init__(self, parent: QWidget, resized: Callable[[], object]) -> None:
        """resized: called when its height may be another."""
        super().__init__(parent)
        self.setObjectName("entry")
        self.setAccessibleName(tr("Steps of the team"))
        self._resized = resized
        self._steps: list[Mapping[str, Any]] = []
        self.chips: list[QToolButton] = []
        self.unfolded = -1
        self._row = FlowLayout(spacing=4)
        self.facts = make_label("", self, "muted", wrap=True)
        self.words = QLabel(self)
        self.words.setTextFormat(Qt.TextFormat.PlainText)
        self.words.setWordWrap(True)
        self.words.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._outer = vbox(self._row, self.facts, self.words, parent=self, margins=(10, 6, 10, 6), spacing=6)
        self.facts.hide()
        self.words.hide()

    def show_steps(self, steps: Sequence[Mapping[str, Any]]) -> None:
        """Show how they are now."""
        self._steps = list(steps)
        while len(self.chips) < len(self._steps):
            chip = QToolButton(self)
            chip.setObjectName("segment")
            chip.setCheckable(True)
            chip.clicked.connect(partial(self._toggle, len(self.chips)))
            self.chips.append(chip)
            self._row.addWidget(chip)
            chip.show()
        for chip, step in zip(self.chips, self._steps):
            state = str(step.get("state", ""))
            name = step_name(str(step.get("name", "")))
            chip.setText(f"{_MARKS.get(state, '')} {name}".replace("&", "&&"))
            told = tr(_STATES[state]) if state in _STATES else ""
            chip.setAccessibleName(tr("{name}: {value}", name=name, value=told))
            chip.setToolTip(plain_tip("\n".join(filter(None, (told, str(step.get("model", "")))))))
            chip.setEnabled(state not in ("waiting", "skipped"))
        self._show_words()

    def add_text(self, number: int, text: str) -> None:
        """More of what a step says."""
        if 0 <= number < len(self._steps):
            step = dict(self._steps[number])
            step["text"] = str(step.get("text", "")) + text
            self._steps[number] = step
            if number == self.unfolded:
                self._show_words()
                self._resized()

    def fit(self, width: int) -> int:
        """Set the width; returns the height."""
        self.setFixedWidth(width)
        self._outer.invalidate()
        self.setFixedHeight(self._outer.totalHeightForWidth(width))
        return self.height()

    def _toggle(self, number: int) -> None:
        self.unfolded = -1 if number == self.unfolded else number
        self._show_words()
        self._resized()

    def _show_words(self) -> None:
        for number, chip in enumerate(self.chips):
            chip.setChecked(number == self.unfolded)
        shown = 0 <= self.unfolded < len(self._steps)
        self.facts.setVisible(shown)
        self.words.setVisible(shown)
        if shown:
            step = self._steps[self.unfolded]
            seconds = float(step.get("seconds", 0.0))
            model = str(step.get("model", "")) or tr("Selected model")
            self.facts.setText("  ·  ".join(filter(None, (
                model,
                tr("Note for the team") if step.get("note") else "",
                duration(seconds) if seconds else "",
            ))))  # fmt: skip
            self.words.setText(str(step.get("text", ""))[:_LONGEST] or tr("No text yet"))


class StepStrips(QObject):
    """The strips of the answers in sight, made as these come into it; they keep their place as the page scrolls."""

    def __init__(self, page: TranscriptPage) -> None:
        super().__init__(page)
        self._page = page
        self._shown: dict[int, tuple[MessageItem, StepStrip]] = {}  # by id() of the item
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._grown)

    def strip(self, item: MessageItem) -> StepStrip | None:
        """That of an answer; None where it has none, or was never in sight."""
        found = self._shown.get(id(item))
        return found[1] if found is not None else None

    def add_text(self, item: MessageItem, number: int, text: str) -> None:
        """More of what a step says."""
        if (strip := self.strip(item)) is not None:
            strip.add_text(number, text)

    def show_steps(self, item: MessageItem) -> None:
        """Other states of an answer's steps."""
        if (strip := self.strip(item)) is not None:
            strip.show_steps(item.steps)
        self._later.start()

    def measure(self, column: float) -> None:
        """Set the heights for a column of this width."""
        for item, strip in self._shown.values():
            item.steps_height = strip.fit(round(column)) + _GAP

    def place(self) -> None:
        """Make strips for what has come into sight, and move all to where the page has scrolled to."""
        there = {id(item): number for number, item in enumerate(self._page.items)}
        for key in [key for key in self._shown if key not in there]:
            _, strip = self._shown.pop(key)
            strip.hide()
            strip.deleteLater()
        page, high = self._page, self._page.viewport().height()
        index = page.layout_.at(float(page.verticalScrollBar().value()))
        while 0 <= index < len(page.items) and page.origin(index).y() < high:
            item = page.items[index]
            if item.steps and id(item) not in self._shown:
                strip = StepStrip(page.viewport(), self._later.start)
                strip.show_steps(item.steps)
                self._shown[id(item)] = item, strip
                self._later.start()
            index += 1
        for key, (item, strip) in self._shown.items():
            origin = page.origin(there[key])
            top = round(origin.y() + item.steps_top())
            strip.move(round(origin.x()), top)
            strip.setVisible(-strip.height() < top < high and item.steps_height > 0)

    @Slot()
    def _grown(self) -> None:
        before = [item.steps_height for item, _ in self._shown.values()]
        self.measure(self._page.layout_.column)
        if before != [item.steps_height for item, _ in self._shown.values()]:
            for index, item in enumerate(self._page.items):
                if id(item) in self._shown:
                    item.moved()
                    self._page.layout_.touch(index)
        self._page.arrange()
