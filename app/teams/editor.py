"""The dialog in which a team is made and changed: its steps as forms, one below the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from PySide6.QtCore import QEvent, QSignalBlocker, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QDialog, QFrame, QLineEdit, QPlainTextEdit, QWidget

from app.i18n.translate import tr, tr_noop
from app.widgets.builders import (
    FlowLayout,
    hbox,
    make_button,
    make_combo,
    make_label,
    resize_on_screen,
    scroll_area,
    show_text,
    vbox,
)
from engine.protocol import FINISH, LANGUAGES, MESSAGE, NEXT, Condition, Team, TeamStep

_TESTS = (  # test, unless, what it is called
    ("language", False, tr_noop("is in")), ("language", True, tr_noop("is not in")),
    ("contains", False, tr_noop("contains")), ("contains", True, tr_noop("doesn't contain")),
    ("says", False, tr_noop("is exactly")), ("says", True, tr_noop("is not exactly")),
    ("code", False, tr_noop("has code")), ("code", True, tr_noop("has no code")),
    ("longer", False, tr_noop("is longer than")), ("longer", True, tr_noop("isn't longer than")),
    ("attachment", False, tr_noop("has attachments")), ("attachment", True, tr_noop("has no attachments")),
)  # fmt: skip
_HINTS = {
    "contains": tr_noop("Words, separated by commas"), "says": tr_noop("Words, separated by commas"),
    "longer": tr_noop("Characters"),
}  # fmt: skip


def _listed(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.replace("，", ",").split(",") if part.strip())


class ConditionEditor(QWidget):
    """One condition. removed: it is to go."""

    removed = Signal(object)

    def __init__(self, condition: Condition, parent: QWidget) -> None:
        super().__init__(parent)
        self._values = condition.values
        self.about = make_combo(self, tr("Text the condition is about"), letters=16)
        self.about.addItem(condition.about, condition.about)
        tests = [(tr(words), f"{test} {unless}") for test, unless, words in _TESTS]
        self.test = make_combo(self, tr("Condition"), tests, f"{condition.test} {condition.unless}")
        self.test.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.words = QLineEdit(self)
        self.words.setAccessibleName(tr("Words or number of the condition"))
        self.words.setText(str(condition.length) if condition.length else ", ".join(condition.values))
        languages = [(own, code) for code, (_, own) in LANGUAGES.items()]
        self.language = make_combo(self, tr("Language"), languages, (condition.values or ("en",))[0], letters=6)
        remove = make_button(tr("Remove"), self, lambda: self.removed.emit(self), name=tr("Remove condition"))
        row = FlowLayout(self)
        self.fields: tuple[QWidget, ...] = (self.about, self.test, self.language, self.words, remove)
        for widget in self.fields:
            row.addWidget(widget)
        self.test.currentIndexChanged.connect(self._show)
        self._show()

    @property
    def condition(self) -> Condition:
        """As it is in the fields."""
        test, _, unless = str(self.test.currentData()).partition(" ")
        values: tuple[str, ...] = ()
        if test == "language":
            chosen = str(self.language.currentData())
            values = self._values if chosen in self._values[:1] else (chosen,)
        elif test in ("contains", "says"):
            values = _listed(self.words.text())
        number = self.words.text().strip()
        length = int(number) if test == "longer" and number.isdecimal() and number.isascii() else 0
        about = MESSAGE if test == "attachment" else str(self.about.currentData())
        return Condition(test, about, values, length, unless == "True")

    @Slot()
    def _show(self) -> None:
        test = str(self.test.currentData()).partition(" ")[0]
        self.language.setVisible(test == "language")
        self.words.setVisible(test in _HINTS)
        self.words.setPlaceholderText(tr(_HINTS[test]) if test in _HINTS else "")
        self.about.setEnabled(test != "attachment")


class StepEditor(QFrame):
    """One step. moved: up by 1, down by -1. changed: a name is another, or the order."""

    removed = Signal(object)
    moved = Signal(object, int)
    renamed = Signal(object, str, str)  # it, from, to

    def __init__(self, step: TeamStep, models: Mapping[str, str], parent: QWidget) -> None:
        """models: titles by name."""
        super().__init__(parent)
        self.setObjectName("entry")
        self._name = step.name
        self.name = QLineEdit(step.name, self)
        self.name.setAccessibleName(tr("Name of the step"))
        self.name.editingFinished.connect(self._rename)
        up = make_button(tr("Up"), self, lambda: self.moved.emit(self, -1), name=tr("Move step up"))
        down = make_button(tr("Down"), self, lambda: self.moved.emit(self, 1), name=tr("Move step down"))
        gone = make_button(tr("Remove"), self, lambda: self.removed.emit(self), name=tr("Remove step"))
        self._head = up, down, gone
        self._conditions = vbox(spacing=4)
        self.conditions: list[ConditionEditor] = []
        for condition in step.when:
            self._add(condition)
        more = self._more = make_button(
            tr("Add condition"), self, lambda: self.add_condition(Condition("language", values=("en",)))
        )
        known = {"": tr("Selected model"), **models}
        known.setdefault(step.model, tr("{name} (missing)", name=step.model))
        self.model = make_combo(self, tr("Model"), [(title, name) for name, title in known.items()], step.model, 16)
        self.tell = QPlainTextEdit(step.tell, self)
        self.tell.setObjectName("field")
        self.tell.setAccessibleName(tr("What the model is sent"))
        self.tell.setTabChangesFocus(True)
        self.tell.setFixedHeight(96)
        self.tell.setPlaceholderText(tr("The message, unchanged"))
        self.choices = QLineEdit(", ".join(step.choices), self)
        self.choices.setAccessibleName(tr("Choices"))
        self.choices.setPlaceholderText(tr("Any answer"))
        self.then = make_combo(self, tr("Then"), [(step.then, step.then)], letters=14)
        self.note = QCheckBox(tr("Internal note, not shown as the answer"), self)
        self.note.setChecked(step.note)
        self.history = QCheckBox(tr("Sees earlier messages"), self)
        self.history.setChecked(step.history)
        names = tr(", ", about="between the names of a list").join(("{message}", "{last}", "{language}"))
        holes = tr("Use {holes} or an earlier step's name in braces.", holes=names)
        vbox(
            hbox((self.name, 1), up, down, gone),
            make_label(tr("When"), self, "muted"), self._conditions, hbox(more, ...),
            make_label(tr("Ask"), self, "muted"), hbox(self.model, ...),
            make_label(tr("Send"), self, "muted"), self.tell, make_label(holes, self, "muted", wrap=True),
            make_label(tr("Choices, separated by commas"), self, "muted"), self.choices,
            make_label(tr("Then"), self, "muted"), hbox(self.then, ...),
            self.note, self.history, parent=self, margins=(14, 12, 14, 12), spacing=6,
        )  # fmt: skip

    def event(self, event: QEvent) -> bool:
        """Keep the height that the fields need at this width: a column of forms asks for the least of each."""
        done = super().event(event)
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.Resize) and (layout := self.layout()) is not None:
            high = layout.totalHeightForWidth(self.width())
            if high != self.minimumHeight():
                self.setFixedHeight(high)
        return done

    @property
    def fields(self) -> list[QWidget]:
        """What Tab reaches, in the order in which it is read."""
        conditions = (field for editor in self.conditions for field in editor.fields)
        head = self.name, *self._head
        return [*head, *conditions, self._more, self.model, self.tell, self.choices, self.then, self.note, self.history]

    @property
    def step(self) -> TeamStep:
        """As it is in the fields."""
        return TeamStep(
            name=self.name.text().strip(), model=str(self.model.currentData() or ""), tell=self.tell.toPlainText(),
            choices=_listed(self.choices.text()), when=tuple(editor.condition for editor in self.conditions),
            then=str(self.then.currentData()), note=self.note.isChecked(), history=self.history.isChecked(),
        )  # fmt: skip

    def add_condition(self, condition: Condition) -> None:
        """Append a condition."""
        self._add(condition)
        self.renamed.emit(self, self._name, self._name)  # the texts it may be about are listed

    def offer(self, earlier: Sequence[str], later: Sequence[str]) -> None:
        """Names of the steps before and behind it."""
        _fill(self.then, [(tr("Next step"), NEXT), (tr("Finish"), FINISH), *((name, name) for name in later)])
        for editor in self.conditions:
            _fill(editor.about, [(tr("The message"), MESSAGE), *((name, name) for name in earlier)])

    def follow_name(self, before: str, name: str) -> None:
        """Another step has another name."""
        for combo in (self.then, *(editor.about for editor in self.conditions)):
            if (at := combo.findData(before)) >= 0:
                combo.setItemData(at, name)
        text = self.tell.toPlainText()
        if f"{{{before}}}" in text:
            self.tell.setPlainText(text.replace(f"{{{before}}}", f"{{{name}}}"))

    def _add(self, condition: Condition) -> None:
        made = ConditionEditor(condition, self)
        made.removed.connect(self._drop)
        self.conditions.append(made)
        self._conditions.addWidget(made)

    @Slot(object)
    def _drop(self, editor: ConditionEditor) -> None:
        self.conditions.remove(editor)
        editor.hide()
        editor.deleteLater()

    @Slot()
    def _rename(self) -> None:
        before, self._name = self._name, self.name.text().strip()
        if before != self._name:
            self.renamed.emit(self, before, self._name)


class TeamEditor(QDialog):
    """saved: the Team; what is wrong with it comes back by `refuse`, and the dialog stays."""

    saved = Signal(object)

    def __init__(self, team: Team, models: Mapping[str, str], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(tr("Edit team"))
        resize_on_screen(self, 660, 680)
        self._team, self._models = team, models
        self.name = QLineEdit(team.name, self)
        self.name.setAccessibleName(tr("Team name"))
        self.about = QLineEdit(team.about, self)
        self.about.setAccessibleName(tr("Description"))
        self.about.setCursorPosition(0)  # the beginning of a long one is shown
        inside = QWidget(self)
        inside.setObjectName("page")
        self._column = vbox(spacing=10)
        self.steps: list[StepEditor] = []
        add = self._more = make_button(tr("Add step"), inside, self.add_step, auto_default=False)
        vbox(
            make_label(tr("Team name"), inside), self.name, make_label(tr("Description"), inside), self.about,
            self._column, hbox(add, ...), ..., parent=inside,
        )  # fmt: skip
        for step in team.steps:
            self._add(step)
        self.problem = make_label("", self, "restart", wrap=True)
        self.problem.hide()
        cancel = make_button(tr("Cancel"), self, self.reject, auto_default=False)
        keep = make_button(tr("Save"), self, self.save, "primary", auto_default=False)
        self._foot = cancel, keep
        foot = hbox((self.problem, 1), ..., cancel, keep)
        vbox((scroll_area(inside, self), 1), foot, parent=self, margins=(18, 16, 18, 14), spacing=12)
        self._offer()

    @property
    def team(self) -> Team:
        """As it is in the fields."""
        steps = tuple(editor.step for editor in self.steps)
        return replace(self._team, name=self.name.text().strip(), about=self.about.text().strip(), steps=steps)

    def refuse(self, sentence: str) -> None:
        """Say why it can't be saved."""
        show_text(self.problem, sentence)

    def _add(self, step: TeamStep) -> None:
        made = StepEditor(step, self._models, self)
        made.removed.connect(self._remove)
        made.moved.connect(self._move)
        made.renamed.connect(self._renamed)
        self.steps.append(made)
        self._column.addWidget(made)

    @Slot()
    def add_step(self) -> None:
        """Begin another step, which is asked last."""
        number = len(self.steps) + 1
        while (name := tr("Step {number}", number=number)) in (editor.step.name for editor in self.steps):
            number += 1
        self._add(TeamStep(name=name))
        self._offer()
        self.steps[-1].name.setFocus()

    @Slot(object)
    def _remove(self, editor: StepEditor) -> None:
        self.steps.remove(editor)
        editor.hide()
        editor.deleteLater()
        self._offer()

    @Slot(object, int)
    def _move(self, editor: StepEditor, by: int) -> None:
        at = self.steps.index(editor)
        to = max(0, min(len(self.steps) - 1, at + by))
        self.steps.insert(to, self.steps.pop(at))
        self._column.removeWidget(editor)
        self._column.insertWidget(to, editor)
        self._offer()

    @Slot(object, str, str)
    def _renamed(self, editor: StepEditor, before: str, name: str) -> None:
        if before != name:
            for other in self.steps:
                if other is not editor:
                    other.follow_name(before, name)
        self._offer()

    def _offer(self) -> None:
        names = [editor.name.text().strip() for editor in self.steps]
        for number, editor in enumerate(self.steps):
            editor.offer(names[:number], names[number + 1 :])
        before: QWidget = self.about
        for widget in (*(field for editor in self.steps for field in editor.fields), self._more, *self._foot):
            QWidget.setTabOrder(before, widget)
            before = widget

    @Slot()
    def save(self) -> None:
        """Hand the team over; what is wrong with it is said in the dialog."""
        self.saved.emit(self.team)


def _fill(combo: QComboBox, items: Sequence[tuple[str, str]]) -> None:
    """Offer these; what is chosen stays, also where it is none of them: saving says what is wrong with it."""
    now = str(combo.currentData())
    with QSignalBlocker(combo):
        combo.clear()
        for text, data in items:
            combo.addItem(text, data)
        if combo.findData(now) < 0:
            combo.addItem(now, now)
        combo.setCurrentIndex(combo.findData(now))
