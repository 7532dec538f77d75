"""What a setting is for others than those whose settings are shown: a line below it, from which one can go there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QLabel, QPushButton, QVBoxLayout, QWidget

from app.engine_words import told
from app.i18n.translate import tr
from app.widgets.flow import FlowLayout
from app.widgets.layouts import empty
from app.widgets.plain import plain_entry
from engine import api


class Elsewhere(QWidget):
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


def in_words(setting: api.settings.Setting, value: Any) -> str:
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
