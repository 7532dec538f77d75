"""The tour of the first run: three steps, each of which can be skipped."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QSizePolicy, QWidget

from app.i18n.translate import tr, tr_noop
from app.onboarding.steps import ComputerStep, ModelStep, WelcomeStep
from app.theme.theme import Theme
from app.widgets import keyboard
from app.widgets.builders import hbox, make_button, make_label, vbox

_NEXT = (tr_noop("Look at this computer"), tr_noop("Choose a model"), tr_noop("Start chatting"))


class Tour(QWidget):
    """came: to the step of this number. over: it is finished or was skipped."""

    came = Signal(int)
    over = Signal()

    def __init__(self, theme: Theme, choice: ModelStep, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.step = 0
        self.setAccessibleName(tr("Welcome tour"))
        self.setObjectName("page")
        page, inner = _column(self)
        self.welcome = WelcomeStep(theme, inner)
        self.computer = ComputerStep(inner)
        self.choice = choice
        self._steps = (self.welcome, self.computer, choice)
        self._where = make_label("", inner, "muted")
        vbox(self._where, *self._steps, parent=inner, margins=(28, 20, 28, 8), spacing=16)
        self.sheet = FittingScrollArea(page, self)
        self._foot, foot = _column(self)
        self.back = make_button(tr("Back"), foot, lambda: self.show_step(self.step - 1))
        self.skip = make_button(tr("Skip the tour"), foot, self.over.emit, "quiet")
        self.next = make_button("", foot, self._on, "primary")
        hbox(self.next, self.back, self.skip, ..., parent=foot, margins=(28, 8, 28, 24), spacing=8)
        self.sheet.verticalScrollBar().rangeChanged.connect(self._beside)
        whole = vbox(..., self.sheet, self._foot, parent=self, margins=0, spacing=0)
        whole.addStretch(2)
        self.show_step(0)

    def show_step(self, step: int) -> None:
        """0: welcome, 1: this computer, 2: a model."""
        self.step = step
        for number, each in enumerate(self._steps):
            each.setVisible(number == step)
        self._where.setText(tr("{number} of {count}", number=step + 1, count=len(self._steps)))
        self.next.setText(tr(_NEXT[step]))
        self.back.setVisible(step > 0)
        self.skip.setVisible(step + 1 < len(self._steps))
        self.sheet.verticalScrollBar().setValue(0)
        self.next.setFocus()
        self.came.emit(step)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if not keyboard.press_focused(self, event):
            super().keyPressEvent(event)

    @Slot(int, int)
    def _beside(self, _least: int, most: int) -> None:
        """The buttons stay below the left edge of the page, whose scroll bar takes room."""
        self._foot.setContentsMargins(0, 0, self.sheet.verticalScrollBar().sizeHint().width() if most else 0, 0)

    @Slot()
    def _on(self) -> None:
        if self.step + 1 < len(self._steps):
            self.show_step(self.step + 1)
        else:
            self.over.emit()


def _column(parent: QWidget) -> tuple[QWidget, QWidget]:
    """A widget, and one in its middle that is no wider than one likes to read."""
    outer = QWidget(parent)
    outer.setObjectName("page")
    inner = QWidget(outer)
    inner.setMaximumWidth(720)
    row = hbox((inner, 1), parent=outer, margins=0)
    row.setAlignment(Qt.AlignmentFlag.AlignHCenter)
    return outer, inner


class FittingScrollArea(QScrollArea):
    """What stands below it follows at once, and is never pushed beneath the edge of the window."""

    def __init__(self, page: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._page = page
        self.setWidgetResizable(True)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        page.installEventFilter(self)
        self.setWidget(page)
        application = QApplication.instance()
        assert isinstance(application, QApplication)
        application.focusChanged.connect(self._follow)

    def sizeHint(self) -> QSize:
        """Of the whole page at the width that there is."""
        page, wide = self._page, self.width()
        high = page.heightForWidth(wide) if page.hasHeightForWidth() else page.sizeHint().height()
        return QSize(super().sizeHint().width(), high)

    def minimumSizeHint(self) -> QSize:
        """Some lines."""
        return QSize(super().minimumSizeHint().width(), 4 * self.fontMetrics().lineSpacing())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()

    @Slot(QWidget, QWidget)
    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        """Who comes here by key sees where, also from outside."""
        if now is not None and self._page.isAncestorOf(now):
            self.ensureWidgetVisible(now)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The page has other contents now."""
        if event.type() == QEvent.Type.LayoutRequest and watched is self._page:
            self.updateGeometry()
        return super().eventFilter(watched, event)
