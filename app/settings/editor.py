"""One setting as a control: made from its declaration, checked by it."""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLabel, QLineEdit, QPushButton, QVBoxLayout, QWidget

from app.theme import fonts
from engine import api

Setting = api.settings.Setting


class SettingEditor(QWidget):
    """changed: name and value; None is "let Underhill choose". A wrong value shows why, and changes nothing."""

    changed = Signal(str, object)

    def __init__(self, setting: Setting, value: Any, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setting = setting
        self._value = value
        self._label = QLabel(setting.label, self)
        self._label.setFont(fonts.text(1.0, self._label.font().Weight.Medium))
        self._help = QLabel(setting.help, self)
        self._help.setObjectName("muted")
        self._help.setWordWrap(True)
        self._more = QLabel(self)
        self._more.setObjectName("muted")
        self._more.setWordWrap(True)
        self._more.hide()
        self._note = QLabel(self)
        self._note.setObjectName("restart")
        self._note.setWordWrap(True)
        self.control: QWidget = self._make()
        self.control.setAccessibleName(setting.label)
        self.control.setAccessibleDescription(setting.help)
        self._label.setBuddy(self.control)
        self._reset = QPushButton("Reset", self)
        self._reset.setObjectName("quiet")
        self._reset.setAccessibleName(f"Reset {setting.label}")
        self._reset.clicked.connect(self.reset)
        top = QHBoxLayout()
        top.addWidget(self._label, 1)
        top.addWidget(self._reset)
        top.addWidget(self.control)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 9, 0, 9)
        column.setSpacing(3)
        column.addLayout(top)
        column.addWidget(self._help)
        column.addWidget(self._more)
        column.addWidget(self._note)
        self.set_value(value)

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
        self.control.blockSignals(False)
        self._say("")
        self._reset.setVisible(value != self.setting.default)

    def explain(self, text: str) -> None:
        """What is known of it on this computer, below its help; '' for nothing."""
        self._more.setText(text)
        self._more.setVisible(bool(text))

    @property
    def explanation(self) -> str:
        """What `explain` was told."""
        return self._more.text()

    @Slot()
    def reset(self) -> None:
        """Back to the default."""
        self.set_value(self.setting.default)
        self.changed.emit(self.setting.name, self.setting.default)

    def _make(self) -> QWidget:
        s = self.setting
        if s.kind == "bool":
            check = QCheckBox(self)
            check.toggled.connect(self._take)
            return check
        if s.kind == "choice":
            box = QComboBox(self)
            for choice in s.choices:
                box.addItem(choice[:1].upper() + choice[1:].replace("_", " "), choice)
            box.currentIndexChanged.connect(self._take)
            box.setMinimumWidth(150)
            box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
            return box
        line = QLineEdit(self)
        line.setPlaceholderText("Automatic" if s.optional else "")
        line.setFixedWidth(150)
        line.setAlignment(Qt.AlignmentFlag.AlignRight)
        line.editingFinished.connect(self._take)
        return line

    def _read(self) -> Any:
        if isinstance(self.control, QCheckBox):
            return self.control.isChecked()
        if isinstance(self.control, QComboBox):
            return self.control.currentData()
        assert isinstance(self.control, QLineEdit)
        text = self.control.text().strip()
        return None if not text and self.setting.optional else text

    @Slot()
    def _take(self) -> None:
        try:
            value = self.setting.check(self._read())
        except api.UnderhillError as error:
            self._say(str(error))
            return
        if value != self._value:
            self.set_value(value)
            if not self.setting.live:
                self._say("Takes effect when the model is loaded again.")
            self.changed.emit(self.setting.name, value)
        else:
            self._say("")

    def _say(self, text: str) -> None:
        self._note.setText(text)
        self._note.setVisible(bool(text))
