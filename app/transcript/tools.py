"""The calls of tools below an answer: a card for each, and the question whether one may be made."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QPlainTextEdit, QPushButton, QWidget

from app.i18n.translate import tr, tr_noop
from app.storage.records import ASKED, DENIED, DONE, FAILED, RUNNING, STOPPED, ToolUse
from app.theme import fonts
from app.transcript.item import MessageItem
from app.transcript.notes import duration
from app.transcript.steps import AnswerPanels, FoldingStrip
from app.widgets.builders import FlowLayout, make_button, make_label, set_level, vbox
from app.widgets.screen_reader import announce
from app.widgets.text import plain_tip

_LONGEST = 20_000  # characters of arguments that are shown
_LINES = 10  # of arguments in sight; the rest is scrolled to
_CHIP = 40  # characters of a tool's name on its card
_MARKS = {DONE: "✓", RUNNING: "●", ASKED: "?", FAILED: "✗", DENIED: "–", STOPPED: "■"}
_STATES = {
    DONE: tr_noop("Done"), RUNNING: tr_noop("Running"), ASKED: tr_noop("Waiting for your permission"),
    FAILED: tr_noop("Failed"), DENIED: tr_noop("Denied"), STOPPED: tr_noop("Interrupted"),
}  # fmt: skip
_CHOICES = (
    ("once", tr_noop("Allow once")), ("chat", tr_noop("Allow for this chat")), ("always", tr_noop("Always allow")),
    ("deny", tr_noop("Deny")),
)  # fmt: skip


def written(use: ToolUse) -> str:
    """What was given to a call, and what came of it."""
    parts = ((tr("Arguments"), arguments_text(use.arguments)), (tr("Result"), use.text))
    return "\n\n".join(f"{name}\n{text}" for name, text in parts if text)


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments of a call as people read them: a line for each, its value as it is or as JSON."""
    lines = []
    for name, value in arguments.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1)
        lines.append(f"{name}: {text}" if "\n" not in text else f"{name}:\n{text}")
    return "\n".join(lines)[:_LONGEST]


class ToolQuestion(QFrame):
    """Whether a call may be made. decided: number of the call, and the choice."""

    decided = Signal(int, str)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("question")
        self._number = -1
        self.title = make_label("", self, heading=1.0, wrap=True)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.about = make_label("", self, "muted", wrap=True)
        self.arguments = QPlainTextEdit(self)
        self.arguments.setObjectName("field")
        self.arguments.setReadOnly(True)
        self.arguments.setAccessibleName(tr("Arguments"))
        self.arguments.setTabChangesFocus(True)
        row = FlowLayout()
        self.buttons: dict[str, QPushButton] = {}
        for choice, words in _CHOICES:
            button = make_button(tr(words), self, partial(self._decide, choice), "primary" if choice == "once" else "")
            button.setAutoDefault(False)
            self.buttons[choice] = button
            row.addWidget(button)
        self.outer = vbox(self.title, self.about, self.arguments, row, parent=self, margins=0, spacing=6)
        self.hide()

    def show_call(self, number: int, use: ToolUse | None) -> None:
        """Ask about a call; None: about none."""
        asked, self._number = -1 if self.isHidden() else self._number, number
        self.setVisible(use is not None)
        if use is None:
            return
        self.title.setText(tr("Allow {server} to run {tool}?", server=use.title, tool=use.name))
        leaves = tr("This call will be sent to {host}.", host=use.host) if use.host else ""
        self.about.setText(leaves or tr("Nothing runs until you allow it."))
        set_level(self.about, "warning" if use.host else "fine")
        text = arguments_text(use.arguments)
        if self.arguments.toPlainText() != text:
            self.arguments.setPlainText(text)
        self.arguments.setVisible(bool(text))
        lines = min(_LINES, text.count("\n") + 1 + max(map(len, text.splitlines() or [""])) // 80)
        self.arguments.setFixedHeight(round(lines * self.arguments.fontMetrics().lineSpacing() + fonts.pixels(18)))
        self.setAccessibleName(self.title.text())
        for words in self.buttons.values():
            words.setAccessibleName(tr("{deed}: {title}", deed=words.text(), title=use.name))
        if asked != number:
            announce(self, self.title.text(), urgent=True)

    def _decide(self, choice: str) -> None:
        self.decided.emit(self._number, choice)


class ToolStrip(FoldingStrip):
    """The calls of one answer as buttons; one that is pressed shows what was given and what came of it."""

    def __init__(self, parent: QWidget, resized: Callable[[], object]) -> None:
        super().__init__(parent, tr("Tool calls"), resized)
        self._uses: Sequence[ToolUse] = ()
        self._asking = False
        self.question = ToolQuestion(self)
        self.outer.addWidget(self.question)

    def show_uses(self, uses: Sequence[ToolUse], *, asking: bool) -> None:
        """Show how they are now. asking: the answer waits for a decision, if one is asked for."""
        self._uses, self._asking = uses, asking
        while len(self.chips) < len(uses):
            self.add_chip()
        for chip, use in zip(self.chips, uses):
            state = self._state(use, asking)
            name = use.name if len(use.name) <= _CHIP else f"{use.name[: _CHIP - 1]}…"
            chip.setText(f"{_MARKS.get(state, '')} {name}".replace("&", "&&"))
            told = tr(_STATES[state]) if state in _STATES else ""
            chip.setAccessibleName(tr("{name}: {value}", name=use.name, value=told))
            chip.setToolTip(plain_tip("\n".join(filter(None, (told, use.title)))))
        asked = next((n for n, use in enumerate(uses) if not use.settled), -1)
        waits = asking and asked >= 0 and uses[asked].state == ASKED
        self.question.show_call(asked, uses[asked] if waits else None)
        self.show_words()

    def fit(self, width: int) -> int:
        self.question.setMaximumWidth(width)
        return super().fit(width)

    def said(self, number: int) -> tuple[str, str]:
        use = self._uses[number]
        state = self._state(use, self._asking)
        facts = (
            use.title, tr("Remote server: {host}", host=use.host) if use.host else "",
            tr(_STATES[state]) if state in _STATES else "", duration(use.seconds) if use.seconds else "",
        )  # fmt: skip
        return "  ·  ".join(filter(None, facts)), written(use) or tr("No text yet")

    @staticmethod
    def _state(use: ToolUse, asking: bool) -> str:
        """A call that nobody goes through any more was interrupted."""
        return use.state if asking or use.settled else STOPPED


class ToolStrips(AnswerPanels):
    """The calls below the answers in sight. decided: message id, number of a call, and the choice."""

    decided = Signal(object, int, str)

    def needed(self, item: MessageItem) -> bool:
        return bool(item.message.tools)

    def made(self, item: MessageItem) -> ToolStrip:
        strip = ToolStrip(self._page.viewport(), self._later.start)
        strip.show_uses(item.message.tools, asking=item.streaming)
        message_id = item.message.id
        strip.question.decided.connect(lambda number, choice: self.decided.emit(message_id, number, choice))
        return strip

    def height(self, item: MessageItem) -> float:
        return item.tools_height

    def set_height(self, item: MessageItem, height: float) -> None:
        item.tools_height = height

    def top(self, item: MessageItem) -> float:
        return item.tools_top()

    def show_uses(self, item: MessageItem) -> None:
        """The calls of an answer are others."""
        strip = self.panel(item)
        if strip is not None:
            strip.show_uses(item.message.tools, asking=item.streaming)
        self._later.start()
