"""How much the model thinks before it answers: a switch where it has two positions, a menu where it has more."""

from __future__ import annotations

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QActionGroup
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from app.i18n.translate import tr, tr_noop
from app.theme.theme import Theme
from app.widgets.icon_button import IconButton
from engine import api

NAMES = {
    "off": tr_noop("Do not think"),
    "minimal": tr_noop("Think very little"),
    "low": tr_noop("Think little"),
    "auto": tr_noop("Let the model decide"),
    "medium": tr_noop("Think a good while"),
    "on": tr_noop("Think"),
    "high": tr_noop("Think long"),
    "xhigh": tr_noop("Think very long"),
    "max": tr_noop("Think as long as it takes"),
}


class ThinkingButton(IconButton):
    """wanted: a level, as in api.Generate.thinking."""

    wanted = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, "thought", tr("Think before answering"), parent)
        self.level = "on"
        self._levels: tuple[str, ...] = ()
        self._on = ""
        self.choices = QMenu(self)
        self.choices.setLayoutDirection(self.layoutDirection())
        self._group = QActionGroup(self.choices)
        self.clicked.connect(self._switched)
        self.hide()

    @property
    def _is_switch(self) -> bool:
        return len(self._levels) == 2 and self._levels[0] == "off"

    def offer(self, levels: tuple[str, ...], on: str) -> None:
        """What the model can be asked for, and the level that plain thinking means. No levels: nothing to ask."""
        if (levels, on) != (self._levels, self._on):
            self._levels, self._on = levels, on
            self.choices.clear()
            for level in () if self._is_switch else levels:
                action = self.choices.addAction(tr(NAMES[level]), self._chosen)
                action.setData(level)
                action.setCheckable(True)
                self._group.addAction(action)
            self.setMenu(None if self._is_switch else self.choices)  # type: ignore[arg-type]
            self.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
            self.setCheckable(self._is_switch)
        self.setVisible(bool(levels))
        self._show()

    def set_level(self, level: str) -> None:
        """What the person wants, whichever model answers."""
        self.level = level
        self._show()

    def _show(self) -> None:
        now = api.nearest_thinking(self._levels, self._on, self.level)
        self.setChecked(self._is_switch and now != "off")
        for action in self.choices.actions():
            action.setChecked(action.data() == now)
        label = tr("Think before answering")
        if now and not self._is_switch:
            label = tr("Before answering: {choice}", choice=tr(NAMES[now]))
        self.set_label(label)

    @Slot()
    def _switched(self) -> None:
        if self._is_switch:
            self._want("on" if self.isChecked() else "off")

    @Slot()
    def _chosen(self) -> None:
        self._want(str(self.sender().data()))  # type: ignore[attr-defined]

    def _want(self, level: str) -> None:
        self.set_level(level)
        self.wanted.emit(level)
