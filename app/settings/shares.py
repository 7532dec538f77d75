"""Several numbers that together are one: a slider for each share, or none of them in the user's hands."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QGridLayout, QLabel, QSlider, QVBoxLayout, QWidget

from app.engine_words import told
from app.theme import sizes
from engine import api

STEPS = 100


class Shares(QWidget):
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
