"""Editors of single settings: controls made from a setting's declaration, and checked by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from PySide6.QtCore import QSignalBlocker, Qt, Signal, Slot
from PySide6.QtGui import QStandardItemModel
from PySide6.QtWidgets import QCheckBox, QComboBox, QGridLayout, QLabel, QLineEdit, QPushButton, QSlider, QWidget

from app.i18n.translate import tr, tr_engine, tr_noop
from app.settings.learn_more import LEARN_MORE
from app.settings.number_slider import RANGES, NumberSlider, number_text
from app.settings.preset_cards import PresetCards
from app.theme import sizes
from app.widgets.builders import FlowLayout, empty, hbox, make_button, make_combo, make_label, show_text, vbox
from app.widgets.text import plain_entry
from engine import protocol

STEPS = 100  # positions of a slider: one is a percent
Setting = protocol.settings.Setting
_NAMES = ("seed", "server_port")  # whose figures are no amount
_LATER = tr_noop("Reload the model to apply.")


class SharesEditor(QWidget):
    """Sliders for shares of one whole, made from a setting of kind 'shares'. changed: a slider was let go."""

    changed = Signal()

    def __init__(self, setting: protocol.settings.Setting, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._setting = setting
        self.automatic = QCheckBox(tr_engine(setting.automatic), self)
        self.automatic.setVisible(setting.optional)
        self.automatic.toggled.connect(self._switched)
        self.setFocusProxy(self.automatic)
        self.sliders: list[QSlider] = []
        self.share_labels: list[QLabel] = []
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
            slider.setAccessibleName(f"{tr_engine(setting.label)}: {tr_engine(name)}")
            slider.sliderMoved.connect(self._show_shares)
            slider.valueChanged.connect(self._moved)
            label, share = QLabel(tr_engine(name), self._rows), QLabel(self._rows)
            label.setBuddy(slider)
            share.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            sizes.follow(share, lambda label: label.setMinimumWidth(label.fontMetrics().horizontalAdvance("100%")))
            for column, widget in enumerate((label, slider, share)):
                grid.addWidget(widget, row, column)
            self.sliders.append(slider)
            self.share_labels.append(share)
        grid.setColumnStretch(1, 1)
        vbox(self.automatic, self._rows, parent=self, margins=(0, 4, 0, 0), spacing=0)
        self.set_value(setting.default)

    @property
    def value(self) -> tuple[int, ...] | None:
        """Slider positions, in whatever proportion; None is Underhill's choice."""
        if self.automatic.isChecked():
            return None
        return tuple(slider.sliderPosition() for slider in self.sliders)

    def set_value(self, value: Any) -> None:
        """Show a value without emitting. Sliders that say the same already stay where they are."""
        with ExitStack() as blocked:
            for widget in (self.automatic, *self.sliders):
                blocked.enter_context(QSignalBlocker(widget))
            self.automatic.setChecked(value is None)
            shown: Any = self._setting.start if value is None else value
            positions = [slider.sliderPosition() for slider in self.sliders]
            if shown is not None and not (any(positions) and _same(self._setting.check(positions), shown)):
                for slider, share in zip(self.sliders, shown, strict=True):
                    slider.setValue(round(STEPS * share))
        self._rows.setVisible(value is not None)
        self._show_shares()

    @Slot()
    def _show_shares(self) -> None:
        positions = [slider.sliderPosition() for slider in self.sliders]
        whole = sum(positions)
        for label, position in zip(self.share_labels, positions, strict=True):
            label.setText(f"{100 * position / whole:.0f}%" if whole else "–")

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
    """Line below a setting with its values elsewhere. chosen: the model whose settings are wanted, '' for all."""

    chosen = Signal(str)

    def __init__(self, setting: str, after: QWidget, parent: QWidget) -> None:
        """setting: what it is called. after: what Tab comes from."""
        super().__init__(parent)
        self._setting, self._after = setting, after
        self._shown: tuple[str, tuple[tuple[str, str], ...]] = ("", ())
        self._lead = make_label("", self, "muted", wrap=True)
        self._places = FlowLayout()
        vbox(self._lead, self._places, parent=self, margins=(0, 2, 0, 0), spacing=3)
        self.hide()

    @property
    def buttons(self) -> list[QPushButton]:
        """Buttons, one for each that has another value."""
        items = map(self._places.itemAt, range(self._places.count()))
        return [b for b in (i.widget() for i in items if i is not None) if isinstance(b, QPushButton)]

    def show_values(self, lead: str, values: Sequence[tuple[str, str]]) -> None:
        """Show values as (model, text); none hides the line."""
        if (lead, tuple(values)) == self._shown:
            return
        self._shown = lead, tuple(values)
        show_text(self._lead, lead)
        empty(self._places)
        before = self._after
        for model, words in values:
            button = make_button(
                plain_entry(words), self, partial(self.chosen.emit, model), "place", tip=tr("Show related settings"),
                name=f"{self._setting}: {words}", auto_default=False,
            )  # fmt: skip
            self._places.addWidget(button)
            QWidget.setTabOrder(before, button)
            before = button
        self.setVisible(bool(values))
        self.updateGeometry()


