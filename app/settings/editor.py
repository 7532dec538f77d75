"""Editors of single settings: controls made from a setting's declaration, and checked by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSlider,
    QVBoxLayout,
    QWidget,
)

from app.i18n.engine_texts import told
from app.i18n.translate import tr, tr_noop
from app.theme import sizes
from app.widgets.layouts import FlowLayout, empty
from app.widgets.text import plain_entry
from engine import api

STEPS = 100


class SharesEditor(QWidget):
    """Made from a setting of kind 'shares'. changed: by the user; where a slider is dragged, when it is let go."""

    changed = Signal()

    def __init__(self, setting: api.settings.Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setting = setting
        self.automatic = QCheckBox(told(setting.automatic), self)
        self.automatic.setVisible(setting.optional)
        self.automatic.toggled.connect(self._switched)
        self.setFocusProxy(self.automatic)
        self.sliders: list[QSlider] = []
        self._labels: list[QLabel] = []
        self._rows = QWidget(self)
        grid = QGridLayout(self._rows)
        grid.setContentsMargins(0, 4, 0, 0)
        grid.setHorizontalSpacing(12)
        grid.setVerticalSpacing(4)
        for row, name in enumerate(setting.names):
            slider = QSlider(Qt.Orientation.Horizontal, self._rows)
            slider.setRange(0, STEPS)
            slider.setPageStep(10)
            slider.setTracking(False)
            slider.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            slider.setAccessibleName(f"{told(setting.label)}: {told(name)}")
            slider.sliderMoved.connect(self._show_shares)
            slider.valueChanged.connect(self._moved)
            label, share = QLabel(told(name), self._rows), QLabel(self._rows)
            label.setBuddy(slider)
            share.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            sizes.follow(share, lambda label: label.setMinimumWidth(label.fontMetrics().horizontalAdvance("100 %")))
            for column, widget in enumerate((label, slider, share)):
                grid.addWidget(widget, row, column)
            self.sliders.append(slider)
            self._labels.append(share)
        grid.setColumnStretch(1, 1)
        whole = QVBoxLayout(self)
        whole.setContentsMargins(0, 4, 0, 0)
        whole.setSpacing(0)
        whole.addWidget(self.automatic)
        whole.addWidget(self._rows)
        self.set_value(setting.default)

    @property
    def value(self) -> tuple[int, ...] | None:
        """What stands there, in whatever proportion; None is Underhill's choice."""
        if self.automatic.isChecked():
            return None
        return tuple(slider.sliderPosition() for slider in self.sliders)

    def set_value(self, value: Any) -> None:
        """Show a value without telling anyone. Sliders that say the same already stay where they are."""
        self._block(True)
        self.automatic.setChecked(value is None)
        shown: Any = self._setting.start if value is None else value
        positions = [slider.sliderPosition() for slider in self.sliders]
        if shown is not None and not (any(positions) and _same(self._setting.check(positions), shown)):
            for slider, share in zip(self.sliders, shown, strict=True):
                slider.setValue(round(STEPS * share))
        self._block(False)
        self._rows.setVisible(value is not None)
        self._show_shares()

    def _block(self, blocked: bool) -> None:
        for widget in (self.automatic, *self.sliders):
            widget.blockSignals(blocked)

    @Slot()
    def _show_shares(self) -> None:
        positions = [slider.sliderPosition() for slider in self.sliders]
        whole = sum(positions)
        for label, position in zip(self._labels, positions, strict=True):
            label.setText(f"{100 * position / whole:.0f} %" if whole else "–")

    @Slot()
    def _switched(self) -> None:
        self._rows.setVisible(not self.automatic.isChecked())
        self._moved()

    @Slot()
    def _moved(self) -> None:
        self._show_shares()
        self.changed.emit()


def _same(one: Any, other: Any) -> bool:
    return all(abs(a - b) < 1e-9 for a, b in zip(one, other, strict=True))


