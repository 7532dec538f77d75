"""The part of a page that scrolls: as high as what is on it, where there is room for that."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QSize, Qt, Slot
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QApplication, QScrollArea, QSizePolicy, QWidget


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