def value_text(setting: protocol.settings.Setting, value: Any) -> str:
    """A value as the setting's control shows it."""
    if setting.kind == "bool":
        return tr("on", about="a setting") if value else tr("off", about="a setting")
    if value is None:
        return tr_engine(setting.automatic)
    if setting.kind == "choice":
        return tr_engine(setting.name_of(value))
    if setting.kind == "shares":
        return ", ".join(
            f"{tr_engine(name)} {100 * share:.0f}%" for name, share in zip(setting.names, value, strict=True)
        )
    if setting.kind in ("int", "float") and setting.name not in _NAMES:
        return number_text(setting, value)
    return str(value)


class SettingEditor(QWidget):
    """Control of one setting. changed: name and value; None is "let Underhill choose". A wrong value only shows why."""

    changed = Signal(str, object)

    def __init__(self, setting: Setting, value: Any, parent: QWidget | None = None, *, narrow: bool = False) -> None:
        """narrow: the control is below the label, not beside it."""
        super().__init__(parent)
        self.setting = setting
        self._value = value
        self.base = setting.default  # the value that Reset goes back to
        self._label = QLabel(tr_engine(setting.label), self)
        sizes.set_font(self._label, 1.0, self._label.font().Weight.Medium)
        self._label.setWordWrap(True)
        self._help = make_label(tr_engine(setting.help), self, "muted", wrap=True)
        self.more = make_label("", self, "muted", wrap=True)
        self.more.hide()
        self.note = make_label("", self, "restart", wrap=True)
        name = tr("Reset {setting}", setting=tr_engine(setting.label))
        # before the control, as Tab reaches them in the order of making
        self.reset_button = make_button(tr("Reset"), self, self.reset, "quiet", name=name)
        self._cards = setting.name == "dial"
        below = narrow or self._cards or setting.kind in ("shares", "text")  # controls that need the whole width
        if below:
            self.learn = self._make_learn_more()
        self.control: QWidget = self._make()
        if not below:
            self.learn = self._make_learn_more()
        self.control.setAccessibleName(tr_engine(setting.label))
        self.control.setAccessibleDescription(tr_engine(setting.help))
        self._label.setBuddy(self.control)
        self._help.setVisible(not self._cards)  # which say it
        self.slider = self._make_slider()
        last = self.slider or self.control
        if isinstance(self.control, SharesEditor):
            last = self.control.sliders[-1]
        elif isinstance(self.control, PresetCards):
            last = list(self.control.cards.values())[-1]
        self.elsewhere = OtherValues(tr_engine(setting.label), last, self)
        top = hbox((self._label, 1), self.reset_button)
        if self._cards:
            top.addWidget(self.learn)
        elif not below:
            top.addWidget(self.control)
        parts = tuple(filter(None, (self.control if below else None, self.slider)))
        help_row = (
            self._help if self._cards else hbox((self._help, 1), (self.learn, 0, Qt.AlignmentFlag.AlignTop), spacing=4)
        )
        vbox(
            top, help_row, self.long_help, *parts, self.more, self.elsewhere, self.note, parent=self,
            margins=(0, 9, 0, 9), spacing=3,
        )  # fmt: skip
        self.set_value(value)

    def _make_learn_more(self) -> QPushButton:
        """The button that shows and hides `long_help`."""
        self.long_help = make_label(tr(LEARN_MORE[self.setting.name]), self, "learned", wrap=True)
        self.long_help.hide()
        name = tr("Learn more: {setting}", setting=tr_engine(self.setting.label))
        button = make_button(tr("Learn more"), self, style="place", name=name, auto_default=False)
        button.setCheckable(True)
        button.toggled.connect(self.long_help.setVisible)
        button.toggled.connect(lambda shown: button.setText(tr("Show less") if shown else tr("Learn more")))
        return button

    @property
    def set(self) -> bool:
        """Whether the value differs from the base."""
        return bool(self._value != self.base)

    def show_note(self, text: str) -> None:
        """Show a note about the value just given; '' for nothing."""
        show_text(self.note, text)

    def set_value(self, value: Any) -> None:
        """Show a value without emitting."""
        self._value = value
        with QSignalBlocker(self.control):
            if isinstance(self.control, QCheckBox):
                self.control.setChecked(bool(value))
            elif isinstance(self.control, QComboBox):
                self.control.setCurrentIndex(max(0, self.control.findData(value)))
            elif isinstance(self.control, QLineEdit):
                self.control.setText(self._typed(value))
            elif isinstance(self.control, (SharesEditor, PresetCards)):
                self.control.set_value(value)
        self._show_on_slider(value)
        self.show_note("")
        self.reset_button.setVisible(self.set)

    def recommend(self, value: float | None) -> None:
        """Mark a value on the slider, where the handle stands while the setting is automatic; None: it is not known."""
        assert self.slider is not None
        assert isinstance(self.control, QLineEdit)
        if value == self.slider.recommended or self.slider.isSliderDown():
            return
        self.slider.recommend(value)
        if self.setting.optional:
            shown = "" if value is None else number_text(self.setting, value)
            automatic = tr("Automatic: {value}", value=shown) if shown else tr("Automatic")
            self.control.setPlaceholderText(automatic)
        self._show_on_slider(self._value)

    def _show_on_slider(self, value: Any) -> None:
        if self.slider is None:
            return
        if value is None:
            self.slider.show_automatic()
        else:
            self.slider.show_value(float(value))
        there = value is not None or self.slider.recommended is not None  # else it would be a line without a handle
        if not there and self.window().focusWidget() is self.slider:
            self.control.setFocus()
        self.slider.setVisible(there)

    def explain(self, text: str) -> None:
        """Show what is known of it on this computer, below its help; '' for nothing."""
        show_text(self.more, text)

    def forbid(self, reasons: Mapping[str, str]) -> None:
        """Disable choices, each with why not."""
        assert isinstance(self.control, QComboBox)
        items = self.control.model()
        assert isinstance(items, QStandardItemModel)
        for choice, reason in reasons.items():
            at, why = self.control.findData(choice), tr_engine(reason)
            items.item(at).setEnabled(False)
            self.control.setItemData(at, why, Qt.ItemDataRole.ToolTipRole)
            self.control.setItemData(at, why, Qt.ItemDataRole.AccessibleDescriptionRole)

    def needs(self, other: Setting, value: Any) -> None:
        """Disable it unless another setting, which has this value now, has the right one."""
        assert self.setting.needs is not None
        right = self.setting.needs[1]
        setting, name = tr_engine(other.label), tr_engine(other.name_of(right))
        why = tr("Only with {setting}: {value}.", setting=setting, value=name)
        for part in filter(None, (self.control, self.slider)):
            part.setEnabled(value == right)
        self.setToolTip("" if value == right else why)

    @Slot()
    def reset(self) -> None:
        """Reset to the base."""
        if self.window().focusWidget() is self.reset_button:  # which goes away
            self.control.setFocus()
        self.set_value(self.base)
        if not self.setting.live:
            self.show_note(tr(_LATER))
        self.changed.emit(self.setting.name, self.base)

    def _make(self) -> QWidget:
        s = self.setting
        if s.kind == "bool":
            check = QCheckBox(self)
            check.setObjectName("switch")
            check.setProperty("bare", True)
            check.toggled.connect(self._take)
            return check
        if self._cards:
            cards = PresetCards(s, self)
            cards.chosen.connect(self._take)
            return cards
        if s.kind == "choice":
            box = make_combo(self, tr_engine(s.label), [(tr_engine(s.name_of(choice)), choice) for choice in s.choices])
            box.currentIndexChanged.connect(self._take)
            sizes.follow(box, lambda wide: wide.setMinimumWidth(17 * wide.fontMetrics().averageCharWidth()))
            box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            return box
        if s.kind == "shares":
            shares = SharesEditor(s, self)
            shares.changed.connect(self._take)
            return shares
        line = QLineEdit(self)
        line.setPlaceholderText(tr("Automatic") if s.optional else s.example)
        if s.kind != "text":
            sizes.follow(line, lambda wide: wide.setFixedWidth(17 * wide.fontMetrics().averageCharWidth()))
            line.setAlignment(Qt.AlignmentFlag.AlignRight)
        line.editingFinished.connect(self._take)
        return line

    def _make_slider(self) -> NumberSlider | None:
        s = self.setting
        if s.name not in RANGES:
            return None
        slider = NumberSlider(s, self)
        slider.setAccessibleName(tr("{name}: slider", name=tr_engine(s.label)))
        slider.moved.connect(self._show_moved)
        slider.chosen.connect(self._slid)
        if isinstance(s.default, (int, float)):
            slider.recommend(float(s.default))
        return slider

    @Slot(float)
    def _show_moved(self, value: float) -> None:
        assert isinstance(self.control, QLineEdit)
        self.control.setText(self._typed(value))

    def _typed(self, value: float | str | None) -> str:
        """A value as one would type it; '' for none."""
        if isinstance(value, float) or (value is not None and self.setting.kind == "float"):
            return number_text(self.setting, float(value)).replace(",", "")
        return "" if value is None else str(value)

    @Slot(float)
    def _slid(self, value: float) -> None:
        self._show_moved(value)
        self._take()

    def _read(self) -> Any:
        if isinstance(self.control, QCheckBox):
            return self.control.isChecked()
        if isinstance(self.control, QComboBox):
            return self.control.currentData()
        if isinstance(self.control, (SharesEditor, PresetCards)):
            return self.control.value
        assert isinstance(self.control, QLineEdit)
        text = self.control.text().strip()
        if self.setting.percent and text and text[-1] not in "%％":
            text += "%"
        return None if not text and self.setting.optional else text

    @Slot()
    def _take(self) -> None:
        try:
            value = self.setting.check(self._read())
        except protocol.UnderhillError as error:
            self.show_note(tr_engine(str(error)))
            return
        if value != self._value:
            self.set_value(value)
            if not self.setting.live:
                self.show_note(tr(_LATER))
            self.changed.emit(self.setting.name, value)
        else:
            self.show_note("")