class OtherValues(QWidget):
    """chosen: the name of a model, '' for all, whose settings are wanted."""

    chosen = Signal(str)

    def __init__(self, setting: str, after: QWidget, parent: QWidget) -> None:
        """setting: what it is called. after: what Tab comes from."""
        super().__init__(parent)
        self._setting, self._after = setting, after
        self._shown: tuple[str, tuple[tuple[str, str], ...]] = ("", ())
        self._lead = QLabel(self)
        self._lead.setObjectName("muted")
        self._lead.setWordWrap(True)
        self._places = FlowLayout()
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 2, 0, 0)
        column.setSpacing(3)
        column.addWidget(self._lead)
        column.addLayout(self._places)
        self.hide()

    @property
    def buttons(self) -> list[QPushButton]:
        """One for each that has another value."""
        items = map(self._places.itemAt, range(self._places.count()))
        return [b for b in (i.widget() for i in items if i is not None) if isinstance(b, QPushButton)]

    def show_values(self, lead: str, values: Sequence[tuple[str, str]]) -> None:
        """values: (model, words). None of them: there is nothing to say."""
        if (lead, tuple(values)) == self._shown:
            return
        self._shown = lead, tuple(values)
        self._lead.setText(lead)
        self._lead.setVisible(bool(lead))
        empty(self._places)
        before = self._after
        for model, words in values:
            button = QPushButton(plain_entry(words), self)
            button.setObjectName("place")
            button.setToolTip(tr("Show those settings"))
            button.setAccessibleName(f"{self._setting}: {words}")
            button.setAutoDefault(False)
            button.clicked.connect(partial(self.chosen.emit, model))
            self._places.addWidget(button)
            QWidget.setTabOrder(before, button)
            before = button
        self.setVisible(bool(values))
        self.updateGeometry()


def value_text(setting: api.settings.Setting, value: Any) -> str:
    """A value as the setting's control shows it."""
    if setting.kind == "bool":
        return tr("on", about="a setting") if value else tr("off", about="a setting")
    if value is None:
        return told(setting.automatic)
    if setting.kind == "choice":
        return told(setting.name_of(value))
    if setting.kind == "shares":
        return ", ".join(f"{told(name)} {100 * share:.0f} %" for name, share in zip(setting.names, value, strict=True))
    return f"{value:g}" if isinstance(value, float) else str(value)


Setting = api.settings.Setting
_LATER = tr_noop("Takes effect when the model is loaded again.")


