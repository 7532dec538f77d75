"""Labels, buttons, layouts and questions in one call each, and a layout and focus handling that Qt lacks."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from types import EllipsisType
from typing import TypeVar
from weakref import WeakKeyDictionary

from PySide6.QtCore import QObject, QPoint, QRect, QSize, Qt, QTimer, SignalInstance
from PySide6.QtGui import QFont, QIcon, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QHBoxLayout,
    QLabel,
    QLayout,
    QLayoutItem,
    QMessageBox,
    QProgressBar,
    QPushButton,
    QScrollArea,
    QStyle,
    QStyleOptionComboBox,
    QStylePainter,
    QVBoxLayout,
    QWidget,
)

from app.i18n.translate import tr
from app.theme import motion, sizes
from app.widgets.touch import scroll_by_touch

Part = QWidget | QLayout
Item = Part | int | EllipsisType | tuple[Part, int] | tuple[QWidget, int, Qt.AlignmentFlag]
Margins = tuple[int, int, int, int] | int
B = TypeVar("B", bound=QBoxLayout)
D = TypeVar("D", bound=QDialog)
# By rebuilt widget: the name of the button that is to have the focus once it is shown, and the widget that has it
# till then.
_wanted: WeakKeyDictionary[QWidget, tuple[str, QWidget | None]] = WeakKeyDictionary()
BAR = 12  # pixels of a scroll bar, as in style.qss
_TURNS = 20  # of the event loop, at most, until it is


def hbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Lay out items from left to right: widgets or layouts, (item, stretch) or (widget, stretch, alignment).

    A number is so many pixels of space, and ... takes the space that is left. margins, spacing: None is Qt's default.
    """
    return _filled(QHBoxLayout() if parent is None else QHBoxLayout(parent), items, margins, spacing)


