"""Fields for a search: the search field, and the find bar above a text."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QStyle, QStyleOptionFrame, QToolButton, QWidget

from app.i18n.translate import plural, tr
from app.theme import fonts, sizes
from app.theme.icons import icon, pixmap
from app.theme.theme import Theme
from app.widgets.builders import hbox, make_label, make_timer
from app.widgets.buttons import IconButton

_GLASS = 16  # pixels beside text of the base size, as those below
_CROSS = 12  # smaller, since it is a button and not a sign
_GAP = 6  # between a mark and the words
_WITHIN = 2  # pixels that Qt leaves before and behind the words of a line
_EDGE = 9  # pixels before the glass and behind the cross, whatever the size of text, as the style sheet has it
_AFTER = 120  # milliseconds of rest before what is typed is looked for


class SearchField(QLineEdit):
    """name: what it says while it is empty, and to screen readers; where it has no room for that, "Search" alone.

    Qt's own marks in a field are 16 pixels wide beside text of any size, so that these are its own.
    """

    def __init__(self, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setAccessibleName(name)
        self.cross = QToolButton(self)
        self.cross.setObjectName("cross")
        self.cross.setAccessibleName(tr("Clear search"))
        self.cross.setToolTip(tr("Clear search"))
        self.cross.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # Escape and the keys of the field do the same
        self.cross.setCursor(Qt.CursorShape.ArrowCursor)
        self.cross.clicked.connect(self.clear)
        self.textChanged.connect(self._show_cross)
        sizes.follow(self, SearchField._fit)
        self._show_cross()

    def glass(self) -> QRect:
        """Rectangle of the magnifying glass."""
        side = fonts.pixels(_GLASS)
        return self._mirrored(QRect(_EDGE, (self.height() - side) // 2, side, side))

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        painter, at = QPainter(self), self.glass()
        painter.drawPixmap(at, pixmap("search", _muted(), at.width(), self.devicePixelRatioF()))
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()
        self._fit_placeholder()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in (QEvent.Type.ApplicationPaletteChange, QEvent.Type.PaletteChange):
            self._tint()
        elif event.type() == QEvent.Type.LayoutDirectionChange:
            self._fit()

    @Slot()
    def _show_cross(self) -> None:
        self.cross.setVisible(bool(self.text()))
        self._leave_room()

    def _fit(self) -> None:
        cross = fonts.pixels(_CROSS)
        self.cross.setIconSize(QSize(cross, cross))
        self.cross.setFixedSize(cross + _GAP, cross + _GAP)
        self._leave_room()
        self._tint()
        self._place()

    def _leave_room(self) -> None:
        """Set the margins for the marks that are there."""
        before, behind = fonts.pixels(_GLASS) + _GAP, self.cross.width() if self.text() else 0
        mirrored = self.layoutDirection() == Qt.LayoutDirection.RightToLeft
        self.setTextMargins(behind if mirrored else before, 0, before if mirrored else behind, 0)
        self._fit_placeholder()

    def _fit_placeholder(self) -> None:
        option = QStyleOptionFrame()
        self.initStyleOption(option)
        space = self.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, self).width()
        space -= self.textMargins().left() + self.textMargins().right() + 2 * _WITHIN
        fits = self.fontMetrics().horizontalAdvance(self._name) <= space
        self.setPlaceholderText(self._name if fits else tr("Search"))

    def _place(self) -> None:
        size = self.cross.size()
        at = QRect(self.width() - _EDGE + 3 - size.width(), (self.height() - size.height()) // 2, 0, 0)
        at.setSize(size)
        self.cross.setGeometry(self._mirrored(at))

    def _tint(self) -> None:
        self.cross.setIcon(icon("close", _muted()))
        self.update()

    def _mirrored(self, at: QRect) -> QRect:
        return QStyle.visualRect(self.layoutDirection(), self.rect(), at)


def _muted() -> str:
    return QApplication.palette().placeholderText().color().name()


class FindBar(QFrame):
    """Hidden until it is asked for. typed: another text. stepped: to the match after (1) or before (-1)."""

    typed = Signal(str)
    stepped = Signal(int)
    closed = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None, name: str = "", indent: int = 20) -> None:
        """name: of what one types into it. indent: pixels before it, 0 where what is around it has them."""
        super().__init__(parent)
        self.setObjectName("header")
        self.edit = QLineEdit(self)
        self.edit.setPlaceholderText(name or tr("Find in this chat"))
        self.edit.setAccessibleName(name or tr("Find in this chat"))
        self.edit.setMaximumWidth(340)
        self.edit.installEventFilter(self)
        self._rest = make_timer(self, _AFTER, self._typed)
        self.edit.textChanged.connect(self._rest.start)
        self.count = make_label("", self, "muted")
        before = IconButton(theme, "chevron-left", tr("Previous match"), self)
        before.clicked.connect(lambda: self.stepped.emit(-1))
        after = IconButton(theme, "chevron-right", tr("Next match"), self, "Enter")
        after.clicked.connect(lambda: self.stepped.emit(1))
        close = IconButton(theme, "close", tr("Close search"), self, "Esc")
        close.clicked.connect(self.closed)
        parts = (self.edit, 1), before, after, 6, (self.count, 1), close
        hbox(*parts, parent=self, margins=(indent, 6, indent // 2, 6), spacing=4)
        self.hide()

    def show_count(self, at: int, messages: int) -> None:
        """Show which message is looked at, from 0, of how many that have the words."""
        if not self.edit.text():
            self.count.setText("")
        elif not messages:
            self.count.setText(tr("No matches"))
        else:
            self.count.setText(plural("{at} of 1 message", "{at} of %n messages", messages, at=at + 1))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress or event.key() not in enter:
            return super().eventFilter(watched, event)
        if self._rest.isActive():
            self._typed()
        else:
            self.stepped.emit(-1 if event.modifiers() & Qt.KeyboardModifier.ShiftModifier else 1)
        return True

    @Slot()
    def _typed(self) -> None:
        self._rest.stop()
        self.typed.emit(self.edit.text().strip())
