"""Chips: small things in a row, each with a name to press and a cross to remove it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QSizePolicy, QWidget

from app.theme.icons import icon
from app.theme.theme import Theme
from app.widgets.builders import hbox
from app.widgets.icon_button import IconButton
from app.widgets.layouts import FlowLayout, empty

_LONGEST = 44  # characters on the chip
_TOLD = 240  # and in its tooltip, where it is longer


@dataclass(frozen=True)
class Chip:
    """text: shown. tooltip: all of it. icon: a name, or ''."""

    text: str
    tooltip: str = ""
    icon: str = ""


class Chips(QWidget):
    """Row of chips, hidden while there is none. Signals carry the number of the chip."""

    pressed = Signal(int)
    removed = Signal(int)

    def __init__(self, theme: Theme, name: str, remove: str, parent: QWidget | None = None) -> None:
        """name: of all of them, for screen readers. remove: what the cross does, such as 'Remove'."""
        super().__init__(parent)
        self.setAccessibleName(name)
        self._theme = theme
        self._remove = remove
        self._flow = FlowLayout(self)
        policy = QSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.chips: tuple[Chip, ...] = ()
        self.hide()
        theme.changed.connect(self._made_anew)

    def fill(self, chips: Sequence[Chip]) -> None:
        """Replace the chips."""
        if tuple(chips) != self.chips:
            self.chips = tuple(chips)
            self._made_anew()

    @Slot()
    def _made_anew(self) -> None:
        empty(self._flow)
        for number, chip in enumerate(self.chips):
            self._flow.addWidget(self._made(number, chip))
        self.setVisible(bool(self.chips))
        self.updateGeometry()

    def _made(self, number: int, chip: Chip) -> QFrame:
        frame = QFrame(self)
        frame.setObjectName("chip")
        text = " ".join(chip.text.split())
        short = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
        button = QPushButton(short, frame)
        button.setObjectName("chip")
        button.setToolTip(chip.tooltip if short == text else f"{text[:_TOLD]}\n{chip.tooltip}".strip())
        button.setAccessibleName(f"{text}. {chip.tooltip}".strip())
        if chip.icon:
            button.setIcon(icon(chip.icon, self._theme.palette.muted))
        button.clicked.connect(partial(self.pressed.emit, number))
        cross = IconButton(self._theme, "close", f"{self._remove} {text}", frame, size=12)
        cross.setObjectName("cross")
        cross.clicked.connect(partial(self.removed.emit, number))
        hbox(button, (cross, 0, Qt.AlignmentFlag.AlignVCenter), parent=frame, margins=(4, 1, 2, 1), spacing=0)
        frame.show()
        return frame
