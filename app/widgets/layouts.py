"""Layouts and focus that Qt lacks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from weakref import WeakKeyDictionary

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtWidgets import QAbstractButton, QLayout, QLayoutItem, QWidget

from app.widgets.builders import vbox


class FlowLayout(QLayout):
    """Layout that fills lines like text; items keep their size hints."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self.setContentsMargins(0, 0, 0, 0)
        self.setSpacing(spacing)
        self._items: list[QLayoutItem] = []

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

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
        x, y, line = rect.x(), rect.y(), 0
        for item in self._items:
            hint = item.sizeHint()
            width = min(hint.width(), rect.width())
            if x + width > rect.right() + 1 and line > 0:
                x, y, line = rect.x(), y + line + self.spacing(), 0
            if really:
                item.setGeometry(QRect(QPoint(x, y), QSize(width, hint.height())))
            x += width + self.spacing()
            line = max(line, hint.height())
        return y + line - rect.y()


# Of what is made anew: the name of the button that is to have the focus once it is shown, and who has it till then.
_wanted: WeakKeyDictionary[QWidget, tuple[str, QWidget | None]] = WeakKeyDictionary()
_TURNS = 20  # of the event loop, at most, until it is


def empty(layout: QLayout) -> None:
    """Remove and delete every widget of a layout."""
    while (item := layout.takeAt(0)) is not None:
        widget = item.widget()
        if widget is not None:
            widget.hide()
            widget.deleteLater()


@contextmanager
def focus_kept(root: QWidget) -> Iterator[None]:
    """Restore the focus to the button of the same name after buttons below `root` were made anew.

    Made anew once more before that, it is still the first name, unless somebody has moved the focus in between.
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
    column = vbox(parent=dialog, margins=(24, 20, 24, 18), spacing=12)
    column.addStrut(432)
    for part in parts:
        if isinstance(part, QLayout):
            column.addLayout(part)
        else:
            column.addWidget(part)


def fit(dialog: QWidget) -> None:
    """Fit a dialog's height to its wrapped texts, which Qt leaves out where the screen is small."""
    layout = dialog.layout()
    assert layout is not None
    width = dialog.sizeHint().width()
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 20), min(layout.totalHeightForWidth(width), room.height() - 40))
