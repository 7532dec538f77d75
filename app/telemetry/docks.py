"""The live panels as docks of the window: take telemetry, and paint it while it can be seen."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDockWidget,
    QFrame,
    QMainWindow,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from app.i18n.translate import tr
from app.telemetry.experts_panel import ExpertsPanel
from app.telemetry.figures_panel import FiguresPanel
from app.telemetry.frame_throttle import INTERVALS, FrameIntervals
from app.telemetry.history import STEP, TelemetryHistory
from app.theme import sizes
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_label, make_timer, scroll_area, vbox
from app.widgets.buttons import IconButton
from engine import protocol

_WIDE = 330  # pixels, until the user drags the border
_TURN = 1.5  # pulses after a snapshot, while an answer streams, until all are painted that wait for their turn
_APART = 40  # milliseconds between the painting of a panel and that of text that came with it, or of another panel
_PLACED_AFTER = 60  # milliseconds until what has appeared in a panel has its place there
_FRAMED_AFTER = 50  # milliseconds until a dock that floats has a frame
_ASIDE = QPoint(-48, 48)  # pixels from its place in the window to where a dock floats
_FRAME = Qt.WindowType.Window | Qt.WindowType.CustomizeWindowHint | Qt.WindowType.WindowTitleHint | (
    Qt.WindowType.WindowCloseButtonHint
)  # fmt: skip
_TALL = (3, 2)  # how they share the height, until the user drags the border
_SIDES = (Qt.DockWidgetArea.LeftDockWidgetArea, Qt.DockWidgetArea.RightDockWidgetArea)


class TelemetryDocks(QObject):
    """Takes telemetry always; asks for details, and paints, only what can be seen.

    Each snapshot has one of them painted, a little later than the text that came with it, so that none of the window's
    turns paints all.

    watch_changed: protocol.Look, what telemetry is to hold from now on. closed: the user closed the last of them.
    """

    watch_changed = Signal(object)
    closed = Signal()
    telemetry_received = Signal(object)  # protocol.Telemetry

    def __init__(self, window: QMainWindow, theme: Theme) -> None:
        super().__init__(window)
        self.history = TelemetryHistory()
        self.painted = 0  # times that any of them was painted so far
        self.fresh = True  # not shown yet, so that the user has not chosen how they share the height
        self.window = window
        self._wide = _WIDE
        self._tall: tuple[int, ...] = _TALL
        self._window_width = 0
        self._put_away: tuple[QDockWidget, ...] = ()  # until there is room
        self._front: tuple[QDockWidget, ...] = ()  # when they were hidden, these were seen, and no tab lay over them
        self.watched = protocol.Look()
        self._behind: list[QWidget] = []  # those that do not show the last snapshot, the next to be painted first
        self._intervals = INTERVALS[0]
        self.turn = make_timer(self, round(1000 * _TURN * self._intervals.telemetry), self._paint_next)
        self._apart = make_timer(self, _APART, self._paint_next)
        self._soon = QTimer(self, singleShot=True)
        self._soon.timeout.connect(self._seen_again)
        self.figures, self.experts = FiguresPanel(theme), ExpertsPanel(theme)
        self.docks = tuple(
            _dock(window, theme, title, name, inside)
            for title, name, inside in (
                (tr("Performance"), "live-dock", self.figures),
                (tr("Experts"), "experts-dock", self.experts),
            )
        )
        self._framed = make_timer(self, _FRAMED_AFTER, self._frame)
        for dock in self.docks:
            dock.installEventFilter(self)
            dock.topLevelChanged.connect(self._framed.start)
            dock.visibilityChanged.connect(self._soon.start)  # another tab
            window.addDockWidget(Qt.DockWidgetArea.RightDockWidgetArea, dock)
        window.resizeDocks([*self.docks], [_WIDE] * len(self.docks), Qt.Orientation.Horizontal)
        self.experts.inspected_changed.connect(self._update_watch)
        self._placed = make_timer(self, _PLACED_AFTER, self._to_inspector)
        self.experts.opened.connect(self._placed.start)
        theme.changed.connect(self.repaint)
        self.repaint()

    @property
    def shown(self) -> bool:
        """Whether any of them is open."""
        return any(not dock.isHidden() for dock in self.docks)

    def show_all(self, shown: bool) -> None:
        """Open or close all."""
        self._note_front()
        self._put_away = ()
        for dock in self.docks:
            dock.setVisible(shown)

    def raise_floating(self) -> None:
        """Raise floating docks: the main window, shown after them, lies on top of them."""
        for dock in self.docks:
            if dock.isFloating() and not dock.isHidden():
                dock.hide()
                dock.show()

    @Slot()
    def _frame(self) -> None:
        """Give docks that float the frame of a window: Qt gives them none, and they look like a part of the chat."""
        if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:  # it is dragged, which a new frame would end
            self._framed.start()
            return
        for dock in self.docks:
            if dock.isFloating() and dock.windowFlags() & Qt.WindowType.FramelessWindowHint:
                place, shown = dock.geometry(), not dock.isHidden()
                dock.setWindowFlags(_FRAME)
                dock.setGeometry(place)
                dock.setVisible(shown)

    def wide(self) -> int:
        """Pixels that they take, or would, beside the chat. Call it once the window has its new width."""
        self._window_width = self.window.width()
        least = max(dock.minimumSizeHint().width() for dock in self.docks)
        return max(least, self._wide) if any(map(self._beside, self.docks)) else 0

    def measure(self) -> None:
        """Note the width of the docks beside the chat."""
        self._wide = next((d.width() for d in self.docks if d.isVisible() and self._beside(d)), self._wide)

    def hide_docked(self) -> None:
        """Hide the docks beside the chat, until `show_docked`."""
        if all(dock.isVisible() and self._beside(dock) for dock in self.docks):
            self._tall = tuple(dock.height() for dock in self.docks)
        self._note_front()
        for dock in self.docks:
            if not dock.isHidden() and self._beside(dock):
                self._put_away = (*self._put_away, dock)
                dock.hide()

    def show_docked(self) -> None:
        """Show the docks that `hide_docked` has hidden, or all where it has hidden none."""
        back, self._put_away, wide = self._put_away or self.docks, (), self._wide
        for dock in back:
            dock.show()
        self.window.resizeDocks([*back], [wide] * len(back), Qt.Orientation.Horizontal)
        if len(back) == len(self.docks):
            self.window.resizeDocks([*back], [*self._tall], Qt.Orientation.Vertical)
        for dock in self._front:
            if not dock.isFloating():
                dock.raise_()
        self._wide = wide  # which showing them has measured too early

    def _note_front(self) -> None:
        if self.shown:
            self._front = tuple(dock for dock in self.docks if not dock.visibleRegion().isEmpty())

    def _beside(self, dock: QDockWidget) -> bool:
        return not dock.isFloating() and self.window.dockWidgetArea(dock) in _SIDES

    @Slot(object)
    def take(self, telemetry: protocol.Telemetry) -> None:
        """Add a snapshot to the history; a panel of it is painted soon, and the other with the next one or after it."""
        self.history.add(telemetry, round(self._intervals.telemetry / STEP))
        self.telemetry_received.emit(telemetry)
        streams = self.turn.isActive() and telemetry.generating  # otherwise it is the first of an answer, or the last
        changed = (self.figures,) if streams and not telemetry.activations else (self.figures, self.experts)
        self._behind += [panel for panel in changed if panel not in self._behind]
        self._apart.start()
        if telemetry.generating:
            self.turn.start()
        else:
            self.turn.stop()

    @Slot()
    def _paint_next(self) -> None:
        while self._behind:
            if self._show(self._behind.pop(0)):
                self.painted += 1
                break
        if self._behind:
            last = self.history.last
            (self.turn if last is not None and last.generating else self._apart).start()

    @Slot()
    def forget(self) -> None:
        """Forget the history: another model is opened, or the engine is gone."""
        self.history.clear()
        self.figures.show_notice("")
        self.figures.show_plan(())
        self.repaint()

    @Slot(object)
    def set_intervals(self, intervals: FrameIntervals) -> None:
        """Set how often snapshots, and the text with them, come."""
        self._intervals = intervals
        self.turn.setInterval(round(1000 * _TURN * intervals.telemetry))
        self._update_watch()

    @Slot()
    def repaint(self) -> None:
        """Paint all panels that can be seen."""
        self._behind.clear()
        seen = [self._show(panel) for panel in (self.figures, self.experts)]
        self.painted += any(seen)

    def _show(self, panel: QWidget) -> bool:
        """Paint a panel; False where it cannot be seen, and is not painted."""
        if not _visible(panel):
            return False
        if panel is self.figures:
            self.figures.show_history(self.history)
        else:
            self.experts.show_data(self.history.maps)
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.Show, QEvent.Type.Hide):
            self._soon.start()  # what is inside comes and goes after the dock
        if event.type() == QEvent.Type.Resize and self.window.width() == self._window_width:
            self.measure()  # the user drags the border; the window keeps its width
        if event.type() == QEvent.Type.Close and isinstance(watched, QDockWidget):
            watched.hide()
            if not self.shown:
                self.closed.emit()
        return False

    @Slot()
    def _seen_again(self) -> None:
        for dock in self.docks:
            dock.setEnabled(not _behind(dock))  # otherwise Tab would go there, where nothing can be seen of it
        if self.fresh and all(map(_visible, self.docks)):  # before, the window has no height to share
            self.fresh = False
            self.window.resizeDocks([*self.docks], [*_TALL], Qt.Orientation.Vertical)
        self._update_watch()
        self.repaint()

    @Slot()
    def _to_inspector(self) -> None:
        """Scroll to the facts of an expert, which are below the heatmap and often out of sight."""
        scroll = self.docks[1].widget().findChild(QScrollArea)
        if isinstance(scroll, QScrollArea):
            scroll.ensureWidgetVisible(self.experts.inspector, 0, 12)

    @Slot()
    def _update_watch(self) -> None:
        """Ask for what can be seen now."""
        shown = _visible(self.experts)
        look = protocol.Look(
            shown, self.experts.inspected if shown else None, self._intervals.text, self._intervals.telemetry
        )
        if look != self.watched:
            self.watched = look
            self.watch_changed.emit(look)


def _visible(widget: QWidget) -> bool:
    """Not hidden, not minimized, and in no dock that lies behind the tab of another."""
    dock: QWidget | None = widget
    while dock is not None and not isinstance(dock, QDockWidget):
        dock = dock.parentWidget()
    return widget.isVisible() and not widget.window().isMinimized() and not (dock is not None and _behind(dock))


def _behind(dock: QDockWidget) -> bool:
    """Whether the tab of another dock covers it. Qt moves such a dock far outside the window, and calls it visible."""
    window = dock.parentWidget()
    tabs = window.tabifiedDockWidgets(dock) if isinstance(window, QMainWindow) and not dock.isFloating() else []
    return dock.visibleRegion().isEmpty() and any(not tab.visibleRegion().isEmpty() for tab in tabs)


def _dock(window: QMainWindow, theme: Theme, title: str, name: str, inside: QWidget) -> QDockWidget:
    dock = QDockWidget(title, window)
    dock.setObjectName(name)
    dock.setTitleBarWidget(_TitleBar(theme, title, dock))
    panel = QFrame(dock)
    panel.setObjectName("live")
    panel.setAccessibleName(tr("{title} panel", title=title))
    sizes.follow(panel, lambda wide: wide.setMinimumWidth(29 * wide.fontMetrics().averageCharWidth()))
    inside.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
    scroll = scroll_area(inside, panel)
    scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    scroll.viewport().setAutoFillBackground(False)
    inside.setAutoFillBackground(False)
    vbox(scroll, parent=panel, margins=0)
    dock.setWidget(panel)
    return dock


class _TitleBar(QFrame):
    """Title of a dock, by which it can be dragged, and its two buttons. Of one that floats, the frame has the title."""

    def __init__(self, theme: Theme, title: str, dock: QDockWidget) -> None:
        super().__init__(dock)
        self.setObjectName("dock-title")
        self._dock = dock
        label = make_label(title, self, "muted", heading=0.88)
        self.apart = IconButton(theme, "apart", tr("Undock or dock {title}", title=title), self, size=14)
        self.apart.clicked.connect(self._toggle)
        close = IconButton(theme, "close", tr("Close {title}", title=title), self, size=14)
        close.clicked.connect(dock.close)
        hbox(label, ..., self.apart, close, parent=self, margins=(16, 3, 8, 3), spacing=2)
        for told in (label, close):
            dock.topLevelChanged.connect(told.setHidden)

    @Slot()
    def _toggle(self) -> None:
        """Let the dock float beside its place, or put it back into it."""
        place = self._dock.mapToGlobal(QPoint())
        self._dock.setFloating(not self._dock.isFloating())
        if self._dock.isFloating():
            self._dock.move(place + _ASIDE)
