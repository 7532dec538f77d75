"""The page on which two answers to one question stand side by side."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QGridLayout, QPlainTextEdit, QSizePolicy, QWidget

from app.backend import Models, is_endpoint
from app.chat.image_support import reads_images
from app.chat.prompt_messages import prompt_messages
from app.compare.column import CompareColumn
from app.compare.run import ComparedAnswer, ComparisonRun
from app.compare.settings_text import differing_settings
from app.compare.words import differing
from app.i18n.translate import plural, sentences, tr
from app.storage.records import Attachment, StoredMessage, Style, new_question
from app.storage.store import NEW_CHAT
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_button, make_label, make_timer, scroll_area, show_text, vbox
from engine import protocol

_LINES = 2.6  # of the question
_LEAST_LINES = 3.5  # of an answer, with the room around it: in a lower window the page scrolls
_STATUS_EVERY = 200  # milliseconds between two looks at what is said while there is no word yet
_LARGEST_SEED = 2**31


class QuestionEdit(QPlainTextEdit):
    """entered: Enter was pressed, without Shift."""

    entered = Signal()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if enter and not event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            self.entered.emit()
        else:
            super().keyPressEvent(event)


class ComparePage(QWidget):
    """closed: back to the chat. used: number of the column whose answer is wanted for the chat."""

    closed = Signal()
    used = Signal(int)
    link = Signal(str)  # the address of one that was clicked

    def __init__(
        self, theme: Theme, known: Models, settings: Callable[[str], dict[str, Any]], parent: QWidget | None = None
    ) -> None:
        """settings: of the engine, that a model of this name is opened with."""
        super().__init__(parent)
        self._models = known
        self.run = ComparisonRun(known.link, settings, self)
        self.before: tuple[StoredMessage, ...] = ()  # of the chat, what is read before the question
        self.attachments: tuple[Attachment, ...] = ()  # to the question
        self._style, self._thinking = Style(), "on"
        self._presets: Mapping[str, Style] = {}
        self._asked = ""  # the question that the answers are to
        self._differences: tuple[object, str] = (None, "")
        inside = QWidget(self)
        inside.setObjectName("page")
        title = make_label(tr("Compare answers"), self, heading=1.5)
        back = make_button(tr("Back to chat"), self, self.closed.emit, "quiet")
        self.about = make_label("", self, "muted", wrap=True)
        self.columns = (
            CompareColumn(theme, tr("Left"), "exact", settings, self),
            CompareColumn(theme, tr("Right"), "fast", settings, self),
        )
        for number, column in enumerate(self.columns):
            column.used.connect(lambda number=number: self.used.emit(number))
            column.chosen.connect(self._show)
            column.text.anchorClicked.connect(lambda address: self.link.emit(address.toString()))
        self.result = make_label("", self, wrap=True, selectable=True)
        self.edit = QuestionEdit(self)
        self.edit.setObjectName("field")
        self.edit.setAccessibleName(tr("Question"))
        self.edit.setPlaceholderText(tr("Ask both"))
        self.edit.setTabChangesFocus(True)
        sizes.set_lines(self.edit, _LINES)
        self.edit.entered.connect(self.ask)
        self.edit.textChanged.connect(self._show)
        self.go = make_button(tr("Ask both"), self, self.ask, "primary")
        self.halt = make_button(tr("Stop"), self, self.run.stop)
        for button in (self.go, self.halt):  # as high as the field
            button.setSizePolicy(QSizePolicy.Policy.Minimum, QSizePolicy.Policy.Expanding)
        foot = hbox((self.edit, 1), self.go, self.halt, spacing=10)
        vbox(
            hbox((title, 1), back), self.about, (self._side_by_side(), 1),
            parent=inside, margins=(24, 14, 24, 0), spacing=10,
        )  # fmt: skip
        below = vbox(self.result, foot, margins=(24, 10, 24, 16), spacing=10)
        vbox((scroll_area(inside, self), 1), below, parent=self, margins=0, spacing=0)
        self._clock = make_timer(self, _STATUS_EVERY, self._show)
        self.run.changed.connect(self._show)
        self.run.text_added.connect(self._grow)
        known.listed.connect(self._offer)
        known.changed.connect(self._offer)
        self._offer()

    def _side_by_side(self) -> QGridLayout:
        """Lay out both columns, part beside part; where there is little height, the answers become lower first."""
        grid = QGridLayout()
        grid.setHorizontalSpacing(16)
        grid.setVerticalSpacing(8)
        for number, column in enumerate(self.columns):
            grid.setColumnStretch(number, 1)
            for row, part in enumerate(column.parts):
                grid.addWidget(part, row, number)
                grid.setRowStretch(row, int(part is column.text))
            sizes.set_least_lines(column.text, _LEAST_LINES)
        return grid

    def begin(
        self, style: Style, thinking: str, text: str = "", *, before: Sequence[StoredMessage] = (),
        attachments: Sequence[Attachment] = (), model: str = "", dial: str = "",
    ) -> None:  # fmt: skip
        """Prepare another question. before: messages of a chat that are read before it. model, dial: that answer in
        the chat; what is compared at first is Exact, and that quality or Fast.
        """
        self.run.forget()
        self._asked, self._style, self._thinking = "", style, thinking
        self.before, self.attachments = tuple(before), tuple(attachments)
        self._offer()
        for column, choice in zip(self.columns, ("exact", dial if dial in ("balanced", "fast") else "fast")):
            column.choose(model, choice)
            column.begin()
        self.edit.setPlainText(text)
        self.edit.selectAll()
        self.edit.setFocus()
        self._show()

    def offer_presets(self, presets: Mapping[str, Style]) -> None:
        """Offer presets of chat settings, by name, beside the settings of the chat."""
        self._presets = presets
        for column in self.columns:
            column.offer_presets(presets)
        self._show()

    def _style_of(self, column: CompareColumn) -> Style:
        """The chat settings that a column is asked with."""
        return self._presets.get(column.preset, self._style)

    @property
    def question(self) -> str:
        """The question that the answers are to; where none was asked, the one that is typed."""
        return self._asked or self.edit.toPlainText().strip()

    @Slot()
    def ask(self) -> None:
        """Have both answer."""
        text = self.edit.toPlainText().strip()
        if not self.go.isEnabled() or not self.go.isVisibleTo(self):
            return
        self._asked = text
        asked = new_question(NEW_CHAT, None, text, self.attachments)
        seed = random.randrange(_LARGEST_SEED)  # with the same draws, what differs is the doing of what was chosen
        both = all(reads_images(self._models, column.side[0]) for column in self.columns)  # they are asked the same
        answers = []
        for column in self.columns:
            column.begin()
            style, (model, dial) = self._style_of(column), column.side
            messages = prompt_messages([*self.before, asked], style.system, images=both)
            sampling = {"seed": seed, **_given(style.sampling)}
            question = protocol.QuestionApart(messages, sampling, style.stop, self._thinking)
            answers.append(
                ComparedAnswer(model=model, dial=dial, question=question, style=style, changes=column.changes)
            )
        self.run.start(*answers)

    @Slot()
    def _offer(self) -> None:
        """The models that can be asked."""
        known = self._models
        titles = {card.name: str(card.title) for card in known.cards if card.usable}
        titles |= {card.key: card.endpoint.name for card in known.endpoints}
        chosen = known.card.name if known.card is not None else known.wanted
        for column in self.columns:
            column.offer_models(titles, chosen)
        self._show()

    @Slot(int, str)
    def _grow(self, number: int, text: str) -> None:
        self.columns[number].text.grow(text)

    @Slot()
    def _show(self) -> None:
        run, (left, right) = self.run, self.columns
        answers = run.answers or (None, None)
        names = left.changes | right.changes
        engine = [{name: c.changes.get(name, c.in_force(name)) for name in names} for c in self.columns]
        settings = differing_settings(self._style_of(left), self._style_of(right), (engine[0], engine[1]))
        for column, answer, text in zip(self.columns, answers, settings):
            column.show_answer(answer)
            column.show_settings(text)
            for combo in (column.model, column.presets):
                combo.setEnabled(combo.count() > 0 and not run.busy)
            for control in filter(None, (column.dial, column.engine, column.editor)):
                control.setEnabled(not run.busy and not is_endpoint(column.side[0]))
        some = bool(self.edit.toPlainText().strip()) or bool(self.attachments)
        self.go.setVisible(not run.busy)
        self.go.setEnabled(some and bool(left.side[0]) and (left.side != right.side or any(settings)))
        self.halt.setVisible(run.busy)
        show_text(self.about, self._about(alike=not any(settings)))
        show_text(self.result, sentences(self._measured(), self._mark()))
        if run.busy:
            self._clock.start()

    def _about(self, *, alike: bool) -> str:
        """What is going to be done. alike: with the same settings on both sides."""
        (first, dial), (second, other) = (column.side for column in self.columns)
        if not first:
            return tr("No model is available. Add one first.")
        if alike and (first, dial) == (second, other):
            return (
                tr("Choose another model, quality, preset or engine setting on one side.")
                if self._presets
                else tr("Choose another model, quality or engine setting on one side.")
            )
        count = len(self.before)
        changed = [protocol.settings.ALL[name] for column in self.columns for name in column.changes]
        return sentences(
            tr("The answers are generated one after the other."),
            tr("If memory can't hold both models, the first is unloaded for the second.") if first != second else "",
            tr("The model is loaded again with the changed setting, and with its own before your next message.")
            if any(not setting.live for setting in changed) else "",
            plural("The message before it in the chat is included.",
                   "The {count:,} messages before it in the chat are included.", count, count=count) if count else "",
        )  # fmt: skip

    def _measured(self) -> str:
        """What is known of how far the two are apart."""
        run = self.run
        if run.measuring:
            return run.measuring
        if run.trouble is not None:
            return sentences(tr("KL not measured."), run.trouble.sentence, run.trouble.action)
        found = run.divergence
        if found is None:
            return ""
        if found.alike:
            return tr("Every expert is in memory, so both run at full precision: no loss to measure.")
        first, second = (column.dial_name(answer.dial) for column, answer in zip(self.columns, run.answers))
        kl = f"{found.kl:.4f}" if found.kl >= 5e-5 else f"{found.kl:.1e}"
        return tr("Difference of {second} from {first}: KL {kl} (left answer, {count:,} tokens).",
                  first=first, second=second, kl=kl, count=found.tokens)  # fmt: skip

    def _mark(self) -> str:
        """Mark the words that differ, once both answers are there; returns what is said of them."""
        run = self.run
        if not run.complete:
            return ""
        if self._differences[0] is not run.answers:
            left, right = (column.text.toPlainText() for column in self.columns)
            found = differing(left, right)
            for column, spans in zip(self.columns, found or ((), ())):
                column.text.mark(spans)
            said = tr("Words that differ are underlined.") if left != right else tr("Both answers are the same.")
            self._differences = run.answers, said if found is not None else tr("Too long to mark what differs.")
        return self._differences[1]

    def hideEvent(self, event: QHideEvent) -> None:
        """On another page nobody waits for it; a window that is only minimized goes on."""
        if not event.spontaneous() and self.run.busy:
            self.run.stop()
        super().hideEvent(event)


def _given(sampling: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in sampling.items() if value is not None}
