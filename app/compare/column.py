"""One side of a comparison: model, quality and preset, the answer, its figures, and what can be done with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QGuiApplication, QTextCharFormat, QTextCursor
from PySide6.QtWidgets import QComboBox, QTextBrowser, QTextEdit, QWidget

from app.backend import is_endpoint
from app.compare.run import ENDED, FAILED, STOPPED, ComparedAnswer
from app.compare.words import Span
from app.i18n.translate import sentences, tr, tr_engine
from app.library.model_text import joined, unbroken
from app.markdown import document as documents
from app.markdown.split import Block, without_thought
from app.settings.editor import SettingEditor
from app.theme.theme import Theme
from app.transcript import notes
from app.widgets.builders import FlowLayout, empty, hbox, make_button, make_combo, make_label, show_text, vbox
from app.widgets.buttons import ElidedLabel
from app.widgets.text import plain_tip
from engine import protocol

DIALS = ("exact", "balanced", "fast")
_LETTERS = 8
_UNIT = re.compile(r"\s*[(（].*")  # of a setting, which its control says


class AnswerText(QTextBrowser):
    """Shows an answer: as plain text while it grows, as Markdown once it has ended, with words marked."""

    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.setObjectName("answer")
        self.setOpenLinks(False)
        self._theme = theme
        self._text = ""
        self._ended = False
        self._spans: Sequence[Span] = ()
        self._document = self.document()
        theme.changed.connect(self._restyle)

    def sizeHint(self) -> QSize:
        """As low as it may be: what room is left, the page gives it."""
        return QSize(super().sizeHint().width(), self.minimumHeight())

    def clear_answer(self) -> None:
        """Show nothing."""
        self._text, self._ended, self._spans = "", False, ()
        self._restyle()

    def grow(self, text: str) -> None:
        """Show more of an answer; what is thought before it is not."""
        shown = without_thought(self._text)
        self._text += text
        now = without_thought(self._text)
        bar = self.verticalScrollBar()
        at_end = bar.value() >= bar.maximum() - 4
        cursor = QTextCursor(self.document())
        cursor.movePosition(QTextCursor.MoveOperation.End)
        cursor.insertText(now[len(shown) :])
        if at_end:
            bar.setValue(bar.maximum())

    def end(self, text: str) -> None:
        """Show a whole answer."""
        self._text, self._ended = text, True
        self._restyle()

    def mark(self, spans: Sequence[Span]) -> None:
        """Mark these characters of the text that is shown."""
        self._spans = spans
        form = QTextCharFormat()
        form.setBackground(QColor(self._theme.palette.warning_soft))
        form.setFontUnderline(True)  # so that it is seen without colours, too
        form.setUnderlineColor(QColor(self._theme.palette.warning))
        marked = []
        for start, stop in spans:
            selection = QTextEdit.ExtraSelection()
            cursor = QTextCursor(self.document())
            cursor.setPosition(start)
            cursor.setPosition(stop, QTextCursor.MoveMode.KeepAnchor)
            selection.cursor, selection.format = cursor, form
            marked.append(selection)
        self.setExtraSelections(marked)

    @Slot()
    def _restyle(self) -> None:
        answer = without_thought(self._text)
        document = documents.make(Block("text" if self._ended else "open", answer), self._theme.palette)
        document.setDocumentMargin(12)
        self.setExtraSelections([])  # they are about the document before
        self.setDocument(document)
        self._document = document  # which the browser does not keep
        self.mark(self._spans)


class CompareColumn(QObject):
    """parts: its widgets, from above, which the page lays out so that those of both columns stand side by side.

    used: this answer is wanted for the chat. chosen: another model, quality, preset or setting of the engine.
    """

    used = Signal()
    chosen = Signal()

    def __init__(
        self, theme: Theme, place: str, dial: str, settings: Callable[[str], dict[str, Any]], parent: QWidget
    ) -> None:
        """place: which of the two it is, for screen readers. dial: the quality that is chosen at first. settings: of
        the engine, that a model of this name is opened with.
        """
        super().__init__(parent)
        self._answer: ComparedAnswer | None = None
        self._settings = settings
        names = protocol.settings.ALL["dial"]
        self.model = make_combo(parent, tr("{place}: model", place=place))
        choices = [(tr_engine(names.name_of(choice)), choice) for choice in DIALS]
        self.dial = make_combo(parent, tr("{place}: quality", place=place), choices, dial)
        self.presets = make_combo(parent, tr("{place}: preset", place=place))
        known = [(_UNIT.sub("", tr_engine(s.label)), s.name) for s in protocol.COMPARABLE]
        self.engine = make_combo(
            parent, tr("{place}: engine setting", place=place), [(tr("Engine settings"), ""), *known]
        )
        self.editor: SettingEditor | None = None  # of the setting that is chosen there
        self._value: Any = None
        self._editor_place = vbox(margins=0)
        self.engine.currentIndexChanged.connect(self._edit_setting)
        self.model.currentIndexChanged.connect(self._rebase)
        for combo in (self.model, self.presets, self.engine):
            combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
            combo.setMinimumContentsLength(_LETTERS)  # of a long title, where the column is narrow
        for combo in (self.model, self.dial, self.presets):
            combo.currentIndexChanged.connect(self.chosen)
        self.settings = ElidedLabel(parent)  # those in which the other column has others
        self.settings.setObjectName("muted")
        self.offer_presets(())
        self.show_settings("")
        self.text = AnswerText(theme, parent)
        self.text.setAccessibleName(tr("{place}: answer", place=place))
        self.problem = make_label("", parent, "restart", wrap=True, selectable=True)
        self.problem.hide()
        self.figures = make_label("", parent, "muted", wrap=True, selectable=True)
        self.use = make_button(
            tr("Use this answer"), parent, self.used, name=tr("{place}: use this answer", place=place)
        )
        self.copy = make_button(tr("Copy"), parent, self._copy, "quiet", name=tr("{place}: copy", place=place))
        combos = FlowLayout(spacing=8)
        for combo in (self.model, self.dial, self.presets, self.engine):
            combos.addWidget(combo)
        self.head, foot = QWidget(parent), QWidget(parent)
        vbox(combos, self._editor_place, self.settings, ..., parent=self.head, margins=0, spacing=8)
        hbox(self.use, self.copy, ..., parent=foot, margins=0, spacing=4)
        self.parts = (self.head, self.text, self.problem, self.figures, foot)
        self.show_answer(None)

    @property
    def side(self) -> tuple[str, str]:
        """Key of the model or endpoint, '' where there is none, and quality, which those here have."""
        model = str(self.model.currentData() or "")
        return model, "exact" if is_endpoint(model) else str(self.dial.currentData())

    @property
    def preset(self) -> str:
        """Name of the preset that is chosen; '' for the settings of the chat."""
        return str(self.presets.currentData() or "")

    @property
    def changes(self) -> dict[str, Any]:
        """The setting of the engine that is another here than in force, with its value; empty where none is."""
        name = str(self.engine.currentData() or "")
        if not name or is_endpoint(self.side[0]) or self._value == self.in_force(name):
            return {}
        return {name: self._value}

    def in_force(self, name: str) -> Any:
        """What a setting of the engine is for the model that is chosen."""
        return self._settings(self.side[0]).get(name, protocol.settings.ALL[name].default)

    def offer_presets(self, names: Iterable[str]) -> None:
        """Set the presets to choose from, hidden where there is none. The one that is chosen stays."""
        before = self.preset
        with QSignalBlocker(self.presets):
            self.presets.clear()
            self.presets.addItem(tr("Chat settings"), "")
            for name in names:
                self.presets.addItem(name, name)
            self.presets.setCurrentIndex(max(0, self.presets.findData(before)))
        self.presets.setVisible(self.presets.count() > 1)

    def show_settings(self, text: str) -> None:
        """Show in which settings the columns differ, and what they are here; '' where they do not."""
        show_text(self.settings, text)
        self.settings.setToolTip(plain_tip(text))

    def offer_models(self, titles: Mapping[str, str], chosen: str) -> None:
        """Set the models to choose from, titles by name. The one that is chosen stays; `chosen` where there is none."""
        before = self.side[0] or chosen
        with QSignalBlocker(self.model):
            self.model.clear()
            for name, title in titles.items():
                self.model.addItem(title, name)
            self.model.setCurrentIndex(max(0, self.model.findData(before)))
        self.model.setEnabled(bool(titles))

    def choose(self, model: str, dial: str) -> None:
        """Choose both, with the settings of chat and engine. A model that is not there leaves the one that is."""
        for combo in (self.presets, self.engine):
            combo.setCurrentIndex(0)
        self.model.setCurrentIndex(max(self.model.findData(model), self.model.currentIndex()))
        self.dial.setCurrentIndex(self.dial.findData(dial))

    def dial_name(self, dial: str) -> str:
        """What a quality is called."""
        return self.dial.itemText(self.dial.findData(dial))

    def begin(self) -> None:
        """Another answer is going to come."""
        self.text.clear_answer()

    def show_answer(self, answer: ComparedAnswer | None) -> None:
        """Show how it is with the answer, beside its text; None: none was asked for."""
        ended = answer is not None and answer.state in (ENDED, STOPPED) and answer.stats is not None
        if ended and answer is not None and (self._answer is not answer or self.use.isHidden()):
            self.text.end(answer.text)
        self._answer = answer
        failure = answer.failure if answer is not None and answer.state == FAILED else None
        self.problem.setText(sentences(failure.sentence, failure.action) if failure is not None else "")
        self.problem.setVisible(failure is not None)
        self.figures.setText(_figures(answer) if answer is not None else "")
        some = ended and answer is not None and bool(without_thought(answer.text).strip())
        self.use.setVisible(some)
        self.copy.setVisible(some)

    @Slot()
    def _edit_setting(self) -> None:
        """Show the control of the setting of the engine that is chosen, with the value that is in force."""
        empty(self._editor_place)
        self.editor, name = None, str(self.engine.currentData() or "")
        if name:
            setting = protocol.settings.ALL[name]
            self._value = self.in_force(name)
            self.editor = editor = SettingEditor(setting, self._value, self.head, narrow=True)
            editor.base = self._value
            editor.set_value(self._value)
            editor.changed.connect(self._set_value)
            if setting.needs is not None:
                other = setting.needs[0]
                editor.needs(protocol.settings.ALL[other], self.in_force(other))
            self._editor_place.addWidget(editor)
            before: QWidget = self.engine  # where Tab comes from, though it was made last
            for part in editor.findChildren(QWidget):
                if part.focusPolicy() & Qt.FocusPolicy.TabFocus and part.window() is self.head.window():
                    QWidget.setTabOrder(before, part)
                    before = part
        self.chosen.emit()

    @Slot()
    def _rebase(self) -> None:
        """Have Reset go back to what is in force for another model; a value that was not changed is that."""
        if (editor := self.editor) is not None:
            now = self.in_force(editor.setting.name)
            self._value = now if self._value == editor.base else self._value
            editor.base = now
            editor.set_value(self._value)

    @Slot(str, object)
    def _set_value(self, name: str, value: object) -> None:
        if name != self.engine.currentData():  # of an editor that is leaving
            return
        self._value = value
        if self.editor is not None:
            self.editor.show_note("")  # the page says where the model is loaded again
        self.chosen.emit()

    @Slot()
    def _copy(self) -> None:
        if self._answer is not None:
            QGuiApplication.clipboard().setText(without_thought(self._answer.text).strip())


def _figures(answer: ComparedAnswer) -> str:
    """Figures of an answer that has ended, or what is done for it."""
    message = answer.message("")
    if not message.stats:
        return tr("Stopped") if answer.state == STOPPED else answer.status()
    return unbroken(joined(*notes.before(message), notes.summary(message), *notes.after(message)))
