"""The live panels as docks of the window: take telemetry, and paint it while it can be seen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app.language.words import say
from app.panels.experts import Experts
from app.panels.figures import Figures
from app.panels.history import History
from app.theme import fonts
from app.theme.theme import Theme
from app.widgets.icon_button import IconButton
from engine import api

_WIDE = 330  # pixels, until somebody drags the border
_SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)


class Docks(QObject):
    """Gathers what costs nothing always; looks closer, and paints, only what can be seen.

    looking: api.Look, what the engine shall tell of from now on. closed: the user closed the last of them.
    """

    looking = Signal(object)
    closed = Signal()
    took = Signal(object)  # api.Telemetry

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        super().__init__(window)
        self.history = History()
        self.painted = 0  # snapshots shown so far
        self._theme = theme
        self._window = window
        self._wide = _WIDE
        self._window_width = 0
        self._away: tuple[QDockWidget, ...] = ()  # until there is room
        self._look = api.Look()
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._seen_again)
        self.figures, self.experts = Figures(theme), Experts(theme)
        self.docks = tuple(
            _dock(window, theme, title, name, inside)
            for title, name, inside in (
                (say("Live"), "live-dock", self.figures),
                (say("Experts"), "experts-dock", self.experts),
            )
        )
        for dock in self.docks:
            dock.installEventFilter(self)
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        window.resizeDocks([*self.docks], [_WIDE, _WIDE], Qt.Orientation.Horizontal)
        window.resizeDocks([*self.docks], [3, 2], Qt.Orientation.Vertical)
        self.experts.inspecting.connect(self._look_again)
        theme.changed.connect(self.repaint)
        self.repaint()

    @property
    def shown(self) -> bool:
        """Whether any of them is open."""
        return any(not dock.isHidden() for dock in self.docks)

    def show_all(self, shown: bool) -> None:
        """Open or close all."""
        self._away = ()
        for dock in self.docks:
            dock.setVisible(shown)

    def wide(self) -> int:
        """Pixels that they take, or would, beside the chat. The window is about to have the width that it has now."""
        self._window_width = self._window.width()
        return self._wide if any(map(self._beside, self.docks)) else 0

    def measure(self) -> None:
        """They have the width that they are meant to have."""
        self._wide = next((d.width() for d in self.docks if d.isVisible() and self._beside(d)), self._wide)

    def put_away(self) -> None:
        """Hide those beside the chat, until there is room again."""
        for dock in self.docks:
            if not dock.isHidden() and self._beside(dock):
                self._away = (*self._away, dock)
                dock.hide()

    def bring_back(self) -> None:
        """Show those that were put away, or all where none was."""
        back, self._away, wide = self._away or self.docks, (), self._wide
        for dock in back:
            dock.show()
        self._window.resizeDocks([*back], [wide] * len(back), Qt.Orientation.Horizontal)
        self._wide = wide  # which showing them has measured too early

    def _beside(self, dock: QDockWidget) -> bool:
        return not dock.isFloating() and self._window.dockWidgetArea(dock) in _SIDES

    @Slot(object)
    def take(self, telemetry: api.Telemetry) -> None:
        """A snapshot came."""
        self.history.add(telemetry)
        self.took.emit(telemetry)
        self.repaint()

    @Slot()
    def forget(self) -> None:
        """Another model: begin anew."""
        self.history.clear()
        self.repaint()

    def show_meaning(self, meaning: str) -> None:
        """Switch the heatmap to one of MEANINGS."""
        self.experts.show_meaning(meaning)

    @Slot()
    def repaint(self) -> None:
        """Show what is known now, where it can be seen."""
        seen = False
        if _visible(self.figures):
            self.figures.show_history(self.history)
            seen = True
        if _visible(self.experts):
            self.experts.show_data(self.history.last)
            seen = True
        self.painted += seen

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._soon.start()  # what is inside comes and goes after the dock
        if event.type() == QEvent.Type.Resize and self._window.width() == self._window_width:
            self.measure()  # somebody drags the border: it is not the window that squeezes them
        if event.type() == QEvent.Type.Close and isinstance(watched, QDockWidget):
            watched.hide()
            if not self.shown:
                self.closed.emit()
        return False

    @Slot()
    def _seen_again(self) -> None:
        self._look_again()
        self.repaint()

    @Slot()
    def _look_again(self) -> None:
        """Ask for what can be seen now."""
        shown = _visible(self.experts)
        look = api.Look(shown, self.experts.inspected if shown else None)
        if look != self._look:
            self._look = look
            self.looking.emit(look)


def _visible(widget: QWidget) -> bool:
    return widget.isVisible() and not widget.window().isMinimized()


def _dock(window: QMainWindow, theme: Theme, title: str, name: str, inside: QWidget) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(name)
    dock.setTitleBarWidget(_TitleBar(theme, title, dock))
    panel = QFrame(dock)
    panel.setObjectName("live")
    panel.setAccessibleName(say("{title} panel", title=title))
    panel.setMinimumWidth(29 * panel.fontMetrics().averageCharWidth())
    scroll = QScrollArea(panel)
    scroll.setWidgetResizable(True)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    inside.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    scroll.setWidget(inside)
    scroll.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)
    column = QVBoxLayout(panel)
    column.setContentsMargins(0, 0, 0, 0)
    column.addWidget(scroll)
    dock.setWidget(panel)
    return dock


class _TitleBar(QFrame):
    """What a dock is called, and its two buttons; it can be dragged by it."""

    def __init__(self, theme: Theme, title: str, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setObjectName("dock-title")
        label = QLabel(title, self)
        label.setFont(fonts.text(0.88, label.font().Weight.DemiBold))
        label.setObjectName("muted")
        apart = IconButton(theme, "apart", say("{title}: a window of its own, or back", title=title), self, size=14)
        apart.clicked.connect(lambda: dock.setFloating(not dock.isFloating()))
        close = IconButton(theme, "close", say("Close {title}", title=title), self, size=14)
        close.clicked.connect(dock.close)
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 3, 8, 3)
        row.setSpacing(2)
        row.addWidget(label, 1)
        row.addWidget(apart)
        row.addWidget(close)