class SettingEditor(QWidget):
    """changed: name and value; None is "let Underhill choose". A wrong value shows why, and changes nothing."""

    changed = Signal(str, object)

    def __init__(self, setting: Setting, value: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        self._value = value
        self._base = setting.default
        self._label = QLabel(told(setting.label), self)
        sizes.set_font(self._label, 1.0, self._label.font().Weight.Medium)
        self._label.setWordWrap(True)
        self._help = QLabel(told(setting.help).replace(" %", "\u00a0%"), self)
        self._help.setObjectName("muted")
        self._help.setWordWrap(True)
        self._more = QLabel(self)
        self._more.setObjectName("muted")
        self._more.setWordWrap(True)
        self._more.hide()
        self._note = QLabel(self)
        self._note.setObjectName("restart")
        self._note.setWordWrap(True)
        self._reset = QPushButton(tr("Reset"), self)  # before the control, as Tab reaches them in the order of making
        self._reset.setObjectName("quiet")
        self._reset.setAccessibleName(tr("Reset {setting}", setting=told(setting.label)))
        self._reset.clicked.connect(self.reset)
        self.control: QWidget = self._make()
        self.control.setAccessibleName(told(setting.label))
        self.control.setAccessibleDescription(told(setting.help))
        self._label.setBuddy(self.control)
        last = self.control.sliders[-1] if isinstance(self.control, SharesEditor) else self.control
        self.elsewhere = OtherValues(told(setting.label), last, self)
        below = setting.kind in ("shares", "text")  # which need the whole width
        top = QHBoxLayout()
        top.addWidget(self._label, 1)
        top.addWidget(self._reset)
        if not below:
            top.addWidget(self.control)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 9, 0, 9)
        column.setSpacing(3)
        column.addLayout(top)
        column.addWidget(self._help)
        if below:
            column.addWidget(self.control)
        column.addWidget(self._more)
        column.addWidget(self.elsewhere)
        column.addWidget(self._note)
        self.set_value(value)

    @property
    def set(self) -> bool:
        """Whether somebody chose another value than there would be otherwise."""
        return bool(self._value != self._base)

    def set_base(self, base: Any) -> None:
        """What it goes back to."""
        self._base = base

    def say(self, text: str) -> None:
        """Something about the value just given; '' for nothing."""
        self._note.setText(text)
        self._note.setVisible(bool(text))

    def set_value(self, value: Any) -> None:
        """Show a value without telling anyone."""
        self._value = value
        self.control.blockSignals(True)
        if isinstance(self.control, QCheckBox):
            self.control.setChecked(bool(value))
        elif isinstance(self.control, QComboBox):
            self.control.setCurrentIndex(max(0, self.control.findData(value)))
        elif isinstance(self.control, QLineEdit):
            self.control.setText("" if value is None else f"{value:g}" if isinstance(value, float) else str(value))
        elif isinstance(self.control, SharesEditor):
            self.control.set_value(value)
        self.control.blockSignals(False)
        self.say("")
        self._reset.setVisible(self.set)

    def explain(self, text: str) -> None:
        """What is known of it on this computer, below its help; '' for nothing."""
        self._more.setText(text)
        self._more.setVisible(bool(text))

    @property
    def explanation(self) -> str:
        """What `explain` was told."""
        return self._more.text()

    def forbid(self, reasons: Mapping[str, str]) -> None:
        """Choices that cannot be taken here, each with why not."""
        assert isinstance(self.control, QComboBox)
        items = self.control.model()
        assert isinstance(items, QStandardItemModel)
        for choice, reason in reasons.items():
            at, why = self.control.findData(choice), told(reason)
            items.item(at).setEnabled(False)
            self.control.setItemData(at, why, Qt.ItemDataRole.ToolTipRole)
            self.control.setItemData(at, why, Qt.ItemDataRole.AccessibleDescriptionRole)

    def needs(self, other: Setting, value: Any) -> None:
        """It has something to do only where another setting, which has this value now, has the right one."""
        assert self.setting.needs is not None
        right = self.setting.needs[1]
        setting, name = told(other.label), told(other.name_of(right))
        why = tr("Does nothing unless {setting} is {value}.", setting=setting, value=name)
        self.control.setEnabled(value == right)
        self.setToolTip("" if value == right else why)

    @Slot()
    def reset(self) -> None:
        """Back to what it would be otherwise."""
        if self.window().focusWidget() is self._reset:  # which goes away
            self.control.setFocus()
        self.set_value(self._base)
        if not self.setting.live:
            self.say(tr(_LATER))
        self.changed.emit(self.setting.name, self._base)

    def _make(self) -> QWidget:
        s = self.setting
        if s.kind == "bool":
            check = QCheckBox(self)
            check.toggled.connect(self._take)
            return check
        if s.kind == "choice":
            box = QComboBox(self)
            for choice in s.choices:
                box.addItem(told(s.name_of(choice)), choice)
            box.currentIndexChanged.connect(self._take)
            sizes.follow(box, lambda wide: wide.setMinimumWidth(17 * wide.fontMetrics().averageCharWidth()))
            box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            return box
        if s.kind == "shares":
            shares = SharesEditor(s, self)
            shares.changed.connect(self._take)
            return shares
        line = QLineEdit(self)
        line.setPlaceholderText(tr("Automatic") if s.optional else "")
        if s.kind != "text":
            sizes.follow(line, lambda wide: wide.setFixedWidth(17 * wide.fontMetrics().averageCharWidth()))
            line.setAlignment(Qt.AlignmentFlag.AlignRight)
        line.editingFinished.connect(self._take)
        return line

    def _read(self) -> Any:
        if isinstance(self.control, QCheckBox):
            return self.control.isChecked()
        if isinstance(self.control, QComboBox):
            return self.control.currentData()
        if isinstance(self.control, SharesEditor):
            return self.control.value
        assert isinstance(self.control, QLineEdit)
        text = self.control.text().strip()
        return None if not text and self.setting.optional else text

    @Slot()
    def _take(self) -> None:
        try:
            value = self.setting.check(self._read())
        except api.UnderhillError as error:
            self.say(told(str(error)))
            return
        if value != self._value:
            self.set_value(value)
            if not self.setting.live:
                self.say(tr(_LATER))
            self.changed.emit(self.setting.name, value)
        else:
            self.say("")