def vbox(
    *items: Item, parent: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Lay out items from top to bottom, as `hbox` does from left to right."""
    return _filled(QVBoxLayout() if parent is None else QVBoxLayout(parent), items, margins, spacing)


def centred(inner: QWidget, parent: QWidget, margins: Margins = 0) -> QHBoxLayout:
    """Keep a widget of limited width in the middle of its parent.

    A horizontal layout, since a vertical one does not ask for the height at the width that is really given.
    """
    return hbox(..., (inner, 1000), ..., parent=parent, margins=margins, spacing=0)


def scroll_area(page: QWidget, parent: QWidget | None = None) -> QScrollArea:
    """A scrolling area around a page, which has its width. What is in it takes the focus, and is scrolled to."""
    area = QScrollArea(parent)
    area.setWidgetResizable(True)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    area.setWidget(page)
    scroll_by_touch(area)
    return area


def reserve_bar(area: QScrollArea) -> None:
    """Leave as much room as the scroll bar would take, so that nothing moves aside when it comes."""

    def leave_room() -> None:
        area.setViewportMargins(0, 0, 0 if area.verticalScrollBar().maximum() else BAR, 0)

    # Later, since Qt lays out the page while it tells of the range, and would keep the margins of before.
    later = make_timer(area, 0, leave_room)
    area.verticalScrollBar().rangeChanged.connect(later.start)
    leave_room()


def _filled(box: B, items: tuple[Item, ...], margins: Margins | None, spacing: int | None) -> B:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addSpacing(item)
        elif isinstance(item, EllipsisType):
            box.addStretch(1)
        else:
            part, *rest = item if isinstance(item, tuple) else (item,)
            if isinstance(part, QLayout):
                box.addLayout(part, *rest[:1])
            else:
                box.addWidget(part, *rest)  # type: ignore[arg-type]
    return box


def make_label(
    text: str, parent: QWidget | None = None, style: str = "", *, wrap: bool = False, selectable: bool = False,
    heading: float = 0.0,
) -> QLabel:  # fmt: skip
    """A label. style: its object name in the style sheet. heading: bold, at so many times the size of text."""
    made = QLabel(text, parent)
    if style:
        made.setObjectName(style)
    if wrap:
        made.setWordWrap(True)
    if selectable:
        made.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if heading:
        sizes.set_font(made, heading, QFont.Weight.DemiBold)
    return made


def show_text(label: QLabel | QPushButton, text: str) -> None:
    """Set a label's text, and hide it where there is none."""
    label.setText(text)
    label.setVisible(bool(text))


def set_level(widget: QWidget, level: object, name: str = "level") -> None:
    """Set a property that the style sheet looks at, and have the widget styled by it."""
    widget.setProperty(name, level)
    _restyle(widget)


def set_style(widget: QWidget, style: str) -> None:
    """Have a widget styled by another object name of the style sheet."""
    widget.setObjectName(style)
    _restyle(widget)


def _restyle(widget: QWidget) -> None:
    widget.style().unpolish(widget)
    widget.style().polish(widget)


class ElidedComboBox(QComboBox):
    """Combo box that ends what it has no room for with dots, where Qt cuts through a letter."""

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, option = QStylePainter(self), QStyleOptionComboBox()
        self.initStyleOption(option)
        parts = QStyle.ComplexControl.CC_ComboBox, QStyle.SubControl.SC_ComboBoxEditField
        room = self.style().subControlRect(parts[0], option, parts[1], self).width()
        option.currentText = self.fontMetrics().elidedText(self.currentText(), Qt.TextElideMode.ElideRight, room)
        painter.drawComplexControl(parts[0], option)
        painter.drawControl(QStyle.ControlElement.CE_ComboBoxLabel, option)


def make_combo(
    parent: QWidget, name: str, items: Iterable[tuple[str, object]] = (), chosen: object = None, letters: int = 0
) -> QComboBox:
    """A combo box. name: for screen readers. items: (text, data). chosen: data of the first that is shown.

    letters: its width, however long its texts are; 0 fits the longest.
    """
    made = ElidedComboBox(parent)
    made.setAccessibleName(name)
    if sys.platform.startswith("linux"):  # where Qt tells screen readers what is chosen instead of the name
        made.setAccessibleDescription(name)
    if letters:
        made.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        made.setMinimumContentsLength(letters)
    for text, data in items:
        made.addItem(text, data)
    if chosen is not None:
        made.setCurrentIndex(max(0, made.findData(chosen)))
    return made


def make_bar(parent: QWidget, name: str) -> QProgressBar:
    """A progress bar without text. name: for screen readers."""
    made = QProgressBar(parent)
    made.setTextVisible(False)
    made.setAccessibleName(name)
    return made


def set_progress(bar: QProgressBar, done: int, total: int) -> None:
    """Set a bar to a share. total 0: it is not known how much there is, and the bar moves to and fro, if it may."""
    bar.setRange(0, 1000 if total or motion.is_reduced() else 0)
    bar.setValue(min(1000, 1000 * done // total) if total else 0)


def make_timer(parent: QObject, milliseconds: int, act: Callable[[], object] | SignalInstance) -> QTimer:
    """A timer that calls `act` once, so long after it was started last."""
    timer = QTimer(parent, singleShot=True, interval=milliseconds)
    timer.timeout.connect(act)
    return timer


def make_button(
    text: str, parent: QWidget | None, act: Callable[..., object] | SignalInstance | None = None, style: str = "", *,
    name: str = "", tip: str = "", auto_default: bool = True,
) -> QPushButton:  # fmt: skip
    """A button that calls `act`, or emits it. style: its object name in the style sheet. name: for screen readers.

    auto_default: Enter presses it in a dialog while it has the focus.
    """
    made = QPushButton(text, parent)
    if style:
        made.setObjectName(style)
    if name:
        made.setAccessibleName(name)
    if tip:
        made.setToolTip(tip)
    if not auto_default:
        made.setAutoDefault(False)
    if act is not None:
        made.clicked.connect(act)
    return made


def confirm(parent: QWidget, question: str, consequence: str, action: str, do: Callable[[], object]) -> QMessageBox:
    """Ask, and call `do` if the button called `action` is pressed. Returns at once; the window is blocked meanwhile."""
    box = QMessageBox(QMessageBox.Icon.Question, "Underhill", question, parent=parent)
    box.setTextFormat(Qt.TextFormat.PlainText)  # a name in it may look like marks
    box.setInformativeText(consequence)
    box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    yes = box.addButton(action, QMessageBox.ButtonRole.AcceptRole)
    no = box.addButton(tr("Cancel"), QMessageBox.ButtonRole.RejectRole)
    box.setDefaultButton(no)
    box.setEscapeButton(no)
    yes.clicked.connect(do)
    box.open()
    return box


def open_dialog(dialog: D) -> D:
    """Show a dialog in front of its window; it is deleted once it is closed."""
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    dialog.open()
    return dialog


def close_box(dialog: QDialog) -> QDialogButtonBox:
    """The button at the foot of a dialog that can only be closed."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close, dialog)
    box.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
    box.rejected.connect(dialog.reject)
    return box


def resize_on_screen(dialog: QWidget, width: int, height: int) -> None:
    """Resize a dialog, as far as the screen has room."""
    available = dialog.screen().availableGeometry()
    dialog.resize(min(width, available.width() - 40), min(height, available.height() - 80))


def raise_window(window: QWidget) -> None:
    """Show a window, restore it if minimized, and raise it, as far as the desktop lets it."""
    window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
    window.show()
    window.raise_()
    window.activateWindow()


class FlowLayout(QLayout):
    """Layout that fills lines like text; items keep their size hints, and lower ones stand in the middle of a line."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()  # also where all together stay as large as they were

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        margins = self.contentsMargins()
        return self._place(QRect(0, 0, width, 0).marginsRemoved(margins), False) + margins.top() + margins.bottom()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._place(rect.marginsRemoved(self.contentsMargins()), True)

    def sizeHint(self) -> QSize:
        return self.minimumSize()

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size.grownBy(self.contentsMargins())

    def _place(self, rect: QRect, really: bool) -> int:
        """Returns the height that is needed."""
        y, lines = rect.y(), self._lines(rect.width())
        for line in lines:
            x, high = rect.x(), max(size.height() for _, size in line)
            for item, size in line:
                if really:
                    item.setGeometry(QRect(QPoint(x, y + (high - size.height()) // 2), size))
                x += size.width() + self.spacing()
            y += high + self.spacing()
        return y - rect.y() - (self.spacing() if lines else 0)

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        """The items of each line, with their sizes."""
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():  # what is hidden takes no place
                continue
            hint = item.sizeHint()
            size = QSize(min(hint.width(), width), hint.height())
            if not lines or used + size.width() > width:
                lines.append([])
                used = 0
            lines[-1].append((item, size))
            used += size.width() + self.spacing()
        return lines


def empty(layout: QLayout) -> None:
    """Remove and delete every widget of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


@contextmanager
def focus_kept(root: QWidget) -> Iterator[None]:
    """Restore the focus to the button of the same name after buttons below `root` were rebuilt.

    Rebuilt once more before that, it is still the first name, unless the user has moved the focus in between.
    """
    now = root.window().focusWidget()
    name, left = _wanted.pop(root, ("", None))
    if not name or now is not left:
        name = _name(now) if isinstance(now, QAbstractButton) and root.isAncestorOf(now) else ""
    yield
    if name:
        _wanted[root] = name, root.window().focusWidget()
        QTimer.singleShot(0, root, partial(_focus, root, _TURNS))  # a layout shows what is new in it a little later


def _focus(root: QWidget, turns: int) -> None:
    name, left = _wanted.get(root, ("", None))
    if not name:
        return
    found = (b for b in root.findChildren(QAbstractButton) if b.isVisible() and b.isEnabled() and _name(b) == name)
    button = next(found, None)
    if button is None and turns:
        QTimer.singleShot(0, root, partial(_focus, root, turns - 1))
        return
    del _wanted[root]
    if button is not None and root.window().focusWidget() is left:
        button.setFocus()


def _name(button: QAbstractButton) -> str:
    return button.accessibleName() or button.text()


def form_column(dialog: QWidget, *parts: QWidget | QLayout) -> None:
    """Lay out a dialog that holds a form: its parts one below the other."""
    vbox(*parts, parent=dialog, margins=(24, 20, 24, 18), spacing=12).addStrut(432)


def fit(dialog: QWidget) -> None:
    """Fit a dialog's height to its wrapped texts, which Qt leaves out where the screen is small."""
    layout = dialog.layout()
    assert layout is not None
    width = dialog.sizeHint().width()
    available = dialog.screen().availableGeometry()
    dialog.resize(min(width, available.width() - 20), min(layout.totalHeightForWidth(width), available.height() - 40))
