"""The tour of the first run: three steps, each of which can be skipped."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app.first_run.choice import ModelStep
from app.first_run.steps import ComputerStep, WelcomeStep
from app.language.words import later, say
from app.theme.theme import Theme
from app.widgets import enter

_NEXT = (later("Look at this computer"), later("Choose a model"), later("Start chatting"))


class Tour(QScrollArea):
    """came: to the step of this number. over: it is finished or was skipped."""

    came = Signal(int)
    over = Signal()

    def __init__(self, theme: Theme, choice: ModelStep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its buttons come into sight by themselves
        self.step = 0
        self.setAccessibleName(say("Welcome tour"))
        page = QWidget(self)
        page.setObjectName("page")
        inner = QWidget(page)
        inner.setMaximumWidth(720)
        self.welcome = WelcomeStep(theme, inner)
        self.computer = ComputerStep(inner)
        self.choice = choice
        self._steps = (self.welcome, self.computer, choice)
        self._where = QLabel(inner)
        self._where.setObjectName("muted")
        self.back = QPushButton(say("Back"), inner)
        self.back.clicked.connect(lambda: self.show_step(self.step - 1))
        self.skip = QPushButton(say("Skip the tour"), inner)
        self.skip.setObjectName("quiet")
        self.skip.clicked.connect(self.over.emit)
        self.next = QPushButton(inner)
        self.next.setObjectName("primary")
        self.next.clicked.connect(self._on)
        row = QHBoxLayout()
        row.setSpacing(8)
        for widget in (self.next, self.back, self.skip):
            row.addWidget(widget)
        row.addStretch(1)
        column = QVBoxLayout(inner)
        column.setContentsMargins(28, 20, 28, 24)
        column.setSpacing(16)
        column.addStretch(1)
        column.addWidget(self._where)
        for each in self._steps:
            column.addWidget(each)
        column.addLayout(row)
        column.addStretch(2)
        outer = QHBoxLayout(page)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(inner, 1)
        outer.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.setWidget(page)
        self.show_step(0)

    def show_step(self, step: int) -> None:
        """0: welcome, 1: this computer, 2: a model."""
        self.step = step
        for number, each in enumerate(self._steps):
            each.setVisible(number == step)
        self._where.setText(say("{number} of {count}", number=step + 1, count=len(self._steps)))
        self.next.setText(say(_NEXT[step]))
        self.back.setVisible(step > 0)
        self.skip.setVisible(step + 1 < len(self._steps))
        self.verticalScrollBar().setValue(0)
        self.next.setFocus()
        self.came.emit(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not enter.pressed(self, event):
            super().keyPressEvent(event)

    @Slot()
    def _on(self) -> None:
        if self.step + 1 < len(self._steps):
            self.show_step(self.step + 1)
        else:
            self.over.emit()
